//! Renders this server's pages on an application's host. All of their resources are below the path
//! that the application's proxy forwards to this server.

use axum::http::StatusCode;
use maud::{Markup, html};
use signpost_platform::origin::PublicOrigin;
use signpost_platform::pages::form::CsrfToken;
use signpost_platform::pages::frame::{Frame, Layout};
use signpost_platform::pages::icons::PageIcon;
use signpost_platform::pages::{HtmlPage, Language};
use url::form_urlencoded;

use super::app_origin::AppOrigin;
use super::local_path::LocalPath;
use super::words::{AppText, AppWords, app_words};
use crate::ids::ClientId;

/// Renders the pages of an application in a language.
#[derive(Debug)]
pub(super) struct AppPage {
    origin: PublicOrigin,
    words: &'static AppWords,
    language: Language,
}

/// The data about a logged-in user that a page shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct DisplayedUser<'a> {
    pub(super) username: &'a str,
    pub(super) id: &'a str,
}

/// Returns the path of the page that starts a login, with its query: the page to return to, and `other` for a login as
/// another user.
pub(super) fn start_query(client: &ClientId, to: &LocalPath, is_other: bool) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("client", client.as_str()).append_pair("to", to.as_str());
    if is_other {
        query.append_pair("other", "1");
    }
    format!("start?{}", query.finish())
}

impl AppPage {
    pub(super) fn new(app: &AppOrigin, language: Language) -> Self {
        Self { origin: app.public_origin(), words: app_words(language), language }
    }

    /// Renders the page for a user whom the operator does not admit.
    pub(super) fn not_admitted(
        &self,
        user: DisplayedUser<'_>,
        is_list: bool,
        client: &ClientId,
        to: &LocalPath,
    ) -> HtmlPage {
        let words = self.words;
        let (message, hint, option) = if is_list {
            (&words.not_on_allow_list, words.contact_operator, "")
        } else {
            (&words.empty_allow_list, words.operator_hint, "--allow ")
        };
        let body = html! {
            (self.headline(PageIcon::Stop, message))
            p { ((words.logged_in_as)(&html! { b { bdi { (user.username) } } })) }
            div.stack-sm {
                p { (hint) }
                code.address { (option) (user.id) }
            }
            (self.button(&start_query(client, to, true), words.log_in_as_other))
            p { a href=(self.link("logout")) { (words.log_out_yes) } }
        };
        self.draw(words.tab_refused, "refused", &body).with_status(StatusCode::FORBIDDEN)
    }

    /// Renders the page for a request without a session that cannot be repeated after a login.
    pub(super) fn login_required(&self, client: &ClientId) -> HtmlPage {
        let body = html! {
            (self.headline(PageIcon::Clock, &self.words.request_lost))
            (self.button(&start_query(client, &LocalPath::or_root("/"), false), self.words.log_in))
        };
        self.draw(self.words.tab_login, "unsent", &body).with_status(StatusCode::UNAUTHORIZED)
    }

    /// Renders the page for a login that the user or the issuer denied. `account` is the URL of the user's account
    /// page.
    pub(super) fn login_denied(&self, client: &ClientId, to: &LocalPath, account: &str) -> HtmlPage {
        let body = html! {
            (self.headline(PageIcon::Stop, &self.words.denied))
            p { a #account href=(account) { (self.words.account_link) } }
            (self.button(&start_query(client, to, false), self.words.log_in_again))
            p { a href=(self.link(&start_query(client, to, true))) { (self.words.log_in_as_other) } }
        };
        self.draw(self.words.tab_login, "denied", &body).with_status(StatusCode::FORBIDDEN)
    }

    /// Renders the page for a callback that belongs to no login of this browser, or has expired.
    pub(super) fn callback_expired(&self, begun: Option<(&ClientId, &LocalPath)>) -> HtmlPage {
        let body = html! {
            (self.headline(PageIcon::Stop, &self.words.stale))
            @match begun {
                Some((client, to)) => (self.button(&start_query(client, to, false), self.words.log_in_again)),
                None => (button_to("/", self.words.log_in_again)),
            }
        };
        self.draw(self.words.tab_login, "stale", &body).with_status(StatusCode::BAD_REQUEST)
    }

    /// Renders the confirmation page of a logout.
    pub(super) fn log_out(&self, token: &CsrfToken) -> HtmlPage {
        let words = self.words;
        let body = html! {
            (self.headline(PageIcon::Key, &words.log_out))
            form #logout method="post" action=(self.link("logout")) {
                (token)
                button.btn.primary.wide { (words.log_out_yes) }
            }
            p { a href="/" { (words.stay_logged_in) } }
        };
        self.draw(words.tab_logout, "log-out", &body)
    }

