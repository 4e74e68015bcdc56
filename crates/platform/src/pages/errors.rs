//! What can go wrong for a person, and what is said of it.

use maud::Markup;

/// What went wrong, as far as a person can act on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageError {
    /// The server cannot act on the request.
    Refused,
    /// There is nothing at the address.
    NotFound,
    /// The address is that of a form.
    MethodNotAllowed,
    /// What was sent is too large.
    TooLarge,
    /// Too many requests came; the next passes in so many seconds.
    TooMany(u64),
    /// The server cannot answer for a moment.
    Unavailable,
    /// It failed; the log has the cause under this request ID.
    Failed(String),
}

/// One error in a language.
#[derive(Debug)]
pub struct ErrorText {
    /// What happened.
    pub title: &'static str,
    /// What it means, and what to do.
    pub text: Markup,
}
