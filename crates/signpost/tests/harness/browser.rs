//! A browser without scripts: it stores cookies, loads pages and submits their forms.

use reqwest::header::{COOKIE, HeaderMap, LOCATION, SET_COOKIE, USER_AGENT};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use super::{Service, text};

/// A browser and its cookies.
#[derive(Debug)]
pub(crate) struct Browser {
    pub(crate) http: Client,
    pub(crate) base: String,
    pub(crate) origin: String,
    /// The cookie that identifies the browser.
    pub(crate) cookie: Option<String>,
    /// The cookie of the login session.
    pub(crate) login_cookie: Option<String>,
    /// The cookie that gives access to the hint of a posted authorization request.
    pub(crate) hint_cookie: Option<String>,
    /// The cookie of an opened setup link to the console.
    pub(crate) setup_cookie: Option<String>,
    pub(crate) user_agent: Option<&'static str>,
}

/// A response as the browser receives it.
#[derive(Debug)]
pub(crate) struct ShownPage {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) html: String,
}

impl Browser {
    pub(crate) fn at(service: &Service) -> Self {
        let origin = format!("http://localhost:{}", service.app.listen.port());
        Self {
            http: service.visitor().http,
            base: service.url(""),
            origin,
            cookie: None,
            login_cookie: None,
            hint_cookie: None,
            setup_cookie: None,
            user_agent: None,
        }
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.base));
        let request = self.user_agent.into_iter().fold(request, |request, text| request.header(USER_AGENT, text));
        let cookies: Vec<&String> =
            [&self.cookie, &self.login_cookie, &self.hint_cookie, &self.setup_cookie].into_iter().flatten().collect();
        let cookies: Vec<_> = cookies.into_iter().map(String::as_str).collect();
        if cookies.is_empty() { request } else { request.header(COOKIE, cookies.join("; ")) }
    }

    pub(crate) async fn send(&mut self, request: RequestBuilder) -> ShownPage {
        let response = request.send().await.expect("an answer");
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        for set in headers.get_all(SET_COOKIE) {
            let pair = set.to_str().expect("a cookie").split(';').next().expect("a pair");
            let kept = match pair.trim_start_matches("__Host-").split('=').next() {
                Some("signpost_login") => &mut self.login_cookie,
                Some("signpost_hint") => &mut self.hint_cookie,
                Some("signpost_setup") => &mut self.setup_cookie,
                _ => &mut self.cookie,
            };
            *kept = Some(pair.to_owned());
        }
        ShownPage { status, headers, html: response.text().await.expect("a whole page") }
    }

    /// Loads a path.
    pub(crate) async fn visit(&mut self, path: &str) -> ShownPage {
        let request = self.request(Method::GET, path);
        let request = request.header("sec-fetch-mode", "navigate").header("sec-fetch-dest", "document");
        self.send(request).await
    }

    pub(crate) async fn open(&mut self, session: &Value) -> ShownPage {
        self.visit(&page_path(session)).await
    }

    /// Submits a form of a page of the service.
    pub(crate) async fn submit(&mut self, shown: &ShownPage, button: &str, more: &str) -> ShownPage {
        let (action, token) = shown.form(button);
        let body = format!("token={token}{more}");
        let request = self.request(Method::POST, &action).header("origin", &self.origin);
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(body);
        let reply = self.send(request).await;
        self.follow_redirect(reply).await
    }

    /// Loads a path that redirects, and follows the redirect.
    pub(crate) async fn follow(&mut self, path: &str) -> ShownPage {
        let reply = self.visit(path).await;
        self.follow_redirect(reply).await
    }

    pub(crate) async fn follow_redirect(&mut self, reply: ShownPage) -> ShownPage {
        let Some(to) = reply.headers.get(LOCATION).filter(|_| reply.status == 303) else { return reply };
        let to = to.to_str().expect("an address").to_owned();
        // Only the path of an absolute URL is used: the test's server listens at another address.
        let path = to.strip_prefix(&self.origin).unwrap_or(&to).to_owned();
        self.visit(&path).await
    }

    /// Returns the session status that the page's script polls.
    pub(crate) async fn status(&mut self, session: &Value) -> Value {
        let shown = self.send(self.request(Method::GET, &format!("{}/state", page_path(session)))).await;
        assert_eq!((shown.status, &shown.headers["cache-control"].to_str().unwrap()), (200, &"no-store"), "{shown:?}");
        serde_json::from_str(&shown.html).expect("JSON")
    }
}

impl ShownPage {
    #[track_caller]
    pub(crate) fn between(&self, before: &str, after: &str) -> &str {
        let rest = self.html.split_once(before).unwrap_or_else(|| panic!("no {before}: {}", self.html)).1;
        rest.split_once(after).expect("an end").0
    }

    /// Returns the form's action and its CSRF token.
    #[track_caller]
    pub(crate) fn form(&self, id: &str) -> (String, String) {
        let form = self.between(&format!("<form id=\"{id}\""), "</form>");
        let between = |before: &str| form.split_once(before).expect("a form").1.split('"').next().expect("an end");
        (between("action=\"").to_owned(), between("name=\"token\" value=\"").to_owned())
    }

    #[track_caller]
    pub(crate) fn state(&self) -> &str {
        self.between("data-state=\"", "\"")
    }

    #[track_caller]
    pub(crate) fn is(&self, status: u16, state: &str) -> &Self {
        assert_eq!((self.status, self.state()), (status, state), "{}", self.html);
        self
    }

    /// Returns the QR code data for the wallet and the confirmation number.
    #[track_caller]
    pub(crate) fn code(&self) -> Value {
        let qr_data = self.between("rel=\"signpost-code\" href=\"", "\"").replace("&amp;", "&");
        let number = self.between("<output id=\"number\"", "</output>").split_once('>').expect("a number").1;
        json!({ "qr_data": qr_data, "confirm_code": number })
    }

    #[track_caller]
    pub(crate) fn link(&self, id: &str) -> reqwest::Url {
        let tag = self.html.split('<').find(|tag| tag.starts_with("a ") && tag.contains(&format!("id=\"{id}\"")));
        let tag = tag.unwrap_or_else(|| panic!("no #{id}: {}", self.html));
        let href = tag.split_once("href=\"").expect("a link").1.split('"').next().expect("an end");
        href.replace("&amp;", "&").parse().expect("a URL")
    }
}

pub(crate) fn page_path(session: &Value) -> String {
    let url: reqwest::Url = text(session, "page_url").parse().expect("a URL");
    url.path().to_owned()
}
