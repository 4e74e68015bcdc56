//! The texts of the frame and of errors, in a file per language.
//!
//! A catalogue is a struct with a field per text, so a language that lacks a text does not compile. A text with a
//! placeholder is a function of its value: a language cannot omit it, and its grammar determines the position.

mod english;
mod spanish;

use maud::Markup;

use super::errors::{ErrorText, PageError};
use super::language::Language;

/// A text with a placeholder, for markup: the caller decides on emphasis and isolation.
pub type MarkupFn = fn(&Markup) -> Markup;

/// The texts around every page.
#[derive(Debug)]
pub struct FrameWords {
    /// The first link, for the keyboard.
    pub skip: &'static str,
    /// The label of the navigation.
    pub nav: &'static str,
    /// The operator of the page, by its host.
    pub who_runs: MarkupFn,
}

/// The texts of pages for errors.
#[derive(Debug)]
pub struct ErrorWords {
    /// The text of each error, given the host.
    pub text: fn(&PageError, &Markup) -> ErrorText,
    /// The link to the front page of the host.
    pub start: MarkupFn,
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
