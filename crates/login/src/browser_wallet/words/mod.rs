//! The texts of the browser wallet, a file per language.

mod english;
mod spanish;

use maud::Markup;
use signpost_platform::pages::Language;
use signpost_platform::pages::words::MarkupFn;

/// A text with two placeholders.
pub(super) type PlacesTwo = fn(&Markup, &Markup) -> Markup;
/// A text with three placeholders.
pub(super) type PlacesThree = fn(&Markup, &Markup, &Markup) -> Markup;

/// A heading and its explanation.
#[derive(Debug)]
pub(super) struct HeadedText {
    pub(super) head: &'static str,
    pub(super) text: &'static str,
}

/// A sentence, by its placeholders.
#[derive(Debug)]
pub(super) enum Sentence {
    Plain(&'static str),
    /// The domain.
    Of(MarkupFn),
    /// A length of time.
    Lasting(MarkupFn),
    /// The host in a code, and the host of this wallet's login.
    Between(PlacesTwo),
}

/// The outcome of a code or of an answer: the result, and the next step of the user.
#[derive(Debug)]
pub(super) struct OutcomeText {
    pub(super) head: Sentence,
    pub(super) text: Sentence,
}

/// Number of outcomes.
const OUTCOMES: usize = 23;

/// The texts of the wallet.
#[derive(Debug)]
pub(super) struct WalletWords {
    pub(super) title: &'static str,
    pub(super) needs_script: &'static str,
    pub(super) insecure: HeadedText,
    pub(super) foot: &'static str,
    pub(super) licences: &'static str,

    /// Before there is a wallet.
    pub(super) start_title: &'static str,
    pub(super) start_lead: &'static str,
    pub(super) make: &'static str,
    pub(super) restore: &'static str,
    pub(super) lost: HeadedText,
    pub(super) had_one: &'static str,
    pub(super) waits: &'static str,

    /// The 24 words: shown, asked back, typed again.
    pub(super) words_title: &'static str,
    pub(super) words_text: &'static str,
    pub(super) written: &'static str,
    pub(super) cancel: &'static str,
    pub(super) check_title: &'static str,
    pub(super) check_text: &'static str,
    pub(super) word_label: MarkupFn,
    pub(super) words_again: &'static str,
    pub(super) finish: &'static str,
    pub(super) other_word: MarkupFn,
    pub(super) restore_title: &'static str,
    pub(super) restore_label: &'static str,
    pub(super) restore_hint: &'static str,
    pub(super) restore_button: &'static str,
    pub(super) wrong_count: MarkupFn,
    pub(super) unknown_word: PlacesTwo,
    pub(super) meant: MarkupFn,
    pub(super) wrong_checksum: &'static str,

    /// With a wallet.
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
    pub(super) site: PlacesThree,
    pub(super) settings: &'static str,
    pub(super) settings_text: &'static str,
    pub(super) erase: &'static str,
    pub(super) erase_title: &'static str,
    pub(super) erase_text: &'static str,
    pub(super) erase_now: &'static str,
    pub(super) keep: &'static str,

    /// The confirmation of a login.
    pub(super) asking: &'static str,
    pub(super) log_in_to: &'static str,
    pub(super) register_at: &'static str,
    pub(super) link_to: &'static str,
    /// The placeholders are the host and the domain.
    pub(super) proven: PlacesTwo,
    pub(super) unproven: MarkupFn,
    pub(super) number_label: MarkupFn,
    pub(super) number_hint: &'static str,
    pub(super) two_digits: &'static str,
    pub(super) other_number: &'static str,
    pub(super) stop: &'static str,
    pub(super) log_in: &'static str,
    pub(super) create: &'static str,
    pub(super) add: &'static str,
    pub(super) sending: &'static str,
    pub(super) your_key: &'static str,
    pub(super) key_known: PlacesTwo,
    pub(super) key_new: MarkupFn,
    pub(super) asked_from: &'static str,
    pub(super) goes_to: &'static str,
    pub(super) ends_in: &'static str,
    pub(super) what_gets_signed: &'static str,

    /// The outcomes, by the names that the script uses.
    pub(super) outcomes: &'static [(&'static str, OutcomeText); OUTCOMES],
    pub(super) back_to_page: &'static str,
    pub(super) again: &'static str,
    pub(super) to_wallet: &'static str,
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