    /// Renders the page for a logout without a session.
    pub(super) fn not_logged_in(&self) -> HtmlPage {
        let body = html! {
            (self.headline(PageIcon::Key, &self.words.not_logged_in))
            (button_to("/", self.words.log_in))
        };
        self.draw(self.words.tab_logged_out, "not-logged-in", &body)
    }

    /// Renders the page for a refused form.
    pub(super) fn form_refused(&self, status: StatusCode) -> HtmlPage {
        let body = html! {
            (self.headline(PageIcon::Stop, &self.words.form_refused))
            (self.button("logout", self.words.log_out_yes))
        };
        self.draw(self.words.tab_logout, "nothing-done", &body).with_status(status)
    }

    /// Renders the page after a logout, with a link to sign out at the issuer as well.
    pub(super) fn logged_out(&self, login: &PublicOrigin, at_issuer: &str, client: &ClientId) -> HtmlPage {
        let words = self.words;
        let host = html! { b { bdi { (login.host()) } } };
        let body = html! {
            (self.headline(PageIcon::Tick, &words.logged_out))
            p { ((words.signed_in_at_issuer)(&host)) " " a #sign-out href=(at_issuer) { (words.sign_out_at_issuer) } }
            (self.button(&start_query(client, &LocalPath::or_root("/"), false), words.log_in_again))
        };
        self.draw(words.tab_logged_out, "logged-out", &body)
    }

    fn headline(&self, icon: PageIcon, text: &AppText) -> Markup {
        let host = html! { b { bdi { (self.origin.host()) } } };
        html! {
            (icon.draw(40))
            div.stack-sm { h1 #t { ((text.head)(&host)) } p.lead { (text.text) } }
        }
    }

    fn button(&self, page: &str, text: &str) -> Markup {
        button_to(&self.link(page), text)
    }

    fn link(&self, page: &str) -> String {
        self.origin.link(&format!("/{page}"))
    }

    fn draw(&self, title: &str, state: &str, body: &Markup) -> HtmlPage {
        let main = html! {
            main #main .sheet.one tabindex="-1" data-state=(state) {
                section.who aria-labelledby="t" { (body) }
            }
        };
        let title = format!("{title} · {}", self.origin.host());
        // Some of these pages have the URL of an application's page, without a parameter for the language.
        let frame = Frame::new(self.language, &title, &self.origin, Layout::Sheet, main);
        HtmlPage::personal(Frame { is_translated: false, ..frame }.render())
    }
}

fn button_to(href: &str, text: &str) -> Markup {
    html! { div.stack-sm { a.btn.primary.wide href=(href) { (PageIcon::Key.draw(20)) (text) } } }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn client() -> ClientId {
        ClientId::new(Timestamp::UNIX_EPOCH, [1; 16])
    }

    #[test]
    fn return_path_keeps_its_query() {
        let to = LocalPath::parse("/a%2Fb?c=d&client=x#e").unwrap();
        let query = start_query(&client(), &to, false);
        let (page, query) = query.split_once('?').unwrap();
        let pairs: Vec<_> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        assert_eq!(page, "start");
        assert_eq!(pairs, [("client".into(), client().to_string()), ("to".into(), to.to_string())]);
        assert!(start_query(&client(), &to, true).ends_with("&other=1"));
    }

    #[test]
    fn pages_link_only_below_the_signpost_path() {
        let app = AppOrigin::parse("https", "app.example.com").unwrap();
        let user = DisplayedUser { username: "amber-otter-4821", id: "usr_1" };
        for language in Language::ALL {
            let page = AppPage::new(&app, language);
            let to = LocalPath::parse("/x").unwrap();
            let token = CsrfToken::new(&signpost_platform::pages::cookie::CookieSecret::from_bytes([1; 32]), "x");
            for page in [
                page.not_admitted(user, true, &client(), &to),
                page.not_admitted(user, false, &client(), &to),
                page.login_required(&client()),
                page.login_denied(&client(), &to, "https://login.test/account/dom_1"),
                page.callback_expired(Some((&client(), &to))),
                page.callback_expired(None),
                page.log_out(&token),
                page.not_logged_in(),
                page.form_refused(StatusCode::FORBIDDEN),
                page.logged_out(&PublicOrigin::new("https://login.test"), "https://login.test/logout", &client()),
            ] {
                let text = format!("{page:?}");
                let links = text.split("href=\\\"").skip(1).chain(text.split("action=\\\"").skip(1));
                for link in links.map(|rest| rest.split('\\').next().unwrap()) {
                    let is_own = link.starts_with("/.signpost/") || ["/", "#main"].contains(&link);
                    assert!(is_own || link.starts_with("https://login.test/"), "{link}");
                }
            }
        }
    }
}
