//! Reports: what people say of a machine. They are evidence, not data: none of them changes or deletes a record, and what
//! anybody may say without a name never makes a machine closed.
//!
//! This file is what a report is; the others are the rules, and pure, but for [`sql`], which remembers.

pub mod admission;
pub mod evidence;
pub mod proof;
pub mod salt;
pub mod sql;
pub mod turns;
mod words;

use anyhow::Context;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use signpost_locator::AtmId;
use signpost_store::{rows, texts};

use crate::atm_number::AtmNumber;

pub use words::describe;

/// How long a report counts, from the day on which it was seen.
pub const REPORT_COUNTS: SignedDuration = SignedDuration::from_hours(90 * 24);

/// How long a report waits or is shown, from the day on which it was sent.
pub const REPORT_LASTS: SignedDuration = SignedDuration::from_hours(180 * 24);

/// The longest text of a report, in characters.
pub const MAX_TEXT: usize = 280;

signpost_store::ids! {
    /// Names a report.
    ReportId = "rep";
}

/// What somebody found at a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// It is there, and works.
    There,
    /// It is gone.
    Gone,
    /// It is there, and does not work.
    Broken,
    /// It is somewhere else.
    WrongPlace,
    /// Its hours are others.
    WrongHours,
    /// Something else, which the text says.
    Other,
}

/// How somebody knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HowSeen {
    /// They used it.
    Used,
    /// They saw it, or its empty place.
    Saw,
    /// They asked somebody there.
    Asked,
    /// They phoned.
    Phoned,
}

/// How far a report came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportState {
    /// It waits for the moderator, and counts for nothing until then.
    New,
    /// It is shown, and counts.
    Shown,
    /// The machine's operator or the moderator says so too: it decides.
    Accepted,
    /// The moderator says that it is wrong.
    Rejected,
    /// It says what another said, in the same words.
    Duplicate,
    /// It is too old.
    Expired,
}

/// Why a report waits for the moderator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldReason {
    /// More reports came within an hour than are shown unseen.
    Flood,
    /// Many machines of one operator are said not to be usable within an hour.
    Burst,
}

/// Who says that a report is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    /// The operator of the machine, with its API key.
    Operator,
    /// Whoever runs this server.
    Moderator,
}

/// How much a report counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(into = "u8")]
pub enum Weight {
    /// Nobody knows whose it is, or the key is new: 1.
    Light,
    /// A person who logs in here, for longer than a week: 3.
    Signed,
}

rows! {
    /// A report.
    #[derive(Clone, Debug, Serialize)]
    #[expect(missing_docs, reason = "the names say it")]
    pub struct MachineReport in "atm_reports" by [id] {
        pub id: ReportId,
        /// The machine's number when it was sent.
        pub atm_id: AtmId as AtmNumber,
        /// Whose machine it is, folded: many of one operator at once are looked at by a person.
        #[serde(skip)]
        pub operator: String,
        pub seen: Seen,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub how: Option<HowSeen>,
        /// When that was seen.
        pub seen_at: Timestamp,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub text: Option<String>,
        /// The hash of the folded text.
        #[serde(skip)]
        pub text_hash: Option<String>,
        /// The user of the server's own domain, or the operator's API key.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub reporter: Option<String>,
        pub weight: Weight,
        /// The first report of whoever this is, at this machine: two of one voice count once.
        #[serde(skip)]
        pub voice: ReportId,
        #[serde(skip)]
        pub proof: Option<String>,
        pub created_at: Timestamp,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub held: Option<HoldReason>,
        pub state: ReportState,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub decided_by: Option<DecidedBy>,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub decided_at: Option<Timestamp>,
        /// The state before the moderator decided.
        #[serde(skip)]
        pub decided_from: Option<ReportState>,
        /// Hashes of the client's address and its network, for a day.
        #[serde(skip)]
        pub address: Option<String>,
        #[serde(skip)]
        pub network: Option<String>,
    }
}

rows! {
    /// Whose reports are refused.
    #[derive(Clone, Debug, Serialize)]
    #[expect(missing_docs, reason = "the names say it")]
    pub struct BannedReporter in "atm_report_bans" by [reporter] {
        pub reporter: String,
        pub banned_at: Timestamp,
    }
}

impl Seen {
    /// All of them, in the order in which people are asked.
    pub const ALL: [Self; 6] = [Self::There, Self::Gone, Self::Broken, Self::WrongPlace, Self::WrongHours, Self::Other];

    /// The word on the wire and in the database.
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

    /// Reads the word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|seen| seen.as_str() == word)
    }

    /// Whether it says that nobody can use the machine.
    #[must_use]
    pub fn is_against(self) -> bool {
        matches!(self, Self::Gone | Self::Broken)
    }
}

impl HowSeen {
    /// All of them, in the order in which people are asked.
    pub const ALL: [Self; 4] = [Self::Used, Self::Saw, Self::Asked, Self::Phoned];

    /// The word on the wire and in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Used => "used",
            Self::Saw => "saw",
            Self::Asked => "asked",
            Self::Phoned => "phoned",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|how| how.as_str() == word)
    }

    /// Whether somebody was there.
    #[must_use]
    pub fn is_first_hand(self) -> bool {
        matches!(self, Self::Used | Self::Saw)
    }
}

impl ReportState {
    /// All of them, from first to last.
    pub const ALL: [Self; 6] = [Self::New, Self::Shown, Self::Accepted, Self::Rejected, Self::Duplicate, Self::Expired];

    /// The word on the wire and in the database.
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

    /// Reads the word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }
}

impl From<Weight> for u8 {
    fn from(weight: Weight) -> Self {
        match weight {
            Weight::Light => 1,
            Weight::Signed => 3,
        }
    }
}

texts! {
    Seen: |seen| seen.as_str(), |text| Seen::parse(text).context("is nothing that anybody sees");
    HowSeen: |how| how.as_str(), |text| HowSeen::parse(text).context("is no way to know");
    ReportState: |state| state.as_str(), |text| ReportState::parse(text).context("is no state of a report");
    HoldReason: |reason| match reason { HoldReason::Flood => "flood", HoldReason::Burst => "burst" }, |text| match text {
        "flood" => Ok(HoldReason::Flood),
        "burst" => Ok(HoldReason::Burst),
        _ => anyhow::bail!("is no reason to wait"),
    };
    DecidedBy: |by| match by { DecidedBy::Operator => "operator", DecidedBy::Moderator => "moderator" }, |text| match text {
        "operator" => Ok(DecidedBy::Operator),
        "moderator" => Ok(DecidedBy::Moderator),
        _ => anyhow::bail!("is nobody who decides"),
    };
    Weight: |weight| match weight { Weight::Light => "1", Weight::Signed => "3" }, |text| match text {
        "1" => Ok(Weight::Light),
        "3" => Ok(Weight::Signed),
        _ => anyhow::bail!("is no weight"),
    };
}
