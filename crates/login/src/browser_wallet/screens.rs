//! Renders the screens of the browser wallet. The wallet's script shows a single screen at a time,
//! and fills the elements that have a `data-place` attribute.

use maud::{Markup, html};
use signpost_platform::pages::icons::PageIcon;

use super::words::WalletWords;

/// Renders a placeholder that the script fills with a text: bold, with its own text direction.
pub(super) fn place(name: &str) -> Markup {
    html! { b { bdi data-place=(name) {} } }
}

/// Renders a placeholder that the script fills with a text, with its own text direction.
fn plain_place(name: &str) -> Markup {
    html! { bdi data-place=(name) {} }
}

pub(super) fn screens(words: &WalletWords) -> Markup {
    html! {
        (start(words))
        (new_words(words))
        (check(words))
        (restore(words))
        (home(words))
        (scan(words))
        (screen("asking", &html! { (words.login_request) }, &html! { p.domain.lead { (place("domain")) } }))
        (confirm(words))
        (outcome(words))
        (screen("keys", &html! { (words.keys) }, &html! {
            p #no-sites { (words.no_sites) }
            ul #sites .stack {}
            (home_button(words))
        }))
        (settings(words))
        (screen("insecure", &html! { (words.insecure.head) }, &html! { p { (words.insecure.text) } }))
    }
}

fn screen(name: &str, heading: &Markup, body: &Markup) -> Markup {
    html! { section.who data-screen=(name) hidden { h1 { (heading) } (body) } }
}

fn home_button(words: &WalletWords) -> Markup {
    html! { button.btn.wide type="button" data-drop { (words.back_to_wallet) } }
}

/// Renders the element that shows the error of a field.
fn error(id: &str) -> Markup {
    html! { p.error id={ (id) "-error" } role="alert" hidden {} }
}

/// Renders the reminder that the 24 words are not saved yet.
fn unsaved_notice(words: &WalletWords) -> Markup {
    html! {
        div.notice.warn data-unsaved hidden {
            (PageIcon::Stop.draw(20))
            div {
                p { (words.words_unsaved) }
                button.btn.small type="button" data-save { (words.words_save) }
            }
        }
    }
}

fn start(words: &WalletWords) -> Markup {
    let body = html! {
        p.lead { (words.start_lead) }
        div #lost .notice.warn hidden {
            (PageIcon::Stop.draw(20))
            div { h2 { (words.lost.head) } p { (words.lost.text) } }
        }
        p #waits hidden { (words.code_waiting) }
        div.stack-sm {
            button #make .btn.primary.wide type="button" { (words.create_wallet) }
            button #restore .btn.wide type="button" { (words.restore) }
        }
        p.sm.soft { (words.storage_cleared) }
    };
    screen("start", &html! { (words.start_title) }, &body)
}

fn new_words(words: &WalletWords) -> Markup {
    let body = html! {
        p { (words.words_text) }
        ol #words .words translate="no" {}
        div.grid2.pair {
            button.btn.wide type="button" data-home { (words.words_later) }
            button #written .btn.primary.wide type="button" { (words.words_written_down) }
        }
    };
    screen("words", &html! { (words.words_title) }, &body)
}

fn check(words: &WalletWords) -> Markup {
    let body = html! {
        p { (words.check_text) }
        form #check-form .stack {
            @for at in 0..3 { (word_field(words, at)) }
            div.grid2.pair {
                button #words-again .btn.wide type="button" { (words.words_again) }
                button.btn.primary.wide { (words.finish) }
            }
        }
    };
    screen("check", &html! { (words.check_title) }, &body)
}

fn word_field(words: &WalletWords, at: usize) -> Markup {
    let id = format!("word-{at}");
    html! {
        div.field {
            label for=(id) { ((words.word_label)(&plain_place("position"))) }
            (error(&id))
            input id=(id) autocomplete="off" autocapitalize="none" spellcheck="false" translate="no"
                aria-describedby={ (id) "-error" };
        }
    }
}

fn restore(words: &WalletWords) -> Markup {
    let body = html! {
        form #restore-form .stack {
            div.field {
                label for="restored" { (words.restore_label) }
                p.hint #restored-hint { (words.restore_hint) }
                (error("restored"))
                textarea #restored rows="6" autocomplete="off" autocapitalize="none" spellcheck="false" translate="no"
                    aria-describedby="restored-hint restored-error" {}
            }
            div.grid2.pair {
                button.btn.wide type="button" data-home { (words.cancel) }
                button.btn.primary.wide { (words.restore_button) }
            }
        }
    };
    screen("restore", &html! { (words.restore_title) }, &body)
}

