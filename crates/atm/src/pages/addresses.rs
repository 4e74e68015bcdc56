//! URL paths of the locator's pages, and the parser of areas in paths. Names in paths are folded and in lower case.

use std::fmt::Write;

use signpost_locator::{AtmId, Country, Region};

use super::words::LocatorWords;
use crate::catalogue::{Town, TownArea};

/// Returns the path of an ATM's page.
pub(super) fn atm_path(id: AtmId) -> String {
    format!("/atm/{id}")
}

/// Returns the path of the page of a country, state, territory or province.
pub(super) fn area_path(area: TownArea) -> String {
    let country = area.country.code().to_ascii_lowercase();
    match area.region {
        Some(region) => format!("/atms/{country}/{}", region.code().to_ascii_lowercase()),
        None => format!("/atms/{country}"),
    }
}

/// Returns the path of a town's page.
pub(super) fn town_path(town: &Town) -> String {
    let mut path = area_path(town.area) + "/";
    for byte in town.slug().bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'-' {
            path.push(char::from(byte));
        } else {
            write!(path, "%{byte:02X}").expect("a text");
        }
    }
    path
}

/// Parses a country, and optionally one of its regions, from names or codes.
pub(super) fn find_area(country: &str, region: Option<&str>) -> Option<TownArea> {
    let country = Country::parse(country)?;
    let Some(region) = region else { return Some(TownArea { country, region: None }) };
    let region = Region::parse(region).filter(|region| region.country() == country)?;
    Some(TownArea { country, region: Some(region) })
}

/// Returns the name of an area in the language of the texts.
pub(super) fn area_name(words: &LocatorWords, area: TownArea) -> &'static str {
    area.region.map_or_else(|| (words.country)(area.country), Region::name)
}
