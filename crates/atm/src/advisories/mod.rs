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

/// An immutable set of advisories.
#[derive(Debug, Default)]
pub struct Advisories {
    rows: Vec<Advisory>,
}

/// A notice about the law or about fraud, for the ATMs in an area.
#[derive(Clone, Debug, PartialEq)]
pub struct Advisory {
    /// The ID. It does not change when the text changes.
    pub id: String,
    /// The subject.
    pub kind: AdvisoryKind,
    /// The area to which the advisory applies.
    pub area: AdvisoryArea,
    /// The legislative status.
    pub status: AdvisoryStatus,
    /// The first day on which the law is in force, in the time zone of the ATM; `None` if it has no known start.
    pub effective: Option<Date>,
    /// The first day on which the law is no longer in force, if it ends.
    pub until: Option<Date>,
    /// The English text, at most [`MAX_WORDS`] words. Its first sentence must be understandable without the rest.
    pub text: String,
    /// The Spanish text for pages, if there is a translation.
    pub text_es: Option<String>,
    /// The numbers of the rule, such as its limits, in a machine-readable form.
    pub values: AdvisoryValues,
    /// The source.
    pub source: AdvisorySource,
    /// The day on which the source was last read.
    pub checked: Date,
    /// The number of days until the source must be read again.
    pub review_days: u16,
}

/// The subject of an advisory, ordered by importance with the most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdvisoryKind {
    /// A law that forbids the operation of ATMs.
    Ban,
    /// A rule about the operator of the ATM.
    Operator,
    /// A maximum amount for each trade or day.
    Limit,
    /// A maximum fee.
    FeeCap,
    /// A waiting time before a trade is completed.
    Hold,
    /// A right to a refund.
    Refund,
    /// A duty of the operator to provide a receipt.
    Receipt,
    /// Any other rule.
    Note,
    /// A method of fraud.
    Scam,
}

/// The legislative status of a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdvisoryStatus {
    /// The law is only proposed. Replies omit it.
    Proposed,
    /// Secondary sources report that the law is in force, but its text was not checked.
    Reported,
    /// The law is passed and takes effect on its effective date.
    Enacted,
    /// The law is in force.
    InForce,
    /// The law was repealed. Replies omit it.
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
    /// A bounding box as in `GeoJSON`: west, south, east and north in degrees. If the box crosses the date line, west
    /// is greater than east.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bbox: Option<[f64; 4]>,
}

/// The numbers of a rule in a machine-readable form.
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

/// The published document that an advisory is based on.
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
    /// A copy of the law, or of the bill before it was passed.
    Copy,
    /// A news report about the law.
    News,
}

impl Advisories {
    /// Merges the operator's advisories into the embedded advisories. An operator's advisory replaces the embedded
    /// advisory with its ID.
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
    /// Returns the area as a short text, such as `Stillwater, MN`, `MN`, `GB` or `everywhere`.
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
