//! Access to the console, and escaping of external text on its pages (docs/console.md).

use std::collections::BTreeSet;

use jiff::SignedDuration;
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HOST, ORIGIN};
use signpost::console::operators;
use signpost_platform::accounts::audit::Actor;

use crate::account::scan_and_answer;
use crate::harness::{Browser, Phone, Service, ShownPage};

/// Every screen of the console.
pub(crate) const SCREENS: [&str; 11] = [
    "/console",
    "/console/health",
    "/console/machines?q=sample",
    "/console/machines/1",
    "/console/machines/import",
    "/console/reports",
    "/console/sites",
    "/console/sites/new",
    "/console/deliveries",
    "/console/keys",
    "/console/log",
];

/// Every path that accepts a form; a test compares the list with the routes.
pub(crate) const FORM_PATHS: [&str; 23] = [
    "/console/setup/confirm",
    "/console/sign-out",
    "/console/machines/1/split",
    "/console/machines/1/join",
    "/console/machines/forget",
    "/console/machines/import",
    "/console/machines/import/apply",
    "/console/reports/rep_x",
    "/console/sites/new",
    "/console/sites/dom_x/test",
    "/console/sites/dom_x/check",
    "/console/sites/dom_x/retry",
    "/console/sites/dom_x/secret",
    "/console/sites/dom_x/secret/activate",
    "/console/deliveries/retry",
    "/console/deliveries/evt_x/retry",
    "/console/deliveries/evt_x/compare",
    "/console/keys",
    "/console/keys/key_x/rotate",
    "/console/keys/key_x/revoke",
    "/console/operators",
    "/console/operators/usr_x/remove",
    // Public: the setup token protects this path.
    "/console/setup",
];

/// Returns the routes of the console that accept a form, parsed from its source files.
fn posted_routes() -> BTreeSet<String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/console");
    let files = std::fs::read_dir(folder).expect("the console").map(|file| file.expect("a file").path());
    let texts: Vec<_> = files.map(|file| std::fs::read_to_string(file).expect("a text")).collect();
    let value_of = |name: &str, own: &str| {
        let of = |text: &String| {
            let line = text.lines().find(|line| line.contains(&format!("const {name}: &str")))?;
            Some(line.split('"').nth(1)?.to_owned())
        };
        of(&own.to_owned()).or_else(|| texts.iter().find_map(of)).unwrap_or_else(|| panic!("no {name}"))
    };
    let mut found = BTreeSet::new();
    for text in &texts {
        for route in text.split(".route(").skip(1) {
            let (path, handler) = route.split_once(", ").expect("a path and a handler");
            let handler = handler.split(['\n', ';']).next().unwrap_or_default();
            if !["post(", "upload"].iter().any(|word| handler.contains(word)) {
                continue;
            }
            let name = path.rsplit("::").next().unwrap_or(path);
            found.insert(if path.starts_with('"') { path.trim_matches('"').to_owned() } else { value_of(name, text) });
        }
    }
    found
}

#[test]
fn form_paths_match_the_routes() {
    let is_id = |part: &str| part == "1" || part.ends_with("_x");
    let general =
        |path: &&str| path.split('/').map(|part| if is_id(part) { "{id}" } else { part }).collect::<Vec<_>>().join("/");
    assert_eq!(FORM_PATHS.iter().map(general).collect::<BTreeSet<_>>(), posted_routes());
}

/// Creates a browser that uses the public address of the server.
pub(crate) fn browser_at(service: &Service) -> Browser {
    let browser = Browser::at(service);
    Browser { base: browser.origin.clone(), ..browser }
}

/// Creates a setup link and returns its path with the token.
pub(crate) async fn link(service: &Service) -> String {
    let (store, now) = (&service.app.store, service.clock.now());
    let token = operators::make_link(store, &Actor::Operator, now).await.expect("a database").expect("room");
    operators::setup_link("", &token).rsplit_once('#').expect("a token").1.to_owned()
}

/// Logs in with the `login` form and follows the redirect to `next`.
pub(crate) async fn log_in(service: &Service, browser: &mut Browser, asked: &ShownPage, next: &str) -> ShownPage {
    log_in_by(service, &service.phone(), browser, asked, next).await
}

