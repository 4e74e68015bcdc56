//! The texts of the frame and of errors: one file for each language.
//!
//! A catalogue is a struct with a field for each text, so a language that lacks one does not compile. A text with a
//! place in it is a function of what stands there: a language cannot forget it, and puts it where its grammar wants it.

mod english;
mod spanish;

use maud::Markup;

use super::errors::{ErrorText, PageError};
use super::language::Language;

/// A text with one place, for markup: who fills it decides what is bold or isolated.
pub type Placed = fn(&Markup) -> Markup;

/// The texts around every page.
#[derive(Debug)]
pub struct FrameWords {
    /// The first link, for the keyboard.
    pub skip: &'static str,
    /// What the links at the top are.
    pub nav: &'static str,
    /// Who runs the page, by its host.
    pub who_runs: Placed,
}

/// The texts of pages for errors.
#[derive(Debug)]
pub struct ErrorWords {
    /// The text of each error, given the host.
    pub text: fn(&PageError, &Markup) -> ErrorText,
    /// The way to the first page of the host.
    pub start: Placed,
}

/// The texts of the frame in a language.
#[must_use]
pub fn frame_words(language: Language) -> &'static FrameWords {
    match language {
        Language::English => &english::FRAME,
        Language::Spanish => &spanish::FRAME,
    }
}

/// The texts of errors in a language.
#[must_use]
pub fn error_words(language: Language) -> &'static ErrorWords {
    match language {
        Language::English => &english::ERRORS,
        Language::Spanish => &spanish::ERRORS,
    }
}
