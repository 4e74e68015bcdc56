//! Subdivisions of US counties, such as townships, New England towns and boroughs, and the parsing of their names.

use crate::point::Point;
use crate::region::Region;

/// A subdivision of a US county with its own government.
#[derive(Clone, Debug, PartialEq)]
pub struct Subdivision {
    /// The name without its generic word, such as `Edison`.
    pub name: String,
    /// Alternate names, such as `Edison Township`.
    pub alternates: Vec<String>,
    /// The state.
    pub region: Region,
    /// The number of the county in its state, if it is known.
    pub county: Option<u16>,
    /// The centre.
    pub point: Point,
    /// The population, or 0 if it is unknown.
    pub population: u32,
}

/// Generic words that are commonly used with the name. A word comes before any word that is its suffix.
const USED_WORDS: [&str; 6] = ["Charter Township", "Township", "Plantation", "Borough", "Village", "Town"];
/// Generic words that are commonly omitted.
const OMITTED_WORDS: [&str; 8] = ["City", "Gore", "Grant", "Location", "Municipality", "Purchase", "Reservation", "UT"];
/// Generic words that are never part of the name itself, unlike in Old Town, Grove City and Elk Grove Village.
const NEVER_IN_NAMES: [&str; 4] = ["Charter Township", "Township", "Plantation", "UT"];

/// Returns the name of a subdivision without its generic word, and the alternate names with it. `Edison township`,
/// `Township of Edison` and `Edison Township` all become Edison and Edison Township; `City of Old Town` becomes Old
/// Town.
pub(super) fn names(written: &str) -> (String, Vec<String>) {
    let written = written.trim();
    let found = USED_WORDS.iter().chain(&OMITTED_WORDS).find_map(|kind| Some((without_kind(written, kind)?, *kind)));
    let Some((name, kind)) = found else { return (written.to_owned(), Vec::new()) };
    let mut with_kind = Vec::new();
    if USED_WORDS.contains(&kind) {
        with_kind.push(format!("{name} {kind}"));
    }
    // `Charter` is often omitted.
    if let Some(short) = kind.strip_prefix("Charter ") {
        with_kind.push(format!("{name} {short}"));
    }
    (name.to_owned(), with_kind)
}

/// Returns the name without a leading phrase such as `Township of` or a trailing generic word. Census data has trailing
/// words in lower case.
fn without_kind<'a>(written: &'a str, kind: &str) -> Option<&'a str> {
    let name = if let Some(name) = written.strip_prefix(kind).and_then(|rest| rest.strip_prefix(" of ")) {
        name
    } else if let Some(name) = strip_kind(written, &kind.to_lowercase()) {
        name
    } else if NEVER_IN_NAMES.contains(&kind) {
        strip_kind(written, kind)?
    } else {
        return None;
    };
    let name = name.trim();
    if name.is_empty() { None } else { Some(name) }
}

fn strip_kind<'a>(written: &'a str, kind: &str) -> Option<&'a str> {
    written.strip_suffix(kind)?.strip_suffix(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subdivision_is_found_with_and_without_its_kind() {
        for (written, bare, with_kind) in [
            ("Edison township", "Edison", &["Edison Township"][..]),
            ("Township of Edison", "Edison", &["Edison Township"]),
            ("Edison Township", "Edison", &["Edison Township"]),
            ("Griswold town", "Griswold", &["Griswold Town"]),
            ("Town of Griswold", "Griswold", &["Griswold Town"]),
            ("Shelby charter township", "Shelby", &["Shelby Charter Township", "Shelby Township"]),
            ("Charter Township of Shelby", "Shelby", &["Shelby Charter Township", "Shelby Township"]),
            ("Big Lake UT", "Big Lake", &[]),
            ("Old Town city", "Old Town", &[]),
            ("City of Old Town", "Old Town", &[]),
            ("Old Town", "Old Town", &[]),
            ("Elk Grove Village village", "Elk Grove Village", &["Elk Grove Village Village"]),
            ("Georgetown", "Georgetown", &[]),
            ("township", "township", &[]),
            ("Township of ", "Township of", &[]),
        ] {
            assert_eq!(
                names(written),
                (bare.to_owned(), with_kind.iter().map(|name| (*name).to_owned()).collect()),
                "{written}"
            );
        }
    }
}