/// Logs in with this phone; see [`log_in`].
async fn log_in_by(
    service: &Service,
    phone: &Phone,
    browser: &mut Browser,
    asked: &ShownPage,
    next: &str,
) -> ShownPage {
    let integrator = service.integrator().await;
    let login = browser.submit(asked, "login", &format!("&next={next}")).await;
    let page = login.form("cancel").0.split("/cancel").next().expect("a path").to_owned();
    scan_and_answer(&integrator, phone, &login).await;
    let mut done = browser.visit(&page).await;
    if done.html.contains("rel=\"signpost-code\"") {
        // The key is unknown: the second scan creates an account.
        assert_eq!(scan_and_answer(&integrator, phone, &done).await, 200);
        done = browser.visit(&page).await;
    }
    let back = done.is(200, "done").link("continue");
    browser.follow(&format!("{}?{}", back.path(), back.query().expect("a code"))).await
}

/// Creates a browser with an operator's session.
pub(crate) async fn operator(service: &Service) -> Browser {
    operator_by(service, &service.phone()).await
}

/// Creates a browser with an operator's session for this phone.
pub(crate) async fn operator_by(service: &Service, phone: &Phone) -> Browser {
    let mut browser = browser_at(service);
    let asked = browser.visit("/console/setup").await;
    let opened = browser.submit_link(&asked, &link(service).await).await;
    let back = log_in_by(service, phone, &mut browser, opened.is(200, "setup-login"), "/console/setup").await;
    let today = browser.submit(back.is(200, "confirm"), "confirm", "").await;
    assert!(today.status == 200 && today.html.contains("<h1>Today</h1>"), "{}", today.html);
    browser
}

/// Posts a form of the page to `action` with its CSRF token.
pub(crate) async fn post_form(browser: &mut Browser, shown: &ShownPage, action: &str, fields: &str) -> ShownPage {
    let form = shown.html.split("<form").find(|form| form.contains(&format!("action=\"{action}\"")));
    let form = form.unwrap_or_else(|| panic!("no form to {action}: {}", shown.html));
    let token = form.split_once("name=\"token\" value=\"").expect("a token").1.split('"').next().expect("an end");
    let request = browser.request(Method::POST, action).header(ORIGIN, browser.origin.clone());
    let body = format!("token={token}{fields}");
    browser.send(request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body)).await
}

impl Browser {
    /// Submits a setup link with the setup form.
    pub(crate) async fn submit_link(&mut self, asked: &ShownPage, link: &str) -> ShownPage {
        let action = asked.between("<form id=\"setup\"", ">").to_owned();
        let action = action.split_once("action=\"").expect("an action").1.trim_end_matches('"');
        let request = self.request(Method::POST, action).header(ORIGIN, self.origin.clone());
        let reply = self
            .send(request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(format!("link={link}")))
            .await;
        if reply.status == 303 { self.visit("/console/setup").await } else { reply }
    }
}

#[tokio::test]
async fn console_is_local_by_default() {
    let service = Service::start().await;
    let mut browser = browser_at(&service);
    browser.visit("/console").await.is(403, "login");
    let port = service.app.listen.port();
    for (name, value, status) in [
        (HOST, "evil.example".to_owned(), 404),
        (HOST, format!("192.168.1.7:{port}"), 404),
        (HOST, format!("127.0.0.1:{port}"), 307),
        ("x-forwarded-for".parse().expect("a name"), "203.0.113.9".to_owned(), 404),
        ("forwarded".parse().expect("a name"), "for=203.0.113.9".to_owned(), 404),
        ("via".parse().expect("a name"), "1.1 proxy".to_owned(), 404),
    ] {
        let request = browser.request(Method::GET, "/console").header(name.clone(), value.clone());
        assert_eq!(browser.send(request).await.status, status, "{name}: {value}");
    }
    for settings in [
        &[("console", "off")][..],
        &[("public_url", "https://login.test")],
        &[("trusted_proxies", "127.0.0.1")],
        &[("services", "atm")],
    ] {
        let service = Service::with(settings).await;
        let mut browser = browser_at(&service);
        for path in ["/console", "/console/setup", "/console/keys"] {
            assert_eq!(browser.visit(path).await.status, 404, "{path} {settings:?}");
        }
    }
}

#[tokio::test]
async fn enabled_console_requires_the_public_host() {
    let service = Service::with(&[("console", "on"), ("public_url", "https://login.test")]).await;
    let mut browser = Browser::at(&service);
    for (host, status) in [("login.test", 403), ("localhost", 404), ("evil.example", 404)] {
        let request = browser.request(Method::GET, "/console").header(HOST, host);
        assert_eq!(browser.send(request).await.status, status, "{host}");
    }
}

