//! Renders the states of a login page that have no code: a single column with the result and a link
//! to continue.

use maud::{Markup, html};
use signpost_platform::origin::PublicOrigin;
use signpost_platform::pages::Language;
use signpost_platform::pages::frame::{Frame, Layout};
use signpost_platform::pages::icons::PageIcon;

use super::document::{LoginDocument, name};
use super::notice::offline_notice;
use super::passkey_login::passkey_offer;
use super::state::LinkedKey;
use super::view::{PageTask, SiteNames};
use super::words::{HeadedText, login_words};

/// Renders the page after an answer. It continues automatically, or after the user has answered the offer of a passkey.
pub(crate) fn done(page: &LoginDocument<'_>, offers_passkey: bool) -> Markup {
    let words = page.words();
    let domain = page.domain();
    let head = done_head(page);
    let class = if offers_passkey { "btn quiet wide" } else { "btn primary wide" };
    let body = html! {
        (PageIcon::Tick.draw(40))
        div.stack-sm {
            h1 #t { (head) }
            @if !offers_passkey { p.lead { ((words.returning_to)(&domain)) } }
        }
        @if offers_passkey { (offline_notice(words)) (passkey_offer(page)) }
        div.stack-sm {
            a #continue class=(class) href=(page.view.return_url) { span { ((words.continue_to)(&domain)) } }
        }
    };
    page.main("sheet one", head, &html! { section.who aria-labelledby="t" { (body) } })
}

/// Renders the confirmation of a key from another device.
pub(crate) fn confirm_link(page: &LoginDocument<'_>, key: &LinkedKey) -> Markup {
    let words = page.words();
    let head = if key.is_lightning { words.add_lightning } else { words.add_wallet };
    let text = (words.key_ends_in)(&html! { code { (key.ending()) } });
    let body = html! {
        (PageIcon::Wallet.draw(40))
        div.stack-sm {
            p.soft { (words.link_to) " " (page.domain()) }
            h1 #t { (head) }
            p.lead { (text) }
        }
        (offline_notice(words))
        form #confirm-link method="post" action=(page.action("link")) {
            (page.token)
            input type="hidden" name="key" value=(key.public_key);
            div.grid2 {
                button #not-mine .btn.wide name="answer" value="no" { (words.decline_key) }
                button #add-it .btn.primary.wide name="answer" value="yes" { (words.confirm_key) }
            }
        }
    };
    page.main("sheet one", head, &html! { section.who aria-labelledby="t" { (body) } })
}

fn done_head(page: &LoginDocument<'_>) -> &'static str {
    if page.view.task == PageTask::Link { page.words().linked } else { page.words().done }
}

/// Renders the page of a login that the site has completed.
pub(crate) fn logged_in(page: &LoginDocument<'_>) -> Markup {
    let words = page.words();
    let domain = page.domain();
    let body = html! {
        (headed(PageIcon::Tick, done_head(page), &(words.logged_in)(&domain)))
        (way_back(page))
    };
    page.main("sheet one", done_head(page), &html! { section.who aria-labelledby="t" { (body) } })
}

/// Renders the page of an expired login.
pub(crate) fn expired(page: &LoginDocument<'_>, is_renewable: bool) -> Markup {
    let words = page.words();
    let body = html! {
        (headed(PageIcon::Clock, words.expired.head, &html! { (words.expired.text) }))
        (offline_notice(words))
        @if is_renewable {
            div.stack-sm {
                form #renew method="post" action=(page.action("renew")) {
                    (page.token)
                    button #again .btn.primary.wide { (words.show_new_code) }
                }
                (back_link(page, "btn wide"))
            }
        } @else {
            (way_back(page))
        }
        div.notice { (PageIcon::Info.draw(20)) p.sm { (words.too_late) } }
    };
    page.main("sheet one", words.expired.head, &html! { section.who aria-labelledby="t" { (body) } })
}

