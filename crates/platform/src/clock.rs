//! The only source of the current time; `clippy.toml` forbids all others.

use std::pin::pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use tokio::sync::Notify;

/// A clock with millisecond precision, so that a stored time equals the time that the rules used.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The clock of the operating system.
    #[default]
    System,
    /// A clock that advances only when a test advances it.
    Manual(Arc<ManualClock>),
}

/// The state of a clock that a test controls.
#[derive(Debug, Default)]
pub struct ManualClock {
    /// The current time in Unix milliseconds.
    time: AtomicI64,
    /// The elapsed time in milliseconds.
    elapsed: AtomicI64,
    /// Notified after each move.
    moved: Notify,
}

impl Clock {
    /// Creates a clock that a test controls.
    #[must_use]
    pub fn manual(at: Timestamp) -> Self {
        Self::Manual(Arc::new(ManualClock {
            time: at.as_millisecond().into(),
            elapsed: 0.into(),
            moved: Notify::new(),
        }))
    }

    /// Returns the current time, truncated to milliseconds.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the place that all others are sent to")]
    pub fn now(&self) -> Timestamp {
        let millis = match self {
            Self::System => Timestamp::now().as_millisecond(),
            Self::Manual(manual) => manual.time.load(Ordering::Relaxed),
        };
        Timestamp::from_millisecond(millis).unwrap_or_default()
    }

    /// Returns the time since the start of this process. It is monotonic and unaffected by changes
    /// of the system time, so use it to measure durations.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);
        match self {
            Self::System => STARTED.elapsed(),
            Self::Manual(manual) => Duration::from_millis(manual.elapsed.load(Ordering::Relaxed).unsigned_abs()),
        }
    }

    /// Waits for a duration. On a manual clock, advances the clock instead.
    pub async fn sleep(&self, time: Duration) {
        match self {
            Self::System => tokio::time::sleep(time).await,
            Self::Manual(_) => self.advance(SignedDuration::try_from(time).unwrap_or(SignedDuration::MAX)),
        }
    }

    /// Waits until this elapsed time of the clock. A manual clock does not move by itself: the test moves it.
    pub async fn wait_until(&self, time: Duration) {
        match self {
            Self::System => {
                while let Some(left) = time.checked_sub(self.elapsed()).filter(|left| !left.is_zero()) {
                    tokio::time::sleep(left).await;
                }
            }
            Self::Manual(manual) => loop {
                let mut moved = pin!(manual.moved.notified());
                // Registered before the comparison, so that no move is missed.
                moved.as_mut().enable();
                if self.elapsed() >= time {
                    return;
                }
                moved.await;
            },
        }
    }

    /// Advances a manual clock. Does nothing on the system clock.
    pub fn advance(&self, by: SignedDuration) {
        if let Self::Manual(manual) = self {
            let by = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
            manual.time.fetch_add(by, Ordering::Relaxed);
            manual.elapsed.fetch_add(by.max(0), Ordering::Relaxed);
            manual.moved.notify_waiters();
        }
    }

    /// Sets the time of a manual clock, as when an incorrect system clock is corrected. The elapsed
    /// time does not change.
    pub fn set(&self, at: Timestamp) {
        if let Self::Manual(manual) = self {
            manual.time.store(at.as_millisecond(), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn manual_clock_wakes_at_its_time() {
        let clock = Clock::manual(Timestamp::UNIX_EPOCH);
        let mut waiting = pin!(clock.wait_until(Duration::from_secs(2)));
        assert!(waiting.as_mut().now_or_never().is_none());
        clock.advance(SignedDuration::from_millis(1999));
        assert!(waiting.as_mut().now_or_never().is_none());
        clock.advance(SignedDuration::from_millis(1));
        assert!(waiting.now_or_never().is_some());
        assert!(clock.wait_until(Duration::from_secs(2)).now_or_never().is_some());
    }

    #[tokio::test]
    async fn system_clock_does_not_wake_early() {
        let clock = Clock::System;
        let time = clock.elapsed() + Duration::from_millis(3);
        clock.wait_until(time).await;
        assert!(clock.elapsed() >= time);
    }
}
