//! Details of ATMs of the locator. Unknown members are missing in replies and `None` here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::atm_types::{Advisory, AtmStatus};

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
    /// The page of the ATM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The URL of a map service with directions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directions: Option<String>,
    /// When a source or a report last confirmed the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_confirmed: Option<String>,
    /// Whether its source lists the machine; `false` for 90 days after the source removed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listed: Option<bool>,
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
    /// How people report a machine that is gone or wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how_to_report: Option<String>,
    /// Advisories about laws and fraud that users should see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advisories: Vec<Advisory>,
    /// The data sources of this ATM.
    pub sources: Vec<AtmSource>,
    /// The attribution lines of the data sources.
    pub attribution: Vec<String>,
}

/// The details of several machines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SeveralAtms {
    /// The machines in the order of their IDs in the call.
    pub atms: Vec<AtmDetails>,
    /// The unknown IDs.
    pub not_found: Vec<u64>,
    /// A notice to show first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// How people report a machine that is gone or wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how_to_report: Option<String>,
    /// Advisories about law and fraud, to be shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advisories: Vec<Advisory>,
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
