//! Windows kept in this process.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

use super::{Caller, Limit, Rate};

/// How many callers are remembered before those whose window is empty are forgotten.
const SWEEP_AT: usize = 50_000;

/// The times of the requests that passed, per limit and caller, oldest first; Unix milliseconds.
#[derive(Debug, Default)]
pub struct Local(Mutex<Windows>);

#[derive(Debug, Default)]
struct Windows {
    passed: HashMap<(Limit, Caller), Window>,
    sweep_at: usize,
}

#[derive(Debug)]
struct Window {
    length: i64,
    passed: VecDeque<i64>,
}

impl Local {
    /// Counts a request, or says how long until one will pass.
    pub(super) fn take(&self, limit: Limit, caller: &Caller, rate: Rate, now: Timestamp) -> Result<(), Duration> {
        let now = now.as_millisecond();
        let length = i64::try_from(rate.window.as_millis()).unwrap_or(i64::MAX);
        // A panic elsewhere leaves counts that are still counts.
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        windows.sweep(now);
        let window =
            windows.passed.entry((limit, caller.clone())).or_insert(Window { length, passed: VecDeque::new() });
        window.forget(now);
        match window.passed.front() {
            Some(oldest) if window.passed.len() >= rate.count as usize => {
                Err(Duration::from_millis((oldest + length - now).unsigned_abs()))
            }
            _ => {
                window.passed.push_back(now);
                Ok(())
            }
        }
    }
}

impl Local {
    /// The last request of a caller did not pass after all.
    pub(super) fn give_back(&self, limit: Limit, caller: &Caller) {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(window) = windows.passed.get_mut(&(limit, caller.clone())) {
            window.passed.pop_back();
        }
    }
}

impl Windows {
    /// Keeps memory bounded by the requests of one window, however many addresses they come from. Doubling the mark
    /// while all of them are busy keeps the work per request constant.
    fn sweep(&mut self, now: i64) {
        if self.passed.len() < self.sweep_at.max(SWEEP_AT) {
            return;
        }
        self.passed.retain(|_, window| {
            window.forget(now);
            !window.passed.is_empty()
        });
        self.sweep_at = self.passed.len() * 2;
    }
}

impl Window {
    fn forget(&mut self, now: i64) {
        while self.passed.front().is_some_and(|passed| passed + self.length <= now) {
            self.passed.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millisecond(1_700_000_000_000 + millis).unwrap()
    }

    fn caller(name: &str) -> Caller {
        Caller::Account(name.to_owned())
    }

    const RATE: Rate = Rate { count: 3, window: Duration::from_mins(1) };

    #[test]
    fn the_window_slides_and_refused_requests_do_not_count() {
        let windows = Local::default();
        let take = |millis| windows.take(Limit::Verify, &caller("a"), RATE, at(millis));
        assert_eq!([take(0), take(20_000), take(40_000)], [Ok(()); 3]);
        assert_eq!(take(59_999), Err(Duration::from_millis(1)));
        assert_eq!(take(60_000), Ok(()));
        assert_eq!(take(60_001), Err(Duration::from_millis(19_999)));
        assert_eq!(take(80_000), Ok(()));
    }

    #[test]
    fn what_is_given_back_was_not_counted() {
        let windows = Local::default();
        for millis in 0..10 {
            assert_eq!(windows.take(Limit::Verify, &caller("a"), RATE, at(millis)), Ok(()));
            windows.give_back(Limit::Verify, &caller("a"));
        }
        windows.give_back(Limit::Verify, &caller("nobody"));
    }

    #[test]
    fn callers_and_limits_are_counted_apart() {
        let windows = Local::default();
        for _ in 0..3 {
            assert_eq!(windows.take(Limit::Verify, &caller("a"), RATE, at(0)), Ok(()));
        }
        assert!(windows.take(Limit::Verify, &caller("a"), RATE, at(1)).is_err());
        assert_eq!(windows.take(Limit::Verify, &caller("b"), RATE, at(1)), Ok(()));
        assert_eq!(windows.take(Limit::Domains, &caller("a"), RATE, at(1)), Ok(()));
    }

    #[test]
    fn addresses_that_went_quiet_are_forgotten() {
        let windows = Local::default();
        for number in 0..SWEEP_AT {
            windows.take(Limit::Mcp, &caller(&number.to_string()), RATE, at(0)).unwrap();
        }
        windows.take(Limit::Mcp, &caller("late"), RATE, at(60_000)).unwrap();
        assert_eq!(windows.0.lock().unwrap().passed.len(), 1);
    }
}
