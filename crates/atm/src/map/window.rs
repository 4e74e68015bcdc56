//! Computation of the map section that contains nearly all ATMs, for the initial view of a map.

use signpost_locator::Point;

use super::mercator::{UNITS, project};

/// Number of ATMs for each outlier that may be outside the view: a single ATM in Guam would otherwise shrink the whole
/// map.
const ATMS_PER_OUTLIER: usize = 20;
/// Minimum factor of shrinking the view that justifies leaving out outliers.
const MIN_SHRINK_FACTOR: f64 = 4.0 / 3.0;
/// Number of different outlier counts that are tried, up to the maximum.
const OUTLIER_STEPS: usize = 20;
/// The view of a map without ATMs: the contiguous United States.
const DEFAULT_WINDOW: MapWindow = MapWindow { west: 155.0, north: 345.0, east: 325.0, south: 450.0 };
/// Minimum width of the view, in map units: about 150 miles.
const MIN_WIDTH: f64 = 6.0;
/// Margin at the edges of the view, as a share of its size.
const MARGIN: f64 = 0.08;

/// A rectangular section of the Mercator map, in map units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MapWindow {
    pub(super) west: f64,
    pub(super) north: f64,
    pub(super) east: f64,
    pub(super) south: f64,
}

impl MapWindow {
    /// Returns the window that contains at least 95 % of these ATMs, without outliers.
    pub(super) fn around(points: &[Point]) -> Self {
        if points.is_empty() {
            return DEFAULT_WINDOW;
        }
        let mut places: Vec<[f64; 2]> = points.iter().map(|point| project(*point)).collect();
        let mut max_outliers = places.len() / ATMS_PER_OUTLIER;
        for axis in [0, 1] {
            max_outliers -= remove_outliers(&mut places, axis, max_outliers);
        }
        let [west, east] = span(&places, 0);
        let [north, south] = span(&places, 1);
        let room = ((east - west).max(south - north) * MARGIN).max(MIN_WIDTH / 2.0);
        Self { west: west - room, north: north - room, east: east + room, south: south + room }
    }

    pub(super) fn middle(&self) -> [f64; 2] {
        [f64::midpoint(self.west, self.east), f64::midpoint(self.north, self.south)]
    }

    /// Returns the maximum scale, in pixels per map unit, of a map of this size in pixels that shows the whole window.
    pub(super) fn scale(&self, [width, height]: [f64; 2]) -> f64 {
        (width / (self.east - self.west)).min(height / (self.south - self.north))
    }

    /// Returns the visible section of a map of this size in pixels that shows the whole window.
    pub(super) fn visible(&self, size: [f64; 2]) -> Self {
        let [x, y] = self.middle();
        let [right, down] = size.map(|pixels| pixels / 2.0 / self.scale(size));
        Self { west: x - right, north: y - down, east: x + right, south: y + down }
    }

    /// Returns `true` if a box (west, north, east, south) overlaps the window.
    pub(super) fn overlaps(&self, [west, north, east, south]: [f64; 4]) -> bool {
        west <= self.east && east >= self.west && north <= self.south && south >= self.north
    }
}

/// Returns the zoom level for a scale in pixels per map unit. At level 0 the earth is 256 pixels wide.
pub(super) fn zoom_of_scale(scale: f64) -> f64 {
    (scale * UNITS / 256.0).log2()
}

/// Removes the outliers along an axis and returns their number, at most `max`. Removes as few as possible while the
/// extent of the rest is not much larger than it would be without `max` outliers.
fn remove_outliers(places: &mut Vec<[f64; 2]>, axis: usize, max: usize) -> usize {
    places.sort_unstable_by(|one, other| one[axis].total_cmp(&other[axis]));
    let (_, least) = shortest_range(places, axis, max);
    for step in 0..OUTLIER_STEPS {
        let count = max * step / OUTLIER_STEPS;
        let (start, length) = shortest_range(places, axis, count);
        if length <= least * MIN_SHRINK_FACTOR {
            return keep_range(places, start, count);
        }
    }
    let (start, _) = shortest_range(places, axis, max);
    keep_range(places, start, max)
}

