//! Diagnoses an installation, or an address from outside, and suggests fixes.
//!
//! Facts are collected first ([`Installation`], [`AddressProbe`]); each check is a pure function of them.

mod address;
mod address_checks;
#[cfg(test)]
mod fixture;
mod forwarding;
mod installation;
mod installation_checks;
mod mcp_checks;
mod numbers;
mod surrounding_checks;
mod surroundings;

use serde::Serialize;

pub use address::{AddressProbe, Fetched};
pub use address_checks::check_address;
pub use installation::{AdvisoriesFacts, Exposure, Installation, PlacesFacts, ServerFacts, SettingsFacts};
pub use installation_checks::check_installation;
pub use numbers::{CatalogueFacts, DatabaseFacts, DomainsFacts, EventsFacts, FailingFeed, MAX_COUNTED, MAX_NAMED};
pub use surroundings::{EndpointReached, PublicFacts, SurroundingsFacts};

/// Minimum clock error for a failure, in seconds: logins fail.
const MAX_CLOCK_SECONDS: i64 = 60;
/// Minimum clock error for a warning, in seconds.
const CLOCK_WARNING_SECONDS: i64 = 5;

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// No problem was found.
    Pass,
    /// Works, but needs attention.
    Warn,
    /// Does not work, or is not secure.
    Fail,
}

/// A check of an installation. `None` if it does not apply.
type InstallationCheck = fn(&Installation) -> Option<CheckFinding>;

/// The finding of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckFinding {
    /// The name of the check.
    pub check: &'static str,
    /// The result of the check.
    pub grade: Grade,
    /// The finding.
    pub found: String,
    /// The fix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mend: Option<String>,
}

impl Grade {
    /// Returns the word in the output.
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

    /// Grades a clock that is `off` seconds ahead of another clock.
    fn clock(off: i64, whose: &str, other: &str) -> Self {
        const CHECK: &str = "clock";
        let found = format!("{whose} clock is {off:+} s from {other}");
        let mend = "set both by NTP: codes and events carry times";
        match off.abs() {
            MAX_CLOCK_SECONDS.. => Self::fail(CHECK, found, mend),
            CLOCK_WARNING_SECONDS.. => Self::warn(CHECK, found, mend),
            _ => Self::pass(CHECK, format!("agrees with {other}")),
        }
    }
}
