//! Renders the states of a login page that have a code: the requesting site, the code, and notices
//! about refused answers.

use maud::{Markup, html};
use signpost_auth::{Lnurl, QrCode};
use signpost_platform::pages::icons::PageIcon;

use super::document::{LoginDocument, seconds};
use super::notice::{concerns_passkey, notice, offline_notice, status_text};
use super::passkey_login::passkey_login;
use super::view::{LoginCode, PageTask, ScanCode};
use super::words::LoginWords;
use crate::sessions::RequestingApplication;

/// The number of the kind for the camera of a phone, which a phone that shows the page cannot use.
const CAMERA: u8 = 3;
/// Maximum width of a code in modules before its redundancy is reduced: at five pixels each it is as wide as its card.
const MAX_MODULES: usize = 57;
/// Width of a code in pixels.
const CODE_PIXELS: usize = 285;
/// Minimum width of a module in pixels.
const MIN_MODULE_PIXELS: usize = 5;

/// Renders the content of the page while it waits for an answer.
pub(crate) fn render_code_page(page: &LoginDocument<'_>) -> Markup {
    let Some(code) = &page.view.code else { return html! {} };
    let words = page.words();
    if code.is_empty() {
        return render_passkey_page(page, code);
    }
    let label = match page.view.task {
        PageTask::LogIn => words.methods_log_in,
        PageTask::Register => words.methods_register,
        PageTask::Link => words.methods_link,
    };
    let body = html! {
        (requester_section(page, code))
        section #methods .methods aria-label=(label) tabindex="-1" {
            @if !concerns_passkey(page) { (notice(page)) }
            (offline_notice(words))
            (methods(page, code))
            (countdown(words, code))
        }
        (footer(page))
    };
    page.main("sheet", &status_text(page, words.waiting), &body)
}

/// Renders the content of the page for a site that accepts only passkeys. No code is shown; only
/// the page's script uses the countdown.
fn render_passkey_page(page: &LoginDocument<'_>, code: &LoginCode) -> Markup {
    let body = html! {
        (requester_section(page, code))
        (footer(page))
        (expiry(code, true))
    };
    page.main("sheet one", &status_text(page, ""), &body)
}

/// Renders the section about the login: the site, the requesting application, passkeys and the
/// browser wallet, and help.
fn requester_section(page: &LoginDocument<'_>, code: &LoginCode) -> Markup {
    let words = page.words();
    let view = page.view;
    let is_passkey_only = code.is_empty();
    let title = match view.task {
        PageTask::LogIn => words.log_in_to,
        PageTask::Register => words.register_at,
        PageTask::Link => words.link_to,
    };
    html! {
        section.who aria-labelledby="t" {
            div {
                h1 #t {
                    small { (title) }
                    span.domain { bdi { (view.site.domain) } }
                }
                @if let Some(name) = &view.site.display_name { p.called.soft { bdi { (name) } } }
                @if let Some(application) = &view.application { p #application .called { (requesting_application(words, application)) } }
            }
            @if is_passkey_only || concerns_passkey(page) { (notice(page)) }
            @if is_passkey_only { (offline_notice(words)) }
            @if view.has_passkeys { (passkey_login(page)) }
            @if let Some(link) = &code.wallet {
                a #use-wallet .btn.wide rel="signpost-wallet" href=(link) { (PageIcon::Wallet.draw(20)) (words.use_browser_wallet) }
            }
            @if !is_passkey_only {
                button #other-ways .btn.quiet.wide.phone-only type="button" { (words.other_ways) }
            }
            (steps(page, code))
            @if view.task == PageTask::Register { p.sm { (words.first_key) } }
            @if view.can_switch { (switch_mode(page)) }
            @if !is_passkey_only { (no_key_help(page, code)) }
        }
    }
}

/// Renders the name and the host of the requesting application.
fn requesting_application(words: &LoginWords, application: &RequestingApplication) -> Markup {
    let host = html! { b { bdi { (application.host) } } };
    match &application.name {
        Some(name) => (words.application_asks)(&html! { b { bdi { (name) } } }, &host),
        None => (words.host_asks)(&host),
    }
}

