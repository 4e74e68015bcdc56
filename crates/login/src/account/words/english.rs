//! English texts of the account pages.

use maud::html;

use super::{AccountMessage, AccountWords};
use crate::user_agent::RequestingBrowser;
use crate::users::CredentialKind;

pub(super) const ACCOUNT: AccountWords = AccountWords {
    tab_accounts: "Your accounts",
    tab_keys: |domain| format!("Your keys · {domain}"),
    tab_signed_out: "Not signed in",
    tab_remove: "Remove a key?",
    tab_removed: "Removed",
    tab_stale: "Nothing changed",

    accounts: |host| html! { "Your accounts at " (host) },
    accounts_text: "Here you logged in with this browser.",
    no_accounts: AccountMessage {
        head: "You are not signed in here",
        text: "Log in at a site that uses this page. It will then appear here.",
    },
    sandbox: "Sandbox, for tests",
    show_keys: |domain| html! { "Your keys at " (domain) },
    sign_in_expired: "Your sign-in here has ended.",
    log_in_at: |domain| html! { "Log in to " (domain) " again" },

    account_at: "Your account at",
    username_line: |username| html! { "You are " (username) " there." },
    all_accounts: "All your accounts",
    keys: "Your keys",
    kind: |kind| match kind {
        CredentialKind::Wallet => "Wallet",
        CredentialKind::Lightning => "Lightning wallet",
        CredentialKind::Passkey => "Passkey",
    },
    ends_in: |digits| html! { "ends in " (digits) },
    added: |day| html! { "added " (day) },
    last_used: |day| html! { "last used " (day) },
    never_used: "not used yet",
    signed_in_with: "You are signed in with it.",
    day: |day| day.strftime("%-d %B %Y").to_string(),
    single_key: "Add a second key.",
    only_key: |domain| html! { "If you lose your only key, nobody but " (domain) " can let you in again." },
    add_key: "Add a key",
    add_hint: "A passkey of this device, or a wallet on another one. Each key lets you in.",
    max_keys_reached: "You have ten keys, and that is the most. Remove one to add another.",
    change: "Rename or remove",
    name: "Name",
    name_hint: "Up to 60 characters",
    save_name: "Save the name",
    invalid_name: "Type a name of 1 to 60 characters.",
    remove: "Remove this key",
    last_key: "Your only key stays: without it nobody could log in to this account. Add another one first.",
    login_too_old: AccountMessage {
        head: "Log in again to change your keys.",
        text: "Your last login here was more than 5 minutes ago. So nobody who finds this browser open can take your account.",
    },
    log_in_again: "Log in again",

    renamed: "The key has its new name.",
    key_added: "The key is added. It lets you in from now on.",
    key_not_found: "That key was removed before.",
    nothing_changed: "Nothing has changed.",
    sign_in_ended: "You are signed out there.",
    sign_in_not_found: "You were signed out there before.",

    remove_question: |name| html! { "Remove " (name) "?" },
    remove_text: "It lets nobody in any more, and whoever is signed in with it here is signed out.",
    remove_own: "You are signed in with it yourself: afterwards you log in with another key.",
    confirm_removal: "Remove it",
    cancel_removal: "Keep it",
    removed: AccountMessage { head: "The key is removed", text: "It lets nobody in any more." },
    removed_own: "You were signed in with it. Log in with another key.",
    back_to_keys: "Back to your keys",

    sign_ins: "Where you are signed in",
    browser: |browser| match browser {
        Some(RequestingBrowser::Known { browser, system: Some(system) }) => format!("{browser} on {system}"),
        Some(RequestingBrowser::Known { browser, system: None }) => (*browser).to_owned(),
        Some(RequestingBrowser::Unknown(name)) => name.clone(),
        None => "Unknown browser".to_owned(),
    },
    application: |host, browser| html! { "Application at " (host) ", opened in " (browser) },
    signed_in: |day| html! { "signed in on " (day) },
    this_browser: "This browser.",
    end_sign_in: "Sign out there",
    only_newest: |count| html! { "These are the " (count) " newest." },

    sign_out: "Sign out",
    sign_out_text: |domain| {
        html! { "This ends your sign-in on these pages. You may still be logged in at " (domain) ": log out there too." }
    },
    sign_out_here: "Sign out in this browser",
    sign_out_everywhere: "Sign out in all browsers",
    signed_out_everywhere: AccountMessage {
        head: "You are signed out in all browsers",
        text: "To sign in again, log in with one of your keys.",
    },

    not_signed_in: AccountMessage {
        head: "You are not signed in here",
        text: "Log in to see your keys, and to change them.",
    },
    log_in: "Log in",
    no_login: AccountMessage {
        head: "Nobody can log in here",
        text: "The link is old, or a letter is missing. Go back to the site and begin there.",
    },
    form_refused: AccountMessage {
        head: "Nothing has changed",
        text: "The button belonged to an older page, or to another browser. Load your account again and press it there.",
    },
    reload: "Show my account",
};
