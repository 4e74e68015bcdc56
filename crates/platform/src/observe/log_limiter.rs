//! Limits the rate of log lines that clients can cause.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Minimum interval between two log lines of a kind.
const MIN_INTERVAL: Duration = Duration::from_mins(1);

/// The time of the last log line of each of `N` kinds, by
/// [`Clock::elapsed`](crate::clock::Clock::elapsed).
#[derive(Debug)]
pub struct LogLimiter<const N: usize>(Mutex<[Option<Duration>; N]>);

impl<const N: usize> LogLimiter<N> {
    /// Returns `true` if a line of this kind may be logged now, and records the time. Returns
    /// `false` for an unknown kind.
    #[must_use]
    pub fn is_due(&self, kind: usize, now: Duration) -> bool {
        let mut logged = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(last) = logged.get_mut(kind) else { return false };
        let is_due = last.is_none_or(|last| now >= last + MIN_INTERVAL);
        if is_due {
            *last = Some(now);
        }
        is_due
    }
}

impl<const N: usize> Default for LogLimiter<N> {
    fn default() -> Self {
        Self(Mutex::new([None; N]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_logged_once_a_minute() {
        let (limiter, minute) = (LogLimiter::<2>::default(), MIN_INTERVAL);
        for kind in [0, 1] {
            assert!(limiter.is_due(kind, minute) && !limiter.is_due(kind, Duration::from_millis(119_999)));
            assert!(limiter.is_due(kind, minute * 2));
        }
        assert!(!limiter.is_due(2, minute));
    }
}
