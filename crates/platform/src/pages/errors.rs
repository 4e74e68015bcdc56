//! What can go wrong for a person, and its words' shape.

use axum::http::StatusCode;
use maud::Markup;

use super::form::FormRefusal;

/// What went wrong, as far as a person can act on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageError {
    /// The request could not be read.
    Unreadable,
    /// A form was not posted from a page of ours, or was made for another browser or time: nothing was done.
    Form(FormRefusal),
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

impl PageError {
    /// The status that says the same to a browser.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Unreadable | Self::Form(FormRefusal::Unreadable) => StatusCode::BAD_REQUEST,
            Self::Form(FormRefusal::Foreign | FormRefusal::Stale) => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::TooLarge | Self::Form(FormRefusal::TooLarge) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl From<FormRefusal> for PageError {
    fn from(refusal: FormRefusal) -> Self {
        Self::Form(refusal)
    }
}
