//! What is wrong with an installation, or with an address as it looks from outside, and how to mend it.
//!
//! Facts are collected first ([`Installation`], [`Visit`]); each check is a pure function over them.

mod around_it;
mod forwarding;
mod from_outside;
mod installation;
mod numbers;
mod on_this_machine;
mod protocol;
#[cfg(test)]
mod sound;
mod surroundings;
mod visit;

use serde::Serialize;

pub use from_outside::check_visit;
pub use installation::{AdvisoriesSeen, Exposure, Installation, PlacesSeen, ServerSeen, SettingsSeen};
pub use numbers::{CatalogueSeen, DatabaseSeen, DomainsSeen, EventsSeen, FeedFailing, MOST_COUNTED, MOST_NAMED};
pub use on_this_machine::check_installation;
pub use surroundings::{EndpointReached, PublicSeen, SurroundingsSeen};
pub use visit::{Fetched, Visit};

/// How many seconds a clock may be off before logins fail.
const MAX_CLOCK_SECONDS: i64 = 60;
/// How many before somebody should look at it.
const NOTED_CLOCK_SECONDS: i64 = 5;

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// All is well.
    Pass,
    /// It works, and somebody should look at it.
    Warn,
    /// It does not work, or is not safe.
    Fail,
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckFinding {
    /// What was checked, in a word or two.
    pub check: &'static str,
    /// How it ended.
    pub grade: Grade,
    /// What was found.
    pub found: String,
    /// How to mend it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mend: Option<String>,
}

impl Grade {
    /// The word in the output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

impl CheckFinding {
    fn pass(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, grade: Grade::Pass, found: found.into(), mend: None }
    }

    fn warn(check: &'static str, found: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { check, grade: Grade::Warn, found: found.into(), mend: Some(mend.into()) }
    }

    fn fail(check: &'static str, found: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { grade: Grade::Fail, ..Self::warn(check, found, mend) }
    }

    /// What there is to say of a clock that is so many seconds ahead of another one.
    fn clock(off: i64, whose: &str, other: &str) -> Self {
        const CHECK: &str = "clock";
        let found = format!("{whose} clock is {off:+} s from {other}");
        let mend = "set both by NTP: codes and events carry times";
        match off.abs() {
            MAX_CLOCK_SECONDS.. => Self::fail(CHECK, found, mend),
            NOTED_CLOCK_SECONDS.. => Self::warn(CHECK, found, mend),
            _ => Self::pass(CHECK, format!("agrees with {other}")),
        }
    }
}
