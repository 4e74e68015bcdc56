//! Venues of `CoinMap`: `{"venues": [{"id", "lat", "lon", "category", "name", …}]}`. Most of them are shops that accept
//! Bitcoin; the category of ATMs is `atm`.

use super::counted_values::CountedValues;
use super::document::DocumentMembers;
use super::error::ImportError;
use super::format::{FileContent, Format, SourceFile};
use super::item::{self, DocumentItem};
use crate::atm::Coin;
use crate::tri::Tri;

const VENUES: &str = "venues";
const CATEGORY: &str = "category";
/// The coordinates in degrees and minutes, next to those in decimal degrees.
const FORMATTED_COORDINATES: &str = "geolocation_degrees";

pub(super) const FORMAT: Format = Format {
    name: "coinmap",
    title: "CoinMap",
    json: Some(DocumentMembers { list: VENUES, others: &[] }),
    recognise: has_categories,
    read: machines,
};

fn has_categories(file: &SourceFile<'_>) -> Result<bool, ImportError> {
    if !file.has_list(VENUES)? {
        return Ok(false);
    }
    let venue = file.document()?.first(VENUES)?;
    Ok(venue.is_none_or(|venue| venue[CATEGORY].is_string()))
}

/// Returns the venues that are ATMs. Their members are mapped by name later.
fn machines<'a>(file: &SourceFile<'a>) -> Result<FileContent<'a>, ImportError> {
    let mut items = Vec::new();
    let mut others = CountedValues::default();
    for venue in file.document()?.items(VENUES, FORMAT.name)? {
        let (number, venue) = venue?;
        let properties = item::cells(venue.as_object());
        let category = properties.get(CATEGORY).map(String::as_str).unwrap_or_default();
        if !category.trim().eq_ignore_ascii_case("atm") {
            others.add(&format!("{CATEGORY}={category}"));
            continue;
        }
        let coins = [(Coin::bitcoin(), Tri::Yes)].into();
        items.push(DocumentItem { number, properties, coins, ..DocumentItem::default() });
    }
    Ok(FileContent::Items { items, others, dated: None, is_read })
}

/// Checks for a member that is always read or repeated by others.
fn is_read(name: &str) -> bool {
    [CATEGORY, FORMATTED_COORDINATES].contains(&name)
}
