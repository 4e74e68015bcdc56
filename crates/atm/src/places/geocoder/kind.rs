//! The supported external geocoders.

use serde::Deserialize;

/// The software of an external geocoder. It determines the format of requests and responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum GeocoderKind {
    Nominatim,
    Photon,
    Pelias,
}

impl GeocoderKind {
    /// Returns the name used in the configuration and in replies.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Nominatim => "nominatim",
            Self::Photon => "photon",
            Self::Pelias => "pelias",
        }
    }

    /// Returns the URL of the geocoder's public server, if there is one.
    #[must_use]
    pub fn public_server(self) -> Option<&'static str> {
        match self {
            Self::Nominatim => Some("https://nominatim.openstreetmap.org"),
            Self::Photon => Some("https://photon.komoot.io"),
            Self::Pelias => None,
        }
    }
}
