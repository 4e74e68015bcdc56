//! The texts of the login page in English.

use maud::html;

use super::{HeadedMarkup, HeadedText, LoginWords, RequestingBrowser};

pub(super) const LOGIN: LoginWords = LoginWords {
    log_in_to: "Log in to",
    register_at: "Create your account at",
    link_to: "Add a key to your account at",
    application_asks: |name, host| html! { (name) " at " (host) " asks you to log in." },
    host_asks: |host| html! { (host) " asks you to log in." },
    tab_log_in: |domain| format!("Log in to {domain}"),
    tab_register: |domain| format!("Create your account at {domain}"),
    tab_link: |domain| format!("Add a key to your account at {domain}"),
    tab_confirm: "Is this yours?",
    tab_linked: "Key added",
    tab_refused: "Refused",
    tab_done: "Logged in",
    tab_ended: "Ended",
    tab_cancelled: "Cancelled",
    tab_other: "Another browser",
    tab_unknown: "Unknown login",
    tab_stale: "Nothing was done",

    use_passkey: "Use a passkey",
    make_passkey: "Make a passkey",
    passkey_lock: "Your face, your finger or the lock of this device",
    saved_passkeys: "Or choose a passkey here",
    saved_passkeys_hint: "Your browser lists the ones that it knows.",
    passkeys_need_script: "Passkeys need JavaScript, which this browser does not run here.",
    passkey_answered: "Your passkey has answered. One moment.",
    passkey_here: |domain| html! { "This device has a passkey for " (domain) " already. Use it to log in." },
    passkey_failed: "No passkey came from your device. Try again, or choose another way.",

    steps_label: "How to log in with a wallet",
    step_scan: "Open your wallet and scan the code.",
    step_check_host: |domain| html! { "Check that the wallet shows " (domain) "." },
    step_number: "Type the number that stands below the code.",
    first_time: "First time here?",
    create_account: "Create an account",
    no_password: "There is no password to think of and no form to fill in.",
    have_account: "Already have an account?",
    log_in: "Log in",
    no_wallet_question: "I have no wallet",
    no_wallet_answer: |domain| {
        html! {
            "A wallet is an app that keeps a key for you and signs with it. Ask " (domain) " which ones work here."
        }
    },
    no_wallet_lightning: "A Lightning wallet that logs in to sites works too.",
    no_key_question: "I have no wallet and no passkey",
    no_key_answer: "Most phones and computers can make a passkey. Choose “Make a passkey” and follow your device.",
    no_key_account_first: "Most phones and computers can make a passkey. Choose “Create an account”, then “Make a \
                           passkey”, and follow your device.",
    address_bar: |host| html! { "The address bar must say " (host) "." },
    requested_from: |browser| match browser {
        RequestingBrowser::Known { browser, system: Some(system) } => {
            html! { "Asked from " (browser) " on " (system) "." }
        }
        RequestingBrowser::Known { browser, system: None } => html! { "Asked from " (browser) "." },
        RequestingBrowser::Unknown(name) => html! { "Asked from “" bdi { (name) } "”." },
    },
    cancel: "Cancel",

    methods_log_in: "Log in with a wallet",
    methods_register: "Create an account with a wallet",
    methods_link: "Add a wallet to your account",
    kind_of_wallet: "Kind of wallet",
    wallet: "Wallet",
    lightning: "Lightning",
    open_wallet: "Open my wallet on this phone",
    open_lightning: "Open my Lightning wallet",
    other_ways: "Other ways to log in",
    unopened: HeadedText {
        head: "No wallet opened",
        text: "This phone may have no wallet for this link. Scan the code with a wallet on another device, or choose another way.",
    },
    use_browser_wallet: "Use this browser's wallet",
    camera: "Camera",
    camera_text: "Scan this with the camera of your phone. No app is needed.",
    camera_label: "QR code for the camera of your phone",
    other_device: "On another device, scan this:",
    code_label: "QR code for your wallet",
    lightning_label: "QR code for a Lightning wallet",
    number_label: "Number to type in your wallet",
    type_number: |domain| html! { b { "Type this number" } " in your wallet when it shows " (domain) "." },
    lightning_host: |host| {
        html! {
            "Your wallet must show " (host) ", and so must the address bar. If one differs, stop."
        }
    },

    waiting: "Waiting for your wallet.",
    new_code_in: "New code in",
    code_ends_in: "This code ends in",
    new_code: "Here is a new code. The old one no longer works.",
    seconds_left: "seconds left",
    answered: "Your wallet has answered. One moment.",
    offline: HeadedText { head: "The server does not answer", text: "Your login is not lost." },
    offline_retry: |seconds| html! { "We try again in " (seconds) " s." },
    try_now: "Try now",

    create: HeadedMarkup {
        head: "No account has this key yet",
        text: |domain, _| html! { "Scan once more to create one at " (domain) ". Nothing has been saved." },
    },
    wrong_number: HeadedText {
        head: "That number is wrong",
        text: "Look at this page and type the number that it shows. If somebody sent you the number, stop: they may be \
               trying to log in as you.",
    },
    other_user: HeadedText {
        head: "This key is not for this login",
        text: "This login is for one account only. Use a key of that account.",
    },
    tries_left: |left| match left {
        1 => "One try is left.".to_owned(),
        left => format!("{left} tries are left."),
    },
    wrong_host: HeadedMarkup {
        head: "Your wallet answered for another site",
        text: |domain, host| {
            html! {
                "Check that it shows " (domain) " and that the address bar says " (host) ". This did not cost a try."
            }
        },
    },
    clock_off: |seconds| format!("The clock of your wallet is {} off", duration(seconds)),
    clock_advice: "Turn on automatic date and time there, then scan again.",
    replaced: HeadedText { head: "That code was replaced", text: "Scan the one that is on this page now." },
    closed_head: |domain| html! { "No account at " (domain) " has this key" },
    closed: |domain| html! { (domain) " does not take new accounts here. Try another wallet, or ask " (domain) "." },
    key_known: HeadedMarkup {
        head: "This key has an account already",
        text: |domain, _| html! { "Scan the code that is on this page now to log in to " (domain) "." },
    },
    key_known_here: |domain| html! { "Press “Log in” on this page, then scan its new code to log in to " (domain) "." },
    key_taken: |domain| html! { "An account at " (domain) " has it. Add another one here." },
    too_many_keys: HeadedText { head: "Your account has 10 keys", text: "No more are possible. Remove one first." },
    other_site_head: |other| html! { "This passkey belongs to " (other) },
    other_site: |domain| html! { "Choose one for " (domain) "." },
    unknown_passkey_head: |domain| html! { "No account at " (domain) " has this passkey" },
    unknown_passkey: "It was removed, or its account is gone. Choose another passkey, or another way.",
    passkey_refused: HeadedText {
        head: "This passkey was not accepted",
        text: "Nothing has happened to your account. Try again, or choose another way.",
    },

    passkey_without_user: "This passkey does not name its user, or names another one. Choose another passkey, or another way.",
    add_wallet: "Add this wallet to your account?",
    add_lightning: "Add this Lightning wallet to your account?",
    key_ends_in: |ending| html! { "It answered from another device. Its key ends in " (ending) ". Is it yours?" },
    confirm_key: "Add it",
    decline_key: "No, this is not mine",

    done: "You are logged in",
    linked: "Your key is added",
    first_key: "Your account begins with one key. Add a second one soon: if you lose your only key, you may lose the account.",
    single_key: HeadedText {
        head: "One key opens your account so far",
        text: "If you lose your only key, you may lose the account. Make a second one.",
    },
    offer: HeadedText { head: "Quicker next time: a passkey", text: "It also lets you in if you lose the wallet." },
    not_now: "Not now",
    returning_to: |domain| html! { "Going back to " (domain) "." },
    continue_to: |domain| html! { "Continue to " (domain) },
    back_to: |domain| html! { "Back to " (domain) },
    logged_in: |domain| html! { "This login is done. Your account is open at " (domain) "." },
    expired: HeadedText {
        head: "This login has ended",
        text: "It waited for 15 minutes and nobody answered. Nothing has happened to your account.",
    },
    show_new_code: "Show a new code",
    too_late: "Did your wallet say “too late”? Then its clock may be wrong. Turn on automatic date and time on the phone \
               and try again.",
    no_tries_left: HeadedText {
        head: "This login has ended",
        text: "Three answers were wrong. Nothing has happened to your account. If somebody sent you a number, \
               they may have tried to log in as you.",
    },
    you_cancelled: HeadedText { head: "You cancelled", text: "Nothing has happened." },
    site_cancelled: HeadedText { head: "This login was cancelled", text: "Nothing has happened to your account." },
    other_browser: HeadedText {
        head: "This login was opened in another browser",
        text: "If that was you, go on there. If somebody sent you this link, close it.",
    },
    other_browser_cookies: |host| html! { "If it was this browser, it kept no cookie of " (host) ". Allow cookies and start over." },
    start_again: |domain| html! { "Start over at " (domain) },
    no_navigation_head: "This request was no navigation",
    no_navigation: |header| {
        html! {
            "Its header " (header) " shows that a script, a frame or a prefetch sent it. A login page belongs to the first \
             browser that navigates to it, so it was not shown."
        }
    },
    no_navigation_advice: "For developers: send the browser here by a link, a redirect or location.assign, not with fetch. A \
         test without a browser sends none of the headers Sec-Fetch-Mode, Sec-Fetch-Dest and Sec-Purpose; the SDKs have \
         testing helpers.",
    unknown: HeadedText {
        head: "There is no such login",
        text: "It ended some time ago, or the link is incomplete. Start over at the site where you want to log in.",
    },
    stale: HeadedText {
        head: "Nothing was done",
        text: "The page that you pressed the button on is out of date. Open the login again and press it there.",
    },
    show_login: "Show the login",
    claim_head: "Add a key to your account",
    claim_text: |domain| html! { "Your link adds a key to your account at " (domain) ", in the first browser that opens it." },
    claim_label: "Your link",
    claim_hint: "Paste all of it, with everything after the #.",
    claim_without_script: "Your browser does not run the script that reads the part after the #. Paste the link yourself.",
    claim_button: "Continue",
    claim_refused: HeadedText {
        head: "This link does not work",
        text: "It is not complete, or it was made before this server was updated. Copy all of it, or ask for a new one.",
    },
    privacy_note: "It asks for no e-mail address and no password.",
};

/// Formats the absolute value of a time difference, such as `90 seconds`, `4 minutes`, `3 hours` or
/// `2 days`.
fn duration(seconds: i64) -> String {
    match seconds.unsigned_abs() {
        1 => "1 second".to_owned(),
        seconds @ 0..120 => format!("{seconds} seconds"),
        seconds @ 120..7200 => format!("{} minutes", seconds / 60),
        seconds @ 7200..172_800 => format!("{} hours", seconds / 3600),
        seconds => format!("{} days", seconds / 86_400),
    }
}
