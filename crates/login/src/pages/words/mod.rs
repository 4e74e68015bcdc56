//! Texts of the login page, in one file per language. A text with a placeholder is a function of
//! the inserted value, so that no language can omit it.

mod english;
mod spanish;

use maud::Markup;
use signpost_platform::pages::Language;
use signpost_platform::pages::words::MarkupFn;

use crate::user_agent::RequestingBrowser;

/// A function that renders a text with two placeholders.
pub(crate) type MarkupFn2 = fn(&Markup, &Markup) -> Markup;

/// A heading and its explanation.
#[derive(Debug)]
pub(crate) struct HeadedText {
    pub(crate) head: &'static str,
    pub(crate) text: &'static str,
}

/// A heading and its explanation with the domain and the host of the page.
#[derive(Debug)]
pub(crate) struct HeadedMarkup {
    pub(crate) head: &'static str,
    pub(crate) text: MarkupFn2,
}

/// The texts of the login page. `domain` is the domain of the login, `host` the host in the address bar.
#[derive(Debug)]
pub(crate) struct LoginWords {
    /// Headings before the domain, which has a separate line.
    pub(crate) log_in_to: &'static str,
    pub(crate) register_at: &'static str,
    pub(crate) link_to: &'static str,
    /// Texts below the domain, about the OpenID Connect client and its host.
    pub(crate) application_asks: MarkupFn2,
    pub(crate) host_asks: MarkupFn,
    /// Titles of the page by state. They start with the state.
    pub(crate) tab_log_in: fn(&str) -> String,
    pub(crate) tab_register: fn(&str) -> String,
    pub(crate) tab_link: fn(&str) -> String,
    pub(crate) tab_confirm: &'static str,
    pub(crate) tab_linked: &'static str,
    pub(crate) tab_refused: &'static str,
    pub(crate) tab_done: &'static str,
    pub(crate) tab_ended: &'static str,
    pub(crate) tab_cancelled: &'static str,
    pub(crate) tab_other: &'static str,
    pub(crate) tab_unknown: &'static str,
    pub(crate) tab_stale: &'static str,

    /// The login by passkey, and the texts of its script.
    pub(crate) use_passkey: &'static str,
    pub(crate) make_passkey: &'static str,
    pub(crate) passkey_lock: &'static str,
    pub(crate) saved_passkeys: &'static str,
    pub(crate) saved_passkeys_hint: &'static str,
    pub(crate) passkeys_need_script: &'static str,
    pub(crate) passkey_answered: &'static str,
    pub(crate) passkey_here: MarkupFn,
    pub(crate) passkey_failed: &'static str,

    /// The steps of a login by wallet.
    pub(crate) steps_label: &'static str,
    pub(crate) step_scan: &'static str,
    pub(crate) step_check_host: MarkupFn,
    pub(crate) step_number: &'static str,
    /// Switching between login and registration: a question, and the text of the button after it.
    pub(crate) first_time: &'static str,
    pub(crate) create_account: &'static str,
    pub(crate) no_password: &'static str,
    pub(crate) have_account: &'static str,
    pub(crate) log_in: &'static str,
    pub(crate) no_wallet_question: &'static str,
    pub(crate) no_wallet_answer: MarkupFn,
    pub(crate) no_wallet_lightning: &'static str,
    pub(crate) no_key_question: &'static str,
    pub(crate) no_key_answer: &'static str,
    pub(crate) no_key_account_first: &'static str,
    /// The check of the address bar, and the requesting browser.
    pub(crate) address_bar: MarkupFn,
    pub(crate) requested_from: fn(&RequestingBrowser) -> Markup,
    pub(crate) cancel: &'static str,

    pub(crate) methods_log_in: &'static str,
    pub(crate) methods_register: &'static str,
    pub(crate) methods_link: &'static str,
    pub(crate) kind_of_wallet: &'static str,
    pub(crate) wallet: &'static str,
    pub(crate) lightning: &'static str,
    pub(crate) open_wallet: &'static str,
    pub(crate) open_lightning: &'static str,
    /// The browser wallet, in this browser or on a phone that opens it with its camera.
    /// The button for the methods that a phone hides at first.
    pub(crate) other_ways: &'static str,
    /// The notice if no application opened the link of a wallet.
    pub(crate) unopened: HeadedText,
    pub(crate) use_browser_wallet: &'static str,
    pub(crate) camera: &'static str,
    pub(crate) camera_text: &'static str,
    pub(crate) camera_label: &'static str,
    pub(crate) other_device: &'static str,
    pub(crate) code_label: &'static str,
    pub(crate) lightning_label: &'static str,
    pub(crate) number_label: &'static str,
    pub(crate) type_number: MarkupFn,
    pub(crate) lightning_host: MarkupFn,