/// Renders the help for users who have no passkey and no wallet yet.
fn no_key_help(page: &LoginDocument<'_>, code: &LoginCode) -> Markup {
    let words = page.words();
    let view = page.view;
    let create_passkey = match view.task {
        _ if !view.has_passkeys => None,
        PageTask::LogIn if view.can_switch => Some(words.no_key_account_first),
        PageTask::LogIn => None,
        PageTask::Register | PageTask::Link => Some(words.no_key_answer),
    };
    html! {
        details #no-wallet .sm {
            @if let Some(create_passkey) = create_passkey {
                summary { (words.no_key_question) }
                p.soft { (create_passkey) }
            } @else {
                summary { (words.no_wallet_question) }
                p.soft {
                    ((words.no_wallet_answer)(&page.domain()))
                    @if code.lightning.is_some() { " " (words.no_wallet_lightning) }
                }
            }
        }
    }
}

/// Renders the steps for the selected kind of wallet, on wide screens.
fn steps(page: &LoginDocument<'_>, code: &LoginCode) -> Markup {
    let words = page.words();
    html! {
        @if code.scan.is_some() { (step_list(words, "by-scan", &page.domain(), code.number.is_some())) }
        @if code.lightning.is_some() { (step_list(words, "by-lightning", &page.host(), false)) }
    }
}

/// Renders a numbered list of the steps of a login by wallet.
fn step_list(words: &LoginWords, class: &str, shown: &Markup, has_number: bool) -> Markup {
    html! {
        ol.steps.wide-only.(class) aria-label=(words.steps_label) {
            li { span { (words.step_scan) } }
            li { span { ((words.step_check_host)(shown)) } }
            @if has_number { li { span { (words.step_number) } } }
        }
    }
}

