//! Texts of the pages on an application's host, in one file per language.

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
    pub(super) not_on_allow_list: AppText,
    pub(super) logged_in_as: MarkupFn,
    pub(super) contact_operator: &'static str,
    /// The allow list is empty.
    pub(super) empty_allow_list: AppText,
    pub(super) operator_hint: &'static str,
    pub(super) log_in_as_other: &'static str,

    /// The login was denied by the user, or because the user is not on the allow list.
    pub(super) denied: AppText,
    pub(super) account_link: &'static str,
    /// The login state is unknown.
    pub(super) stale: AppText,
    /// A request with a body without a login.
    pub(super) request_lost: AppText,
    pub(super) log_in: &'static str,

    pub(super) log_out: AppText,
    pub(super) log_out_yes: &'static str,
    pub(super) stay_logged_in: &'static str,
    pub(super) not_logged_in: AppText,
    pub(super) logged_out: AppText,
    /// The placeholder is the login host.
    pub(super) signed_in_at_issuer: MarkupFn,
    pub(super) sign_out_at_issuer: &'static str,
    pub(super) form_refused: AppText,
    pub(super) log_in_again: &'static str,
}

/// Returns the texts in a language.
pub(super) fn app_words(language: Language) -> &'static AppWords {
    match language {
        Language::English => &english::APP,
        Language::Spanish => &spanish::APP,
    }
}
