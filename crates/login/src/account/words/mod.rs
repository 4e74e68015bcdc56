//! The texts of the account pages, a file per language.

mod english;
mod spanish;

use jiff::civil::Date;
use signpost_platform::pages::Language;
use signpost_platform::pages::words::MarkupFn;

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
    /// The page titles.
    pub(super) tab_realms: &'static str,
    pub(super) tab_keys: fn(&str) -> String,
    pub(super) tab_out: &'static str,
    pub(super) tab_remove: &'static str,
    pub(super) tab_removed: &'static str,
    pub(super) tab_stale: &'static str,

    /// The accounts of a browser; the placeholder is the host of the page.
    pub(super) realms: MarkupFn,
    pub(super) realms_text: &'static str,
    pub(super) no_realms: AccountMessage,
    pub(super) sandbox: &'static str,
    pub(super) see_keys: MarkupFn,
    pub(super) sign_in_over: &'static str,
    pub(super) log_in_at: MarkupFn,

    /// An account; the placeholder is the username.
    pub(super) account_at: &'static str,
    pub(super) known_as: MarkupFn,
    pub(super) all_accounts: &'static str,
    pub(super) keys: &'static str,
    pub(super) kind: fn(CredentialKind) -> &'static str,
    pub(super) ends_in: MarkupFn,
    pub(super) added: MarkupFn,
    pub(super) last_used: MarkupFn,
    pub(super) never_used: &'static str,
    pub(super) signed_in_with: &'static str,
    pub(super) day: fn(Date) -> String,
    pub(super) spare_missing: &'static str,
    pub(super) only_key: MarkupFn,
    pub(super) add_key: &'static str,
    pub(super) add_hint: &'static str,
    pub(super) too_many: &'static str,
    pub(super) change: &'static str,
    pub(super) name: &'static str,
    pub(super) name_hint: &'static str,
    pub(super) save_name: &'static str,
    pub(super) bad_name: &'static str,
    pub(super) remove: &'static str,
    pub(super) last_key: &'static str,
    pub(super) old_proof: AccountMessage,
    pub(super) log_in_again: &'static str,

    /// The notices above the keys.
    pub(super) renamed: &'static str,
    pub(super) was_added: &'static str,
    pub(super) was_gone: &'static str,
    pub(super) nothing_changed: &'static str,

    /// The confirmation before a key is removed; the placeholder is its name.
    pub(super) remove_question: MarkupFn,
    pub(super) remove_text: &'static str,
    pub(super) remove_own: &'static str,
    pub(super) remove_yes: &'static str,
    pub(super) remove_no: &'static str,
    pub(super) removed: AccountMessage,
    pub(super) removed_own: &'static str,
    pub(super) back_to_keys: &'static str,

    pub(super) sign_out: &'static str,
    pub(super) sign_out_text: MarkupFn,
    pub(super) sign_out_here: &'static str,
    pub(super) sign_out_everywhere: &'static str,
    pub(super) signed_out_everywhere: AccountMessage,

    /// The browser is not signed in, or the domain does not exist; the page does not distinguish these.
    pub(super) not_signed_in: AccountMessage,
    pub(super) log_in: &'static str,
    pub(super) no_login: AccountMessage,
    pub(super) stale: AccountMessage,
    pub(super) show_again: &'static str,
}

/// Returns the texts in a language.
pub(super) fn account_words(language: Language) -> &'static AccountWords {
    match language {
        Language::English => &english::ACCOUNT,
        Language::Spanish => &spanish::ACCOUNT,
    }
}
