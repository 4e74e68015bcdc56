//! Points on the earth and distances between them.

use serde::{Deserialize, Serialize};

/// The mean radius of the earth (IUGG R1), the basis of all distances.
pub const EARTH_RADIUS: Distance = Distance(6_371_008.8);

const METRES_IN_A_MILE: f64 = 1_609.344;

/// A point on the earth: WGS 84 latitude and longitude in degrees, always within -90…90 and -180…180.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Degrees", into = "Degrees")]
pub struct Point {
    lat: f64,
    lon: f64,
}

/// A distance along the earth's surface. The names of its constructors and accessors contain the unit.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Distance(f64);

/// The serialized form of a [`Point`]. Its range is checked on deserialization.
#[derive(Serialize, Deserialize)]
struct Degrees {
    lat: f64,
    lon: f64,
}

impl Point {
    /// Creates a point. Returns `None` if the degrees are out of range or NaN.
    ///
    /// ```
    /// # use signpost_locator::Point;
    /// assert!(Point::new(25.7617, -80.1918).is_some());
    /// assert!(Point::new(-80.1918, 250.7617).is_none());
    /// ```
    #[must_use]
    pub fn new(lat: f64, lon: f64) -> Option<Self> {
        ((-90.0..=90.0).contains(&lat) && (-180.0..=180.0).contains(&lon)).then_some(Self { lat, lon })
    }

    /// Parses decimal degrees.
    pub(crate) fn parse(lat: &str, lon: &str) -> Option<Self> {
        Self::new(lat.parse().ok()?, lon.parse().ok()?)
    }

    /// Returns the latitude in degrees north of the equator, -90…90.
    #[must_use]
    pub fn lat(self) -> f64 {
        self.lat
    }

    /// Returns the longitude in degrees east of Greenwich, -180…180.
    #[must_use]
    pub fn lon(self) -> f64 {
        self.lon
    }

    /// Returns the great-circle distance to `other` on a sphere of [`EARTH_RADIUS`], rounded to the micrometre (to 0.2
    /// m in the few kilometres around the antipode).
    ///
    /// Further digits would be rounding noise, so that points at equal distances would not compare as equal.
    ///
    /// ```
    /// # use signpost_locator::Point;
    /// let miami = Point::new(25.7617, -80.1918).unwrap();
    /// let austin = Point::new(30.2672, -97.7431).unwrap();
    /// assert_eq!(miami.distance(austin).in_miles().round(), 1114.0);
    /// ```
    #[must_use]
    pub fn distance(self, other: Self) -> Distance {
        Distance::of_chord(squared_chord(self.unit_vector(), other.unit_vector()))
    }

    /// Returns the centre of points on the sphere, even across the date line. Returns `None` if there are no points, or
    /// if the points have no unique centre because they surround the earth.
    ///
    /// ```
    /// # use signpost_locator::Point;
    /// let across = [Point::new(52.0, 179.0).unwrap(), Point::new(52.0, -179.0).unwrap()];
    /// assert!(Point::centroid(across).unwrap().lon().abs() > 179.9);
    /// ```
    #[must_use]
    pub fn centroid(points: impl IntoIterator<Item = Self>) -> Option<Self> {
        /// Maximum length of the vector sum that counts as rounding noise.
        const ROUNDING_NOISE: f64 = 1e-9;
        let mut points = points.into_iter().peekable();
        let first = *points.peek()?;
        let [x, y, z] = points.fold([0.0; 3], |[x, y, z], point| {
            let [east, north, up] = point.unit_vector();
            [x + east, y + north, z + up]
        });
        let flat = x.hypot(y);
        let middle = Self::new(z.atan2(flat).to_degrees(), y.atan2(x).to_degrees())?;
        // The centre of equal points is exactly that point.
        let middle = if middle.distance(first) < Distance::metres(1e-3) { first } else { middle };
        (flat.hypot(z) > ROUNDING_NOISE).then_some(middle)
    }

    /// Returns the unit vector from the centre of the earth.
    pub(crate) fn unit_vector(self) -> [f64; 3] {
        let (sin, cos) = self.lon.to_radians().sin_cos();
        // The cosine of the latitude is computed as the sine of its complement, because that is exactly 0 at a pole and
        // precise near it.
        let flat = (90.0 - self.lat.abs()).to_radians().sin();
        [flat * cos, flat * sin, self.lat.to_radians().sin()]
    }
}

/// Returns the squared chord between unit vectors: four times the haversine of their angle. It increases monotonically
/// with the great-circle distance and has no special cases at the poles or the date line.
pub(crate) fn squared_chord(from: [f64; 3], to: [f64; 3]) -> f64 {
    let [x, y, z] = [to[0] - from[0], to[1] - from[1], to[2] - from[2]];
    x * x + y * y + z * z
}

impl Distance {
    /// Creates a distance from metres.
    #[must_use]
    pub const fn metres(metres: f64) -> Self {
        Self(metres)
    }

