//! What the account pages say: one file for each language.

mod english;
mod spanish;

use jiff::civil::Date;
use signpost_platform::pages::Language;
use signpost_platform::pages::words::Placed;

use crate::users::CredentialKind;

/// What happened, or a question, and what it means.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) head: &'static str,
    pub(super) text: &'static str,
}

/// Every text of the account pages. A place is the domain, unless it is said otherwise.
#[derive(Debug)]
pub(super) struct AccountWords {
    /// The tabs.
    pub(super) tab_realms: &'static str,
    pub(super) tab_keys: fn(&str) -> String,
    pub(super) tab_out: &'static str,
    pub(super) tab_remove: &'static str,
    pub(super) tab_removed: &'static str,
    pub(super) tab_stale: &'static str,

    /// The realms of a browser; the place is the host of the page.
    pub(super) realms: Placed,
    pub(super) realms_text: &'static str,
    pub(super) no_realms: Said,
    pub(super) sandbox: &'static str,
    pub(super) see_keys: Placed,
    pub(super) sign_in_over: &'static str,
    pub(super) log_in_at: Placed,

    /// An account; the place is the petname.
    pub(super) account_at: &'static str,
    pub(super) known_as: Placed,
    pub(super) all_accounts: &'static str,
    pub(super) keys: &'static str,
    pub(super) kind: fn(CredentialKind) -> &'static str,
    pub(super) ends_in: Placed,
    pub(super) added: Placed,
    pub(super) last_used: Placed,
    pub(super) never_used: &'static str,
    pub(super) signed_in_with: &'static str,
    pub(super) day: fn(Date) -> String,
    pub(super) spare_missing: &'static str,
    pub(super) only_key: Placed,
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
    pub(super) old_proof: Said,
    pub(super) log_in_again: &'static str,

    /// What was done, above the keys.
    pub(super) renamed: &'static str,
    pub(super) was_added: &'static str,
    pub(super) was_gone: &'static str,
    pub(super) nothing_changed: &'static str,

    /// The question before a key is removed; the place is its name.
    pub(super) remove_question: Placed,
    pub(super) remove_text: &'static str,
    pub(super) remove_own: &'static str,
    pub(super) remove_yes: &'static str,
    pub(super) remove_no: &'static str,
    pub(super) removed: Said,
    pub(super) removed_own: &'static str,
    pub(super) back_to_keys: &'static str,

    pub(super) sign_out: &'static str,
    pub(super) sign_out_text: Placed,
    pub(super) sign_out_here: &'static str,
    pub(super) sign_out_everywhere: &'static str,
    pub(super) signed_out_everywhere: Said,

    /// Nobody is signed in, or nothing is at the address: which of the two is told to nobody.
    pub(super) not_signed_in: Said,
    pub(super) log_in: &'static str,
    pub(super) no_login: Said,
    pub(super) stale: Said,
    pub(super) show_again: &'static str,
}

/// The texts in a language.
pub(super) fn account_words(language: Language) -> &'static AccountWords {
    match language {
        Language::English => &english::ACCOUNT,
        Language::Spanish => &spanish::ACCOUNT,
    }
}
