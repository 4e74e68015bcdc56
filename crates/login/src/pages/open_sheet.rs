//! The states of a login page that have a code: who asks, the code, and what was refused.

use maud::{Markup, html};
use signpost_auth::QrCode;
use signpost_platform::pages::icons::Sign;

use super::document::{LoginDocument, seconds};
use super::state::{PageState, Refusal};
use super::view::{LightningCode, LoginCode, ScanCode};
use super::words::LoginWords;

/// How many modules a code may have before it is drawn with less redundancy: at five pixels each it is as wide as its card.
const MOST_MODULES: usize = 57;
/// How wide a code is drawn, and how wide each of its modules at least.
const CODE_PIXELS: usize = 285;
const LEAST_MODULE_PIXELS: usize = 5;

/// The page while it waits for an answer.
pub(crate) fn open_sheet(page: &LoginDocument<'_>) -> Markup {
    let Some(code) = &page.view.code else { return html! {} };
    let (words, view) = (page.words(), page.view);
    let body = html! {
        (who(page, code))
        section.methods aria-label=(if view.is_registration { words.methods_register } else { words.methods_log_in }) {
            (notice(page))
            (away_notice(words))
            (methods(page, code))
            (countdown(words, code))
        }
        (tail(page))
    };
    page.main("sheet", &says(page), &body)
}

/// What the state is in one sentence, for those who do not see it.
fn says(page: &LoginDocument<'_>) -> String {
    let words = page.words();
    match page.view.state {
        PageState::Create => words.create.head.to_owned(),
        PageState::Refused(refusal) => refusal_head(words, refusal, &html! { (page.view.site.domain) }).into_string(),
        _ => words.waiting.to_owned(),
    }
}

fn who(page: &LoginDocument<'_>, code: &LoginCode) -> Markup {
    let (words, view) = (page.words(), page.view);
    html! {
        section.who aria-labelledby="t" {
            div {
                h1 #t {
                    small { (if view.is_registration { words.register_at } else { words.log_in_to }) }
                    span.domain { bdi { (view.site.domain) } }
                }
                @if let Some(name) = &view.site.display_name { p.called.soft { bdi { (name) } } }
            }
            (steps(page, code))
            @if view.can_switch { (switch_mode(page)) }
            details #no-wallet .sm {
                summary { (words.no_wallet) }
                p.soft {
                    ((words.no_wallet_answer)(&page.domain()))
                    @if code.lightning.is_some() { " " (words.no_wallet_lightning) }
                }
            }
        }
    }
}

/// What the person does, where the screen has room for it: with the kind of wallet that is chosen.
fn steps(page: &LoginDocument<'_>, code: &LoginCode) -> Markup {
    let words = page.words();
    let list = |class: &str, shown: &Markup, has_number: bool| {
        html! {
            ol.steps.wide-only.(class) aria-label=(words.steps_label) {
                li { span { (words.step_scan) } }
                li { span { ((words.step_look)(shown)) } }
                @if has_number { li { span { (words.step_number) } } }
            }
        }
    };
    html! {
        @if let Some(scan) = &code.scan { (list("by-scan", &page.domain(), scan.number.is_some())) }
        @if code.lightning.is_some() { (list("by-lightning", &page.host(), false)) }
    }
}

fn switch_mode(page: &LoginDocument<'_>) -> Markup {
    let (words, is_registration) = (page.words(), page.view.is_registration);
    let (question, button, mode) = if is_registration {
        (words.have_account, words.log_in, "login")
    } else {
        (words.first_time, words.create_account, "register")
    };
    html! {
        form #mode method="post" action=(page.action("mode")) {
            (page.token)
            p.sm {
                (question) " "
                button #switch-mode .link name="mode" value=(mode) { (button) }
                @if !is_registration { ". " (words.no_password) }
            }
        }
    }
}

