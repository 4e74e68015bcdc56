//! The errors that HTML error pages explain to users.

use maud::Markup;

/// An error that is displayed as an HTML page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageError {
    /// The server rejected the request.
    Refused,
    /// No page exists at the path.
    NotFound,
    /// The path is the target of a form and was opened as a page.
    MethodNotAllowed,
    /// The request body is too large.
    TooLarge,
    /// The client sent too many requests. It may retry after this number of seconds.
    TooMany(u64),
    /// The server is temporarily unavailable.
    Unavailable,
    /// An internal error. The log contains the cause under this request ID.
    Failed(String),
}

/// The texts of an error page in a language.
#[derive(Debug)]
pub struct ErrorText {
    /// The title of the page.
    pub title: &'static str,
    /// An explanation of the error and of the remedy.
    pub text: Markup,
}
