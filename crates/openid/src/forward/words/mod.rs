//! What people read on an application's host: one file for each language.

mod english;
mod spanish;

use signpost_platform::pages::Language;
use signpost_platform::pages::words::Placed;

/// What happened, and what it means.
#[derive(Debug)]
pub(super) struct AppSaid {
    pub(super) head: Placed,
    pub(super) text: &'static str,
}

/// Every text there. A place is the application's host, unless it is said otherwise.
#[derive(Debug)]
pub(super) struct AppWords {
    pub(super) tab_refused: &'static str,
    pub(super) tab_login: &'static str,
    pub(super) tab_logout: &'static str,
    pub(super) tab_logged_out: &'static str,

    /// Somebody is logged in whom the operator has not named; the place is their petname.
    pub(super) not_named: AppSaid,
    pub(super) you_are: Placed,
    pub(super) tell_operator: &'static str,
    /// The operator has named nobody.
    pub(super) nobody_named: AppSaid,
    pub(super) for_operators: &'static str,
    pub(super) log_in_as_other: &'static str,

    /// Nobody was logged in: they said no, or the operator has not named them.
    pub(super) denied: AppSaid,
    pub(super) who_you_are: &'static str,
    /// It is not known what this goes back to.
    pub(super) stale: AppSaid,
    /// What was sent came without a login.
    pub(super) unsent: AppSaid,
    pub(super) log_in: &'static str,

    pub(super) log_out: AppSaid,
    pub(super) log_out_yes: &'static str,
    pub(super) stay: &'static str,
    pub(super) not_logged_in: AppSaid,
    pub(super) logged_out: AppSaid,
    /// The place is the login host.
    pub(super) also_there: Placed,
    pub(super) sign_out_there: &'static str,
    pub(super) nothing_done: AppSaid,
    pub(super) log_in_again: &'static str,
}

/// The texts in a language.
pub(super) fn app_words(language: Language) -> &'static AppWords {
    match language {
        Language::English => &english::APP,
        Language::Spanish => &spanish::APP,
    }
}
