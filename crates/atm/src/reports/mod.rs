//! Reports: observations of people at an ATM. They are evidence, not data: none of them changes or deletes a record,
//! and anonymous reports never make an ATM closed.
//!
//! This file defines a report; the other files have the rules, and are pure, except for [`sql`].

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

use crate::atm_number::AtmNumber;

pub use words::describe;

/// Period in which a report counts, from the time of the observation.
pub const REPORT_VALIDITY: SignedDuration = SignedDuration::from_hours(90 * 24);

/// Maximum age of a pending or shown report, from its submission.
pub const REPORT_RETENTION: SignedDuration = SignedDuration::from_hours(180 * 24);

/// Maximum length of the text of a report, in characters.
pub const MAX_TEXT: usize = 280;

signpost_store::ids! {
    /// The ID of a report.
    ReportId = "rep";
}

/// An observation at an ATM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// It is there, and works.
    There,
    /// It is gone.
    Gone,
    /// It is there, and does not work.
    Broken,
    /// It is somewhere else.
    WrongPlace,
    /// Its hours differ.
    WrongHours,
    /// Something else, described in the text.
    Other,
}

/// The source of an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceSource {
    /// The reporter used the ATM.
    Used,
    /// The reporter saw the ATM, or its empty place.
    Saw,
    /// The reporter asked a person there.
    Asked,
    /// The reporter phoned.
    Phoned,
}

/// The state of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportState {
    /// It waits for the moderator, and does not count until then.
    New,
    /// It is shown, and counts.
    Shown,
    /// The operator of the ATM or the moderator confirmed it: it decides.
    Accepted,
    /// The moderator rejected it.
    Rejected,
    /// Another report has an equal text.
    Duplicate,
    /// It is too old.
    Expired,
}

/// The reason for which a report requires moderation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ModerationReason {
    /// More reports came within an hour than are shown without moderation.
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

/// The weight of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(into = "u8")]
pub enum Weight {
    /// An anonymous reporter, or a user of less than a week: 1.
    Low,
    /// A user of at least a week: 3.
    High,
}

rows! {
    /// A report.
    #[derive(Clone, Debug, Serialize)]
    #[expect(missing_docs, reason = "the names are self-explanatory")]
    pub struct MachineReport in "atm_reports" by [id] {
        pub id: ReportId,
        /// The number of the ATM when the report was sent.
        pub atm_id: AtmId as AtmNumber,
        /// The operator of the ATM, folded: many reports about one operator at once need moderation.
        #[serde(skip)]
        pub operator: String,
        pub seen: Finding,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub how: Option<EvidenceSource>,
        /// When it was observed.
        pub seen_at: Timestamp,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub text: Option<String>,
        /// The hash of the folded text.
        #[serde(skip)]
        pub text_hash: Option<String>,
        /// The user of the system domain, or the operator's API key.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub reporter: Option<String>,
        pub weight: Weight,
        /// The first report of this person about this ATM. Reports with equal values count once.
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
        /// The state before the moderator decided.
        #[serde(skip)]
        pub decided_from: Option<ReportState>,
        /// The hash of the client's address, for a day.
        #[serde(skip)]
        pub address: Option<String>,
        /// The hash of the network of the address, for a day.
        #[serde(skip)]
        pub network: Option<String>,
    }
}

rows! {
    /// A person whose reports are rejected.
    #[derive(Clone, Debug, Serialize)]
    #[expect(missing_docs, reason = "the names are self-explanatory")]
    pub struct BannedReporter in "atm_report_bans" by [reporter] {
        pub reporter: String,
        pub banned_at: Timestamp,
    }
}

impl Finding {
    /// All observations, in the order of the form.
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

    /// Returns `true` if the ATM cannot be used.
    #[must_use]
    pub fn is_unusable(self) -> bool {
        matches!(self, Self::Gone | Self::Broken)
    }
}

impl EvidenceSource {
    /// All sources, in the order of the form.
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

    /// Returns `true` if the reporter was there.
    #[must_use]
    pub fn is_first_hand(self) -> bool {
        matches!(self, Self::Used | Self::Saw)
    }
}

impl ReportState {
    /// All states, from first to last.
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
