//! English texts of the pages of an issuer.

use maud::html;

use super::{DomainText, ProviderWords};

pub(super) const PROVIDER: ProviderWords = ProviderWords {
    tab_consent: |application| format!("Let {application} know who you are?"),
    consent_question: "Let this application know who you are?",
    returns_to: |host| html! { "You go back to " (host) "." },
    signed_in_as: |username, domain| html! { "You are " (username) " at " (domain) "." },
    client_receives: "It learns:",
    receives_id: "an ID that is yours alone, and how and when you logged in",
    receives_profile: "what you are called here, and the groups you are in",
    receives_email: "an e-mail address that stands for you:",
    receives_offline: "all of this again later, while you are away",
    allow: "Allow",
    deny: "Do not allow",
    consent_is_stored: "If you allow it, you are asked again only when it wants to learn more, or asks you to confirm.",
    not_you: "Not you?",
    log_in_as_other: "Sign out and log in as somebody else",

    done: "One moment",
    returning_to: |host| html! { "You are going back to " (host) "." },
    continue_to: |host| html! { "Continue to " (host) },

    unknown_client: DomainText {
        head: "This application is not known here",
        text: |domain| {
            html! {
                "Nothing has happened to your account. Tell whoever runs the application that " (domain)
                " does not know it."
            }
        },
    },
    unknown_client_detail: "No client of this issuer has the client_id that was sent, or several were sent. Compare it with 'signpost clients list'.",
    unknown_redirect_uri: DomainText {
        head: "We cannot send you back to this application",
        text: |domain| {
            html! {
                "Nothing has happened to your account. Tell whoever runs the application that " (domain)
                " does not know where to send you."
            }
        },
    },
    no_redirect_uri_detail: "redirect_uri is missing, or was sent several times.",
    unknown_redirect_uri_detail: "The client did not register this redirect_uri. It must be exactly one that it did:",
    for_developers: "For whoever runs the application",
    unavailable: DomainText {
        head: "Nobody can log in here at the moment",
        text: |domain| {
            html! {
                "It is not your fault, and nothing has happened to your account. Tell whoever runs " (domain)
                " that it lets nobody log in."
            }
        },
    },
    unavailable_detail: "The login server refused to begin a login:",
    back_to: |host| html! { "Back to " (host) },
    expired: DomainText {
        head: "This login has ended",
        text: |_| {
            html! {
                "It was used before, waited for more than an hour, or began in another browser. Go back to the \
                 application and log in there once more."
            }
        },
    },
    stale: DomainText {
        head: "Nothing has changed",
        text: |_| {
            html! { "The button belonged to an older page, or to another browser. Show the page again and press it there." }
        },
    },
    show_again: "Show the page again",

    tab_logout: "Log out?",
    logout_question: |domain| html! { "Log out of " (domain) "?" },
    logout_signed_in_as: |username| html! { "You are " (username) " there." },
    logout_requested_by: |application| html! { (application) " asks for it." },
    log_out: "Log out",
    stay_signed_in: "To stay logged in, close this page.",
    logged_out: DomainText {
        head: "You are logged out",
        text: |domain| {
            html! {
                "You are no longer signed in at " (domain) " in this browser. Applications that you have open may not \
                 notice it at once: log out there too."
            }
        },
    },
    invalid_logout: DomainText {
        head: "You were not logged out",
        text: |domain| {
            html! {
                "An application asked " (domain) " to log you out, but not in a way that can be trusted. You can do it \
                 yourself."
            }
        },
    },
    foreign_hint_detail: "id_token_hint is no ID token of this issuer. It may have ended, but its signature must verify.",
    unknown_logout_redirect_uri_detail: "The client did not register this post_logout_redirect_uri. It must be exactly one that it did.",
    log_out_here: "Log out here",
};
