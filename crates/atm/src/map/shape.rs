//! The shape of a status on maps and in lists, for people who cannot distinguish the colours.

use signpost_locator::AtmStatus;

/// The shape of a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StatusShape {
    /// A filled disc.
    Open,
    /// A ring.
    Closed,
    /// A ring with a bar: closed for a while.
    Paused,
    /// A square: out of service, or gone.
    Out,
    /// A diamond.
    Unknown,
}

impl StatusShape {
    /// All shapes, in the order of the legend.
    pub const ALL: [Self; 5] = [Self::Open, Self::Closed, Self::Paused, Self::Out, Self::Unknown];

    /// Returns the shape of a status.
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

    /// Returns the class in the stylesheet.
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