    /// Creates a distance from international miles of 1609.344 m.
    #[must_use]
    pub const fn miles(miles: f64) -> Self {
        Self(miles * METRES_IN_A_MILE)
    }

    /// Creates a distance from kilometres.
    #[must_use]
    pub const fn kilometres(kilometres: f64) -> Self {
        Self(kilometres * 1_000.0)
    }

    /// Creates a distance from the squared chord between unit vectors, in whole micrometres.
    pub(crate) fn of_chord(squared: f64) -> Self {
        /// 2^52. Floats of this size have no fraction, so adding and subtracting it rounds to an integer. `round` would
        /// call the C library.
        const NO_FRACTION: f64 = 4_503_599_627_370_496.0;
        let metres = 2.0 * EARTH_RADIUS.0 * (squared.sqrt() / 2.0).min(1.0).asin();
        Self((metres * 1e6 + NO_FRACTION - NO_FRACTION) / 1e6)
    }

    /// Returns the distance in metres.
    #[must_use]
    pub const fn in_metres(self) -> f64 {
        self.0
    }

    /// Returns the distance in international miles.
    #[must_use]
    pub const fn in_miles(self) -> f64 {
        self.0 / METRES_IN_A_MILE
    }

    /// Returns the distance in kilometres.
    #[must_use]
    pub const fn in_kilometres(self) -> f64 {
        self.0 / 1_000.0
    }
}

impl From<Point> for Degrees {
    fn from(Point { lat, lon }: Point) -> Self {
        Self { lat, lon }
    }
}

impl TryFrom<Degrees> for Point {
    type Error = &'static str;

    fn try_from(Degrees { lat, lon }: Degrees) -> Result<Self, Self::Error> {
        Self::new(lat, lon).ok_or("latitude must be -90 to 90 and longitude -180 to 180")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(lat: f64, lon: f64) -> Point {
        Point::new(lat, lon).expect("on the earth")
    }

    fn metres(from: (f64, f64), to: (f64, f64)) -> f64 {
        point(from.0, from.1).distance(point(to.0, to.1)).in_metres()
    }

    #[test]
    fn points_off_the_earth_are_rejected() {
        for (lat, lon) in [(90.0, 180.0), (-90.0, -180.0), (0.0, 0.0), (-0.0, 179.999)] {
            assert!(Point::new(lat, lon).is_some(), "{lat},{lon}");
        }
        let inf = f64::INFINITY;
        for (lat, lon) in [(90.000_001, 0.0), (-91.0, 0.0), (0.0, 180.1), (0.0, -181.0), (f64::NAN, 0.0), (0.0, inf)] {
            assert!(Point::new(lat, lon).is_none(), "{lat},{lon}");
        }
    }

    #[test]
    fn equivalent_points_have_distance_zero() {
        for (from, to) in [((0.0, 180.0), (0.0, -180.0)), ((90.0, 0.0), (90.0, 123.0)), ((-90.0, -180.0), (-90.0, 7.0))]
        {
            assert!(metres(from, to).abs() < f64::MIN_POSITIVE, "{from:?} {to:?}");
        }
    }

    #[test]
    fn distances_are_spherical() {
        let degree = EARTH_RADIUS.in_metres().to_radians();
        for (from, to, degrees) in [
            ((0.0, 0.0), (0.0, 1.0), 1.0),
            ((0.0, 179.5), (0.0, -179.5), 1.0),
            ((89.5, 0.0), (89.5, 180.0), 1.0),
            ((-90.0, 0.0), (90.0, 0.0), 180.0),
            ((0.0, 0.0), (0.0, 180.0), 180.0),
            ((45.0, 10.0), (-45.0, -170.0), 180.0),
            ((0.0, -90.0), (90.0, 17.0), 90.0),
            ((60.0, 20.0), (60.0, 20.000_001), 0.5e-6),
        ] {
            let got = metres(from, to);
            let tolerance = if degrees > 179.0 { 0.2 } else { 2e-6 };
            assert!((got - degrees * degree).abs() < tolerance, "{from:?} {to:?}: {got} m");
        }
    }

    #[test]
    fn distance_converts_between_units() {
        let mile = Distance::miles(1.0);
        assert!((mile.in_metres() - 1_609.344).abs() < 1e-9);
        assert!((mile.in_kilometres() - 1.609_344).abs() < 1e-12);
        assert!((Distance::kilometres(1.609_344).in_miles() - 1.0).abs() < 1e-12);
        assert!(Distance::metres(1.0) < mile);
    }

    #[test]
    fn stored_point_off_the_earth_is_rejected() {
        let read = |text: &str| serde_json::from_str::<Point>(text);
        assert_eq!(read(r#"{"lat": 25.5, "lon": -80.25}"#).unwrap(), point(25.5, -80.25));
        let wrong = read(r#"{"lat": 95.5, "lon": -80.25}"#).unwrap_err().to_string();
        assert!(wrong.contains("-90 to 90"), "{wrong}");
    }
}
