//! ATMs of the locator. Unknown members are missing in replies and `None` here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The machines nearest to a place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AtmList {
    /// The machines, nearest first.
    pub atms: Vec<ListedAtm>,
    /// The total number, including machines that are not listed.
    pub total: u64,
    /// Whether the list is incomplete.
    pub truncated: bool,
    /// The date of the newest listed machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_as_of: Option<String>,
    /// The date of the oldest listed machine, if it is more than a year older.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest_data_as_of: Option<String>,
    /// The place that was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_location: Option<ResolvedLocation>,
    /// A notice to show first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// Advisories about law and fraud, to be shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advisories: Vec<Advisory>,
    /// The credit lines of the sources.
    pub attribution: Vec<String>,
}

/// The machines of an area by status.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AreaStatus {
    /// The number of machines per status.
    pub counts: BTreeMap<String, u64>,
    /// Time of counting.
    pub as_of: String,
    /// The machines, nearest first.
    pub atms: Vec<ListedAtm>,
    /// The total number, including machines that are not listed.
    pub total: u64,
    /// Whether the list is incomplete.
    pub truncated: bool,
    /// The date of the newest listed machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_as_of: Option<String>,
    /// The date of the oldest listed machine, if it is more than a year older.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest_data_as_of: Option<String>,
    /// The place that was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_location: Option<ResolvedLocation>,
    /// A notice to show first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// Advisories about law and fraud, to be shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advisories: Vec<Advisory>,
    /// The credit lines of the sources.
    pub attribution: Vec<String>,
}

/// A page of a city's machines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CityAtms {
    /// The machines by ID, with distances from the city's centre.
    pub atms: Vec<ListedAtm>,
    /// The total number, including machines that are not listed.
    pub total: u64,
    /// Whether the list is incomplete.
    pub truncated: bool,
    /// The cursor of the next page; `None` on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// The date of the newest listed machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_as_of: Option<String>,
    /// The date of the oldest listed machine, if it is more than a year older.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest_data_as_of: Option<String>,
    /// A notice to show first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// Advisories about law and fraud, to be shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advisories: Vec<Advisory>,
    /// The credit lines of the sources.
    pub attribution: Vec<String>,
}

/// A machine in a list. Name, operator, address and hours are texts of a source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedAtm {
    /// The ID for [`super::Atms::get`].
    pub id: u64,
    /// Its name.
    pub name: String,
    /// Its operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    /// The distance as a text, such as "1.2 miles".
    pub distance: String,
    /// The distance in whole metres.
    pub distance_meters: u64,
    /// The status.
    pub status: AtmStatus,
    /// The reason for the status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_reason: Option<String>,
    /// Time since which the status is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_as_of: Option<String>,
    /// The address.
    pub address: String,
    /// Latitude in degrees.
    pub lat: f64,
    /// Longitude in degrees.
    pub lon: f64,
    /// The opening hours in OSM syntax.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours: Option<String>,
    /// Next opening time, local time with its offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opens_at: Option<String>,
    /// Next closing time, local time with its offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closes_at: Option<String>,
    /// A summary of the reports in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reports: Option<String>,
}

/// All details of a machine. Names are texts of a source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AtmDetails {
    /// The ID.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// The status.
    pub status: AtmStatus,
    /// The reason for the status.
    pub status_reason: String,
    /// Time since which the status is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_as_of: Option<String>,
    /// `live`, `recent`, `aging`, `stale` or `never`.
    pub freshness: String,
    /// Time of the last verification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified_at: Option<String>,
    /// The day on which it closes permanently, if its source announces one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_date: Option<String>,
    /// Origin of the verification, if it is not a source: `report`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified_by: Option<String>,
    /// The address.
    pub address: String,
    /// The parts of the address.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub address_parts: BTreeMap<String, String>,
    /// Latitude in degrees.
    pub lat: f64,
    /// Longitude in degrees.
    pub lon: f64,
    /// The opening hours in OSM syntax.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours: Option<String>,
    /// The time zone, such as `America/Chicago`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    /// Next opening time, local time with its offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opens_at: Option<String>,
    /// Next closing time, local time with its offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closes_at: Option<String>,
    /// Its operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    /// A notice of the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator_notice: Option<String>,
    /// Its brand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brand: Option<String>,
    /// The Wikidata ID of the brand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brand_wikidata: Option<String>,
    /// Its network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// Whether users can buy coins: `yes` or `no`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buy: Option<String>,
    /// Whether users can sell coins: `yes` or `no`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sell: Option<String>,
    /// The supported coins: `yes` or `no`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub coins: BTreeMap<String, String>,
    /// The supported coins by kind of trade.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub trades: BTreeMap<String, Value>,
    /// The supported currencies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fiat: Vec<String>,
    /// `buyPercent`, `buyFixed`, `sellPercent`, `sellFixed`, `currency`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fees: BTreeMap<String, String>,
    /// `min`, `max`, `maxDay`, `kycAbove`, `currency`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<String, String>,
    /// The required identification: `none`, `phone` or `id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kyc: Option<String>,
    /// The shop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub located_in: Option<String>,
    /// The place in the shop.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub placement: BTreeMap<String, String>,
    /// Whether it is accessible by wheelchair: `yes` or `no`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wheelchair: Option<String>,
    /// Its maker and model.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub machine: BTreeMap<String, String>,
    /// Its images.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<String>,
    /// The telephone number of the support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    /// The email address of the support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The website of the support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub website: Option<String>,
    /// The hours of the support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub support_hours: Option<String>,
    /// Reports of visitors: `summary`, `people` per report, `disputed`, `newest`, `foundThere`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reports: BTreeMap<String, Value>,
    /// A notice to show first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// Advisories about law and fraud, to be shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advisories: Vec<Advisory>,
    /// The sources.
    pub sources: Vec<AtmSource>,
    /// The credit lines of the sources.
    pub attribution: Vec<String>,
}

/// The status of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AtmStatus {
    /// Open.
    Open,
    /// Closed at this hour.
    Closed,
    /// Closed for some time.
    TemporarilyClosed,
    /// Closed permanently.
    PermanentlyClosed,
    /// Out of service.
    OutOfService,
    /// Unknown.
    Unknown,
    /// A value of a later version.
    #[serde(untagged)]
    Other(String),
}

/// The place that was found for a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedLocation {
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its county.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub county: Option<String>,
    /// Its state, province or other administrative division.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Its country.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// Latitude in degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lat: Option<f64>,
    /// Longitude in degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lon: Option<f64>,
    /// The name of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Confidence from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The parts of the text that were not used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<String>,
    /// Other places with this name.
    #[serde(default)]
    pub alternatives: Vec<AlternativePlace>,
}

/// Another place with this name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlternativePlace {
    /// Its name.
    pub name: String,
    /// Its county.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub county: Option<String>,
    /// Its state, province or other administrative division.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Its country.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// Latitude in degrees.
    pub lat: f64,
    /// Longitude in degrees.
    pub lon: f64,
}

/// An advisory about law or fraud at a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Advisory {
    /// The ID.
    pub id: String,
    /// The kind, such as `ban`.
    pub kind: String,
    /// The text for people.
    pub text: String,
    /// Date since which it applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective: Option<String>,
    /// Date of the last check of the source.
    pub checked: String,
    /// The URL of the source.
    pub source_url: String,
}

/// A source of a machine's data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AtmSource {
    /// The name of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The ID of its record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atm_id: Option<u64>,
    /// The parts from this source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
}
