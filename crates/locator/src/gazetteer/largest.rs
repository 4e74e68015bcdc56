//! The places that a map names.

use std::cmp::Reverse;

use super::{Gazetteer, Place};
use crate::point::{Distance, Point};

impl Gazetteer {
    /// The `most` places with most people at most `radius` away from a point, the largest first; of equals the one that the
    /// gazetteer has first. It looks at every place within.
    ///
    /// ```
    /// # use signpost_locator::{Distance, Point, gazetteer::Gazetteer};
    /// # let gazetteer = Gazetteer::embedded();
    /// let austin = Point::new(30.267, -97.743).unwrap();
    /// let places = gazetteer.largest_within(austin, Distance::miles(25.0), 2);
    /// assert_eq!(places.iter().map(|place| place.name.as_str()).collect::<Vec<_>>(), ["Austin", "Round Rock"]);
    /// ```
    #[must_use]
    pub fn largest_within(&self, point: Point, radius: Distance, most: usize) -> Vec<Place> {
        let mut found = self.index.within(point, radius, |_| true);
        let rank = |at: &u32| (Reverse(self.population(*at)), *at);
        if found.len() > most {
            found.select_nth_unstable_by_key(most, rank);
            found.truncate(most);
        }
        found.sort_unstable_by_key(rank);
        found.into_iter().map(|at| self.place(at)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_are_asked_for_and_no_farther() {
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
