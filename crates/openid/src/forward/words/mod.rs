//! Texts of the pages on an application's host, a file per language.

mod english;
mod spanish;

use signpost_platform::pages::Language;
use signpost_platform::pages::words::MarkupFn;

/// A headline and an explanation.
#[derive(Debug)]
pub(super) struct AppText {
    pub(super) head: MarkupFn,
    pub(super) text: &'static str,
}

/// The texts of the pages. The placeholder is the application's host, unless documented otherwise.
#[derive(Debug)]
pub(super) struct AppWords {
    pub(super) tab_refused: &'static str,
    pub(super) tab_login: &'static str,
    pub(super) tab_logout: &'static str,
    pub(super) tab_logged_out: &'static str,

    /// The user is not on the allow list; the placeholder is the username.
    pub(super) not_named: AppText,
    pub(super) you_are: MarkupFn,
    pub(super) tell_operator: &'static str,
    /// The allow list is empty.
    pub(super) nobody_named: AppText,
    pub(super) for_operators: &'static str,
    pub(super) log_in_as_other: &'static str,

    /// The login was denied by the user, or because the user is not on the allow list.
    pub(super) denied: AppText,
    pub(super) who_you_are: &'static str,
    /// The login state is unknown.
    pub(super) stale: AppText,
    /// A request with a body without a login.
    pub(super) unsent: AppText,
    pub(super) log_in: &'static str,

    pub(super) log_out: AppText,
    pub(super) log_out_yes: &'static str,
    pub(super) stay: &'static str,
    pub(super) not_logged_in: AppText,
    pub(super) logged_out: AppText,
    /// The placeholder is the login host.
    pub(super) also_there: MarkupFn,
    pub(super) sign_out_there: &'static str,
    pub(super) nothing_done: AppText,
    pub(super) log_in_again: &'static str,
}

/// Returns the texts in a language.
pub(super) fn app_words(language: Language) -> &'static AppWords {
    match language {
        Language::English => &english::APP,
        Language::Spanish => &spanish::APP,
    }
}
