//! The English texts of the page frame and of error pages.

use maud::{Markup, html};

use super::{ErrorText, ErrorWords, FrameWords, PageError};

pub(super) const FRAME: FrameWords =
    FrameWords { skip: "Skip to content", nav: "Main", operator_notice: |host| html! { (host) " runs Signpost." } };

pub(super) const ERRORS: ErrorWords =
    ErrorWords { text: error, start: |host| html! { "Go to the first page of " (host) } };

fn error(error: &PageError, host: &Markup) -> ErrorText {
    let (title, text) = match error {
        PageError::NotFound => (
            "Nothing is at this address",
            html! { "The link is old, or a letter is missing. Go back to the page that led here and start again." },
        ),
        PageError::MethodNotAllowed => (
            "This page cannot be opened by its address",
            html! { "It belongs to a button. Go back to the page before and press the button there." },
        ),
        PageError::Refused => {
            ("That did not work", html! { "The server cannot act on it. Go back to the page before and start again." })
        }
        PageError::TooLarge => (
            "That was too much at once",
            html! { "Nothing has happened. Go back, shorten what you typed and send it again." },
        ),
        PageError::TooMany(seconds) => (
            "Too many requests came at once",
            html! { "They came from your network. Wait " (seconds) " s, then load this page again." },
        ),
        PageError::Unavailable => {
            ("The server cannot answer right now", html! { "Wait a few seconds, then load this page again." })
        }
        PageError::Failed(request_id) => (
            "Something failed on our side",
            html! {
                "Load this page again. If it stays so, tell whoever runs " (host) " this code: "
                code { (request_id) } "."
            },
        ),
    };
    ErrorText { title, text }
}
