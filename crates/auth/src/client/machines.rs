//! ATMs as the locator describes them; members that nobody knows are left out there, and none here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The machines nearest to a place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AtmList {
    /// The nearest first.
    pub atms: Vec<ListedAtm>,
    /// How many there are, listed or not.
    pub total: u64,
    /// Whether some are not listed.
    pub truncated: bool,
    /// The time of the newest report or check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_as_of: Option<String>,
    /// How the place was understood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_location: Option<ResolvedLocation>,
    /// What to tell people first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// The law and fraud there: tell people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advisories: Vec<Advisory>,
    /// The credit lines of the sources.
    pub attribution: Vec<String>,
}

/// The machines of an area by their status.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AreaStatus {
    /// How many machines have each status.
    pub counts: BTreeMap<String, u64>,
    /// When they were counted.
    pub as_of: String,
    /// The nearest first.
    pub atms: Vec<ListedAtm>,
    /// How many there are, listed or not.
    pub total: u64,
    /// Whether some are not listed.
    pub truncated: bool,
    /// The time of the newest report or check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_as_of: Option<String>,
    /// How the place was understood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_location: Option<ResolvedLocation>,
    /// What to tell people first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// The law and fraud there: tell people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advisories: Vec<Advisory>,
    /// The credit lines of the sources.
    pub attribution: Vec<String>,
}

/// A page of a city's machines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CityAtms {
    /// By id; distances are from the city's centre.
    pub atms: Vec<ListedAtm>,
    /// How many there are, listed or not.
    pub total: u64,
    /// Whether some are not listed.
    pub truncated: bool,
    /// Where the next page begins; none on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// The time of the newest report or check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_as_of: Option<String>,
    /// What to tell people first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// The law and fraud there: tell people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advisories: Vec<Advisory>,
    /// The credit lines of the sources.
    pub attribution: Vec<String>,
}

/// A machine in a list. Name, operator, address and hours are a source's words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedAtm {
    /// What [`super::Atms::get`] takes.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// Who runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    /// In words, such as "1.2 miles".
    pub distance: String,
    /// In whole metres.
    pub distance_meters: u64,
    /// Whether it can be used.
    pub status: AtmStatus,
    /// Why it has this status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_reason: Option<String>,
    /// Since when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_as_of: Option<String>,
    /// Where it stands.
    pub address: String,
    /// Latitude in degrees.
    pub lat: f64,
    /// Longitude in degrees.
    pub lon: f64,
    /// In OSM syntax.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours: Option<String>,
    /// When it opens, local time with its offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opens_at: Option<String>,
    /// When it closes, local time with its offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closes_at: Option<String>,
    /// What people report of it, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reports: Option<String>,
}

/// A whole record. What people call things are a source's words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AtmDetails {
    /// The number.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// Whether it can be used.
    pub status: AtmStatus,
    /// Why it has this status.
    pub status_reason: String,
    /// Since when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_as_of: Option<String>,
    /// `live`, `recent`, `aging`, `stale` or `never`.
    pub freshness: String,
    /// When somebody last checked it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified_at: Option<String>,
    /// By what, where not by a source: `report`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified_by: Option<String>,
    /// Where it stands.
    pub address: String,
    /// The same in parts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub address_parts: BTreeMap<String, String>,
    /// Latitude in degrees.
    pub lat: f64,
    /// Longitude in degrees.
    pub lon: f64,
    /// In OSM syntax.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours: Option<String>,
    /// Where its clock is, such as `America/Chicago`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    /// When it opens, local time with its offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opens_at: Option<String>,
    /// When it closes, local time with its offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closes_at: Option<String>,
    /// Who runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    /// What the operator says of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator_notice: Option<String>,
    /// Its brand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brand: Option<String>,
    /// Which that is at Wikidata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brand_wikidata: Option<String>,
    /// Which network it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// Whether it sells coins to people: `yes` or `no`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buy: Option<String>,
    /// Whether it buys coins from people: `yes` or `no`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sell: Option<String>,
    /// Which coins it deals in: `yes` or `no`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub coins: BTreeMap<String, String>,
    /// The same by what it does with them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub trades: BTreeMap<String, Value>,
    /// Which currencies it deals in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fiat: Vec<String>,
    /// `buyPercent`, `buyFixed`, `sellPercent`, `sellFixed`, `currency`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fees: BTreeMap<String, String>,
    /// `min`, `max`, `maxDay`, `kycAbove`, `currency`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<String, String>,
    /// What it asks of people: `none`, `phone` or `id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kyc: Option<String>,
    /// In which shop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub located_in: Option<String>,
    /// Where in it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub placement: BTreeMap<String, String>,
    /// Whether a wheelchair gets there: `yes` or `no`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wheelchair: Option<String>,
    /// Its maker and model.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub machine: BTreeMap<String, String>,
    /// Pictures of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<String>,
    /// The telephone number of who helps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    /// Their address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Their page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub website: Option<String>,
    /// When they help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub support_hours: Option<String>,
    /// What visitors say: `summary`, `people` by what they say, `disputed`, `newest`, `foundThere`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reports: BTreeMap<String, Value>,
    /// What to tell people first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// The law and fraud there: tell people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advisories: Vec<Advisory>,
    /// Who says so.
    pub sources: Vec<AtmSource>,
    /// The credit lines of the sources.
    pub attribution: Vec<String>,
}

/// Whether a machine can be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AtmStatus {
    /// It can.
    Open,
    /// Not at this hour.
    Closed,
    /// Not for some time.
    TemporarilyClosed,
    /// No more.
    PermanentlyClosed,
    /// It is broken.
    OutOfService,
    /// Nobody knows.
    Unknown,
    /// A word of a later version.
    #[serde(untagged)]
    Other(String),
}

/// How a place was understood.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedLocation {
    /// What it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its county.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub county: Option<String>,
    /// Its state or province.
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
    /// Who knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// From 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// What else it may be.
    #[serde(default)]
    pub alternatives: Vec<AlternativePlace>,
}

/// What else the name of a place may mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlternativePlace {
    /// What it is called.
    pub name: String,
    /// Its county.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub county: Option<String>,
    /// Its state or province.
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

/// What the law or fraud means at a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Advisory {
    /// Its name.
    pub id: String,
    /// What it is about, such as `ban`.
    pub kind: String,
    /// For people.
    pub text: String,
    /// Since when it holds, a date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective: Option<String>,
    /// When the source was last read, a date.
    pub checked: String,
    /// Where it stands.
    pub source_url: String,
}

/// Who says what of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AtmSource {
    /// The source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The number of its own row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atm_id: Option<u64>,
    /// What comes from it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
}
