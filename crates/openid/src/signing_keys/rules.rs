//! Which key signs when, which are published, and when the next is due.
//!
//! The keys of one environment and algorithm are in the order of their numbers. Of those whose time has come the last
//! signs. Each function takes all of them and the time.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

/// How long a key signs.
pub const LIFETIME: SignedDuration = SignedDuration::from_hours(90 * 24);
/// How long it is published before it signs: longer than relying parties keep the list of keys.
pub const NOTICE: SignedDuration = SignedDuration::from_hours(24);
/// How long it is published after it signed last: longer than any token, and than any clock is wrong.
pub const AFTERLIFE: SignedDuration = SignedDuration::from_hours(48);
/// How long after that its public half is stored, for tokens that come back as hints.
pub const MEMORY: SignedDuration = SignedDuration::from_hours(90 * 24);
/// How long before it signs a key is stored that is to sign at once: until then every server has read it.
pub const SHORT_NOTICE: SignedDuration = SignedDuration::from_secs(10);

/// What decides when a key signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyTimes {
    /// Its place in the order.
    pub number: i64,
    /// From when on it signs.
    pub active_from: Timestamp,
}

/// What a key does at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyState {
    /// Is published, and will sign.
    Next,
    /// Signs.
    Signing,
    /// Is published, and signs no more.
    Retiring,
    /// Is known for hints alone.
    Retired,
    /// Is of no use.
    Over,
}

/// The position of the one that signs; `None` where there is none at all. Where the time of none has come, as on a server
/// whose clock is slow, the first signs.
#[must_use]
pub fn find_signer(keys: &[KeyTimes], now: Timestamp) -> Option<usize> {
    let active = keys.iter().rposition(|key| key.active_from <= now);
    active.or_else(|| (!keys.is_empty()).then_some(0))
}

/// When the key at a position stops signing, because a later one begins; `None` where no later one is there.
#[must_use]
pub fn find_end(keys: &[KeyTimes], position: usize) -> Option<Timestamp> {
    keys.iter().skip(position + 1).map(|later| later.active_from).min()
}

/// What the key at a position does.
#[must_use]
pub fn find_state(keys: &[KeyTimes], position: usize, now: Timestamp) -> KeyState {
    if find_signer(keys, now) == Some(position) {
        return KeyState::Signing;
    }
    match find_end(keys, position) {
        Some(end) if now >= end + AFTERLIFE + MEMORY => KeyState::Over,
        Some(end) if now >= end + AFTERLIFE => KeyState::Retired,
        Some(end) if now >= end => KeyState::Retiring,
        _ => KeyState::Next,
    }
}

/// Returns when the next key is to be made; `None` if there is no key yet. A key that begins further ahead than keys last was
/// made by a server whose clock was wrong. It does not count if there is another, so that the other is replaced in time.
#[must_use]
pub fn find_due(keys: &[KeyTimes], now: Timestamp) -> Option<Timestamp> {
    let last = keys.iter().rfind(|key| key.active_from <= now + LIFETIME).or(keys.last());
    last.map(|last| last.active_from + LIFETIME - NOTICE)
}

impl KeyState {
    /// Whether relying parties find it.
    #[must_use]
    pub fn is_published(self) -> bool {
        matches!(self, Self::Next | Self::Signing | Self::Retiring)
    }

    /// Its word in lists.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Next => "next",
            Self::Signing => "signing",
            Self::Retiring => "retiring",
            Self::Retired => "retired",
            Self::Over => "over",
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOUR: SignedDuration = SignedDuration::from_hours(1);

    fn at(hours: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_hours(hours)
    }

    fn keys(active: &[i64]) -> Vec<KeyTimes> {
        let key = |(number, hours): (i64, &i64)| KeyTimes { number, active_from: at(*hours) };
        (1..).zip(active).map(key).collect()
    }

