//! Texts of the account pages, in one file per language.

mod english;
mod spanish;

use jiff::civil::Date;
use maud::Markup;
use signpost_platform::pages::Language;
use signpost_platform::pages::words::MarkupFn;

use crate::user_agent::RequestingBrowser;
use crate::users::CredentialKind;

/// A heading and its explanation.
#[derive(Debug)]
pub(super) struct AccountMessage {
    pub(super) head: &'static str,
    pub(super) text: &'static str,
}

/// The texts of the account pages. A placeholder is the domain, unless its comment names another value.
#[derive(Debug)]
pub(super) struct AccountWords {
    /// The titles of the pages.
    pub(super) tab_accounts: &'static str,
    pub(super) tab_keys: fn(&str) -> String,
    pub(super) tab_signed_out: &'static str,
    pub(super) tab_remove: &'static str,
    pub(super) tab_removed: &'static str,
    pub(super) tab_stale: &'static str,

    /// The list of a browser's accounts; the placeholder is the host of the page.
    pub(super) accounts: MarkupFn,
    pub(super) accounts_text: &'static str,
    pub(super) no_accounts: AccountMessage,
    pub(super) sandbox: &'static str,
    pub(super) show_keys: MarkupFn,
    pub(super) sign_in_expired: &'static str,
    pub(super) log_in_at: MarkupFn,

    /// The page of an account; the placeholder is the username.
    pub(super) account_at: &'static str,
    pub(super) username_line: MarkupFn,
    pub(super) all_accounts: &'static str,
    pub(super) keys: &'static str,
    pub(super) kind: fn(CredentialKind) -> &'static str,
    pub(super) ends_in: MarkupFn,
    pub(super) added: MarkupFn,
    pub(super) last_used: MarkupFn,
    pub(super) never_used: &'static str,
    pub(super) signed_in_with: &'static str,
    pub(super) day: fn(Date) -> String,
    pub(super) single_key: &'static str,
    pub(super) only_key: MarkupFn,
    pub(super) add_key: &'static str,
    pub(super) add_hint: &'static str,
    pub(super) max_keys_reached: &'static str,
    pub(super) change: &'static str,
    pub(super) name: &'static str,
    pub(super) name_hint: &'static str,
    pub(super) save_name: &'static str,
    pub(super) invalid_name: &'static str,
    pub(super) remove: &'static str,
    pub(super) last_key: &'static str,
    pub(super) login_too_old: AccountMessage,
    pub(super) log_in_again: &'static str,

    /// The notices above the keys.
    pub(super) renamed: &'static str,
    pub(super) key_added: &'static str,
    pub(super) key_not_found: &'static str,
    pub(super) nothing_changed: &'static str,
    pub(super) sign_in_ended: &'static str,
    pub(super) sign_in_not_found: &'static str,

    /// The confirmation before a key is removed; the placeholder is its name.
    pub(super) remove_question: MarkupFn,
    pub(super) remove_text: &'static str,
    pub(super) remove_own: &'static str,
    pub(super) confirm_removal: &'static str,
    pub(super) cancel_removal: &'static str,
    pub(super) removed: AccountMessage,
    pub(super) removed_own: &'static str,
    pub(super) back_to_keys: &'static str,

    /// The list of browsers and applications; `application` has the host and the browser.
    pub(super) sign_ins: &'static str,
    pub(super) browser: fn(Option<&RequestingBrowser>) -> String,
    pub(super) application: fn(&Markup, &Markup) -> Markup,
    pub(super) signed_in: MarkupFn,
    pub(super) this_browser: &'static str,
    pub(super) end_sign_in: &'static str,
    pub(super) only_newest: fn(u32) -> Markup,

    pub(super) sign_out: &'static str,
    pub(super) sign_out_text: MarkupFn,
    pub(super) sign_out_here: &'static str,
    pub(super) sign_out_everywhere: &'static str,
    pub(super) signed_out_everywhere: AccountMessage,

    /// The browser is not signed in, or the domain does not exist; the page does not distinguish these.
    pub(super) not_signed_in: AccountMessage,
    pub(super) log_in: &'static str,
    pub(super) no_login: AccountMessage,
    pub(super) form_refused: AccountMessage,
    pub(super) reload: &'static str,
}

/// Returns the texts of the account pages in a language.
pub(super) fn account_words(language: Language) -> &'static AccountWords {
    match language {
        Language::English => &english::ACCOUNT,
        Language::Spanish => &spanish::ACCOUNT,
    }
}
