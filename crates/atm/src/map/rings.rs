//! Rings of distance around the middle of a map.

use signpost_locator::Distance;

/// The unit in which rings are whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RingUnit {
    /// International miles.
    Miles,
    /// Kilometres.
    Kilometres,
}

/// A ring of distance.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ring {
    pub(super) radius: Distance,
    /// In its unit, as it is written: `0.5`, `20`.
    pub(super) length: String,
}

/// How many rings a map has at most.
const MOST_RINGS: u32 = 3;
/// How far apart rings may be, in their unit.
const STEPS: [f64; 15] = [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1_000.0, 2_000.0];

impl RingUnit {
    /// The unit as it is written behind a number.
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

    /// Two or three rings at round distances, the widest of them at most this far from the middle; one or none where that
    /// is nearer than any.
    pub(super) fn choose_rings(self, farthest: Distance) -> Vec<Ring> {
        let fits = |times: u32| move |step: &&f64| self.distance(**step * f64::from(times)) <= farthest;
        let step = STEPS.iter().rev().find(fits(2)).or_else(|| STEPS.iter().rev().find(fits(1)));
        let Some(step) = step else { return Vec::new() };
        let lengths = (1..=MOST_RINGS).map(|times| step * f64::from(times));
        let rings = lengths.map(|length| Ring { radius: self.distance(length), length: written(length) });
        rings.take_while(|ring| ring.radius <= farthest).collect()
    }
}

/// A length without the noise of its last bits.
fn written(length: f64) -> String {
    format!("{}", (length * 100.0).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_are_round_and_fit() {
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
