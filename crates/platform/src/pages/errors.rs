//! Errors of pages, and their texts.

use maud::Markup;

/// An error of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageError {
    /// The server cannot act on the request.
    Refused,
    /// There is nothing at the address.
    NotFound,
    /// The path belongs to a form.
    MethodNotAllowed,
    /// The request is too large.
    TooLarge,
    /// Too many requests; the next will pass in this number of seconds.
    TooMany(u64),
    /// The server is temporarily unavailable.
    Unavailable,
    /// An internal error; the log has the cause under this request ID.
    Failed(String),
}

/// The texts of an error in a language.
#[derive(Debug)]
pub struct ErrorText {
    /// The title.
    pub title: &'static str,
    /// The explanation and the remedy.
    pub text: Markup,
}
