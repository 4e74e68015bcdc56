//! Test helpers: an application behind a reverse proxy with forward authentication, and the user's browser.

use crate::account::signed_in;
use crate::harness::{Browser, Integrator, Service, ShownPage, text, until};
use jiff::SignedDuration;
use reqwest::header::{ACCEPT, COOKIE, HeaderMap, LOCATION, SET_COOKIE};
use reqwest::{Method, RequestBuilder, Url};
use serde_json::Value;
use signpost_login::ids::DomainId;
use signpost_openid::clients::{AllowList, Client, ClientEntropy, ClientSettings, RedirectUris, sql};
use signpost_platform::accounts::audit::Actor;

pub(crate) const APP: &str = "https://app.example.com";
pub(crate) const HTML: &str = "text/html,application/xhtml+xml,*/*;q=0.8";
/// Needed since a trusted proxy disables webhooks to private addresses of this server.
pub(crate) const LOOPBACK: (&str, &str) = ("allow_private_webhooks", "true");
pub(crate) const DAY: SignedDuration = SignedDuration::from_hours(24);
pub(crate) const KINDS: [&str; 3] = ["nginx", "caddy", "traefik"];
pub(crate) const REMOTE: [&str; 5] = ["remote-user", "remote-name", "remote-email", "remote-groups", "remote-sub"];

/// An application behind a reverse proxy, with a browser.
pub(crate) struct App<'a> {
    pub(crate) service: &'a Service,
    pub(crate) client: Client,
    pub(crate) origin: String,
    /// The browser's cookies for the application's host.
    pub(crate) cookies: Vec<String>,
}

impl<'a> App<'a> {
    /// Registers the application with this list of allowed users; `None` allows no users.
    pub(crate) async fn of(service: &'a Service, domain: &Value, allowed: Option<&[&str]>) -> Self {
        Self::at(service, domain, allowed, APP).await
    }

    pub(crate) async fn at(service: &'a Service, domain: &Value, allowed: Option<&[&str]>, origin: &str) -> Self {
        let id = DomainId::parse(text(domain, "id")).expect("an id");
        let store = &service.app.store;
        let found = signpost_login::domains::sql::find_in_any_account(store, &id).await;
        let domain = found.expect("a database").expect("a domain");
        let callback = format!("{origin}/.signpost/callback");
        let settings = ClientSettings {
            is_trusted: true,
            allowed: allowed.map(|list| AllowList::parse(list.iter().copied()).expect("a list")),
            ..ClientSettings::new(RedirectUris::parse([&*callback]).expect("URIs"))
        };
        let registered =
            Client::register(&id, settings, service.clock.now(), &ClientEntropy::draw()).expect("a client");
        let inserted = sql::insert(store, &domain, &registered.client, &Actor::Operator).await;
        inserted.expect("a stored client");
        Self { service, client: registered.client, origin: origin.to_owned(), cookies: Vec::new() }
    }

    pub(crate) fn url(&self) -> Url {
        self.origin.parse().expect("an origin")
    }