/// Renders the form that switches between login and registration.
fn switch_mode(page: &LoginDocument<'_>) -> Markup {
    let words = page.words();
    let is_registration = page.view.task == PageTask::Register;
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

/// A kind of wallet: its number in the style sheet, its icon and name, and its panel.
struct WalletKind {
    number: u8,
    icon: PageIcon,
    name: &'static str,
    panel: Markup,
}

/// Renders the kinds of wallet, as a vertical list if a browser does not support `:has`.
fn methods(page: &LoginDocument<'_>, code: &LoginCode) -> Markup {
    let words = page.words();
    let mut kinds = Vec::new();
    if let Some(scan) = &code.scan {
        kinds.push(WalletKind { number: 1, icon: PageIcon::Wallet, name: words.wallet, panel: scan_panel(page, scan) });
    }
    if let Some(link) = &code.wallet {
        kinds.push(WalletKind {
            number: CAMERA,
            icon: PageIcon::Phone,
            name: words.camera,
            panel: camera_panel(words, link),
        });
    }
    if let Some(lnurl) = &code.lightning {
        let panel = lightning_panel(page, lnurl);
        kinds.push(WalletKind { number: 2, icon: PageIcon::Lightning, name: words.lightning, panel });
    }
    html! {
        @if kinds.len() > 1 {
            fieldset.switch {
                legend.vh { (words.kind_of_wallet) }
                @for (at, kind) in kinds.iter().enumerate() {
                    @let id = format!("m{}", kind.number);
                    @let class = (kind.number == CAMERA).then_some("wide-only");
                    input id=(id) class=[class] type="radio" name="m" checked[at == 0];
                    label for=(id) class=[class] { (kind.icon.draw(18)) (kind.name) }
                }
            }
        }
        div.scanbox {
            @if let [only] = &*kinds {
                div.panel { (only.panel) }
            } @else {
                div.panels { @for kind in &kinds { div class={ "p" (kind.number) } { (kind.panel) } } }
            }
            @if let Some(number) = &code.number {
                div.numberline {
                    output id="number" class="plate" aria-label=(words.number_label) { (number) }
                    p { ((words.type_number)(&page.domain())) }
                }
            }
        }
    }
}

/// Returns the class of the button that opens a wallet on a phone: the primary button if the page has none for
/// passkeys.
fn open_class(page: &LoginDocument<'_>) -> &'static str {
    if page.view.has_passkeys { "btn wide" } else { "btn primary wide" }
}

/// Renders the notice that the script shows if no application opened the link of a wallet.
fn unopened_notice(words: &LoginWords) -> Markup {
    html! {
        div.notice.unopened hidden {
            (PageIcon::Stop.draw(20))
            div { h2 { (words.unopened.head) } p { (words.unopened.text) } }
        }
    }
}

/// Renders the panel with the code for wallets that scan, and the confirmation number.
fn scan_panel(page: &LoginDocument<'_>, scan: &ScanCode) -> Markup {
    let words = page.words();
    html! {
        p.phone-only.open-app {
            a id="open-wallet" class=(open_class(page)) href=(scan.qr_data) { (PageIcon::Phone.draw(20)) (words.open_wallet) }
        }
        (unopened_notice(words))
        p.phone-only.sm.soft.other { (words.other_device) }
        a rel="signpost-code" href=(scan.qr_data) id="code" class="qr" { (draw_code(&scan.qr_data, words.code_label)) }
    }
}

/// Renders the code for the camera of a phone without a wallet.
fn camera_panel(words: &LoginWords, link: &str) -> Markup {
    html! {
        a rel="signpost-wallet" href=(link) id="wallet-code" class="qr" { (draw_code(link, words.camera_label)) }
        p.hostline { (words.camera_text) }
    }
}

/// Renders the LNURL in two spellings: for the camera, and for a wallet on the same device.
fn lightning_panel(page: &LoginDocument<'_>, lnurl: &Lnurl) -> Markup {
    let words = page.words();
    let link = lnurl.link();
    html! {
        p.phone-only.open-app {
            a id="open-lightning" class=(open_class(page)) href=(&link) { (PageIcon::Lightning.draw(20)) (words.open_lightning) }
        }
        (unopened_notice(words))
        p.phone-only.sm.soft.other { (words.other_device) }
        a rel="signpost-lightning" href=(&link) id="lightning-code" class="qr" { (draw_code(&lnurl.qr_text(), words.lightning_label)) }
        p.hostline { ((words.lightning_host)(&page.host())) }
    }
}

/// Renders a QR code on its card, which is white in both themes.
fn draw_code(text: &str, label: &str) -> Markup {
    let Some(code) = QrCode::for_screen(text, MAX_MODULES) else { return html! {} };
    let side = code.side();
    let pixels = CODE_PIXELS.max(side * MIN_MODULE_PIXELS);
    html! {
        svg width=(pixels) height=(pixels) viewBox={ "0 0 " (side) " " (side) } role="img" aria-label=(label) {
            path fill="currentColor" d=(code.path()) {}
        }
    }
}

/// Renders the countdown until the code is replaced or expires.
fn countdown(words: &LoginWords, code: &LoginCode) -> Markup {
    html! {
        div.count {
            svg width="22" height="22" viewBox="0 0 22 22" fill="none" aria-hidden="true" {
                circle.track cx="11" cy="11" r="9" stroke-width="3" {}
                circle #ring cx="11" cy="11" r="9" stroke="currentColor" stroke-width="3" stroke-linecap="round"
                    pathLength=(code.countdown_secs) stroke-dasharray={ (seconds()) " " (code.countdown_secs) }
                    transform="rotate(-90 11 11)" {}
            }
            p {
                span #waits { (words.waiting) } " "
                (if code.is_renewed_automatically { words.new_code_in } else { words.code_ends_in }) " "
                b { (expiry(code, false)) }
            }
        }
    }
}

/// Renders the expiry of the code.
fn expiry(code: &LoginCode, is_hidden: bool) -> Markup {
    html! {
        time #expires hidden[is_hidden] datetime=(code.expires_at) data-left=(seconds()) data-grace=(code.grace()) {
            (seconds()) " s"
        }
    }
}

/// Renders the end of the page: the host to compare with the address bar, the requesting browser,
/// and the cancel button.
fn footer(page: &LoginDocument<'_>) -> Markup {
    let words = page.words();
    html! {
        div.tail {
            p.check {
                (PageIcon::Globe.draw(20))
                span {
                    ((words.address_bar)(&page.host()))
                    @if let Some(browser) = &page.view.requesting_browser { br; span.soft { ((words.requested_from)(browser)) } }
                }
            }
            form #cancel method="post" action=(page.action("cancel")) {
                (page.token)
                button #cancel-button .btn.quiet.small { (words.cancel) }
            }
        }
    }
}