    fn states(keys: &[KeyTimes], now: Timestamp) -> Vec<&'static str> {
        (0..keys.len()).map(|position| find_state(keys, position, now).as_str()).collect()
    }

    #[test]
    fn a_rotation_goes_through_all_states() {
        let pair = keys(&[0, 100]);
        for (hours, expected) in [
            (0, ["signing", "next"]),
            (99, ["signing", "next"]),
            (100, ["retiring", "signing"]),
            (147, ["retiring", "signing"]),
            (148, ["retired", "signing"]),
            (148 + 90 * 24 - 1, ["retired", "signing"]),
            (148 + 90 * 24, ["over", "signing"]),
        ] {
            assert_eq!(states(&pair, at(hours)), expected, "{hours}");
        }
    }

    #[test]
    fn one_that_is_to_sign_at_once_overtakes_one_that_waits() {
        let three = keys(&[0, 100, 50]);
        assert_eq!(states(&three, at(49)), ["signing", "next", "next"]);
        assert_eq!(states(&three, at(50)), ["retiring", "retiring", "signing"]);
        assert_eq!(states(&three, at(100)), ["retired", "retired", "signing"]);
    }

    #[test]
    fn a_key_of_a_clock_that_was_wrong_does_not_stop_the_rotation() {
        let day = 24;
        // A year ahead, then set back.
        let mut ring = keys(&[0, 365 * day]);
        assert_eq!(find_due(&ring, at(89 * day - 1)), Some(at(89 * day)));
        ring.push(KeyTimes { number: 3, active_from: at(90 * day) });
        assert_eq!(find_due(&ring, at(89 * day)), Some(at(179 * day)));
        assert_eq!(states(&ring, at(90 * day)), ["retiring", "retiring", "signing"]);
        // A server whose own clock is far behind makes no key.
        assert!(find_due(&ring, at(-400 * day)).is_some_and(|due| due > at(0)));
    }

    #[test]
    fn where_there_is_no_key_none_signs_and_none_is_due() {
        assert_eq!((find_signer(&[], at(0)), find_due(&[], at(0))), (None, None));
        assert_eq!(find_signer(&keys(&[5]), at(0)), Some(0), "on a server whose clock is slow");
    }

    /// What an operator and a server do, hour by hour: each makes a key at some hours, with one notice or the other.
    #[derive(Clone, Debug)]
    struct Made {
        at: i64,
        is_at_once: bool,
    }

    fn history() -> impl Strategy<Value = Vec<Made>> {
        prop::collection::vec((0..10_000_i64, any::<bool>()), 0..12).prop_map(|mut all| {
            all.sort_unstable();
            all.into_iter().map(|(at, is_at_once)| Made { at, is_at_once }).collect()
        })
    }

    /// The keys that are there at a time, of those that were made until then.
    fn play(history: &[Made], now: Timestamp) -> Vec<KeyTimes> {
        let first = KeyTimes { number: 1, active_from: at(0) };
        let made = history.iter().filter(|made| at(made.at) <= now).zip(2..).map(|(made, number)| {
            let notice = if made.is_at_once { SHORT_NOTICE } else { NOTICE };
            KeyTimes { number, active_from: at(made.at) + notice }
        });
        std::iter::once(first).chain(made).collect()
    }

    proptest! {
        #[test]
        fn at_any_time_one_key_signs(history in history(), now in -10..11_000_i64) {
            let keys = play(&history, at(now));
            let signing = states(&keys, at(now)).into_iter().filter(|state| *state == "signing").count();
            prop_assert_eq!(signing, 1);
        }

        #[test]
        fn what_signed_is_published_for_two_days_whatever_is_made_then(
            history in history(), now in 0..10_000_i64, later in 0..48_i64,
        ) {
            let signer = find_signer(&play(&history, at(now)), at(now)).unwrap();
            let later = at(now + later);
            prop_assert!(find_state(&play(&history, later), signer, later).is_published());
        }

        #[test]
        fn servers_whose_clocks_differ_know_each_others_signer(
            history in history(), now in 0..10_000_i64, seconds in -120..=120_i64,
        ) {
            // The one reads the same rows, with a clock that is wrong.
            let keys = play(&history, at(now));
            let wrong = at(now) + SignedDuration::from_secs(seconds);
            let signer = find_signer(&keys, wrong).unwrap();
            prop_assert!(find_state(&keys, signer, at(now)).is_published());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn by_itself_a_server_announces_each_key_a_day_before_it_signs(
            off_from in 0..10_000_i64, off_for in 0..5_000_i64,
        ) {
            let mut keys = keys(&[0]);
            for hour in 0..12_000 {
                let is_off = (off_from..off_from + off_for).contains(&hour);
                if !is_off && find_due(&keys, at(hour)).unwrap() <= at(hour) {
                    let number = keys.last().unwrap().number + 1;
                    keys.push(KeyTimes { number, active_from: at(hour) + NOTICE });
                    prop_assert_eq!(find_signer(&keys, at(hour)), Some(keys.len() - 2));
                }
                let signer = find_signer(&keys, at(hour)).unwrap();
                let age = at(hour).duration_since(keys[signer].active_from);
                prop_assert!(is_off || age <= LIFETIME + HOUR * i32::try_from(off_for).unwrap() + NOTICE);
                let published = states(&keys, at(hour)).into_iter().filter(|state| *state != "retired" && *state != "over");
                prop_assert!(published.count() <= 2);
            }
        }
    }
}
