//! The geocoders that can be asked.

use serde::Deserialize;

/// Which geocoder is asked, and thereby how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum GeocoderKind {
    Nominatim,
    Photon,
    Pelias,
}

impl GeocoderKind {
    /// Its name in the configuration and in replies.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Nominatim => "nominatim",
            Self::Photon => "photon",
            Self::Pelias => "pelias",
        }
    }

    /// The server of this kind that everybody may use, if there is one.
    #[must_use]
    pub fn public_server(self) -> Option<&'static str> {
        match self {
            Self::Nominatim => Some("https://nominatim.openstreetmap.org"),
            Self::Photon => Some("https://photon.komoot.io"),
            Self::Pelias => None,
        }
    }
}
