//! An SVG drawing of all ATMs for browsers without scripts. It has a dot for each grid cell that contains ATMs.

use std::collections::BTreeMap;
use std::fmt::Write;

use signpost_locator::Point;

use super::lines::lines_in;
use super::mercator::{degrees, project};
use super::window::{MapWindow, zoom_of_scale};

/// Width and height of the drawing, in pixels.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 620.0;
/// Width and height of the map that [`fit_view`] assumes, in pixels.
const VIEW: [f64; 2] = [700.0, 480.0];
/// Width of a grid cell, in pixels. The drawing has at most 40,000 cells.
const CELL: f64 = 4.0;

/// The initial view of the interactive map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MapView {
    /// Latitude of the centre, in degrees.
    pub lat: f64,
    /// Longitude of the centre, in degrees.
    pub lon: f64,
    /// Zoom level. At level 0 the earth is 256 pixels wide, and each level doubles the width.
    pub zoom: f64,
}

/// Returns the view of a map of 700 by 480 pixels that contains at least 95 % of these ATMs. Only ATMs far away from
/// all others are left out. Without ATMs, returns a view of the contiguous United States.
#[must_use]
pub fn fit_view(points: &[Point]) -> MapView {
    let window = MapWindow::around(points);
    let [lat, lon] = degrees(window.middle());
    MapView { lat, lon, zoom: (zoom_of_scale(window.scale(VIEW)) * 10.0).floor() / 10.0 }
}

/// Draws nearly all of these ATMs, the borders of the US states and the outlines of the countries as an SVG document in
/// the colours of the reader's theme. The document has about 80 kB for 10,000 ATMs, and at most 700 kB.
#[must_use]
pub fn draw_overview(points: &[Point]) -> String {
    let window = MapWindow::around(points);
    let scale = window.scale([WIDTH, HEIGHT]);
    let lines = lines_in(&window.visible([WIDTH, HEIGHT]), zoom_of_scale(scale));
    let [east, south] = window.middle();
    let left = WIDTH / 2.0 - east * scale;
    let top = HEIGHT / 2.0 - south * scale;
    let mut cells: BTreeMap<(i32, i32), u32> = BTreeMap::new();
    for [x, y] in points.iter().map(|point| project(*point)) {
        let x = x * scale + left;
        let y = y * scale + top;
        if (0.0..WIDTH).contains(&x) && (0.0..HEIGHT).contains(&y) {
            #[expect(clippy::cast_possible_truncation, reason = "a pixel of the drawing")]
            let cell = ((x / CELL) as i32, (y / CELL) as i32);
            *cells.entry(cell).or_default() += 1;
        }
    }
    let [one, some, many] = [dots(&cells, 1, 1), dots(&cells, 2, 9), dots(&cells, 10, u32::MAX)];
    let hundredth = scale / 100.0;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\">\
         <style>svg{{background:#edf1ee}}path{{fill:none;stroke:#0a6b47;stroke-linecap:round}}.l{{stroke:#74837b}}\
         @media(prefers-color-scheme:dark){{svg{{background:#19211d}}path{{stroke:#54d69c}}.l{{stroke:#7c8d85}}}}</style>\
         <path class=\"l\" transform=\"translate({left:.2} {top:.2}) scale({hundredth:.5})\" stroke-width=\"{:.2}\" \
         d=\"{lines}\"/>\
         <path stroke-width=\"3\" d=\"{one}\"/><path stroke-width=\"4.5\" d=\"{some}\"/>\
         <path stroke-width=\"7\" d=\"{many}\"/></svg>",
        1.0 / hundredth,
    )
}

/// Returns the SVG path of the dots for all cells with `min` to `max` ATMs.
fn dots(cells: &BTreeMap<(i32, i32), u32>, min: u32, max: u32) -> String {
    let mut path = String::new();
    for ((column, row), _) in cells.iter().filter(|(_, count)| (min..=max).contains(*count)) {
        let [x, y] = [column, row].map(|cell| f64::from(*cell) * CELL + CELL / 2.0);
        write!(path, "M{x} {y}h0").expect("a text");
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(lat: f64, lon: f64) -> Point {
        Point::new(lat, lon).expect("on the earth")
    }

    #[test]
    fn view_has_nearly_all_atms() {
        let us = fit_view(&[]);
        assert!((37.0..41.0).contains(&us.lat) && (-98.0..-93.0).contains(&us.lon) && us.zoom > 3.5, "{us:?}");
        let one = fit_view(&[point(30.0, -97.0)]);
        assert!(
            (one.lat - 30.0).abs() < 1e-9 && (one.lon + 97.0).abs() < 1e-9 && (8.0..9.0).contains(&one.zoom),
            "{one:?}"
        );
        let mut points: Vec<_> = (0..99).map(|at| point(30.0 + f64::from(at) / 1000.0, -97.0)).collect();
        points.push(point(13.4, 144.7));
        let town = fit_view(&points);
        assert!((town.lon + 97.0).abs() < 0.1 && town.zoom > 7.0, "{town:?}");
        let everywhere = fit_view(&[point(90.0, 180.0), point(-90.0, -180.0)]);
        assert!(everywhere.zoom.is_finite() && everywhere.lat.abs() < 1e-6, "{everywhere:?}");
    }

    #[test]
    fn drawing_has_dots_and_is_bounded() {
        let empty = draw_overview(&[]);
        assert!(empty.contains("d=\"M") && !empty.contains("h0"), "{empty}");
        let one = draw_overview(&[point(30.0, -97.0)]);
        assert_eq!(one.matches("h0").count(), 1);
        assert!(one.contains("M502 310h0") || one.contains("M502 312h0") || one.contains("M498 310h0"), "{one}");
        let crowd = draw_overview(&vec![point(-89.0, 180.0); 10_000]);
        assert_eq!(crowd.matches("h0").count(), 1);
        let spread = |at: u32| point(f64::from(at % 1000) * 0.16 - 80.0, f64::from(at / 1000) * 0.3 - 150.0);
        let full = draw_overview(&(0..1_000_000).map(spread).collect::<Vec<_>>());
        assert!(full.len() < 700_000, "{}", full.len());
    }
}