    /// The status of the page, and the countdown.
    pub(crate) waiting: &'static str,
    pub(crate) new_code_in: &'static str,
    pub(crate) code_ends_in: &'static str,
    pub(crate) new_code: &'static str,
    pub(crate) seconds_left: &'static str,
    pub(crate) answered: &'static str,
    pub(crate) offline: HeadedText,
    pub(crate) offline_retry: MarkupFn,
    pub(crate) try_now: &'static str,

    /// Notices above the code.
    pub(crate) create: HeadedMarkup,
    pub(crate) wrong_number: HeadedText,
    pub(crate) other_user: HeadedText,
    pub(crate) tries_left: fn(i64) -> String,
    pub(crate) wrong_host: HeadedMarkup,
    pub(crate) clock_off: fn(i64) -> String,
    pub(crate) clock_advice: &'static str,
    pub(crate) replaced: HeadedText,
    pub(crate) closed_head: MarkupFn,
    pub(crate) closed: MarkupFn,
    pub(crate) key_known: HeadedMarkup,
    pub(crate) key_known_here: MarkupFn,
    pub(crate) key_taken: MarkupFn,
    pub(crate) too_many_keys: HeadedText,
    pub(crate) other_site_head: MarkupFn,
    pub(crate) other_site: MarkupFn,
    pub(crate) unknown_passkey_head: MarkupFn,
    pub(crate) unknown_passkey: &'static str,
    pub(crate) passkey_refused: HeadedText,
    pub(crate) passkey_without_user: &'static str,

    /// The confirmation of a key for an existing account.
    pub(crate) add_wallet: &'static str,
    pub(crate) add_lightning: &'static str,
    pub(crate) key_ends_in: MarkupFn,
    pub(crate) confirm_key: &'static str,
    pub(crate) decline_key: &'static str,

    /// The states without a code.
    pub(crate) done: &'static str,
    pub(crate) linked: &'static str,
    pub(crate) first_key: &'static str,
    pub(crate) single_key: HeadedText,
    pub(crate) offer: HeadedText,
    pub(crate) not_now: &'static str,
    pub(crate) returning_to: MarkupFn,
    pub(crate) continue_to: MarkupFn,
    pub(crate) back_to: MarkupFn,
    pub(crate) logged_in: MarkupFn,
    pub(crate) expired: HeadedText,
    pub(crate) show_new_code: &'static str,
    pub(crate) too_late: &'static str,
    pub(crate) no_tries_left: HeadedText,
    pub(crate) you_cancelled: HeadedText,
    pub(crate) site_cancelled: HeadedText,
    pub(crate) other_browser: HeadedText,
    pub(crate) other_browser_cookies: MarkupFn,
    pub(crate) start_again: MarkupFn,
    /// The refusal of a request of a script, a frame or a prefetch, with the header that shows it.
    pub(crate) no_navigation_head: &'static str,
    pub(crate) no_navigation: MarkupFn,
    pub(crate) no_navigation_advice: &'static str,
    pub(crate) unknown: HeadedText,
    pub(crate) stale: HeadedText,
    pub(crate) show_login: &'static str,
    /// The page that asks for the link from an operator.
    pub(crate) claim_head: &'static str,
    pub(crate) claim_text: MarkupFn,
    pub(crate) claim_label: &'static str,
    pub(crate) claim_hint: &'static str,
    pub(crate) claim_without_script: &'static str,
    pub(crate) claim_button: &'static str,
    pub(crate) claim_refused: HeadedText,
    /// The privacy note at the end of the footer.
    pub(crate) privacy_note: &'static str,
}

/// Returns the texts in a language.
pub(crate) fn login_words(language: Language) -> &'static LoginWords {
    match language {
        Language::English => &english::LOGIN,
        Language::Spanish => &spanish::LOGIN,
    }
}
