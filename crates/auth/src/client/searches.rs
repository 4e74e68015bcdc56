//! Searches of the locator.

use serde::{Deserialize, Serialize};

/// A search by place or coordinates: [`super::Atms::nearest`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AtmSearch {
    /// A place, such as "Austin, TX", "78701", "LAX".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// Latitude in degrees; needs `lon`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lat: Option<f64>,
    /// Longitude in degrees; needs `lat`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lon: Option<f64>,
    /// The country whose places are preferred, by its ISO 3166-1 alpha-2 code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// The maximum number of machines, 1 to 50; 10 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u8>,
    /// Maximum distance in miles, 1 to 100; 25 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_distance: Option<f64>,
    /// Only machines that are known to be open now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_now: Option<bool>,
    /// `buy` or `sell`: only machines that are known to support it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// Only machines that are known to support this coin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coin: Option<String>,
    /// Unit of distances in texts, `miles` or `km`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<String>,
}

/// An area by place or coordinates: [`super::Atms::status`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StatusSearch {
    /// A place, as in [`AtmSearch::location`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// Latitude in degrees; needs `lon`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lat: Option<f64>,
    /// Longitude in degrees; needs `lat`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lon: Option<f64>,
    /// The country whose places are preferred, by its ISO 3166-1 alpha-2 code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// The maximum number of listed machines, 1 to 50; 10 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u8>,
    /// Radius in miles, 1 to 100; 10 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    /// Unit of distances in texts, `miles` or `km`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<String>,
}

/// A city: [`super::Atms::list_by_city`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CitySearch {
    /// The city's name.
    pub city: String,
    /// The two-letter code of a state, a territory or a Canadian province.
    pub state: String,
    /// The `next_cursor` of the previous page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Unit of distances in texts, `miles` or `km`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<String>,
}
