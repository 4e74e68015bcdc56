//! The texts of the browser wallet in English.

use maud::html;

use super::Sentence::{Plain, WithDomain, WithDuration, WithHosts};
use super::{OUTCOMES, OutcomeText, WalletHeadedText, WalletWords};

pub(super) const WALLET: WalletWords = WalletWords {
    title: "Wallet",
    needs_script: "The wallet needs JavaScript: it signs in this browser, and nowhere else.",
    insecure: WalletHeadedText {
        head: "This wallet needs https",
        text: "At this address the browser makes no keys. Open the page over https, or at localhost.",
    },
    footer: "Your keys stay in this browser. Keep your 24 words: without them a lost phone is a lost key.",
    licences: "Licences",

    start_title: "A wallet in this browser",
    start_lead: "It makes a key of its own for each site, keeps it here and logs you in with it. There is no password.",
    create_wallet: "Make a wallet",
    restore: "I have 24 words already",
    lost: WalletHeadedText {
        head: "The wallet that was here is gone",
        text: "This browser has cleared its storage. Your 24 words bring the wallet back, with the same keys.",
    },
    storage_cleared: "Did you have a wallet here? A browser may clear its storage. Your 24 words bring the wallet back.",
    code_waiting: "Your login waits for a wallet.",

    words_title: "Write down these 24 words",
    words_text: "They are your wallet. Whoever has them can log in as you. Whoever loses them can lose the wallet. Write \
                 them on paper, and take no picture. Afterwards they are deleted here.",
    words_written_down: "I have written them down",
    words_later: "Later",
    words_unsaved: "Your 24 words are not saved yet. If this browser clears its storage, the wallet is lost.",
    words_save: "Save the words now",
    cancel: "Cancel",
    check_title: "Check your words",
    check_text: "Type three of them from your paper.",
    word_label: |position| html! { "Word " (position) },
    words_again: "Show the words again",
    finish: "Finish",
    wrong_word: |position| html! { "Word " (position) " is another one. Look at your paper, or show the words again." },
    restore_title: "Bring back your wallet",
    restore_label: "Your 24 words",
    restore_hint: "In their order, with a space between two.",
    restore_button: "Bring it back",
    wrong_count: |count| html! { "You typed " (count) " words. A wallet has 24." },
    unknown_word: |position, word| html! { "Word " (position) ", “" (word) "”, is not in the list." },
    suggested_word: |word| html! { "Is it “" (word) "”?" },
    wrong_checksum: "Each word is in the list, but together they are no wallet. Check their order, and words that look alike.",

    home_title: "Your wallet",
    scan: "Scan a code",
    paste_label: "Or paste the link of a code",
    paste_hint: "It begins with svc://.",
    open: "Open",
    not_pasted: "That is no login code. Copy the link of the code on the login page: it begins with svc://.",
    scan_title: "Scan a code",
    scan_text: "Point the camera at the code on the login page.",
    video_label: "What the camera sees",
    keys: "Keys",
    no_sites: "No site has a key of this wallet yet.",
    site: |end, first, last| html! { "Ends in " (end) ". First used " (first) ", last used " (last) "." },
    settings: "Settings",
    settings_text: "Your keys are encrypted in this browser. Once you have saved the 24 words they are deleted here, and cannot \
                    be shown again.",
    erase: "Erase this wallet",
    erase_title: "Erase this wallet?",
    erase_text: "This browser forgets its keys. Your 24 words alone bring them back.",
    confirm_erase: "Erase it",
    cancel_erase: "Keep it",

    login_request: "One moment",
    log_in_to: "Log in to",
    register_at: "Create your account at",
    link_to: "Add this wallet to your account at",
    host_listed: |host, domain| html! { (host) " has proof that this site is " (domain) },
    host_unlisted: |host, domain| {
        html! { (host) " has not verified that " (domain) " belongs to this login. Continue only if you trust " (host) "." }
    },
    number_label: |domain| html! { "Number on the page of " (domain) },
    number_hint: "Two digits. Read them from your own screen, never from a message or a call.",
    two_digits: "Type two digits, for example 47.",
    wrong_number: "That number is wrong. Look at the page and type the number that it shows. If somebody sent you the \
                   number, stop: they may be trying to log in as you.",
    stop: "No, stop",
    log_in: "Log in",
    create: "Create account",
    add: "Add it",
    sending: "Sending…",
    your_key: "Your key",
    key_known: |end, since| html! { "Ends in " (end) " · used here since " (since) },
    key_new: |end| html! { "Ends in " (end) " · new here" },
    requested_from: "Asked from",
    sent_to: "Answer goes to",
    ends_in: "Ends in",
    signed_text: "What gets signed",

    outcomes: &OUTCOME_TEXTS,
    back_to_page: "Back to the login page",
    try_again: "Try again",
    back_to_wallet: "To the wallet",
};

