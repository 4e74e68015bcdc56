//! A lookup of the nearest place with a given name, used to merge subdivisions with places.

use std::collections::{BTreeSet, HashMap};

use super::point_key;
use super::post_offices::{NameInRegion, names_in_region};
use crate::gazetteer::blob::PlaceEntry;
use crate::point::{Distance, Point};

/// Maximum distance between a place and a subdivision with a common name that are merged.
pub(super) const SAME_PLACE_DISTANCE: Distance = Distance::miles(10.0);
/// Side length of a cell, in radii of the earth: points at most [`SAME_PLACE_DISTANCE`] apart are in equal or adjacent
/// cells.
const CELL: f64 = 0.0026;
/// Maximum number of places with a name for searching all of them instead of only the cells around the point.
const MAX_SCANNED: usize = 64;

/// The places by region, folded name and location, with the codes of their counties. It stays fast if thousands of
/// places share a name and hundreds of them are at a single point.
#[derive(Default)]
pub(super) struct PlacesByName {
    /// The number assigned to each name, and the count of its places.
    names: HashMap<NameInRegion, (usize, usize)>,
    entries: BTreeSet<NamedPlace>,
}

/// An entry for one name of a place. Entries with equal name, cell, county and point are adjacent and sorted by place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct NamedPlace {
    name: usize,
    cell: [i32; 3],
    code: Option<u16>,
    point: [u64; 2],
    index: usize,
}

impl PlacesByName {
    /// Adds the place with this index under all its names.
    pub(super) fn add(&mut self, place: &PlaceEntry, code: Option<u16>, index: usize) {
        for name in names_in_region(place) {
            let next = self.names.len();
            let (name, count) = self.names.entry(name).or_insert((next, 0));
            let is_new = self.entries.insert(NamedPlace::new(*name, place.point, code, index));
            *count += usize::from(is_new);
        }
    }

    /// Changes the county code of the place with this index.
    pub(super) fn change_code(&mut self, place: &PlaceEntry, index: usize, before: Option<u16>, after: Option<u16>) {
        for name in names_in_region(place) {
            let Some((name, _)) = self.names.get(&name) else { continue };
            self.entries.remove(&NamedPlace::new(*name, place.point, before, index));
            self.entries.insert(NamedPlace::new(*name, place.point, after, index));
        }
    }

    /// Returns the place nearest to `to` that shares a name with it, is at most [`SAME_PLACE_DISTANCE`] away, and is in
    /// a county with an accepted code. If several are equally near, returns the first.
    pub(super) fn nearest(
        &self,
        places: &[PlaceEntry],
        to: &PlaceEntry,
        accepts: impl Fn(Option<u16>) -> bool,
    ) -> Option<(usize, Distance)> {
        let mut best: Option<(usize, Distance)> = None;
        for name in names_in_region(to) {
            let Some(&(name, count)) = self.names.get(&name) else { continue };
            let ranges =
                if count > MAX_SCANNED { cells_around(to.point) } else { vec![([i32::MIN; 3], [i32::MAX; 3])] };
            for (first, last) in ranges {
                let mut from = NamedPlace { name, cell: first, code: None, point: [0; 2], index: 0 };
                while let Some(found) = self.entries.range(from..).next().copied()
                    && found.name == name
                    && found.cell <= last
                {
                    let distance = places[found.index].point.distance(to.point);
                    if distance <= SAME_PLACE_DISTANCE
                        && accepts(found.code)
                        && is_better((found.index, distance), best)
                    {
                        best = Some((found.index, distance));
                    }
                    // Skips the other entries of this county at this point.
                    from = NamedPlace { index: usize::MAX, ..found };
                }
            }
        }
        best
    }
}

impl NamedPlace {
    fn new(name: usize, point: Point, code: Option<u16>, index: usize) -> Self {
        Self { name, cell: cell_of(point), code, point: point_key(point), index }
    }
}

fn is_better(found: (usize, Distance), best: Option<(usize, Distance)>) -> bool {
    let Some(best) = best else { return true };
    found.1 < best.1 || (found.1 == best.1 && found.0 < best.0)
}

#[expect(clippy::cast_possible_truncation, reason = "a unit vector has 385 cells on each side")]
fn cell_of(point: Point) -> [i32; 3] {
    point.unit_vector().map(|along| (along / CELL).floor() as i32)
}

/// Returns the cell of a point and the 26 adjacent cells, merged into ranges.
fn cells_around(point: Point) -> Vec<([i32; 3], [i32; 3])> {
    let [x, y, z] = cell_of(point);
    let mut cells = Vec::with_capacity(27);
    for x in x - 1..=x + 1 {
        for y in y - 1..=y + 1 {
            for z in z - 1..=z + 1 {
                cells.push(([x, y, z], [x, y, z]));
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gazetteer::blob::PlaceArea;
    use crate::region::Region;

    fn place(number: u32) -> PlaceEntry {
        let point = Point::new(40.0 + f64::from(number % 17) / 10.0, -75.0 - f64::from(number % 23) / 10.0).unwrap();
        PlaceEntry {
            name: "Springfield".to_owned(),
            alternates: vec!["Springfield Township".to_owned()],
            area: PlaceArea::of_region(Region::parse("PA").unwrap()),
            point,
            population: 0,
            time_zone: String::new(),
            county: None,
            has_post_office: false,
        }
    }

    #[test]
    fn nearest_place_equals_linear_search() {
        let places: Vec<PlaceEntry> = (0..600).map(place).collect();
        let mut codes: Vec<Option<u16>> = (0..600).map(|number| (number % 5 > 0).then_some(number % 5)).collect();
        let mut named = PlacesByName::default();
        for (index, (place, code)) in places.iter().zip(&codes).enumerate() {
            named.add(place, *code, index);
        }
        for index in [0, 5, 10] {
            named.change_code(&places[index], index, codes[index], Some(3));
            codes[index] = Some(3);
        }
        for number in 600..700 {
            let mut to = place(number);
            to.point = Point::new(to.point.lat() + 0.03, to.point.lon() + 0.02).unwrap();
            for wanted in [None, Some(3), Some(9)] {
                let near = places.iter().zip(&codes).enumerate().filter(|(_, (_, code))| **code == wanted);
                let near = near.map(|(index, (place, _))| (index, place.point.distance(to.point)));
                let near = near.filter(|(_, distance)| *distance <= SAME_PLACE_DISTANCE);
                let expected = near.min_by(|a, b| a.1.in_metres().total_cmp(&b.1.in_metres()).then(a.0.cmp(&b.0)));
                assert_eq!(named.nearest(&places, &to, |code| code == wanted), expected);
            }
        }
    }
}