/// Returns the start and the length of the shortest range that contains all but `outliers` of the sorted positions.
fn shortest_range(places: &[[f64; 2]], axis: usize, outliers: usize) -> (usize, f64) {
    let kept = places.len() - outliers;
    let ranges = places.windows(kept).map(|range| range[kept - 1][axis] - range[0][axis]);
    ranges.enumerate().min_by(|one, other| one.1.total_cmp(&other.1)).unwrap_or_default()
}

fn keep_range(places: &mut Vec<[f64; 2]>, start: usize, outliers: usize) -> usize {
    let kept = places.len() - outliers;
    places.drain(..start);
    places.truncate(kept);
    outliers
}

/// Returns the minimum and maximum along an axis.
fn span(places: &[[f64; 2]], axis: usize) -> [f64; 2] {
    places
        .iter()
        .map(|place| place[axis])
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[min, max], value| [min.min(value), max.max(value)])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::mercator::degrees;
    use super::*;

    fn point(lat: f64, lon: f64) -> Point {
        Point::new(lat, lon).expect("on the earth")
    }

    /// Returns `count` evenly spaced points between two corners.
    fn between(from: [f64; 2], to: [f64; 2], count: u32) -> Vec<Point> {
        let part = |at: u32, axis: usize| (to[axis] - from[axis]) * f64::from(at) / f64::from(count.max(2) - 1);
        (0..count).map(|at| point(from[0] + part(at, 0), from[1] + part(at * 7 % count, 1))).collect()
    }

    /// Returns the north-western and the south-eastern corner of the window around these points, in degrees.
    fn corners(points: &[Point]) -> [[f64; 2]; 2] {
        let window = MapWindow::around(points);
        [degrees([window.west, window.north]), degrees([window.east, window.south])]
    }

    #[test]
    fn view_omits_few_distant_atms() {
        let germany = between([47.5, 6.0], [54.5, 14.5], 95);
        let states = between([26.0, -122.0], [47.5, -71.0], 970);
        let alaska_and_hawaii = between([61.2, -149.9], [21.3, -157.8], 20);
        let guam = [point(13.4, 144.7), point(13.5, 144.8)];
        let [[north, west], [south, east]] = corners(&[states.clone(), alaska_and_hawaii, guam.into()].concat());
        assert!((47.5..55.0).contains(&north) && (15.0..26.0).contains(&south), "{north} {south}");
        assert!((-130.0..-122.0).contains(&west) && (-71.0..-60.0).contains(&east), "{west} {east}");
        let [[north, west], [south, east]] = corners(&[germany.clone(), vec![point(-33.9, 151.2); 5]].concat());
        assert!((54.5..57.0).contains(&north) && (44.0..47.5).contains(&south), "{north} {south}");
        assert!((4.0..6.0).contains(&west) && (14.5..17.0).contains(&east), "{west} {east}");
    }

    #[test]
    fn view_contains_all_parts_of_a_catalogue() {
        let [_, [south, east]] =
            corners(&[between([47.5, 6.0], [54.5, 14.5], 94), vec![point(-33.9, 151.2); 6]].concat());
        assert!(south < -33.9 && east > 151.2, "{south} {east}");
        let germany = between([47.5, 6.0], [54.5, 14.5], 1_000);
        let [[north, west], [south, east]] = corners(&germany);
        assert!(north > 54.5 && south < 47.5 && west < 6.0 && east > 14.5, "an even distribution has no outliers");
    }

    proptest! {
        #[test]
        fn window_contains_95_percent(
            places in prop::collection::vec((-80.0f64..=80.0, -180.0f64..=180.0, 1usize..40), 1..30),
        ) {
            let points: Vec<Point> =
                places.iter().flat_map(|(lat, lon, count)| std::iter::repeat_n(point(*lat, *lon), *count)).collect();
            let window = MapWindow::around(&points);
            let inside = points.iter().filter(|at| {
                let [x, y] = project(**at);
                window.overlaps([x, y, x, y])
            });
            prop_assert!(inside.count() * 20 >= points.len() * 19);
            prop_assert!(window.east - window.west >= MIN_WIDTH && window.south - window.north >= MIN_WIDTH);
        }
    }
}
