//! ATMs of the locator. Unknown members are missing in replies and `None` here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The ATMs nearest to a place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AtmList {
    /// The ATMs, nearest first.
    pub atms: Vec<ListedAtm>,
    /// The total number of ATMs, including ATMs that are not listed.
    pub total: u64,
    /// Whether the list is incomplete.
    pub truncated: bool,
    /// The date when the newest data in the list was verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_as_of: Option<String>,
    /// The date when the oldest data in the list was verified, if it is more than a year older
    /// than the newest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest_data_as_of: Option<String>,
    /// The place that was found for the search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_location: Option<ResolvedLocation>,
    /// A notice that users should see before the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// How people report a machine that is gone or wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how_to_report: Option<String>,
    /// Advisories about laws and fraud that users should see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advisories: Vec<Advisory>,
    /// The attribution lines of the data sources.
    pub attribution: Vec<String>,
}

/// The ATMs of an area, counted by status.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AreaStatus {
    /// The number of ATMs with each status.
    pub counts: BTreeMap<String, u64>,
    /// When the ATMs were counted.
    pub as_of: String,
    /// The ATMs, nearest first.
    pub atms: Vec<ListedAtm>,
    /// The total number of ATMs, including ATMs that are not listed.
    pub total: u64,
    /// Whether the list is incomplete.
    pub truncated: bool,
    /// The date when the newest data in the list was verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_as_of: Option<String>,
    /// The date when the oldest data in the list was verified, if it is more than a year older
    /// than the newest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest_data_as_of: Option<String>,
    /// The place that was found for the search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_location: Option<ResolvedLocation>,
    /// A notice that users should see before the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// How people report a machine that is gone or wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how_to_report: Option<String>,
    /// Advisories about laws and fraud that users should see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advisories: Vec<Advisory>,
    /// The attribution lines of the data sources.
    pub attribution: Vec<String>,
}

/// A page of the ATMs of a city.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CityAtms {
    /// The ATMs, ordered by ID, with their distances from the centre of the city.
    pub atms: Vec<ListedAtm>,
    /// The total number of ATMs, including ATMs that are not listed.
    pub total: u64,
    /// Whether the list is incomplete.
    pub truncated: bool,
    /// The cursor of the next page, or `None` on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// The date when the newest data in the list was verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_as_of: Option<String>,
    /// The date when the oldest data in the list was verified, if it is more than a year older
    /// than the newest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest_data_as_of: Option<String>,
    /// A notice that users should see before the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// How people report a machine that is gone or wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how_to_report: Option<String>,
    /// Advisories about laws and fraud that users should see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advisories: Vec<Advisory>,
    /// The attribution lines of the data sources.
    pub attribution: Vec<String>,
}

/// An ATM in a list. Name, operator, address and opening hours are untrusted texts from a data
/// source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedAtm {
    /// The ID of the ATM, for [`super::Atms::get`].
    pub id: u64,
    /// The name of the ATM.
    pub name: String,
    /// The operator of the ATM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    /// The distance from the searched place as text, such as "1.2 miles".
    pub distance: String,
    /// The distance from the searched place in whole metres.
    pub distance_meters: u64,
    /// The status of the ATM.
    pub status: AtmStatus,
    /// The reason for the status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_reason: Option<String>,
    /// When the status was last determined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_as_of: Option<String>,
    /// The address of the ATM on a single line.
    pub address: String,
    /// Latitude in degrees.
    pub lat: f64,
    /// Longitude in degrees.
    pub lon: f64,
    /// The page of the ATM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The URL of a map service with directions, for the first ten machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directions: Option<String>,
    /// When a source or a report last confirmed the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_confirmed: Option<String>,
    /// The telephone number of the support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    /// `buyPercent`, `buyFixed`, `sellPercent`, `sellFixed`, `currency`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fees: BTreeMap<String, String>,
    /// `min`, `max`, `maxDay`, `kycAbove`, `currency`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<String, String>,
    /// The opening hours in the syntax of OpenStreetMap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours: Option<String>,
    /// The next opening time, in local time with its UTC offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opens_at: Option<String>,
    /// The next closing time, in local time with its UTC offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closes_at: Option<String>,
    /// A one-sentence summary of the reports of visitors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reports: Option<String>,
}

/// The status of an ATM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AtmStatus {
    /// The ATM is open now.
    Open,
    /// The ATM is closed now, outside its opening hours.
    Closed,
    /// The ATM is closed temporarily, for example for a renovation.
    TemporarilyClosed,
    /// The ATM is closed permanently.
    PermanentlyClosed,
    /// The ATM is out of service.
    OutOfService,
    /// The status is unknown.
    Unknown,
    /// A status that a later version of the service introduced.
    #[serde(untagged)]
    Other(String),
}

/// The place that was found for a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedLocation {
    /// The name of the place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The county of the place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub county: Option<String>,
    /// The state, province or other administrative division of the place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// The country of the place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// Latitude in degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lat: Option<f64>,
    /// Longitude in degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lon: Option<f64>,
    /// The name of the geocoding source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The confidence of the match, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The parts of the search text that were ignored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<String>,
    /// Other places that the search text may refer to.
    #[serde(default)]
    pub alternatives: Vec<AlternativePlace>,
}

/// Another place that a search text may refer to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlternativePlace {
    /// The name of the place.
    pub name: String,
    /// The county of the place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub county: Option<String>,
    /// The state, province or other administrative division of the place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// The country of the place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// Latitude in degrees.
    pub lat: f64,
    /// Longitude in degrees.
    pub lon: f64,
}

/// An advisory about laws or fraud at a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Advisory {
    /// The ID of the advisory.
    pub id: String,
    /// The kind of advisory, such as `ban`.
    pub kind: String,
    /// The text to show to users.
    pub text: String,
    /// The date when the advisory took effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective: Option<String>,
    /// The date when its source was last checked.
    pub checked: String,
    /// The URL of its source.
    pub source_url: String,
}
