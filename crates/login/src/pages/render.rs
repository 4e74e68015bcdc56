//! Renders a login page as a complete HTML document.

use maud::{Markup, html};
use signpost_platform::pages::frame::refresh_to;
use signpost_platform::pages::{Asset, Frame, Layout};
use url::Url;

use super::code_page::render_code_page;
use super::document::LoginDocument;
use super::outcomes;
use super::state::PageState;
use super::view::PageTask;

/// The script that updates the page.
pub const LOGIN_SCRIPT: Asset =
    Asset::new("login", "js", "text/javascript; charset=utf-8", include_bytes!("../../assets/login.js"));

/// The script that asks for passkeys, on pages that accept them.
pub const PASSKEY_SCRIPT: Asset =
    Asset::new("passkeys", "js", "text/javascript; charset=utf-8", include_bytes!("../../assets/passkeys.js"));

/// Refresh interval of a page in a browser without scripts, in seconds.
const REFRESH_WITHOUT_SCRIPT: u32 = 5;

/// Renders the document, with a [placeholder](super::document::SECONDS_PLACEHOLDER) for the seconds of the countdown.
pub(crate) fn render(page: &LoginDocument<'_>) -> String {
    let words = page.words();
    let main = match &page.view.state {
        state if state.is_open() => render_code_page(page),
        PageState::Link(key) => outcomes::confirm_link(page, key),
        PageState::Done { offers_passkey } => outcomes::done(page, *offers_passkey),
        PageState::LoggedIn => outcomes::logged_in(page),
        PageState::Expired { is_renewable } => outcomes::expired(page, *is_renewable),
        PageState::TriedTooOften => outcomes::ended(page, &words.no_tries_left),
        _ => outcomes::ended(page, &words.site_cancelled),
    };
    let title = title(page);
    let foot = html! { (words.privacy_note) };
    Frame { head: head(page), foot, ..Frame::new(page.language, &title, page.origin, Layout::Sheet, main) }.render()
}

/// Renders the response to a cancellation, from which the browser returns to the site automatically.
pub(crate) fn render_cancelled(page: &LoginDocument<'_>) -> String {
    let words = page.words();
    let head = Url::parse(&page.view.return_url).map_or_else(|_| Markup::default(), |url| refresh_to(&url));
    let main = outcomes::ended(page, &words.you_cancelled);
    let title = format!("{} · {}", words.tab_cancelled, page.view.site.domain);
    let foot = html! { (words.privacy_note) };
    Frame { head, foot, ..Frame::new(page.language, &title, page.origin, Layout::Sheet, main) }.render()
}

fn title(page: &LoginDocument<'_>) -> String {
    let words = page.words();
    let domain = &page.view.site.domain;
    let first = match page.view.state {
        PageState::Waiting | PageState::Create => {
            let title = match page.view.task {
                PageTask::LogIn => words.tab_log_in,
                PageTask::Register => words.tab_register,
                PageTask::Link => words.tab_link,
            };
            return title(domain);
        }
        PageState::Refused(_) => words.tab_refused,
        PageState::Link(_) => words.tab_confirm,
        PageState::Done { .. } | PageState::LoggedIn if page.view.task == PageTask::Link => words.tab_linked,
        PageState::Done { .. } | PageState::LoggedIn => words.tab_done,
        PageState::Expired { .. } | PageState::TriedTooOften => words.tab_ended,
        PageState::Cancelled => words.tab_cancelled,
    };
    format!("{first} · {domain}")
}