const OUTCOME_TEXTS: [(&str, OutcomeText); OUTCOMES] = [
    (
        "done-login",
        OutcomeText {
            head: WithDomain(|domain| html! { "You are logged in to " (domain) }),
            text: Plain("Continue on the page where you started."),
        },
    ),
    (
        "done-register",
        OutcomeText {
            head: WithDomain(|domain| html! { "You have a key at " (domain) }),
            text: Plain("Your account is created on the page where you started."),
        },
    ),
    (
        "done-link",
        OutcomeText {
            head: WithDomain(|domain| html! { "Your key is at " (domain) }),
            text: Plain("Continue on the page where you started. It may ask you whether to add this wallet."),
        },
    ),
    ("stopped", OutcomeText { head: Plain("You stopped"), text: Plain("Nothing was signed.") }),
    (
        "gone",
        OutcomeText {
            head: Plain("This code is no longer good"),
            text: Plain(
                "It was answered, replaced or is too old. Nothing has happened to your account. Open the code that the \
                 page shows now.",
            ),
        },
    ),
    (
        "host",
        OutcomeText {
            head: Plain("This code was altered"),
            text: Plain("It names another host than the login page. Scan the code on the site's own page."),
        },
    ),
    (
        "clock-ahead",
        OutcomeText {
            head: WithDuration(|amount| html! { "The clock of this device is " (amount) " ahead" }),
            text: Plain("Turn on automatic date and time, then open the code again. Nothing was signed."),
        },
    ),
    (
        "clock-behind",
        OutcomeText {
            head: WithDuration(|amount| html! { "The clock of this device is " (amount) " behind" }),
            text: Plain("Turn on automatic date and time, then open the code again. Nothing was signed."),
        },
    ),
    (
        "create",
        OutcomeText {
            head: WithDomain(|domain| html! { "No account at " (domain) " has this key yet" }),
            text: Plain("The login page asks now whether to create one. Open its new code. Nothing has been saved."),
        },
    ),
    (
        "closed",
        OutcomeText {
            head: WithDomain(|domain| html! { "No account at " (domain) " has this key" }),
            text: WithDomain(
                |domain| html! { (domain) " does not take new accounts here. Try another wallet, or ask " (domain) "." },
            ),
        },
    ),
    (
        "method",
        OutcomeText {
            head: WithDomain(|domain| html! { (domain) " does not take this wallet" }),
            text: Plain("Use what its login page offers."),
        },
    ),
    (
        "taken",
        OutcomeText {
            head: WithDomain(|domain| html! { "An account at " (domain) " has this key already" }),
            text: Plain("A key belongs to one account. Nothing has changed."),
        },
    ),
    (
        "other_user",
        OutcomeText {
            head: Plain("This key is not for this login"),
            text: Plain("The login is for one account only. Use a key of that account."),
        },
    ),
    (
        "known",
        OutcomeText {
            head: WithDomain(|domain| html! { "This key has an account at " (domain) " already" }),
            text: Plain("Log in with it: the login page shows how."),
        },
    ),
    (
        "busy",
        OutcomeText {
            head: Plain("The server has too much to do"),
            text: WithDuration(|amount| html! { "Open the code again in " (amount) "." }),
        },
    ),
    (
        "failed",
        OutcomeText {
            head: Plain("The server could not do it"),
            text: Plain("Nothing has happened to your key. Open the code again."),
        },
    ),
    (
        "refused",
        OutcomeText {
            head: Plain("The server refused the answer"),
            text: Plain("Nothing has happened to your account. Open the code that the page shows now."),
        },
    ),
    (
        "away",
        OutcomeText {
            head: Plain("The server does not answer"),
            text: Plain("There may be no network. Your wallet is safe in this browser."),
        },
    ),
    (
        "foreign",
        OutcomeText {
            head: Plain("This code is for another wallet"),
            text: WithHosts(|there, host| {
                html! {
                    "It sends the answer to " (there) ", and this wallet answers at " (host)
                    " alone. The command-line wallet can answer it: " code { "signpost wallet scan" } "."
                }
            }),
        },
    ),
    (
        "unreadable",
        OutcomeText {
            head: Plain("That is no login code"),
            text: Plain("A login code begins with svc://. Nothing was signed."),
        },
    ),
    (
        "no-camera",
        OutcomeText {
            head: Plain("The camera cannot be used"),
            text: Plain("Allow it for this page in the browser's settings, or paste the link of the code."),
        },
    ),
    (
        "broken",
        OutcomeText {
            head: Plain("The wallet cannot be read"),
            text: Plain(
                "Load the page again. If that does not help, erase the wallet in its settings and bring it back with your 24 words.",
            ),
        },
    ),
    (
        "sandbox",
        OutcomeText {
            head: Plain("This wallet is for trying out"),
            text: WithDomain(
                |domain| html! { "It answers in the sandbox alone, and " (domain) " asks for a live login. Use another wallet or a passkey." },
            ),
        },
    ),
    (
        "full",
        OutcomeText {
            head: Plain("The browser keeps nothing"),
            text: Plain("Its storage is full or switched off for this page, so no wallet can be made here."),
        },
    ),
];
