//! The search parameters of the ATM locator's tools.

use serde::{Deserialize, Serialize};

/// The parameters of [`super::Atms::nearest`]: a place or coordinates, and filters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AtmSearch {
    /// The name of a place, such as "Austin, TX", "78701" or "LAX".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// Latitude in degrees. Requires `lon`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lat: Option<f64>,
    /// Longitude in degrees. Requires `lat`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lon: Option<f64>,
    /// The ISO 3166-1 alpha-2 code of the country whose places are preferred.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// The maximum number of ATMs, 1 to 50, by default 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u8>,
    /// The maximum distance in miles, 1 to 100, by default 25.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_distance: Option<f64>,
    /// Whether to return only ATMs that are known to be open now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_now: Option<bool>,
    /// `buy` or `sell`, to return only ATMs that are known to support it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// The coin that returned ATMs are known to support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coin: Option<String>,
    /// The unit of distances in texts, `miles` or `km`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<String>,
}

/// The parameters of [`super::Atms::status`]: an area around a place or coordinates.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StatusSearch {
    /// The name of a place, as in [`AtmSearch::location`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// Latitude in degrees. Requires `lon`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lat: Option<f64>,
    /// Longitude in degrees. Requires `lat`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lon: Option<f64>,
    /// The ISO 3166-1 alpha-2 code of the country whose places are preferred.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// The maximum number of listed ATMs, 1 to 50, by default 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u8>,
    /// The radius of the area in miles, 1 to 100, by default 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    /// The unit of distances in texts, `miles` or `km`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<String>,
}

/// The parameters of [`super::Atms::list_by_city`]: a city, and a page of its ATMs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CitySearch {
    /// The name of the city.
    pub city: String,
    /// The two-letter code of a US state or territory, or of a Canadian province.
    pub state: String,
    /// The `next_cursor` of the previous page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The unit of distances in texts, `miles` or `km`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<String>,
}
