//! The translated texts of the interactive map, with one submodule for each language.

mod english;
mod spanish;

use signpost_platform::pages::Language;

/// The texts of the interactive map in a language.
#[derive(Debug)]
pub(super) struct AtlasWords {
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    /// Formats the label of the canvas from the number of ATMs.
    pub(super) drawing: fn(usize) -> String,
    /// Formats the label of the overview drawing from the number of ATMs.
    pub(super) overview: fn(usize) -> String,
    /// Formats the note that there are fewer dots than ATMs from the number of dots.
    pub(super) thinned: fn(usize) -> String,
    pub(super) keys: &'static str,
    pub(super) closer: &'static str,
    pub(super) farther: &'static str,
    pub(super) here: &'static str,
    pub(super) asking: &'static str,
    pub(super) failed: &'static str,
    /// The mark of the user on the map.
    pub(super) you: &'static str,
    pub(super) in_sight: &'static str,
    pub(super) count: fn(usize) -> String,
    pub(super) nearest: fn(usize) -> String,
    pub(super) go_farther: &'static str,
    pub(super) streets: &'static str,
    /// The unit of the distance rings.
    pub(super) unit: &'static str,
    /// The length of the unit in metres.
    pub(super) unit_metres: &'static str,
}

/// Returns the texts of the interactive map in a language.
pub(super) fn atlas_words(language: Language) -> &'static AtlasWords {
    match language {
        Language::English => &english::ATLAS,
        Language::Spanish => &spanish::ATLAS,
    }
}