fn home(words: &WalletWords) -> Markup {
    let body = html! {
        (unsaved_notice(words))
        button #scan .btn.primary.wide type="button" { (PageIcon::Phone.draw(20)) (words.scan) }
        form #paste-form .stack-sm {
            div.field {
                label for="pasted" { (words.paste_label) }
                p.hint #pasted-hint { (words.paste_hint) }
                (error("pasted"))
                input #pasted autocomplete="off" autocapitalize="none" spellcheck="false" translate="no"
                    aria-describedby="pasted-hint pasted-error";
            }
            button.btn.wide { (words.open) }
        }
        div.row {
            button #keys .btn.quiet.small type="button" { (words.keys) }
            button #settings .btn.quiet.small type="button" { (words.settings) }
        }
    };
    screen("home", &html! { (words.home_title) }, &body)
}

fn scan(words: &WalletWords) -> Markup {
    let body = html! {
        p { (words.scan_text) }
        video #video .camera muted playsinline aria-label=(words.video_label) {}
        button.btn.wide type="button" data-home { (words.cancel) }
    };
    screen("scan", &html! { (words.scan_title) }, &body)
}

/// Renders the texts for the three modes of a code. The script shows the text of the current mode.
fn by_mode(login: &str, register: &str, link: &str) -> Markup {
    html! {
        span data-for="login" { (login) }
        span data-for="register" hidden { (register) }
        span data-for="link" hidden { (link) }
    }
}

fn confirm(words: &WalletWords) -> Markup {
    let verb = by_mode(words.log_in_to, words.register_at, words.link_to);
    let heading = html! { small { (verb) } " " span.domain { bdi data-place="domain" {} } };
    let body = html! {
        p #proven .proof { (PageIcon::Tick.draw(20)) span { ((words.host_listed)(&place("there"), &place("domain"))) } }
        p #unproven .proof.none hidden { (PageIcon::Stop.draw(20)) span { ((words.host_unlisted)(&place("there"), &place("domain"))) } }
        form #answer-form .stack {
            div #number-field .field {
                label for="number" { ((words.number_label)(&place("domain"))) }
                p.hint #number-hint { (words.number_hint) }
                (error("number"))
                input #number .digits inputmode="numeric" autocomplete="off" maxlength="2"
                    aria-describedby="number-hint number-error";
            }
            div.grid2.pair {
                button #stop .btn.wide type="button" { (words.stop) }
                button #agree .btn.primary.wide data-busy {
                    span { (by_mode(words.log_in, words.create, words.add)) }
                    span data-when-busy hidden { (words.sending) }
                }
            }
        }
        dl.facts.sm {
            dt { (words.your_key) }
            dd {
                span #key-known { ((words.key_known)(&plain_place("end"), &plain_place("since"))) }
                span #key-new { ((words.key_new)(&plain_place("end"))) }
            }
            dt data-fact="from" { (words.requested_from) }
            dd data-fact="from" { (plain_place("from")) }
            dt { (words.sent_to) }
            dd { (plain_place("there")) }
            dt { (words.ends_in) }
            dd { time #ends {} }
        }
        details.sm { summary { (words.signed_text) } pre tabindex="0" { code #signed {} } }
    };
    screen("confirm", &heading, &body)
}

fn outcome(words: &WalletWords) -> Markup {
    html! {
        section.who data-screen="outcome" hidden {
            div #outcome {}
            (unsaved_notice(words))
            div.stack-sm {
                button #return .btn.primary.wide type="button" { (words.back_to_page) }
                button #again .btn.wide type="button" { (words.try_again) }
                (home_button(words))
            }
        }
    }
}

fn settings(words: &WalletWords) -> Markup {
    let settings = html! {
        (unsaved_notice(words))
        p { (words.settings_text) }
        button #erase .btn.danger.wide type="button" { (words.erase) }
        (home_button(words))
    };
    let erase = html! {
        p { (words.erase_text) }
        div.grid2.pair {
            button.btn.wide type="button" data-home { (words.cancel_erase) }
            button #erase-now .btn.danger.wide type="button" { (words.confirm_erase) }
        }
    };
    html! {
        (screen("settings", &html! { (words.settings) }, &settings))
        (screen("erase", &html! { (words.erase_title) }, &erase))
    }
}