/// Why an answer was refused, or that it was of a stranger.
fn notice(page: &LoginDocument<'_>) -> Markup {
    let (words, domain, host) = (page.words(), page.domain(), page.host());
    let draw = |class: &str, sign: Sign, head: &Markup, text: &Markup| {
        html! { div #notice class=(class) { (sign.draw(20)) div { h2 { (head) } p { (text) } } } }
    };
    let refused =
        |refusal, text: Markup| draw("notice danger", Sign::Stop, &refusal_head(words, refusal, &domain), &text);
    match page.view.state {
        PageState::Create => {
            let text = (words.create.text)(&domain, &host);
            draw("notice", Sign::Info, &html! { (words.create.head) }, &text)
        }
        PageState::Refused(refusal) => refused(
            refusal,
            match refusal {
                Refusal::Number { tries_left } => {
                    html! { (words.wrong_number.text) " " ((words.tries_left)(tries_left)) }
                }
                Refusal::Host => (words.wrong_host.text)(&domain, &host),
                Refusal::Clock { .. } => html! { (words.clock_advice) },
                Refusal::Replaced => html! { (words.replaced.text) },
                Refusal::Closed => (words.closed)(&domain),
                Refusal::KeyKnown if page.view.is_registration => (words.key_known_here)(&domain),
                Refusal::KeyKnown => (words.key_known.text)(&domain, &host),
            },
        ),
        _ => html! {},
    }
}

fn refusal_head(words: &LoginWords, refusal: Refusal, domain: &Markup) -> Markup {
    match refusal {
        Refusal::Number { .. } => html! { (words.wrong_number.head) },
        Refusal::Host => html! { (words.wrong_host.head) },
        Refusal::Clock { seconds_off } => html! { ((words.clock_off)(seconds_off)) },
        Refusal::Replaced => html! { (words.replaced.head) },
        Refusal::Closed => (words.closed_head)(domain),
        Refusal::KeyKnown => html! { (words.key_known.head) },
    }
}

/// What the script shows while the server does not answer.
pub(crate) fn away_notice(words: &LoginWords) -> Markup {
    html! {
        div #away .notice.warn hidden {
            (Sign::Clock.draw(20))
            div {
                h2 { (words.away.head) }
                p {
                    ((words.away_again)(&html! { b #away-seconds { "5" } })) " " (words.away.text) " "
                    button #try-now .link type="button" { (words.try_now) }
                }
            }
        }
    }
}

/// The kinds of wallet, one below the other where a browser knows no `:has`.
fn methods(page: &LoginDocument<'_>, code: &LoginCode) -> Markup {
    let words = page.words();
    let by_scan = code.scan.as_ref().map(|scan| scan_panel(words, scan));
    let by_lightning = code.lightning.as_ref().map(|lightning| lightning_panel(page, lightning));
    html! {
        @if by_scan.is_some() && by_lightning.is_some() {
            fieldset.switch {
                legend.vh { (words.kind_of_wallet) }
                input #m1 type="radio" name="m" checked;
                label for="m1" { (Sign::Wallet.draw(18)) (words.wallet) }
                input #m2 type="radio" name="m";
                label for="m2" { (Sign::Lightning.draw(18)) (words.lightning) }
            }
        }
        div.scanbox {
            @match (by_scan, by_lightning) {
                (Some(scan), Some(lightning)) => div.panels { div.p1 { (scan) } div.p2 { (lightning) } },
                (Some(panel), None) | (None, Some(panel)) => div.panel { (panel) },
                (None, None) => {},
            }
            @if let Some(number) = code.scan.as_ref().and_then(|scan| scan.number.as_ref()) {
                div.numberline {
                    output id="number" class="plate" aria-label=(words.number_label) { (number) }
                    p { ((words.type_number)(&page.domain())) }
                }
            }
        }
    }
}

fn scan_panel(words: &LoginWords, scan: &ScanCode) -> Markup {
    html! {
        p.phone-only.open-app {
            a #open-wallet .btn.primary.wide href=(scan.qr_data) { (Sign::Phone.draw(20)) (words.open_wallet) }
        }
        p.phone-only.sm.soft.other { (words.other_device) }
        a rel="signpost-code" href=(scan.qr_data) id="code" class="qr" { (draw_code(&scan.qr_data, words.code_label)) }
    }
}

fn lightning_panel(page: &LoginDocument<'_>, lightning: &LightningCode) -> Markup {
    let (words, LightningCode { qr_text, link }) = (page.words(), lightning);
    html! {
        p.phone-only.open-app {
            a #open-lightning .btn.primary.wide href=(link) { (Sign::Lightning.draw(20)) (words.open_lightning) }
        }
        p.phone-only.sm.soft.other { (words.other_device) }
        a rel="signpost-lightning" href=(link) id="lightning-code" class="qr" { (draw_code(qr_text, words.lightning_label)) }
        p.hostline { ((words.lightning_host)(&page.host())) }
    }
}

/// The code on its card, which is white in both themes.
fn draw_code(text: &str, label: &str) -> Markup {
    let Some(code) = QrCode::for_screen(text, MOST_MODULES) else { return html! {} };
    let side = code.side();
    let pixels = CODE_PIXELS.max(side * LEAST_MODULE_PIXELS);
    html! {
        svg width=(pixels) height=(pixels) viewBox={ "0 0 " (side) " " (side) } role="img" aria-label=(label) {
            path fill="currentColor" d=(code.path()) {}
        }
    }
}

fn countdown(words: &LoginWords, code: &LoginCode) -> Markup {
    html! {
        div.count {
            svg width="22" height="22" viewBox="0 0 22 22" fill="none" aria-hidden="true" {
                circle.track cx="11" cy="11" r="9" stroke-width="3" {}
                circle #ring cx="11" cy="11" r="9" stroke="currentColor" stroke-width="3" stroke-linecap="round"
                    pathLength=(code.life) stroke-dasharray={ (seconds()) " " (code.life) }
                    transform="rotate(-90 11 11)" {}
            }
            p {
                span #waits { (words.waiting) } " "
                (if code.is_renewed { words.new_code_in } else { words.code_ends_in }) " "
                b { time #expires datetime=(code.expires_at) data-left=(seconds()) data-grace=(code.grace()) { (seconds()) " s" } }
            }
        }
    }
}

fn tail(page: &LoginDocument<'_>) -> Markup {
    let (words, view) = (page.words(), page.view);
    html! {
        div.tail {
            p.check {
                (Sign::Globe.draw(20))
                span {
                    ((words.address_bar)(&page.host()))
                    @if let Some(browser) = &view.asked_by { br; span.soft { ((words.asked_from)(browser)) } }
                }
            }
            form #cancel method="post" action=(page.action("cancel")) {
                (page.token)
                button #cancel-button .btn.quiet.small { (words.cancel) }
            }
        }
    }
}
