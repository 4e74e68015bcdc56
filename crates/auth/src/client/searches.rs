//! What the locator is asked for.

use serde::{Deserialize, Serialize};

/// What is searched for: [`super::Atms::nearest`]. A place, or coordinates.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AtmSearch {
    /// A place as people write it: "Austin, TX", "78701", "LAX".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// Latitude in degrees; needs `lon`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lat: Option<f64>,
    /// Longitude in degrees; needs `lat`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lon: Option<f64>,
    /// The maximum number of machines, 1 to 50; 10 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u8>,
    /// In miles, 1 to 100; 25 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_distance: Option<f64>,
    /// Only machines known to be open now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_now: Option<bool>,
    /// `buy` or `sell`: only machines known to do it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// Only machines known to deal in this coin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coin: Option<String>,
    /// `miles` or `km`, of distances in texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<String>,
}

/// An area whose machines are counted: [`super::Atms::status`]. A place, or coordinates.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StatusSearch {
    /// A place as people write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// Latitude in degrees; needs `lon`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lat: Option<f64>,
    /// Longitude in degrees; needs `lat`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lon: Option<f64>,
    /// The maximum number of machines that are listed, 1 to 50; 10 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u8>,
    /// In miles, 1 to 100; 10 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    /// `miles` or `km`, of distances in texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<String>,
}

/// A city whose machines are listed: [`super::Atms::list_by_city`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CitySearch {
    /// The city's name.
    pub city: String,
    /// The two letters of a state, a territory or a Canadian province.
    pub state: String,
    /// The `next_cursor` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// `miles` or `km`, of distances in texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<String>,
}
