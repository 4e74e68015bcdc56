//! Distance rings around the centre of a map, with round radii.

use signpost_locator::Distance;

/// The unit of ring radii.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RingUnit {
    /// International miles.
    Miles,
    /// Kilometres.
    Kilometres,
}

/// A distance ring.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ring {
    pub(super) radius: Distance,
    /// The radius in the unit of the map as text, such as `0.5` or `20`.
    pub(super) length: String,
}

/// Maximum number of rings.
const MAX_RINGS: u32 = 3;
/// Possible distances between rings, in the unit of the map.
const STEPS: [f64; 15] = [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1_000.0, 2_000.0];

impl RingUnit {
    /// Returns the symbol of the unit.
    pub(super) fn symbol(self) -> &'static str {
        match self {
            Self::Miles => "mi",
            Self::Kilometres => "km",
        }
    }

    fn distance(self, length: f64) -> Distance {
        match self {
            Self::Miles => Distance::miles(length),
            Self::Kilometres => Distance::kilometres(length),
        }
    }

    /// Returns two or three rings with round radii of at most `farthest`; fewer if `farthest` is too short.
    pub(super) fn choose_rings(self, farthest: Distance) -> Vec<Ring> {
        let Some(step) = self.largest_step(2.0, farthest).or_else(|| self.largest_step(1.0, farthest)) else {
            return Vec::new();
        };
        let lengths = (1..=MAX_RINGS).map(|times| step * f64::from(times));
        let rings = lengths.map(|length| Ring { radius: self.distance(length), length: format_length(length) });
        rings.take_while(|ring| ring.radius <= farthest).collect()
    }

    /// Returns the largest step that fits `times` times into a distance.
    fn largest_step(self, times: f64, farthest: Distance) -> Option<f64> {
        STEPS.into_iter().rev().find(|step| self.distance(step * times) <= farthest)
    }
}

/// Formats a length without floating-point noise.
fn format_length(length: f64) -> String {
    format!("{}", (length * 100.0).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_have_round_radii_and_fit() {
        for (miles, expected) in [
            (0.01, &[][..]),
            (0.05, &["0.05"]),
            (0.7, &["0.2", "0.4", "0.6"]),
            (1.0, &["0.5", "1"]),
            (2.1, &["1", "2"]),
            (5.0, &["2", "4"]),
            (9.9, &["2", "4", "6"]),
            (10.0, &["5", "10"]),
            (12_000.0, &["2000", "4000", "6000"]),
        ] {
            let rings = RingUnit::Miles.choose_rings(Distance::miles(miles));
            let lengths: Vec<_> = rings.iter().map(|ring| ring.length.as_str()).collect();
            assert_eq!(lengths, expected, "{miles} miles");
            assert!(rings.iter().all(|ring| ring.radius <= Distance::miles(miles)));
        }
        let rings = RingUnit::Kilometres.choose_rings(Distance::kilometres(2.0));
        assert_eq!(rings.last().map(|ring| ring.radius), Some(Distance::kilometres(2.0)));
    }
}
