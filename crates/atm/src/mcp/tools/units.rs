//! The unit of distances in texts.

use signpost_locator::Distance;

use super::declare::{Argument, WithDefault};
use super::kinds::Choice;

/// The unit of distances in texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Units {
    Miles,
    Kilometres,
}

pub(super) const UNITS: WithDefault<Choice<Units>> = Argument::new(
    "units",
    "The unit of distances in texts; arguments are always in miles",
    Choice(&[("miles", Units::Miles), ("km", Units::Kilometres)]),
)
.or(Units::Miles);

impl Units {
    /// A distance as people read it: `1.2 miles`.
    pub(super) fn text(self, distance: Distance) -> String {
        let (length, name) = match self {
            Self::Miles => (distance.in_miles(), "miles"),
            Self::Kilometres => (distance.in_kilometres(), "km"),
        };
        // Whole numbers are much cheaper to write than fractions.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most half the way around")]
        let tenths = (length * 10.0).round() as u64;
        format!("{}.{} {name}", tenths / 10, tenths % 10)
    }
}
