//! The only place that asks what time it is; `clippy.toml` forbids every other.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::{SignedDuration, Timestamp};

/// Where the time comes from. Whole milliseconds: what the database keeps is what the rules saw.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The machine's own.
    #[default]
    System,
    /// Stands still until a test moves it; Unix milliseconds.
    Manual(Arc<AtomicI64>),
}

impl Clock {
    /// A clock that stands still at `at`.
    #[must_use]
    pub fn manual(at: Timestamp) -> Self {
        Self::Manual(Arc::new(AtomicI64::new(at.as_millisecond())))
    }

    /// The time, in whole milliseconds.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the place that all others are sent to")]
    pub fn now(&self) -> Timestamp {
        let millis = match self {
            Self::System => Timestamp::now().as_millisecond(),
            Self::Manual(millis) => millis.load(Ordering::Relaxed),
        };
        Timestamp::from_millisecond(millis).unwrap_or_default()
    }

    /// Moves a manual clock; the system's cannot be moved.
    pub fn advance(&self, by: SignedDuration) {
        if let Self::Manual(millis) = self {
            millis.fetch_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX), Ordering::Relaxed);
        }
    }
}
