//! The lookup of the most populous places in an area, for the labels of a map.

use std::cmp::Reverse;

use super::{Gazetteer, Place};
use crate::point::{Distance, Point};

impl Gazetteer {
    /// Returns the `max` most populous places at most `radius` away from a point, sorted by descending population.
    /// Places with equal populations are in the order of the gazetteer. The running time is proportional to the number
    /// of places within the radius.
    ///
    /// ```
    /// # use signpost_locator::{Distance, Point, gazetteer::Gazetteer};
    /// # let gazetteer = Gazetteer::embedded();
    /// let austin = Point::new(30.267, -97.743).unwrap();
    /// let places = gazetteer.largest_within(austin, Distance::miles(25.0), 2);
    /// assert_eq!(places.iter().map(|place| place.name.as_str()).collect::<Vec<_>>(), ["Austin", "Round Rock"]);
    /// ```
    #[must_use]
    pub fn largest_within(&self, point: Point, radius: Distance, max: usize) -> Vec<Place> {
        let mut found = self.index.within(point, radius, |_| true);
        if found.len() > max {
            found.select_nth_unstable_by_key(max, |at| self.rank(*at));
            found.truncate(max);
        }
        found.sort_unstable_by_key(|at| self.rank(*at));
        found.into_iter().map(|at| self.place(at)).collect()
    }

    /// Returns the sort key of a place, for descending populations.
    fn rank(&self, place: u32) -> (Reverse<u32>, u32) {
        (Reverse(self.population(place)), place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_is_limited_to_the_requested_count() {
        let gazetteer = Gazetteer::embedded();
        let point = Point::new(44.98, -93.26).unwrap();
        for (miles, most) in [(0.0, 5), (20.0, 0), (20.0, 7), (20.0, usize::MAX), (100.0, 7)] {
            let radius = Distance::miles(miles);
            let places = gazetteer.largest_within(point, radius, most);
            assert!(places.len() <= most && places.iter().all(|place| place.point.distance(point) <= radius));
            assert!(places.is_sorted_by_key(|place| Reverse(place.population)));
            assert_eq!(places.is_empty(), miles < 1.0 || most == 0);
        }
    }
}
