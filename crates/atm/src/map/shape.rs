//! The shapes that represent statuses on maps and in lists, so that they can be distinguished without colours.

use signpost_locator::AtmStatus;

/// A shape that represents the status of an ATM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StatusShape {
    /// A filled disc.
    Open,
    /// A ring.
    Closed,
    /// A ring with a bar, for temporarily closed ATMs.
    Paused,
    /// A square, for ATMs that are out of service or gone.
    Out,
    /// A diamond.
    Unknown,
}

impl StatusShape {
    /// All shapes, in the order of the legend.
    pub const ALL: [Self; 5] = [Self::Open, Self::Closed, Self::Paused, Self::Out, Self::Unknown];

    /// Returns the shape that represents a status.
    #[must_use]
    pub fn of(status: AtmStatus) -> Self {
        match status {
            AtmStatus::Open => Self::Open,
            AtmStatus::Closed => Self::Closed,
            AtmStatus::TemporarilyClosed => Self::Paused,
            AtmStatus::OutOfService | AtmStatus::PermanentlyClosed => Self::Out,
            AtmStatus::Unknown => Self::Unknown,
        }
    }

    /// Returns the CSS class of the shape.
    #[must_use]
    pub fn class(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
            Self::Paused => "paused",
            Self::Out => "out",
            Self::Unknown => "unknown",
        }
    }
}
