//! Advisories: notices about the law and about fraud at a place, for people who want to go to an ATM there.

mod file;
mod live;
mod row;
mod rule;
mod select;

use std::fmt;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use signpost_locator::{Country, Region};

pub use file::{FileRows, InvalidAdvisories, InvalidRow, embedded, read_rows};
pub use live::LiveAdvisories;
pub use row::MAX_WORDS;
pub use rule::{LawSpan, LawStatus, Location};
pub use select::{AdvisoryItem, AdvisorySummary, summarize};

/// All advisories. Immutable.
#[derive(Debug, Default)]
pub struct Advisories {
    rows: Vec<Advisory>,
}

/// A notice for a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Advisory {
    /// The ID. It is stable if the text changes.
    pub id: String,
    /// The subject.
    pub kind: AdvisoryKind,
    /// The area that it applies to.
    pub area: AdvisoryArea,
    /// The legislative status.
    pub status: AdvisoryStatus,
    /// The first day on which it is in force, in the time zone of the place; `None` if it has always been.
    pub effective: Option<Date>,
    /// The first day on which it is no longer in force.
    pub until: Option<Date>,
    /// The text, at most [`MAX_WORDS`] words. The first sentence is complete without the others.
    pub text: String,
    /// The text in Spanish, for pages.
    pub text_es: Option<String>,
    /// The numbers of the rule.
    pub values: AdvisoryValues,
    /// The source.
    pub source: AdvisorySource,
    /// The day on which the source was last read.
    pub checked: Date,
    /// The number of days until the source must be read again.
    pub review_days: u16,
}

/// The subject of an advisory, the most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdvisoryKind {
    /// ATMs may not be operated.
    Ban,
    /// A rule about the operator of the ATM.
    Operator,
    /// The maximum amount of a trade.
    Limit,
    /// The maximum fee.
    FeeCap,
    /// The waiting time of a trade.
    Hold,
    /// A right to a refund.
    Refund,
    /// A duty to hand out a receipt.
    Receipt,
    /// Anything else.
    Note,
    /// A method of fraud.
    Scam,
}

/// The legislative status of a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdvisoryStatus {
    /// It is proposed. Replies leave it out.
    Proposed,
    /// Others report that it is law; its text was not read.
    Reported,
    /// It is law from its effective day.
    Enacted,
    /// It is law.
    InForce,
    /// It was law. Replies leave it out.
    Repealed,
}

/// The area of an advisory: every location that matches all fields that are set.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AdvisoryArea {
    /// The country.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<Country>,
    /// The state, territory or province.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
    /// The city, in any spelling with an equal folded form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    /// Operator, brand or network of the ATM, in any spelling with an equal folded form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    /// West, south, east and north in degrees, as in `GeoJSON`. West is more than east if the box crosses the date
    /// line.
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

/// The source of an advisory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AdvisorySource {
    /// An HTTP or HTTPS URL.
    pub url: String,
    /// The title of the document.
    pub title: String,
    /// The kind of the document.
    pub class: SourceClass,
}

/// The kind of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceClass {
    /// The text of the law, or a statement of the state about it.
    Primary,
    /// A copy of the law, or of the bill that it was.
    Copy,
    /// A report about it.
    News,
}

impl Advisories {
    /// Returns the embedded advisories and those of the operator's file, which replace embedded advisories of equal
    /// ID.
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

    /// Returns all advisories, in the order of their files.
    #[must_use]
    pub fn rows(&self) -> &[Advisory] {
        &self.rows
    }
}

impl fmt::Display for AdvisoryKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(out)
    }
}

impl fmt::Display for AdvisoryStatus {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(out)
    }
}

impl AdvisoryArea {
    /// Returns the area in words, such as `Stillwater, MN`, `MN`, `GB` or `everywhere`.
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
