//! Subdivisions of counties: townships, towns of New England, boroughs.

use crate::point::Point;
use crate::region::Region;

/// A part of a county of the United States that has a government of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Subdivision {
    /// Its name without its kind: `Edison`.
    pub name: String,
    /// Other names: `Edison Township`.
    pub alternates: Vec<String>,
    /// Its state.
    pub region: Region,
    /// The number of its county among those of its state, if it is known.
    pub county: Option<u16>,
    /// Its centre.
    pub point: Point,
    /// How many people live there; 0 if it is not known.
    pub population: u32,
}

/// Kinds that people say with the name, longer ones before those that they end in.
const SAID: [&str; 6] = ["Charter Township", "Township", "Plantation", "Borough", "Village", "Town"];
/// Kinds that they leave out.
const UNSAID: [&str; 8] = ["City", "Gore", "Grant", "Location", "Municipality", "Purchase", "Reservation", "UT"];
/// Kinds that are never a part of a name, unlike those of Old Town, Grove City and Elk Grove Village.
const NEVER_A_NAME: [&str; 4] = ["Charter Township", "Township", "Plantation", "UT"];

/// The name of a subdivision without its kind, and with it. `Edison township`, `Township of Edison` and
/// `Edison Township` are all Edison and Edison Township; `City of Old Town` is Old Town.
pub(super) fn names(written: &str) -> (String, Vec<String>) {
    let written = written.trim();
    let found = SAID.iter().chain(&UNSAID).find_map(|kind| Some((without_kind(written, kind)?, *kind)));
    let Some((bare, kind)) = found else { return (written.to_owned(), Vec::new()) };
    let said = Some(kind).filter(|kind| SAID.contains(kind));
    // People leave the charter out.
    let short = said.and_then(|kind| kind.strip_prefix("Charter "));
    (bare.to_owned(), said.into_iter().chain(short).map(|kind| format!("{bare} {kind}")).collect())
}

/// What stands behind `Kind of` or before the kind, which the Census writes in lower case.
fn without_kind<'a>(written: &'a str, kind: &str) -> Option<&'a str> {
    let behind = |kind: &str| written.strip_suffix(kind)?.strip_suffix(' ');
    let before = || written.strip_prefix(kind)?.strip_prefix(" of ");
    let bare = before().or_else(|| behind(&kind.to_lowercase()));
    bare.or_else(|| behind(kind).filter(|_| NEVER_A_NAME.contains(&kind)))
        .map(str::trim)
        .filter(|bare| !bare.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subdivision_is_known_without_its_kind_and_with_it() {
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