fn head(page: &LoginDocument<'_>) -> Markup {
    let view = page.view;
    html! {
        script type="module" src=(LOGIN_SCRIPT.link(page.origin)) {}
        @if view.has_passkeys { script type="module" src=(PASSKEY_SCRIPT.link(page.origin)) {} }
        noscript {
            @if view.state.is_open() {
                meta http-equiv="refresh" content=(REFRESH_WITHOUT_SCRIPT);
            } @else if matches!(view.state, PageState::Done { .. }) && let Ok(url) = Url::parse(&view.return_url) {
                (refresh_to(&url))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use jiff::Timestamp;
    use signpost_auth::Lnurl;
    use signpost_platform::origin::PublicOrigin;
    use signpost_platform::pages::Language;
    use signpost_platform::pages::cookie::CookieSecret;
    use signpost_platform::pages::form::CsrfToken;

    use super::super::document::SECONDS_PLACEHOLDER;
    use super::super::state::{LinkedKey, Refusal};
    use super::super::view::{LoginCode, LoginView, ScanCode, SiteNames};
    use super::*;
    use crate::user_agent::RequestingBrowser;

    fn states() -> Vec<PageState> {
        let wallet = LinkedKey { is_lightning: false, public_key: format!("02{}9c41f07a", "ab".repeat(28)) };
        let states = [
            PageState::Waiting,
            PageState::Create,
            PageState::Refused(Refusal::Number { tries_left: 2 }),
            PageState::Refused(Refusal::Number { tries_left: 1 }),
            PageState::Refused(Refusal::OtherUser { tries_left: 1 }),
            PageState::Refused(Refusal::Host),
            PageState::Refused(Refusal::Clock { seconds_off: -250 }),
            PageState::Refused(Refusal::Replaced),
            PageState::Refused(Refusal::Closed),
            PageState::Refused(Refusal::KeyKnown),
            PageState::Refused(Refusal::KeyTaken),
            PageState::Refused(Refusal::TooManyKeys),
            PageState::Refused(Refusal::OtherSite { domain: "other.example".to_owned() }),
            PageState::Refused(Refusal::UnknownPasskey),
            PageState::Refused(Refusal::Passkey),
            PageState::Link(LinkedKey { is_lightning: true, ..wallet.clone() }),
            PageState::Link(wallet),
            PageState::Done { offers_passkey: false },
            PageState::Done { offers_passkey: true },
            PageState::LoggedIn,
            PageState::Expired { is_renewable: true },
            PageState::Expired { is_renewable: false },
            PageState::TriedTooOften,
            PageState::Cancelled,
        ];
        states.into()
    }

    fn view(state: PageState) -> LoginView {
        let expires_at: Timestamp = "2026-11-22T03:48:04Z".parse().unwrap();
        let qr_data = "svc://auth?v=2&number=1&webhook=https://login.example.com/hosted/login&challenge=svc:login:shop.example:1795319224:4QF7ZK2M9T3XWB6HC8DJ5N&exp=1795319284";
        let code = LoginCode {
            scan: Some(ScanCode { qr_data: qr_data.to_owned() }),
            wallet: Some(format!("https://login.example.com/wallet#{qr_data}")),
            number: Some("47".to_owned()),
            lightning: Lnurl::new("https://login.example.com/lnurl/x?tag=login"),
            expires_at,
            countdown_ends_at: expires_at,
            countdown_secs: 60,
            is_renewed_automatically: true,
        };
        LoginView {
            task: if state == PageState::Create { PageTask::Register } else { PageTask::LogIn },
            can_switch: true,
            has_passkeys: true,
            site: SiteNames {
                domain: "shop.example".to_owned(),
                display_name: None,
                home: "https://shop.example/".to_owned(),
            },
            application: None,
            requesting_browser: RequestingBrowser::from_user_agent(
                "Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0",
            ),
            code: state.is_open().then_some(code),
            return_url: "https://shop.example/back?session_id=ses_1&code=abc".to_owned(),
            state,
        }
    }

    fn render_view(view: &LoginView, language: Language) -> String {
        let origin = PublicOrigin::new("https://login.example.com");
        let token = CsrfToken::new(&CookieSecret::from_bytes([1; 32]), "login");
        let page = LoginDocument { view, language, origin: &origin, path: "/login/ses_1".to_owned(), token };
        super::render(&page)
    }

    #[test]
    fn every_state_renders_in_both_languages() {
        let all =
            Language::ALL.into_iter().flat_map(|language| states().into_iter().map(move |state| (language, state)));
        for (language, state) in all {
            let page = render_view(&view(state.clone()), language);
            let context = format!("{state:?} {language:?}: {page}");
            assert!(page.contains(&format!("data-state=\"{}\"", state.as_str())), "{context}");
            let count = |mark: &str| page.matches(mark).count();
            assert_eq!((count("<h1"), count("id=\"live\""), count("<main")), (1, 1, 1), "{context}");
            assert_eq!(count("btn primary"), 1, "{context}");
            assert_eq!(count("data-last") == 1, state.is_last(), "{context}");
            assert!(!page.contains("style=") && !page.contains("<style") && !page.contains(" onclick"), "{context}");
        }
    }

    #[test]
    fn open_pages_have_machine_readable_attributes() {
        for state in states() {
            let page = render_view(&view(state.clone()), Language::English);
            for mark in [
                "rel=\"signpost-code\" href=\"svc://auth?v=2&amp;number=1&amp;",
                "rel=\"signpost-lightning\" href=\"lightning:lnurl1",
                "<output id=\"number\"",
                "<time id=\"expires\" datetime=\"2026-11-22T03:48:04Z\"",
                "<form id=\"cancel\" method=\"post\" action=\"/login/ses_1/cancel?lang=en\">",
            ] {
                assert_eq!(page.matches(mark).count(), usize::from(state.is_open()), "{mark} {state:?}: {page}");
            }
            let is_done = matches!(state, PageState::Done { .. });
            assert_eq!(page.contains("id=\"continue\""), is_done, "{state:?}");
            let offers = matches!(state, PageState::Done { offers_passkey: true });
            assert_eq!(page.contains("id=\"passkey-offer\""), offers, "{state:?}");
            assert_eq!(page.contains("id=\"use-passkey\""), state.is_open() || offers, "{state:?}");
            assert_eq!(page.contains("<form id=\"confirm-link\""), matches!(state, PageState::Link(_)), "{state:?}");
        }
    }

    #[test]
    fn disabled_methods_are_not_rendered() {
        let mut one = view(PageState::Waiting);
        let code = one.code.take().unwrap();
        let code = LoginCode { wallet: None, ..code };
        let scan = LoginCode { lightning: None, ..code.clone() };
        let lightning = LoginCode { scan: None, number: None, ..code };
        for (code, has, has_not) in
            [(scan, "signpost-code", "ightning"), (lightning, "signpost-lightning", "id=\"number\"")]
        {
            let page = render_view(&LoginView { code: Some(code), ..one.clone() }, Language::English);
            assert!(page.contains(has) && !page.contains(has_not) && !page.contains("<fieldset"), "{page}");
        }
    }

    #[test]
    fn passkey_only_page_has_no_code() {
        let mut without_wallets = view(PageState::Refused(Refusal::UnknownPasskey));
        let code = without_wallets.code.take().unwrap();
        without_wallets.code = Some(LoginCode { scan: None, wallet: None, number: None, lightning: None, ..code });
        let page = render_view(&without_wallets, Language::English);
        let has = |mark: &str| page.contains(mark);
        assert!(has("id=\"use-passkey\"") && has("id=\"notice\"") && has("<time id=\"expires\" hidden"), "{page}");
        assert!(!has("class=\"methods\"") && !has("class=\"qr\"") && !has("no-wallet"), "{page}");
    }

    #[test]
    fn link_page_offers_no_new_account() {
        let page = render_view(
            &LoginView { task: PageTask::Link, can_switch: false, ..view(PageState::Waiting) },
            Language::English,
        );
        assert!(page.contains("Add a key to your account at") && page.contains("Make a passkey"), "{page}");
        assert!(!page.contains("Create an account") && !page.contains("saved-passkeys"), "{page}");
    }

    #[test]
    fn foreign_text_is_escaped_and_isolated() {
        let mut hostile = view(PageState::Waiting);
        hostile.site.display_name = Some("<b>\u{5e9}\u{5dc}\u{5d5}\u{5dd}".to_owned());
        hostile.requesting_browser = RequestingBrowser::from_user_agent("<script>alert(1)</script>\u{202e}\"'");
        let page = render_view(&hostile, Language::English);
        assert!(page.contains("<bdi>&lt;b&gt;"), "{page}");
        assert!(page.contains("<bdi>&lt;script&gt;alert(1)&lt;/script&gt;&quot;'</bdi>"), "{page}");
        assert!(!page.contains("<script>") && !page.contains('\u{202e}'), "{page}");
    }

    #[test]
    fn open_pages_have_the_seconds_placeholder() {
        let page = render_view(&view(PageState::Waiting), Language::English);
        assert_eq!(page.matches(SECONDS_PLACEHOLDER).count(), 3);
        let done = view(PageState::Done { offers_passkey: true });
        assert!(!render_view(&done, Language::English).contains(SECONDS_PLACEHOLDER));
    }

    #[test]
    fn every_state_has_its_own_version() {
        let versions: BTreeSet<_> = states().into_iter().map(|state| view(state).version()).collect();
        assert_eq!(versions.len(), states().len());
        assert_eq!(view(PageState::Waiting).version(), view(PageState::Waiting).version());
    }
}
