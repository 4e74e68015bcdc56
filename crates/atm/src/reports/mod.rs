//! User reports: observations of people at an ATM. They are evidence, not data. No report changes or deletes a record,
//! and anonymous reports cannot close an ATM.
//!
//! This module defines the types of a report. The submodules contain the rules as pure functions, and the database
//! access in [`sql`].

pub mod admission;
pub mod evidence;
pub mod proof;
pub mod salt;
pub mod slots;
pub mod sql;
mod words;

use anyhow::Context;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use signpost_locator::AtmId;
use signpost_store::{rows, text_columns};

use crate::atm_number::AtmIdColumn;

pub use words::describe;

/// Period of validity of a report after the observation.
pub const REPORT_VALIDITY: SignedDuration = SignedDuration::from_hours(90 * 24);

/// Maximum age of a pending or shown report since its submission.
pub const REPORT_RETENTION: SignedDuration = SignedDuration::from_hours(180 * 24);

/// Maximum length of the text of a report, in characters.
pub const MAX_TEXT: usize = 280;

signpost_store::ids! {
    /// The ID of a report.
    ReportId = "rep";
}

/// The finding of a reporter at an ATM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// The ATM exists and works.
    There,
    /// The ATM is gone.
    Gone,
    /// The ATM exists but does not work.
    Broken,
    /// The ATM is at another location.
    WrongPlace,
    /// The ATM has other opening hours.
    WrongHours,
    /// Any other finding, described in the text of the report.
    Other,
}

/// How a reporter made an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceSource {
    /// The reporter used the ATM.
    Used,
    /// The reporter saw the ATM, or that it is missing.
    Saw,
    /// The reporter asked a person at the location.
    Asked,
    /// The reporter phoned the location.
    Phoned,
}

/// The moderation state of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportState {
    /// The report waits for the moderator and does not count yet.
    New,
    /// The report is shown and counts.
    Shown,
    /// The operator of the ATM or the moderator confirmed the report, so it is a decision.
    Accepted,
    /// The moderator rejected the report.
    Rejected,
    /// The report does not count, because another report has an equal text.
    Duplicate,
    /// The report is too old to count.
    Expired,
}

/// The reason why a report requires moderation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ModerationReason {
    /// The hourly limit of reports without moderation is exceeded.
    Flood,
    /// Many ATMs of one operator were reported as unusable within an hour.
    Burst,
}

/// The role that confirmed a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    /// The operator of the ATM, with its API key.
    Operator,
    /// The operator of this server.
    Moderator,
}

/// The weight of a report as evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(into = "u8")]
pub enum Weight {
    /// The weight 1, for an anonymous reporter or an account that is less than a week old.
    Low,
    /// The weight 3, for an account that is at least a week old.
    High,
}

rows! {
    /// A report about an ATM.
    #[derive(Clone, Debug, Serialize)]
    #[expect(missing_docs, reason = "the names are self-explanatory")]
    pub struct MachineReport in "atm_reports" by [id] {
        pub id: ReportId,
        /// The ID of the ATM at the time of the report.
        pub atm_id: AtmId as AtmIdColumn,
        /// The folded name of the ATM's operator, used to detect many reports about one operator.
        #[serde(skip)]
        pub operator: String,
        pub seen: Finding,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub how: Option<EvidenceSource>,
        /// The time of the observation.
        pub seen_at: Timestamp,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub text: Option<String>,
        /// The hash of the folded text.
        #[serde(skip)]
        pub text_hash: Option<String>,
        /// The user ID on the system domain, or the ID of the operator's API key.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub reporter: Option<String>,
        pub weight: Weight,
        /// The ID of the first report by this person about this ATM. Reports with equal values count only once.
        #[serde(skip)]
        pub voice: ReportId,
        #[serde(skip)]
        pub proof: Option<String>,
        pub created_at: Timestamp,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub held: Option<ModerationReason>,
        pub state: ReportState,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub decided_by: Option<DecidedBy>,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub decided_at: Option<Timestamp>,
        /// The state before the moderator's decision.
        #[serde(skip)]
        pub decided_from: Option<ReportState>,
        /// The salted hash of the client address, deleted after a day.
        #[serde(skip)]
        pub address: Option<String>,
        /// The salted hash of the client's network, deleted after a day.
        #[serde(skip)]
        pub network: Option<String>,
    }
}

