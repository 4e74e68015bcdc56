//! Texts of the browser wallet, in one file per language.

mod english;
mod spanish;

use maud::Markup;
use signpost_platform::pages::Language;
use signpost_platform::pages::words::MarkupFn;

/// A function that renders a text with two placeholders.
pub(super) type WalletMarkupFn2 = fn(&Markup, &Markup) -> Markup;
/// A function that renders a text with three placeholders.
pub(super) type MarkupFn3 = fn(&Markup, &Markup, &Markup) -> Markup;

/// A heading and its explanation.
#[derive(Debug)]
pub(super) struct WalletHeadedText {
    pub(super) head: &'static str,
    pub(super) text: &'static str,
}

/// A sentence of an outcome, with placeholders that the script fills.
#[derive(Debug)]
pub(super) enum Sentence {
    Plain(&'static str),
    /// A sentence with the domain of the login.
    WithDomain(MarkupFn),
    /// A sentence with a duration.
    WithDuration(MarkupFn),
    /// A sentence with the host in the code, and the login host that this wallet belongs to.
    WithHosts(WalletMarkupFn2),
}

/// The texts for the outcome of a scanned code or of an answer: the result, and the next step of
/// the user.
#[derive(Debug)]
pub(super) struct OutcomeText {
    pub(super) head: Sentence,
    pub(super) text: Sentence,
}

/// Number of outcomes that the script can show.
const OUTCOMES: usize = 24;

/// The texts of the browser wallet.
#[derive(Debug)]
pub(super) struct WalletWords {
    pub(super) title: &'static str,
    pub(super) needs_script: &'static str,
    pub(super) insecure: WalletHeadedText,
    pub(super) footer: &'static str,
    pub(super) licences: &'static str,

    /// The start screen, before a wallet exists.
    pub(super) start_title: &'static str,
    pub(super) start_lead: &'static str,
    pub(super) create_wallet: &'static str,
    pub(super) restore: &'static str,
    pub(super) lost: WalletHeadedText,
    pub(super) storage_cleared: &'static str,
    pub(super) code_waiting: &'static str,

    /// The screens that show the 24 recovery words, ask for some of them, and restore a wallet from
    /// them.
    pub(super) words_title: &'static str,
    pub(super) words_text: &'static str,
    pub(super) words_written_down: &'static str,
    pub(super) words_later: &'static str,
    pub(super) words_unsaved: &'static str,
    pub(super) words_save: &'static str,
    pub(super) cancel: &'static str,
    pub(super) check_title: &'static str,
    pub(super) check_text: &'static str,
    pub(super) word_label: MarkupFn,
    pub(super) words_again: &'static str,
    pub(super) finish: &'static str,
    pub(super) wrong_word: MarkupFn,
    pub(super) restore_title: &'static str,
    pub(super) restore_label: &'static str,
    pub(super) restore_hint: &'static str,
    pub(super) restore_button: &'static str,
    pub(super) wrong_count: MarkupFn,
    pub(super) unknown_word: WalletMarkupFn2,
    pub(super) suggested_word: MarkupFn,
    pub(super) wrong_checksum: &'static str,

    /// The home screen, and the screens that it leads to.
    pub(super) home_title: &'static str,
    pub(super) scan: &'static str,
    pub(super) paste_label: &'static str,
    pub(super) paste_hint: &'static str,
    pub(super) open: &'static str,
    pub(super) not_pasted: &'static str,
    pub(super) scan_title: &'static str,
    pub(super) scan_text: &'static str,
    pub(super) video_label: &'static str,
    pub(super) keys: &'static str,
    pub(super) no_sites: &'static str,
    pub(super) site: MarkupFn3,
    pub(super) settings: &'static str,
    pub(super) settings_text: &'static str,
    pub(super) erase: &'static str,
    pub(super) erase_title: &'static str,
    pub(super) erase_text: &'static str,
    pub(super) confirm_erase: &'static str,
    pub(super) cancel_erase: &'static str,

    /// The screen that asks for confirmation of a login.
    pub(super) login_request: &'static str,
    pub(super) log_in_to: &'static str,
    pub(super) register_at: &'static str,
    pub(super) link_to: &'static str,
    /// The placeholders of both are the host and the domain.
    pub(super) host_listed: WalletMarkupFn2,
    pub(super) host_unlisted: WalletMarkupFn2,
    pub(super) number_label: MarkupFn,
    pub(super) number_hint: &'static str,
    pub(super) two_digits: &'static str,
    pub(super) wrong_number: &'static str,
    pub(super) stop: &'static str,
    pub(super) log_in: &'static str,
    pub(super) create: &'static str,
    pub(super) add: &'static str,
    pub(super) sending: &'static str,
    pub(super) your_key: &'static str,
    pub(super) key_known: WalletMarkupFn2,
    pub(super) key_new: MarkupFn,
    pub(super) requested_from: &'static str,
    pub(super) sent_to: &'static str,
    pub(super) ends_in: &'static str,
    pub(super) signed_text: &'static str,

    /// The outcomes with the names that the script uses.
    pub(super) outcomes: &'static [(&'static str, OutcomeText); OUTCOMES],
    pub(super) back_to_page: &'static str,
    pub(super) try_again: &'static str,
    pub(super) back_to_wallet: &'static str,
}

/// Returns the texts in a language.
pub(super) fn wallet_words(language: Language) -> &'static WalletWords {
    match language {
        Language::English => &english::WALLET,
        Language::Spanish => &spanish::WALLET,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_cover_the_same_outcomes() {
        let names = |language| wallet_words(language).outcomes.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        assert!(Language::ALL.into_iter().all(|language| names(language) == names(Language::English)));
    }
}
