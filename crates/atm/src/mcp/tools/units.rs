//! The unit of distances in tool replies, and their formatting.

use signpost_locator::Distance;
use signpost_mcp::{StructuredWriter, fragment};

use super::declare::{Argument, WithDefault};
use super::kinds::Choice;

/// The unit of distances in tool replies, as requested by the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Units {
    Miles,
    Kilometres,
}

pub(super) const UNITS: WithDefault<Choice<Units>> =
    Argument::new("units", "Of distances in texts", Choice(&[("miles", Units::Miles), ("km", Units::Kilometres)]))
        .or(Units::Miles);

impl Units {
    /// Formats a limit, such as `25 miles` or `1.5 miles`.
    pub(super) fn bound(self, distance: Distance) -> String {
        self.text(distance).replacen(".0 ", " ", 1)
    }

    /// Formats a distance, such as `1.2 miles`.
    pub(super) fn text(self, distance: Distance) -> String {
        let (whole, tenths, name) = self.tenths(distance);
        format!("{whole}.{tenths} {name}")
    }

    /// Writes a distance into a JSON string that was opened before.
    pub(super) fn write(self, writer: &mut StructuredWriter, distance: Distance) {
        let (whole, tenths, _) = self.tenths(distance);
        writer.number(whole);
        writer.fragment(fragment!("."));
        writer.number(tenths);
        writer.fragment(match self {
            Self::Miles => fragment!(" miles"),
            Self::Kilometres => fragment!(" km"),
        });
    }

    /// Returns the whole units and the tenths of a distance, and the name of the unit.
    fn tenths(self, distance: Distance) -> (u64, u64, &'static str) {
        let (length, name) = match self {
            Self::Miles => (distance.in_miles(), "miles"),
            Self::Kilometres => (distance.in_kilometres(), "km"),
        };
        // Formatting integers is much faster than formatting floats.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most half the way around")]
        let tenths = (length * 10.0).round() as u64;
        (tenths / 10, tenths % 10, name)
    }
}