rows! {
    /// A reporter who is banned from sending reports.
    #[derive(Clone, Debug, Serialize)]
    #[expect(missing_docs, reason = "the names are self-explanatory")]
    pub struct BannedReporter in "atm_report_bans" by [reporter] {
        pub reporter: String,
        pub banned_at: Timestamp,
    }
}

impl Finding {
    /// All findings, in the order of the report form.
    pub const ALL: [Self; 6] = [Self::There, Self::Gone, Self::Broken, Self::WrongPlace, Self::WrongHours, Self::Other];

    /// Returns the word in the API and in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::There => "there",
            Self::Gone => "gone",
            Self::Broken => "broken",
            Self::WrongPlace => "wrong_place",
            Self::WrongHours => "wrong_hours",
            Self::Other => "other",
        }
    }

    /// Parses the word in the API and in the database.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|seen| seen.as_str() == word)
    }

    /// Returns `true` if the finding means that the ATM cannot be used.
    #[must_use]
    pub fn is_unusable(self) -> bool {
        matches!(self, Self::Gone | Self::Broken)
    }
}

impl EvidenceSource {
    /// All sources, in the order of the report form.
    pub const ALL: [Self; 4] = [Self::Used, Self::Saw, Self::Asked, Self::Phoned];

    /// Returns the word in the API and in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Used => "used",
            Self::Saw => "saw",
            Self::Asked => "asked",
            Self::Phoned => "phoned",
        }
    }

    /// Parses the word in the API and in the database.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|how| how.as_str() == word)
    }

    /// Returns `true` if the reporter was at the location.
    #[must_use]
    pub fn is_first_hand(self) -> bool {
        matches!(self, Self::Used | Self::Saw)
    }
}

impl ReportState {
    /// All states, in the order of their lifecycle.
    pub const ALL: [Self; 6] = [Self::New, Self::Shown, Self::Accepted, Self::Rejected, Self::Duplicate, Self::Expired];

    /// Returns the word in the API and in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Shown => "shown",
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Duplicate => "duplicate",
            Self::Expired => "expired",
        }
    }

    /// Parses the word in the API and in the database.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }
}

impl From<Weight> for u8 {
    fn from(weight: Weight) -> Self {
        match weight {
            Weight::Low => 1,
            Weight::High => 3,
        }
    }
}

text_columns! {
    Finding: |seen| seen.as_str(), |text| Finding::parse(text).context("is not a finding");
    EvidenceSource: |how| how.as_str(), |text| EvidenceSource::parse(text).context("is not an evidence source");
    ReportState: |state| state.as_str(), |text| ReportState::parse(text).context("is not a report state");
    ModerationReason: |reason| match reason { ModerationReason::Flood => "flood", ModerationReason::Burst => "burst" }, |text| match text {
        "flood" => Ok(ModerationReason::Flood),
        "burst" => Ok(ModerationReason::Burst),
        _ => anyhow::bail!("is not a moderation reason"),
    };
    DecidedBy: |by| match by { DecidedBy::Operator => "operator", DecidedBy::Moderator => "moderator" }, |text| match text {
        "operator" => Ok(DecidedBy::Operator),
        "moderator" => Ok(DecidedBy::Moderator),
        _ => anyhow::bail!("is not a moderator"),
    };
    Weight: |weight| match weight { Weight::Low => "1", Weight::High => "3" }, |text| match text {
        "1" => Ok(Weight::Low),
        "3" => Ok(Weight::High),
        _ => anyhow::bail!("is not a weight"),
    };
}
