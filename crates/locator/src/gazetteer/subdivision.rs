//! Subdivisions of counties: townships, towns of New England, boroughs.

use crate::point::Point;
use crate::region::Region;

/// A part of a county of the United States with its own government.
#[derive(Clone, Debug, PartialEq)]
pub struct Subdivision {
    /// Its name without its kind: `Edison`.
    pub name: String,
    /// Other names: `Edison Township`.
    pub alternates: Vec<String>,
    /// Its state.
    pub region: Region,
    /// The number of its county in its state, if it is known.
    pub county: Option<u16>,
    /// Its centre.
    pub point: Point,
    /// Its population; 0 if it is not known.
    pub population: u32,
}

/// Kinds that are used with the name. Longer kinds come before their own endings.
const SAID: [&str; 6] = ["Charter Township", "Township", "Plantation", "Borough", "Village", "Town"];
/// Kinds that are omitted.
const UNSAID: [&str; 8] = ["City", "Gore", "Grant", "Location", "Municipality", "Purchase", "Reservation", "UT"];
/// Kinds that are never part of a name, unlike those in Old Town, Grove City and Elk Grove Village.
const NEVER_A_NAME: [&str; 4] = ["Charter Township", "Township", "Plantation", "UT"];

/// Returns the name of a subdivision without its kind, and the names with it. `Edison township`, `Township of Edison`
/// and `Edison Township` are all Edison and Edison Township; `City of Old Town` is Old Town.
pub(super) fn names(written: &str) -> (String, Vec<String>) {
    let written = written.trim();
    let found = SAID.iter().chain(&UNSAID).find_map(|kind| Some((without_kind(written, kind)?, *kind)));
    let Some((name, kind)) = found else { return (written.to_owned(), Vec::new()) };
    let mut with_kind = Vec::new();
    if SAID.contains(&kind) {
        with_kind.push(format!("{name} {kind}"));
    }
    // `Charter` is often omitted.
    if let Some(short) = kind.strip_prefix("Charter ") {
        with_kind.push(format!("{name} {short}"));
    }
    (name.to_owned(), with_kind)
}

/// Returns the name after `Kind of` or before the kind, in lower case in the Census.
fn without_kind<'a>(written: &'a str, kind: &str) -> Option<&'a str> {
    let name = if let Some(name) = written.strip_prefix(kind).and_then(|rest| rest.strip_prefix(" of ")) {
        name
    } else if let Some(name) = strip_kind(written, &kind.to_lowercase()) {
        name
    } else if NEVER_A_NAME.contains(&kind) {
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
