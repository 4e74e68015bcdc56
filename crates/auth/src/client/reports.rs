//! Types of the calls that report or submit ATMs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A report about an ATM to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewReport {
    /// The state of the ATM. [`Finding::Other`] requires a text.
    pub seen: Finding,
    /// How the reporter knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how: Option<FindingSource>,
    /// The time of the finding in RFC 3339, within the last 90 days, by default now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// A note for the moderator, at most 280 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// A proof of work, if the service requires one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pow: Option<String>,
}

/// A state of an ATM that a report describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// The ATM is there and works.
    There,
    /// The ATM was removed.
    Gone,
    /// The ATM does not work.
    Broken,
    /// The ATM has another address.
    WrongPlace,
    /// The ATM has other opening hours.
    WrongHours,
    /// Another state, which the text describes.
    Other,
}

/// The source of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingSource {
    /// The reporter used the ATM.
    Used,
    /// The reporter saw the ATM.
    Saw,
    /// The reporter asked on site.
    Asked,
    /// The reporter phoned.
    Phoned,
}

/// A report about an ATM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineReport {
    /// The report ID.
    pub id: String,
    /// The ID of the ATM.
    pub atm_id: u64,
    /// The reported state.
    pub seen: Finding,
    /// How the reporter knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how: Option<FindingSource>,
    /// The time of the finding.
    pub at: String,
    /// The state of the report.
    pub state: ReportState,
    /// The weight: 3 for the ATM's operator, 1 for others.
    pub weight: u8,
    /// When the report was received.
    pub created_at: String,
    /// `true` in the sandbox, which stores nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
}

/// The state of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReportState {
    /// Received.
    New,
    /// Shown with the ATM.
    Shown,
    /// Accepted by a moderator.
    Accepted,
    /// Rejected by a moderator.
    Rejected,
    /// A repetition of another report.
    Duplicate,
    /// Too old to be shown.
    Expired,
    /// A state that a later version of the service introduced.
    #[serde(untagged)]
    Other(String),
}

/// The ATMs of an operator, in the format that operators push to directories.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submission {
    /// The ATMs, 1 to 25,000. Only coordinates are required.
    pub locations: Vec<Map<String, Value>>,
}

/// The result of a submission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportOutcome {
    /// The source that the ATMs belong to.
    pub source: String,
    /// `true` in the sandbox, which stores nothing.
    pub dry_run: bool,
    /// The number of new ATMs.
    pub added: u64,
    /// The number of changed ATMs.
    pub changed: u64,
    /// The number of unchanged ATMs.
    pub unchanged: u64,
    /// The number of removed ATMs.
    pub removed: u64,
    /// The number of locations that are not Bitcoin ATMs.
    pub filtered: u64,
    /// The locations that could not be imported.
    pub skipped: FirstOf<SkippedLocation>,
    /// The fields that could not be parsed, and are stored as unknown.
    pub doubts: FirstOf<DoubtfulField>,
    /// The dates of the ATMs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dates: Option<DateRange>,
    /// The members of the locations, with their meaning.
    pub columns: BTreeMap<String, String>,
    /// The members of the locations that were ignored.
    pub unused_columns: FirstOf<String>,
    /// The members with dates that were not used, if there are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unused_dates: Vec<String>,
}

/// A list without the entries after its first entries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstOf<T> {
    /// The number of all entries.
    pub total: u64,
    /// The first entries.
    pub first: Vec<T>,
}

/// A location that could not be imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedLocation {
    /// The position in `locations`, from 1.
    pub item: u64,
    /// The reason.
    pub reason: String,
}

/// A field that could not be parsed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoubtfulField {
    /// The position in `locations`, from 1.
    pub item: u64,
    /// The name of the field.
    pub field: String,
    /// The value.
    pub value: String,
    /// The reason.
    pub reason: String,
}

/// The dates of submitted ATMs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DateRange {
    /// The newest date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newest: Option<String>,
    /// The oldest date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest: Option<String>,
    /// The number of ATMs without a date.
    pub undated: u64,
}

impl NewReport {
    /// Creates a report of this state, without further details.
    #[must_use]
    pub fn of(seen: Finding) -> Self {
        Self { seen, how: None, at: None, text: None, pow: None }
    }
}