/// Renders the page of a login that ended without a result.
pub(crate) fn ended(page: &LoginDocument<'_>, message: &HeadedText) -> Markup {
    let body = html! {
        (headed(PageIcon::Stop, message.head, &html! { (message.text) }))
        (way_back(page))
    };
    page.main("sheet one", message.head, &html! { section.who aria-labelledby="t" { (body) } })
}

/// Renders the page for a browser that does not own it.
pub(crate) fn render_other(language: Language, origin: &PublicOrigin, site: &SiteNames) -> String {
    let words = login_words(language);
    let domain = name(&site.domain);
    let text = html! { (words.other_browser.text) };
    let actions = html! {
        div.stack-sm { a.btn.primary.wide href=(site.home) { span { ((words.start_again)(&domain)) } } }
        p.sm.soft { ((words.other_browser_cookies)(&name(origin.host()))) }
    };
    let title = format!("{} · {}", words.tab_other, site.domain);
    standalone((language, origin, &title), "other", (PageIcon::Stop, words.other_browser.head, &text), &actions)
}

/// Renders the page for a request that was no navigation, while no browser owns the login page. `header` shows it.
pub(crate) fn render_no_navigation(
    language: Language,
    origin: &PublicOrigin,
    site: &SiteNames,
    header: &'static str,
) -> String {
    let words = login_words(language);
    let text = (words.no_navigation)(&html! { code { (header) } });
    let start_again = html! { span { ((words.start_again)(&name(&site.domain))) } };
    let actions = html! {
        p.sm.soft { (words.no_navigation_advice) }
        div.stack-sm { a.btn.primary.wide href=(site.home) { (start_again) } }
    };
    let title = format!("{} · {}", words.no_navigation_head, site.domain);
    let content = (PageIcon::Stop, words.no_navigation_head, &text);
    standalone((language, origin, &title), "no-navigation", content, &actions)
}

/// Renders the page of an unknown session.
pub(crate) fn render_unknown(language: Language, origin: &PublicOrigin) -> String {
    let words = login_words(language);
    let text = html! { (words.unknown.text) };
    standalone((language, origin, words.tab_unknown), "unknown", (PageIcon::Stop, words.unknown.head, &text), &html! {})
}

/// Renders the page for a refused form; `path` is the login page.
pub(crate) fn render_stale(language: Language, origin: &PublicOrigin, path: &str) -> String {
    let words = login_words(language);
    let text = html! { (words.stale.text) };
    let actions = html! {
        div.stack-sm { a.btn.primary.wide href={ (path) "?lang=" (language.tag()) } { (words.show_login) } }
    };
    standalone((language, origin, words.tab_stale), "stale", (PageIcon::Stop, words.stale.head, &text), &actions)
}

/// Renders a page that shows nothing of its session.
fn standalone(
    (language, origin, title): (Language, &PublicOrigin, &str),
    state: &str,
    (icon, head, text): (PageIcon, &str, &Markup),
    actions: &Markup,
) -> String {
    let main = html! {
        main #main .sheet.one tabindex="-1" data-state=(state) data-says=(head) data-last {
            p #live .vh role="status" {}
            section.who aria-labelledby="t" { (headed(icon, head, text)) (actions) }
        }
    };
    Frame::new(language, title, origin, Layout::Sheet, main).render()
}

fn headed(icon: PageIcon, head: &str, text: &Markup) -> Markup {
    html! {
        (icon.draw(40))
        div.stack-sm { h1 #t { (head) } p.lead { (text) } }
    }
}

fn way_back(page: &LoginDocument<'_>) -> Markup {
    html! { div.stack-sm { (back_link(page, "btn primary wide")) } }
}

fn back_link(page: &LoginDocument<'_>, class: &str) -> Markup {
    html! { a #back class=(class) href=(page.view.return_url) { span { ((page.words().back_to)(&page.domain())) } } }
}
