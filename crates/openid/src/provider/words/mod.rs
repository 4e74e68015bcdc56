//! Texts of the pages of an issuer, a file per language.

mod english;
mod spanish;

use maud::Markup;
use signpost_platform::pages::Language;
use signpost_platform::pages::words::MarkupFn;

/// A headline and an explanation with a placeholder for the domain.
#[derive(Debug)]
pub(super) struct DomainText {
    pub(super) head: &'static str,
    pub(super) text: MarkupFn,
}

/// The texts of the pages of an issuer.
#[derive(Debug)]
pub(super) struct ProviderWords {
    /// Consent; the placeholders are the application, the username and the domain, a host.
    pub(super) tab_consent: fn(&str) -> String,
    pub(super) consent_question: &'static str,
    pub(super) you_go_back_to: MarkupFn,
    pub(super) you_are: fn(&Markup, &Markup) -> Markup,
    pub(super) it_learns: &'static str,
    pub(super) learns_id: &'static str,
    pub(super) learns_profile: &'static str,
    pub(super) learns_email: &'static str,
    pub(super) learns_offline: &'static str,
    pub(super) allow: &'static str,
    pub(super) deny: &'static str,
    pub(super) asked_once: &'static str,
    /// Before the button to log in as another user.
    pub(super) not_you: &'static str,
    pub(super) log_in_as_other: &'static str,

    /// The way back to the application; the placeholder is a host.
    pub(super) done: &'static str,
    pub(super) going_back: MarkupFn,
    pub(super) continue_to: MarkupFn,

    /// Errors, for the user and for the developer of the application.
    pub(super) unknown_client: DomainText,
    pub(super) unknown_client_detail: &'static str,
    pub(super) unknown_return: DomainText,
    pub(super) no_return_detail: &'static str,
    pub(super) unknown_return_detail: &'static str,
    pub(super) for_builders: &'static str,
    pub(super) unable: DomainText,
    pub(super) unable_detail: &'static str,
    pub(super) back_to: MarkupFn,
    pub(super) over: DomainText,
    pub(super) stale: DomainText,
    pub(super) show_again: &'static str,

    /// Logout; the placeholders are the domain, the username and the application.
    pub(super) tab_logout: &'static str,
    pub(super) logout_question: MarkupFn,
    pub(super) logout_you_are: MarkupFn,
    pub(super) logout_asked_by: MarkupFn,
    pub(super) log_out: &'static str,
    pub(super) stay: &'static str,
    pub(super) logged_out: DomainText,
    pub(super) no_logout: DomainText,
    pub(super) foreign_hint_detail: &'static str,
    pub(super) unknown_logout_return_detail: &'static str,
    pub(super) log_out_here: &'static str,
}

/// Returns the texts in a language.
pub(super) fn provider_words(language: Language) -> &'static ProviderWords {
    match language {
        Language::English => &english::PROVIDER,
        Language::Spanish => &spanish::PROVIDER,
    }
}
