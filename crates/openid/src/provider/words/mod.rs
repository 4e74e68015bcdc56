//! Texts of the pages of an issuer, in one file per language.

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
    /// Texts of the consent page; the placeholders are the application, the username and the
    /// domain, or a host.
    pub(super) tab_consent: fn(&str) -> String,
    pub(super) consent_question: &'static str,
    pub(super) returns_to: MarkupFn,
    pub(super) signed_in_as: fn(&Markup, &Markup) -> Markup,
    pub(super) client_receives: &'static str,
    pub(super) receives_id: &'static str,
    pub(super) receives_profile: &'static str,
    pub(super) receives_email: &'static str,
    pub(super) receives_offline: &'static str,
    pub(super) allow: &'static str,
    pub(super) deny: &'static str,
    pub(super) consent_is_stored: &'static str,
    /// The text before the button that logs in as another user, and the text of the button.
    pub(super) not_you: &'static str,
    pub(super) log_in_as_other: &'static str,

    /// The way back to the application; the placeholder is a host.
    pub(super) done: &'static str,
    pub(super) returning_to: MarkupFn,
    pub(super) continue_to: MarkupFn,

    /// Errors, for the user and for the developer of the application.
    pub(super) unknown_client: DomainText,
    pub(super) unknown_client_detail: &'static str,
    pub(super) unknown_redirect_uri: DomainText,
    pub(super) no_redirect_uri_detail: &'static str,
    pub(super) unknown_redirect_uri_detail: &'static str,
    pub(super) for_developers: &'static str,
    pub(super) unavailable: DomainText,
    pub(super) unavailable_detail: &'static str,
    pub(super) back_to: MarkupFn,
    pub(super) expired: DomainText,
    pub(super) stale: DomainText,
    pub(super) show_again: &'static str,

    /// Texts of the logout pages; the placeholders are the domain, the username and the
    /// application.
    pub(super) tab_logout: &'static str,
    pub(super) logout_question: MarkupFn,
    pub(super) logout_signed_in_as: MarkupFn,
    pub(super) logout_requested_by: MarkupFn,
    pub(super) log_out: &'static str,
    pub(super) stay_signed_in: &'static str,
    pub(super) logged_out: DomainText,
    pub(super) invalid_logout: DomainText,
    pub(super) foreign_hint_detail: &'static str,
    pub(super) unknown_logout_redirect_uri_detail: &'static str,
    pub(super) log_out_here: &'static str,
}

/// Returns the texts in a language.
pub(super) fn provider_words(language: Language) -> &'static ProviderWords {
    match language {
        Language::English => &english::PROVIDER,
        Language::Spanish => &spanish::PROVIDER,
    }
}
