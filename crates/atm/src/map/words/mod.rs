//! The translated texts of maps, with one submodule for each language.

mod english;
mod spanish;

use signpost_platform::pages::Language;

use super::rings::RingUnit;
use super::shape::StatusShape;

/// The texts of maps in one language.
#[derive(Debug)]
pub(super) struct MapWords {
    /// Formats the text alternative of a drawing from the number of ATMs and the name of the centre. It refers to the
    /// list.
    pub(super) drawing: fn(usize, Option<&str>) -> String,
    /// Returns the meaning of a shape.
    pub(super) shape: fn(StatusShape) -> &'static str,
    /// Formats the radii of the rings.
    pub(super) rings: fn(&[&str], RingUnit) -> String,
    /// Formats the note about ATMs that are drawn without a number for lack of space.
    pub(super) crowded: fn(usize) -> String,
    /// Formats the note about ATMs outside the drawing.
    pub(super) beyond: fn(usize) -> String,
    /// The decimal separator.
    pub(super) decimal: &'static str,
    pub(super) north: &'static str,
    /// The meanings of the marks at the centre.
    pub(super) user: &'static str,
    pub(super) place: &'static str,
    pub(super) full_map: &'static str,
}

/// Returns the texts of maps in a language.
pub(super) fn map_words(language: Language) -> &'static MapWords {
    match language {
        Language::English => &english::MAP,
        Language::Spanish => &spanish::MAP,
    }
}

/// Joins a list with commas and a conjunction: `1`, `1 and 2`, `1, 2 and 3`.
fn listed(parts: &[&str], and: &str) -> String {
    match parts {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [others @ .., last] => format!("{} {and} {last}", others.join(", ")),
    }
}
