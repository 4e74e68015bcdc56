//! The only source of the time; `clippy.toml` forbids others.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

/// A clock with whole milliseconds, so that stored times equal those that the rules used.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The clock of the system.
    #[default]
    System,
    /// A clock for tests, moved only by the test.
    Manual(Arc<ManualClock>),
}

/// A clock that a test moves.
#[derive(Debug, Default)]
pub struct ManualClock {
    /// The time, in Unix milliseconds.
    time: AtomicI64,
    /// The elapsed time, in milliseconds.
    elapsed: AtomicI64,
}

impl Clock {
    /// Creates a manual clock.
    #[must_use]
    pub fn manual(at: Timestamp) -> Self {
        Self::Manual(Arc::new(ManualClock { time: at.as_millisecond().into(), elapsed: 0.into() }))
    }

    /// Returns the time, in whole milliseconds.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the place that all others are sent to")]
    pub fn now(&self) -> Timestamp {
        let millis = match self {
            Self::System => Timestamp::now().as_millisecond(),
            Self::Manual(manual) => manual.time.load(Ordering::Relaxed),
        };
        Timestamp::from_millisecond(millis).unwrap_or_default()
    }

    /// Returns the elapsed time of the clock. It is monotonic and independent of changes of the system time, so
    /// durations are measured with it.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);
        match self {
            Self::System => STARTED.elapsed(),
            Self::Manual(manual) => Duration::from_millis(manual.elapsed.load(Ordering::Relaxed).unsigned_abs()),
        }
    }

    /// Waits for this time with the clock of the system; moves a manual clock.
    pub async fn sleep(&self, time: Duration) {
        match self {
            Self::System => tokio::time::sleep(time).await,
            Self::Manual(_) => self.advance(SignedDuration::try_from(time).unwrap_or(SignedDuration::MAX)),
        }
    }

    /// Moves a manual clock. Has no effect on the clock of the system.
    pub fn advance(&self, by: SignedDuration) {
        if let Self::Manual(manual) = self {
            let by = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
            manual.time.fetch_add(by, Ordering::Relaxed);
            manual.elapsed.fetch_add(by.max(0), Ordering::Relaxed);
        }
    }

    /// Sets the time of a manual clock, like a correction of a wrong clock: no time elapses.
    pub fn set(&self, at: Timestamp) {
        if let Self::Manual(manual) = self {
            manual.time.store(at.as_millisecond(), Ordering::Relaxed);
        }
    }
}
