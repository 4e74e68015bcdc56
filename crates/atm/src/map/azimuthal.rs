//! The azimuthal equidistant projection. Distances and directions from its centre are exact, even at the poles and
//! across the date line, so rings of distance are circles.

use signpost_locator::{EARTH_RADIUS, Point};

/// An azimuthal equidistant projection with a given centre.
#[derive(Clone, Copy, Debug)]
pub(super) struct AzimuthalProjection {
    middle: Point,
}

impl AzimuthalProjection {
    pub(super) fn centred_at(middle: Point) -> Self {
        Self { middle }
    }

    /// Returns the distances of a point to the east and to the north of the centre, in metres.
    pub(super) fn metres(self, point: Point) -> [f64; 2] {
        let (sin_middle, cos_middle) = self.middle.lat().to_radians().sin_cos();
        let (sin, cos) = point.lat().to_radians().sin_cos();
        let delta_lon = (point.lon() - self.middle.lon()).to_radians();
        let (sin_delta, cos_delta) = delta_lon.sin_cos();
        let [east, north] = [cos * sin_delta, cos_middle * sin - sin_middle * cos * cos_delta];
        let sine = east.hypot(north);
        let metres = self.middle.distance(point).in_metres();
        if sine < f64::EPSILON {
            // The direction is undefined for the centre and for its antipode.
            return [0.0, if metres < 1.0 { 0.0 } else { metres }];
        }
        [east, north].map(|part| part / sine * metres)
    }

    /// Returns the maximum distance on the earth, in metres: half of its circumference.
    pub(super) fn max_distance() -> f64 {
        EARTH_RADIUS.in_metres() * std::f64::consts::PI
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn point(lat: f64, lon: f64) -> Point {
        Point::new(lat, lon).expect("on the earth")
    }

    #[test]
    fn directions_are_correct_at_date_line_and_poles() {
        let degree = EARTH_RADIUS.in_metres().to_radians();
        for (middle, other, expected) in [
            ((0.0, 0.0), (0.0, 1.0), [1.0, 0.0]),
            ((0.0, 0.0), (1.0, 0.0), [0.0, 1.0]),
            ((0.0, 179.5), (0.0, -179.5), [1.0, 0.0]),
            ((0.0, -179.5), (0.0, 179.5), [-1.0, 0.0]),
            ((90.0, 0.0), (89.0, 90.0), [1.0, 0.0]),
            ((90.0, 0.0), (89.0, 0.0), [0.0, -1.0]),
            ((-90.0, 0.0), (-89.0, 0.0), [0.0, 1.0]),
            ((30.0, -97.0), (30.0, -97.0), [0.0, 0.0]),
        ] {
            let found = AzimuthalProjection::centred_at(point(middle.0, middle.1)).metres(point(other.0, other.1));
            let near = |found: f64, expected: f64| (found / degree - expected).abs() < 1e-6;
            assert!(near(found[0], expected[0]) && near(found[1], expected[1]), "{middle:?} {other:?} {found:?}");
        }
    }

    proptest! {
        #[test]
        fn distances_from_the_centre_are_correct(
            lat in -90.0f64..=90.0, lon in -180.0f64..=180.0, other in (-90.0f64..=90.0, -180.0f64..=180.0),
        ) {
            let (middle, other) = (point(lat, lon), point(other.0, other.1));
            let [east, north] = AzimuthalProjection::centred_at(middle).metres(other);
            let distance = middle.distance(other).in_metres();
            prop_assert!((east.hypot(north) - distance).abs() < 1.0, "{east} {north} {distance}");
            prop_assert!(distance <= AzimuthalProjection::max_distance() + 1.0);
        }
    }
}
