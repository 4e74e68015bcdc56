//! The only place that asks what time it is; `clippy.toml` forbids every other.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

/// Where the time comes from. Whole milliseconds: what the database keeps is what the rules saw.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The machine's own.
    #[default]
    System,
    /// Stands still until a test moves it.
    Manual(Arc<Manual>),
}

/// A clock that a test moves.
#[derive(Debug, Default)]
pub struct Manual {
    /// What it shows; Unix milliseconds.
    shown: AtomicI64,
    /// How long it has run; milliseconds.
    run: AtomicI64,
}

impl Clock {
    /// A clock that stands still at `at`.
    #[must_use]
    pub fn manual(at: Timestamp) -> Self {
        Self::Manual(Arc::new(Manual { shown: at.as_millisecond().into(), run: 0.into() }))
    }

    /// The time, in whole milliseconds.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the place that all others are sent to")]
    pub fn now(&self) -> Timestamp {
        let millis = match self {
            Self::System => Timestamp::now().as_millisecond(),
            Self::Manual(manual) => manual.shown.load(Ordering::Relaxed),
        };
        Timestamp::from_millisecond(millis).unwrap_or_default()
    }

    /// How long the clock has run. It never goes back and never jumps, whatever the time of day is set to: what is only
    /// about how long something lasts is measured with it.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);
        match self {
            Self::System => STARTED.elapsed(),
            Self::Manual(manual) => Duration::from_millis(manual.run.load(Ordering::Relaxed).unsigned_abs()),
        }
    }

    /// Returns once this much time has passed: the system's clock is waited for, a manual one is moved.
    pub async fn sleep(&self, time: Duration) {
        match self {
            Self::System => tokio::time::sleep(time).await,
            Self::Manual(_) => self.advance(SignedDuration::try_from(time).unwrap_or(SignedDuration::MAX)),
        }
    }

    /// Lets time pass on a manual clock; the system's cannot be moved.
    pub fn advance(&self, by: SignedDuration) {
        if let Self::Manual(manual) = self {
            let by = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
            manual.shown.fetch_add(by, Ordering::Relaxed);
            manual.run.fetch_add(by.max(0), Ordering::Relaxed);
        }
    }

    /// Sets what a manual clock shows, as who corrects a wrong clock does: no time passes.
    pub fn set(&self, at: Timestamp) {
        if let Self::Manual(manual) = self {
            manual.shown.store(at.as_millisecond(), Ordering::Relaxed);
        }
    }
}
