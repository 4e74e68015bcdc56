//! The Mercator projection, scaled so that the world map is [`UNITS`] wide.

use std::f64::consts::{PI, TAU};

use signpost_locator::Point;

/// Width of the world map, in map units.
pub(super) const UNITS: f64 = 1024.0;
/// Maximum latitude of the map in degrees. With this limit the map is a square.
const MAX_LATITUDE: f64 = 85.051_128;

/// Returns the position of a point: its distances from the western and the northern edge, in map units.
pub(super) fn project(point: Point) -> [f64; 2] {
    let lat = point.lat().clamp(-MAX_LATITUDE, MAX_LATITUDE).to_radians();
    [(point.lon() / 360.0 + 0.5) * UNITS, (0.5 - lat.tan().asinh() / TAU) * UNITS]
}

/// Returns the latitude and longitude of a map position, in degrees.
pub(super) fn degrees([x, y]: [f64; 2]) -> [f64; 2] {
    [((1.0 - y / UNITS * 2.0) * PI).sinh().atan().to_degrees(), (x / UNITS - 0.5) * 360.0]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn corners_and_centre_are_projected_correctly() {
        for ((lat, lon), [x, y]) in [
            ((0.0, 0.0), [512.0, 512.0]),
            ((90.0, -180.0), [0.0, 0.0]),
            ((-90.0, 180.0), [1024.0, 1024.0]),
            ((40.0, -100.0), [227.555_6, 387.665_1]),
        ] {
            let found = project(Point::new(lat, lon).expect("on the earth"));
            assert!((found[0] - x).abs() < 1e-3 && (found[1] - y).abs() < 1e-3, "{lat} {lon}: {found:?}");
        }
    }

    proptest! {
        #[test]
        fn projection_is_inverted(lat in -85.0f64..=85.0, lon in -180.0f64..=180.0) {
            let [back_lat, back_lon] = degrees(project(Point::new(lat, lon).expect("on the earth")));
            prop_assert!((back_lat - lat).abs() < 1e-9 && (back_lon - lon).abs() < 1e-9);
        }
    }
}
