//! English texts of the pages on an application's host.

use maud::html;

use super::{AppText, AppWords};

pub(super) const APP: AppWords = AppWords {
    tab_refused: "Not let in",
    tab_login: "Not logged in",
    tab_logout: "Log out?",
    tab_logged_out: "Logged out",

    not_on_allow_list: AppText {
        head: |host| html! { (host) " does not let you in" },
        text: "Only people whom its operator has named get in.",
    },
    logged_in_as: |username| html! { "You are logged in as " (username) "." },
    contact_operator: "Should you get in? Send the operator this line:",
    empty_allow_list: AppText {
        head: |host| html! { (host) " lets nobody in yet" },
        text: "Its operator has not said who may use it.",
    },
    operator_hint: "Are you the operator? Allow this person, a group or everybody with the option --allow of its client:",
    log_in_as_other: "Log in as somebody else",

    denied: AppText {
        head: |host| html! { "You are not logged in to " (host) },
        text: "You cancelled the login, or the operator has not named you: only people whom they named get in.",
    },
    account_link: "See in your account by which name the operator knows you",
    stale: AppText {
        head: |host| html! { "You are not logged in to " (host) },
        text: "This login began in another browser or too long ago, or your browser keeps no cookies.",
    },
    request_lost: AppText {
        head: |host| html! { "You are no longer logged in to " (host) },
        text: "What you sent did not arrive. Log in, go back and send it again.",
    },
    log_in: "Log in",

    log_out: AppText {
        head: |host| html! { "Log out of " (host) "?" },
        text: "Whoever uses this browser next must log in again.",
    },
    log_out_yes: "Log out",
    stay_logged_in: "Stay logged in",
    not_logged_in: AppText {
        head: |host| html! { "You are not logged in to " (host) },
        text: "There is nothing to log out of.",
    },
    logged_out: AppText {
        head: |host| html! { "You are logged out of " (host) },
        text: "This browser cannot use it without another login.",
    },
    signed_in_at_issuer: |host| html! { "You may still be signed in at " (host) ", which logs you in without asking." },
    sign_out_at_issuer: "Sign out there too",
    form_refused: AppText {
        head: |host| html! { "You are still logged in to " (host) },
        text: "The button belonged to an older page. Load this page again and press it there.",
    },
    log_in_again: "Log in again",
};
