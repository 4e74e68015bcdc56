//! Diagnoses an installation, or an address from outside, and suggests fixes.
//!
//! First the facts are collected ([`Installation`], [`AddressProbe`]). Each check is a pure
//! function of these facts.

mod address;
mod address_checks;
mod database;
mod dependencies;
mod dependency_checks;
#[cfg(test)]
mod fixture;
mod forwarding;
mod installation;
mod installation_checks;
mod mcp_checks;

use serde::Serialize;

pub use address::{AddressProbe, Fetched};
pub use address_checks::check_address;
pub use database::{CatalogueFacts, DatabaseFacts, DomainsFacts, EventsFacts, FailingFeed, MAX_COUNTED, MAX_NAMED};
pub use dependencies::{DependencyFacts, EndpointReached, PublicFacts};
pub use installation::{AdvisoriesFacts, Exposure, Installation, PlacesFacts, ServerFacts, SettingsFacts};
pub use installation_checks::check_installation;

/// Minimum clock error for a failure, in seconds: logins fail.
const MAX_CLOCK_SECONDS: i64 = 60;
/// Minimum clock error for a warning, in seconds.
const CLOCK_WARNING_SECONDS: i64 = 5;

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// The check found no problem.
    Pass,
    /// The checked part works, but needs attention.
    Warn,
    /// The checked part does not work, or is not secure.
    Fail,
}

/// A check of an installation. `None` if it does not apply.
type InstallationCheck = fn(&Installation) -> Option<CheckFinding>;

/// The result of a diagnostic check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckFinding {
    /// The name of the check.
    pub check: &'static str,
    /// The severity of the result.
    pub grade: Grade,
    /// A description of the observed state.
    pub found: String,
    /// Instructions to fix the problem, if any.
    #[serde(rename = "mend", skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
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
        Self { check, grade: Grade::Pass, found: found.into(), remedy: None }
    }

    fn warn(check: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { check, grade: Grade::Warn, found: found.into(), remedy: Some(remedy.into()) }
    }

    fn fail(check: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { grade: Grade::Fail, ..Self::warn(check, found, remedy) }
    }

    /// Grades a clock that is `off` seconds ahead of another clock. `clock_name` and `other` name
    /// the clocks in the finding.
    fn clock(off: i64, clock_name: &str, other: &str) -> Self {
        const CHECK: &str = "clock";
        let found = format!("{clock_name} clock is {off:+} s from {other}");
        let remedy = "set both by NTP: codes and events carry times";
        match off.abs() {
            MAX_CLOCK_SECONDS.. => Self::fail(CHECK, found, remedy),
            CLOCK_WARNING_SECONDS.. => Self::warn(CHECK, found, remedy),
            _ => Self::pass(CHECK, format!("agrees with {other}")),
        }
    }
}
