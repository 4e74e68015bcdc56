//! What people should be told of the law and of fraud at a place before they go to a machine there.

mod file;
mod live;
mod row;
mod rule;
mod select;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use signpost_locator::{Country, Region};

pub use file::{BadAdvisories, BadRow, FileRows, embedded, read_rows};
pub use live::LiveAdvisories;
pub use row::MAX_WORDS;
pub use rule::{LawSpan, LawStanding, Spot};
pub use select::{AdvisoryItem, Telling, tell};

/// All advisories that are known, ready to be asked; never changed once read.
#[derive(Debug, Default)]
pub struct Advisories {
    rows: Vec<Advisory>,
}

/// One thing that people should be told at a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Advisory {
    /// Its name, which stays the same when its text changes.
    pub id: String,
    /// What it is about.
    pub kind: AdvisoryKind,
    /// Where it holds.
    pub area: AdvisoryArea,
    /// How far the law has come.
    pub status: AdvisoryStatus,
    /// The first day on which it holds, on the calendar of the place; always without one.
    pub effective: Option<Date>,
    /// The day on which it ends: it holds no longer.
    pub until: Option<Date>,
    /// What to say, in at most [`MAX_WORDS`] words. The first sentence stands for itself.
    pub text: String,
    /// The same in Spanish, for pages.
    pub text_es: Option<String>,
    /// The numbers of the rule.
    pub values: AdvisoryValues,
    /// Who says so.
    pub source: AdvisorySource,
    /// When somebody last read the source.
    pub checked: Date,
    /// For how many days after that it is not doubted.
    pub review_days: u16,
}

/// What an advisory is about, the weightiest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdvisoryKind {
    /// Machines may not be run.
    Ban,
    /// Something about who runs the machine.
    Operator,
    /// How much may be traded.
    Limit,
    /// How much it may cost.
    FeeCap,
    /// How long a trade must wait.
    Hold,
    /// What must be paid back to whom.
    Refund,
    /// What must be handed out.
    Receipt,
    /// Anything else.
    Note,
    /// How people are cheated.
    Scam,
}

/// How far a law has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdvisoryStatus {
    /// Somebody wants it. It is kept, and told nobody.
    Proposed,
    /// Others say that it is law; nobody has read it.
    Reported,
    /// It is law from the day on which it takes effect.
    Enacted,
    /// It is law.
    InForce,
    /// It was law. It is kept, and told nobody.
    Repealed,
}

/// Where an advisory holds: where all that is named fits; everywhere, where nothing is.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AdvisoryArea {
    /// The country.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<Country>,
    /// The state, territory or province.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
    /// The city, in any spelling that folds the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    /// Who runs the machine: its operator, brand or network, in any spelling that folds the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    /// West, south, east and north in degrees, as in `GeoJSON`; west is more than east across the date line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bbox: Option<[f64; 4]>,
}

/// The numbers of a rule, for programs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "docs/operate.md is the reference")]
pub struct AdvisoryValues {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_day: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub existing_day: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_days: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hours: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub days: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "row::optional_date")]
    pub removal_by: Option<Date>,
}

/// Who says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AdvisorySource {
    /// An `http` or `https` address.
    pub url: String,
    /// What is read there.
    pub title: String,
    /// How close it is to the law itself.
    pub class: SourceClass,
}

/// How close a source is to the law itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceClass {
    /// The text of the law, or the state's own words on it.
    Primary,
    /// A copy of the law, or of the bill that it was.
    Copy,
    /// Others who tell of it.
    News,
}

impl Advisories {
    /// Those that are part of the program, with those of the operator's file in the place of the ones of the same id.
    #[must_use]
    pub fn merged(own: Vec<Advisory>) -> Self {
        let mut rows = embedded();
        for row in own {
            match rows.iter_mut().find(|known| known.id == row.id) {
                Some(known) => *known = row,
                None => rows.push(row),
            }
        }
        Self { rows }
    }

    /// All of them, in the order of their files.
    #[must_use]
    pub fn rows(&self) -> &[Advisory] {
        &self.rows
    }
}

impl AdvisoryKind {
    /// As it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ban => "ban",
            Self::Operator => "operator",
            Self::Limit => "limit",
            Self::FeeCap => "fee_cap",
            Self::Hold => "hold",
            Self::Refund => "refund",
            Self::Receipt => "receipt",
            Self::Note => "note",
            Self::Scam => "scam",
        }
    }
}

impl AdvisoryStatus {
    /// As it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Proposed => "proposed",
            Self::Reported => "reported",
            Self::Enacted => "enacted",
            Self::InForce => "in_force",
            Self::Repealed => "repealed",
        }
    }
}

impl AdvisoryArea {
    /// As people read it: `Stillwater, MN`, `MN`, `GB`, `everywhere`.
    #[must_use]
    pub fn label(&self) -> String {
        let region = self.region.map(|region| region.code().to_owned());
        let country = self.country.map(|country| country.code().to_owned()).filter(|_| region.is_none());
        let bbox = self.bbox.map(|[west, south, east, north]| format!("{west},{south},{east},{north}"));
        let parts: Vec<_> =
            [self.operator.clone(), self.city.clone(), region, country, bbox].into_iter().flatten().collect();
        if parts.is_empty() { "everywhere".to_owned() } else { parts.join(", ") }
    }
}
