//! Coordinates as JSON arrays of two numbers. Some programs write the latitude first, others the longitude.
//!
//! The order follows from the whole list: a number above 90 is a longitude.

use serde_json::Value;

use super::column_name::normalized;
use super::coordinates::COLUMNS;
use crate::point::Point;

/// Maximum latitude in degrees.
const MAX_LATITUDE: f64 = 90.0;

/// The order of the numbers in the arrays of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ArrayOrder {
    /// Whether the list has arrays.
    pub(super) has_arrays: bool,
    is_latitude_first: bool,
    is_longitude_first: bool,
}

impl ArrayOrder {
    /// Observes an object of the list.
    pub(super) fn observe(&mut self, object: &Value) {
        let Some((first, second)) = array_in(object) else { return };
        self.has_arrays = true;
        self.is_longitude_first |= first.abs() > MAX_LATITUDE;
        self.is_latitude_first |= second.abs() > MAX_LATITUDE;
    }

    /// Returns `true` if the arrays do not show their order, or contradict each other.
    pub(super) fn is_unknown(self) -> bool {
        self.has_arrays && self.is_latitude_first == self.is_longitude_first
    }

    /// Returns the point of an object's array. `None` if the order is unknown.
    pub(super) fn point(self, object: &Value) -> Option<Point> {
        let (first, second) = array_in(object)?;
        match (self.is_latitude_first, self.is_longitude_first) {
            (true, false) => Point::new(first, second),
            (false, true) => Point::new(second, first),
            _ => None,
        }
    }
}

/// Returns the first two numbers of an array of coordinates in an object.
fn array_in(object: &Value) -> Option<(f64, f64)> {
    for (name, member) in object.as_object()? {
        let Some(array) = member.as_array() else { continue };
        if COLUMNS.contains(&normalized(name).as_str())
            && let [first, second] | [first, second, _] = &array[..]
            && let Some(pair) = first.as_f64().zip(second.as_f64())
        {
            return Some(pair);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn order(arrays: &[Value]) -> ArrayOrder {
        let mut order = ArrayOrder::default();
        for array in arrays {
            order.observe(&json!({ "coordinates": array }));
        }
        order
    }

    #[test]
    fn order_follows_from_the_whole_list() {
        let austin = Point::new(30.25, -97.75).unwrap();
        for array in [json!([30.25, -97.75]), json!([-97.75, 30.25]), json!([-97.75, 30.25, 12.0])] {
            let point = order(std::slice::from_ref(&array)).point(&json!({ "coordinates": array }));
            assert_eq!(point, Some(austin), "{array}");
        }
        let berlin = json!({ "geo_point": [13.405, 52.52] });
        let point = order(&[json!([13.405, 52.52]), json!([-97.75, 30.25])]).point(&berlin);
        assert_eq!(point, Point::new(52.52, 13.405));
        for arrays in [&[json!([13.405, 52.52])][..], &[json!([30.25, -97.75]), json!([-97.75, 30.25])]] {
            assert!(order(arrays).is_unknown() && order(arrays).point(&berlin).is_none(), "{arrays:?}");
        }
        for array in [json!([]), json!([1]), json!(["1", "2"]), json!([1, 2, 3, 4]), json!("1, 2")] {
            assert_eq!(order(&[array]), ArrayOrder::default());
        }
    }
}
