//! The texts of maps: one file for each language.

mod english;
mod spanish;

use signpost_platform::pages::Language;

use super::rings::RingUnit;
use super::shape::StatusShape;

/// The texts of maps.
#[derive(Debug)]
pub(super) struct MapWords {
    /// What a drawing is, for whoever does not see it: how many machines, around what. It leads to the list.
    pub(super) drawing: fn(usize, Option<&str>) -> String,
    /// What a shape means.
    pub(super) shape: fn(StatusShape) -> &'static str,
    /// How far apart rings are, by their lengths.
    pub(super) rings: fn(&[&str], RingUnit) -> String,
    /// How many machines have a mark without a number, for the room is taken.
    pub(super) crowded: fn(usize) -> String,
    /// How many machines are outside of the drawing.
    pub(super) beyond: fn(usize) -> String,
    /// What stands before the tenths of a number.
    pub(super) decimal: &'static str,
    pub(super) north: &'static str,
    pub(super) no_service: &'static str,
    pub(super) full_map: &'static str,
}

/// The texts of maps in a language.
pub(super) fn map_words(language: Language) -> &'static MapWords {
    match language {
        Language::English => &english::MAP,
        Language::Spanish => &spanish::MAP,
    }
}

/// `1`, `1 and 2`, `1, 2 and 3`.
fn listed(parts: &[&str], and: &str) -> String {
    match parts {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [others @ .., last] => format!("{} {and} {last}", others.join(", ")),
    }
}
