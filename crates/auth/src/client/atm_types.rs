//! Types of the ATM locator's results. A member that is unknown is omitted by the service, and is
//! `None` or empty here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

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

/// All details of an ATM. Names are untrusted texts from a data source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AtmDetails {
    /// The ID of the ATM.
    pub id: u64,
    /// The name of the ATM.
    pub name: String,
    /// The status of the ATM.
    pub status: AtmStatus,
    /// The reason for the status.
    pub status_reason: String,
    /// When the status was last determined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_as_of: Option<String>,
    /// The age class of the data: `live`, `recent`, `aging`, `stale` or `never`.
    pub freshness: String,
    /// When the data was last verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified_at: Option<String>,
    /// The date when the ATM closes permanently, if announced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_date: Option<String>,
    /// The origin of the verification: `report` if it is not a data source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified_by: Option<String>,
    /// The address of the ATM on a single line.
    pub address: String,
    /// The parts of the address, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub address_parts: BTreeMap<String, String>,
    /// Latitude in degrees.
    pub lat: f64,
    /// Longitude in degrees.
    pub lon: f64,
    /// The opening hours in the syntax of OpenStreetMap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours: Option<String>,
    /// The time zone of the ATM, such as `America/Chicago`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    /// The next opening time, in local time with its UTC offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opens_at: Option<String>,
    /// The next closing time, in local time with its UTC offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closes_at: Option<String>,
    /// The operator of the ATM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    /// A notice about the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator_notice: Option<String>,
    /// The brand of the ATM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brand: Option<String>,
    /// The Wikidata ID of the brand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brand_wikidata: Option<String>,
    /// The network that the ATM belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// Whether the ATM sells coins to users: `yes` or `no`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buy: Option<String>,
    /// Whether the ATM buys coins from users: `yes` or `no`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sell: Option<String>,
    /// For each coin, whether it is supported: `yes` or `no`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub coins: BTreeMap<String, String>,
    /// The supported coins for each kind of trade.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub trades: BTreeMap<String, Value>,
    /// The supported national currencies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fiat: Vec<String>,
    /// The fees: `buyPercent`, `buyFixed`, `sellPercent`, `sellFixed` and `currency`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fees: BTreeMap<String, String>,
    /// The limits of trades: `min`, `max`, `maxDay`, `kycAbove` and `currency`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<String, String>,
    /// The identification that users need: `none`, `phone` or `id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kyc: Option<String>,
    /// The name of the shop that the ATM is located in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub located_in: Option<String>,
    /// The position of the ATM within the shop.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub placement: BTreeMap<String, String>,
    /// Whether the ATM is accessible by wheelchair: `yes` or `no`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wheelchair: Option<String>,
    /// The manufacturer and the model of the ATM.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub machine: BTreeMap<String, String>,
    /// The URLs of images of the ATM.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<String>,
    /// The telephone number of customer support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    /// The email address of customer support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The website of customer support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub website: Option<String>,
    /// The hours of customer support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub support_hours: Option<String>,
    /// A summary of the reports of visitors: `summary`, `people` per kind of report, `disputed`,
    /// `newest`, `foundThere`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reports: BTreeMap<String, Value>,
    /// A notice that users should see first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// Advisories about laws and fraud that users should see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advisories: Vec<Advisory>,
    /// The data sources of this ATM.
    pub sources: Vec<AtmSource>,
    /// The attribution lines of the data sources.
    pub attribution: Vec<String>,
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

/// A data source of an ATM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AtmSource {
    /// The name of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The ID of the ATM in the record of this source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atm_id: Option<u64>,
    /// The parts of the data that come from this source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
}
