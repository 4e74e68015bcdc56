//! The texts of the page frame and of error pages, with a file for each language.
//!
//! A catalogue is a struct with a field for each text, so a language with a missing text does not
//! compile. A text with a placeholder is a function of the inserted value, so a language cannot
//! omit the value but can choose its position.

mod english;
mod spanish;

use maud::Markup;

use super::errors::{ErrorText, PageError};
use super::language::Language;

/// A text with a placeholder for markup. The caller adds emphasis and bidirectional isolation to
/// the inserted value.
pub type MarkupFn = fn(&Markup) -> Markup;

/// The texts of the document frame.
#[derive(Debug)]
pub struct FrameWords {
    /// The link for keyboard users that skips to the content.
    pub skip: &'static str,
    /// The accessible name of the navigation.
    pub nav: &'static str,
    /// A notice that the given host operates this page.
    pub operator_notice: MarkupFn,
}

/// The texts of error pages.
#[derive(Debug)]
pub struct ErrorWords {
    /// Returns the text of an error, given the host of the page.
    pub text: fn(&PageError, &Markup) -> ErrorText,
    /// The link to the front page of the given host.
    pub start: MarkupFn,
}

/// Returns the texts of the document frame in a language.
#[must_use]
pub fn frame_words(language: Language) -> &'static FrameWords {
    match language {
        Language::English => &english::FRAME,
        Language::Spanish => &spanish::FRAME,
    }
}

/// Returns the texts of error pages in a language.
#[must_use]
pub fn error_words(language: Language) -> &'static ErrorWords {
    match language {
        Language::English => &english::ERRORS,
        Language::Spanish => &spanish::ERRORS,
    }
}