#[tokio::test]
async fn only_operators_can_use_the_console() {
    let service = Service::start().await;
    let mut stranger = browser_at(&service);
    let asked = stranger.visit("/console").await;
    for path in SCREENS.iter().chain(&["/console/counts", "/console/settings"]) {
        stranger.visit(path).await.is(403, "login");
    }
    let back = log_in(&service, &mut stranger, &asked, "/console").await;
    back.is(403, "no-operator");
    for path in SCREENS {
        stranger.visit(path).await.is(403, "no-operator");
    }
    for path in FORM_PATHS.iter().filter(|path| !path.starts_with("/console/setup")) {
        let request = stranger.request(Method::POST, path).header(ORIGIN, stranger.origin.clone());
        let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body("token=x");
        stranger.send(request).await.is(403, "no-operator");
    }
}

#[tokio::test]
async fn console_rejects_foreign_forms() {
    let service = Service::start().await;
    let mut browser = operator(&service).await;
    let own = browser.origin.clone();
    for path in FORM_PATHS.into_iter().filter(|path| *path != "/console/setup") {
        for (origin, body) in [("https://evil.example", "token=x"), (own.as_str(), "token=x"), (own.as_str(), "")] {
            let request = browser.request(Method::POST, path).header(ORIGIN, origin);
            let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body);
            let refused = browser.send(request).await;
            assert!([400, 403].contains(&refused.status), "{path} {origin}: {}", refused.status);
            refused.is(refused.status, "stale");
        }
    }
    // Requests from pages of another origin leave no audit entry.
    let log = browser.visit("/console/log").await;
    assert_eq!(log.html.matches("operator:usr_").count(), 1, "that they became an operator: {}", log.html);
}

#[tokio::test]
async fn operator_session_expires_or_is_revoked() {
    let service = Service::start().await;
    let mut browser = operator(&service).await;
    service.advance_clock(SignedDuration::from_mins(59));
    assert_eq!(browser.visit("/console").await.status, 200);
    service.advance_clock(SignedDuration::from_mins(61));
    let asked = browser.visit("/console").await;
    let back = log_in(&service, &mut browser, asked.is(403, "login"), "/console").await;
    assert_eq!(back.status, 200, "{}", back.html);
    for _ in 0..23 {
        service.advance_clock(SignedDuration::from_mins(30));
        assert_eq!(browser.visit("/console").await.status, 200);
    }
    service.advance_clock(SignedDuration::from_mins(31));
    browser.visit("/console").await.is(403, "login");
    let mut again = browser_at(&service);
    let asked = again.visit("/console").await;
    assert_eq!(log_in(&service, &mut again, &asked, "/console").await.status, 200);
    let all = operators::list(&service.app.store).await.expect("a database");
    let (store, now) = (&service.app.store, service.clock.now());
    operators::remove(store, &all[0].user_id, &Actor::Operator, now).await.expect("an operator");
    again.visit("/console").await.is(403, "no-operator");
}

#[tokio::test]
async fn polling_does_not_extend_a_console_session() {
    let service = Service::start().await;
    let mut browser = operator(&service).await;
    // The script polls while the page is open.
    for _ in 0..5 {
        service.advance_clock(SignedDuration::from_mins(10));
        assert_eq!(browser.visit("/console/counts").await.status, 200);
    }
    service.advance_clock(SignedDuration::from_mins(11));
    assert_eq!(browser.visit("/console/counts").await.status, 403);
    browser.visit("/console").await.is(403, "login");
}

#[tokio::test]
async fn screens_forbid_framing_and_caching() {
    let service = Service::with(&[("services", "atm,auth")]).await;
    let mut browser = operator(&service).await;
    for path in SCREENS.iter().chain(&["/console/settings", "/console/deliveries?state=failed"]) {
        let shown = browser.visit(path).await;
        assert_eq!(shown.status, 200, "{path}: {}", shown.html);
        let header = |name: &str| shown.headers[name].to_str().expect("text").to_owned();
        assert_eq!(header("cache-control"), "no-store", "{path}");
        assert!(header("content-security-policy").contains("frame-ancestors 'none'"), "{path}");
        assert!(!shown.html.contains("style=\"") && !shown.html.contains("onclick"), "{path}");
    }
    for path in [
        "/console/machines/999999999",
        "/console/machines/x",
        "/console/sites/dom_x",
        "/console/deliveries/evt_x",
        "/console/x",
    ] {
        assert_eq!(browser.visit(path).await.status, 404, "{path}");
    }
    // The settings page contains no secrets.
    let settings = browser.visit("/console/settings").await.html;
    assert!(settings.contains("seal_key") && settings.contains("session_ttl"), "{settings}");
}