    pub(crate) fn host(&self) -> String {
        let url = self.url();
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}{port}", url.host_str().expect("a host"))
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.service.visitor().http.request(method, self.service.url(path));
        if self.cookies.is_empty() { request } else { request.header(COOKIE, self.cookies.join("; ")) }
    }

    /// Creates the authorization subrequest of this kind of proxy, without the headers of the client.
    pub(crate) fn question(&self, kind: &str, method: &str, path: &str) -> RequestBuilder {
        self.question_at(&self.host(), kind, method, path)
    }

    /// Creates the authorization subrequest for a request with this `Host`.
    pub(crate) fn question_at(&self, host: &str, kind: &str, method: &str, path: &str) -> RequestBuilder {
        let request = self.request(Method::GET, &format!("/forward/{kind}?client={}", self.client.id));
        let url = self.url();
        if kind == "nginx" {
            let request = request.header("x-original-url", format!("{}://{host}{path}", url.scheme()).as_bytes());
            return request.header("x-original-method", method);
        }
        let request = request.header("x-forwarded-method", method).header("x-forwarded-uri", path);
        let request = request.header("x-forwarded-host", host.as_bytes());
        let request = request.header("x-forwarded-proto", url.scheme()).header("x-forwarded-for", "192.0.2.7");
        // Traefik also sends the port, and passes on a forged `X-Forwarded-Prefix` of the client.
        if kind == "caddy" {
            request
        } else {
            request.header("x-forwarded-port", "443").header("x-forwarded-prefix", "/x")
        }
    }

    /// Sends the authorization subrequest for a navigation of the browser.
    pub(crate) async fn navigate(&self, kind: &str) -> ShownPage {
        shown(self.question(kind, "GET", "/").header(ACCEPT, HTML)).await
    }

    /// Checks that the server authorizes the browser's navigation.
    pub(crate) async fn is_let_in(&self) -> bool {
        self.navigate("caddy").await.status == 200
    }

    /// Creates a request for a Signpost page on the application's host, through the proxy.
    pub(crate) fn own(&self, method: Method, path: &str) -> RequestBuilder {
        self.own_at(&self.host(), method, path)
    }

    /// Creates a request for a Signpost page, with this `Host`.
    pub(crate) fn own_at(&self, host: &str, method: Method, path: &str) -> RequestBuilder {
        let request = self.request(method, path).header("x-forwarded-host", host.as_bytes());
        request.header("x-forwarded-proto", self.url().scheme()).header(ACCEPT, HTML)
    }

    pub(crate) async fn send(&mut self, request: RequestBuilder) -> ShownPage {
        let reply = shown(request).await;
        for set in reply.headers.get_all(SET_COOKIE) {
            let pair = set.to_str().expect("a cookie").split(';').next().expect("a pair").to_owned();
            let name = pair.split('=').next().expect("a name").to_owned();
            self.cookies.retain(|cookie| cookie.split('=').next() != Some(&*name));
            if !pair.ends_with('=') {
                self.cookies.push(pair);
            }
        }
        reply
    }

    pub(crate) async fn visit(&mut self, path: &str) -> ShownPage {
        let request = self.own(Method::GET, path);
        self.send(request).await
    }

    /// Starts a login of a user who is signed in to the tenant; returns the redirect URL of the callback.
    pub(crate) async fn begin_login(&mut self, browser: &mut Browser, to: &str) -> Url {
        let start = format!("/.signpost/start?client={}&to={to}", self.client.id);
        let reply = self.visit(&start).await;
        assert_eq!(reply.status, 303, "{}", reply.html);
        let authorize = location(&reply.headers);
        let back = browser.visit(&format!("{}?{}", authorize.path(), authorize.query().expect("a query"))).await;
        assert_eq!(back.status, 303, "{}", back.html);
        location(&back.headers)
    }

    /// Starts a login and opens the callback.
    pub(crate) async fn log_in(&mut self, browser: &mut Browser) {
        let back = self.begin_login(browser, "/").await;
        let reply = self.visit(&format!("{}?{}", back.path(), back.query().expect("a query"))).await;
        assert_eq!((reply.status, location_text(&reply.headers)), (303, "/"), "{}", reply.html);
    }
}

pub(crate) async fn shown(request: RequestBuilder) -> ShownPage {
    let response = request.send().await.expect("an answer");
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    ShownPage { status, headers, html: response.text().await.expect("a whole page") }
}

pub(crate) fn location_text(headers: &HeaderMap) -> &str {
    headers.get(LOCATION).map_or("", |to| to.to_str().expect("an address"))
}

pub(crate) fn location(headers: &HeaderMap) -> Url {
    location_text(headers).parse().expect("a URL")
}

/// Waits until the session is invalid; servers with a cached session drop it after the notification.
pub(crate) async fn is_out(app: &App<'_>, what: &str) {
    until(&format!("{what} is gone"), async || (!app.is_let_in().await).then_some(())).await;
}

/// Signs a user in at `shop.test`; the returned browser has the cookies of the login origin.
pub(crate) async fn tenant(service: &Service) -> (Integrator, Browser, Value) {
    let (integrator, browser, _) = signed_in(service).await;
    let domains = integrator.get("/domains").await.with(200);
    (integrator, browser, domains["domains"][0].clone())
}

pub(crate) async fn user(integrator: &Integrator, domain: &Value) -> Value {
    integrator.get(&format!("/domains/{}/users", text(domain, "id"))).await.with(200)["users"][0].clone()
}

pub(crate) fn path_of(domain: &Value, user: &Value) -> String {
    format!("/domains/{}/users/{}", text(domain, "id"), text(user, "id"))
}
