//! docs/forward-auth.md: attacks by a hostile neighbour, user, client or application on authorization subrequests and
//! on the pages on an application's host.

use crate::forward_flow::{APP, App, HTML, KINDS, location_text, shown, tenant};
use crate::harness::{Service, text, until};
use reqwest::Method;
use reqwest::header::{ACCEPT, COOKIE};
use serde_json::json;
use signpost_openid::clients::{ClientPatch, RedirectUris, sql};
use signpost_platform::accounts::audit::Actor;
use signpost_platform::limits::MAX_IN_PROGRESS;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

const SESSION: &str = "__Host-signpost_app=";

/// Returns the application with its client and its cookies at another host.
async fn at_another_host<'a>(app: &App<'a>, uris: &[&str], origin: &str) -> App<'a> {
    let store = &app.service.app.store;
    let patch = ClientPatch {
        redirect_uris: Some(RedirectUris::parse(uris.iter().copied()).expect("URIs")),
        ..ClientPatch::default()
    };
    let (client, now) = (&app.client, app.service.clock.now());
    let domain = signpost_login::domains::sql::find_in_any_account(store, &client.domain_id).await;
    let account = domain.expect("a database").expect("a domain").account;
    let patched = sql::patch(store, &account, &client.domain_id, &client.id, &patch, &Actor::Operator, now).await;
    patched.expect("valid settings");
    App { service: app.service, client: client.clone(), origin: origin.to_owned(), cookies: app.cookies.clone() }
}

#[tokio::test]
async fn a_session_is_invalid_at_another_host() {
    let service = Service::start().await;
    let (_, mut browser, domain) = tenant(&service).await;
    let mut app = App::of(&service, &domain, Some(&["*"])).await;
    app.log_in(&mut browser).await;
    let uris = ["https://app.example.com/.signpost/callback", "https://admin.example.com/.signpost/callback"];
    let mut other = at_another_host(&app, &uris, "https://admin.example.com").await;
    assert!(app.is_let_in().await);
    assert_eq!(other.navigate("caddy").await.status, 302);
    other.visit("/.signpost/logout").await.is(200, "not-logged-in");
    other.cookies.clear();
    other.log_in(&mut browser).await;
    assert!(other.is_let_in().await && app.is_let_in().await, "each has its own");
}

#[tokio::test]
async fn a_session_is_invalid_at_another_port() {
    let service = Service::start().await;
    let (_, mut browser, domain) = tenant(&service).await;
    let mut app = App::at(&service, &domain, Some(&["*"]), "http://localhost:8000").await;
    app.log_in(&mut browser).await;
    assert!(app.is_let_in().await);
    // Browsers send a cookie to all ports of a host.
    app.origin = "http://localhost:8001".to_owned();
    assert_eq!(app.navigate("caddy").await.status, 302);
}

#[tokio::test]
async fn clients_on_one_host_share_no_sessions() {
    let service = Service::start().await;
    let (_, mut browser, domain) = tenant(&service).await;
    let mut open = App::of(&service, &domain, Some(&["*"])).await;
    let mut strict = App::of(&service, &domain, Some(&["group:staff"])).await;
    open.log_in(&mut browser).await;
    strict.cookies.clone_from(&open.cookies);
    for kind in KINDS {
        let asked = strict.navigate(kind).await;
        assert_eq!(asked.status, if kind == "nginx" { 401 } else { 302 });
        assert!(location_text(&asked.headers).contains(strict.client.id.as_str()));
    }
    let back = strict.begin_login(&mut browser, "/").await;
    // A callback of one login is invalid for the other.
    let state =
        |url: &reqwest::Url| url.query_pairs().find(|(name, _)| name == "state").expect("a state").1.into_owned();
    let begun = open.begin_login(&mut browser, "/").await;
    let mixed = back.query().expect("a query").replace(&state(&back), &state(&begun));
    open.visit(&format!("/.signpost/callback?{mixed}&code=x")).await.is(400, "stale");
    assert!(!strict.is_let_in().await);
}

#[tokio::test]
async fn a_cookie_of_another_realm_is_invalid() {
    let service = Service::start().await;
    let (_, mut browser, domain) = tenant(&service).await;
    let mut app = App::of(&service, &domain, Some(&["*"])).await;
    app.log_in(&mut browser).await;
    let other = service.integrator_of("neighbour", signpost_platform::accounts::Environment::Sandbox).await;
    let foreign = crate::hosted::shop(&other, "http://127.0.0.1:1/hook").await;
    assert_ne!(text(&foreign, "id"), text(&domain, "id"));
    let mut neighbour = App::of(&service, &foreign, Some(&["*"])).await;
    neighbour.cookies.clone_from(&app.cookies);
    assert_eq!(neighbour.navigate("caddy").await.status, 302);
    // A session of one tenant is invalid in the other, so the login page comes first.
    let start = neighbour.visit(&format!("/.signpost/start?client={}", neighbour.client.id)).await;
    let authorize = location_text(&start.headers).parse::<reqwest::Url>().expect("a URL");
    let sent = browser.visit(&format!("{}?{}", authorize.path(), authorize.query().expect("a query"))).await;
    assert!(location_text(&sent.headers).contains("/login/sess_"), "{:?}", sent.headers);
    // Account sessions and application sessions are not interchangeable.
    let value = app.cookies.iter().find_map(|cookie| cookie.strip_prefix(SESSION)).expect("a cookie");
    let page = service.visitor().http.get(service.url("/account"));
    let page = shown(page.header(ACCEPT, HTML).header(COOKIE, format!("signpost_login={value}"))).await;
    assert!(!page.html.contains("shop.test"), "{}", page.html);
    assert!(app.is_let_in().await);
}

#[tokio::test]
async fn host_spellings_match_no_other_application() {
    let service = Service::start().await;
    let (_, mut browser, domain) = tenant(&service).await;
    let mut app = App::of(&service, &domain, Some(&["*"])).await;
    app.log_in(&mut browser).await;
    let long = format!("{}.example.com", "a".repeat(300));
    let start = format!("/.signpost/start?client={}", app.client.id);
    for (host, status) in [
        ("app.example.com", 200),
        ("APP.Example.COM", 200),
        ("app.example.com:443", 200),
        ("app.example.com:", 200),
        ("app.example.com.", 403),
        ("app.example.com:8443", 403),
        ("app.example.com.evil.example", 403),
        ("evil-app.example.com", 403),
        ("xn--80ak6aa92e.example.com", 403),
        ("[::ffff:127.0.0.1]", 403),
        ("0x7f.1", 403),
        ("app.example.com:99999", 400),
        ("app.example.com\\evil.example", 400),
        ("app.example.com%00.evil.example", 400),
        ("app.example.com evil.example", 400),
        ("app.example.com,evil.example", 400),
        ("evil.example@app.example.com", 400),
        ("app\u{ff0e}example.com", 400),
        ("", 400),
        (&long, 400),
    ] {
        for kind in KINDS {
            let question = app.question_at(host, kind, "GET", "/").header(ACCEPT, HTML);
            assert_eq!(shown(question).await.status, status, "{kind} {host:?}");
        }
        let page = shown(app.own_at(host, Method::GET, &start)).await;
        assert_eq!(page.status, if status == 200 { 303 } else { status }, "{host:?}");
    }
}

#[tokio::test]
async fn replies_to_proxies_are_not_cached() {
    let service = Service::start().await;
    let (_, mut browser, domain) = tenant(&service).await;
    let mut app = App::of(&service, &domain, Some(&["*"])).await;
    let response = async |app: &App<'_>, statuses: &[u16]| {
        for kind in KINDS {
            let reply = app.navigate(kind).await;
            assert!(statuses.contains(&reply.status), "{kind} {}", reply.status);
            assert_eq!(reply.headers["cache-control"], "no-store", "{kind} {}", reply.status);
        }
    };
    response(&app, &[302, 401]).await;
    app.log_in(&mut browser).await;
    response(&app, &[200]).await;
    app.origin = "https://other.example.com".to_owned();
    response(&app, &[403]).await;
    for page in ["start", "callback", "denied", "logout"] {
        let path = format!("/.signpost/{page}?client={}", app.client.id);
        app.origin = APP.to_owned();
        assert_eq!(app.visit(&path).await.headers["cache-control"], "no-store", "{page}");
    }
}

#[tokio::test]
async fn a_non_ascii_cookie_does_not_end_the_session() {
    let service = Service::start().await;
    let (_, mut browser, domain) = tenant(&service).await;
    let mut app = App::of(&service, &domain, Some(&["*"])).await;
    app.log_in(&mut browser).await;
    app.cookies.insert(0, "name=Zoë".to_owned());
    for kind in KINDS {
        assert_eq!(app.navigate(kind).await.status, 200, "{kind}");
    }
}

#[tokio::test]
async fn a_path_cannot_inject_headers_or_parameters() {
    let service = Service::start().await;
    let (_, mut browser, domain) = tenant(&service).await;
    let mut app = App::of(&service, &domain, Some(&["*"])).await;
    for (to, path) in [
        ("%2Fa%250d%250aSet-Cookie:x=1", "/a%0d%0aSet-Cookie:x=1"),
        ("%2Fa%0d%0aSet-Cookie:x=1", "/"),
        ("%2F%26client%3Dcli_x%26to%3D%2F%2Fevil.example", "/&client=cli_x&to=//evil.example"),
        ("%2F&rd=https://evil.example&redirect=//evil.example&next=//evil.example", "/"),
        ("%2F&to=%2F%2Fevil.example", "/"),
        ("%2F.signpost%2Fstart%3Fto%3D%2F%2Fevil.example", "/.signpost/start?to=//evil.example"),
        ("%2F;@evil.example%2F..%2F", "/;@evil.example/../"),
    ] {
        let back = app.begin_login(&mut browser, to).await;
        let reply = app.visit(&format!("{}?{}", back.path(), back.query().expect("a query"))).await;
        assert_eq!((reply.status, location_text(&reply.headers)), (303, path), "{to}");
    }
}

#[tokio::test]
async fn a_name_of_several_lines_is_one_header() {
    let service = Service::start().await;
    let (integrator, mut browser, domain) = tenant(&service).await;
    let mut app = App::of(&service, &domain, Some(&["*"])).await;
    let found = crate::forward_flow::user(&integrator, &domain).await;
    let path = crate::forward_flow::path_of(&domain, &found);
    for (what, refused) in [
        (json!({ "groups": ["staff,admins"] }), true),
        (json!({ "name": "Ann\r\nRemote-Groups: admins", "groups": ["a\u{0}b", "c\u{202e}d"] }), false),
    ] {
        assert_eq!(integrator.patch(&path, &what).await.status >= 400, refused, "{what}");
    }
    app.log_in(&mut browser).await;
    let reply = app.navigate("nginx").await;
    assert_eq!(reply.status, 200);
    let all: Vec<_> = reply.headers.iter().filter(|(name, _)| name.as_str().starts_with("remote-")).collect();
    assert_eq!(all.len(), 5, "{all:?}");
    assert_eq!(reply.headers["remote-name"], "Ann  Remote-Groups: admins");
    assert!(!reply.headers["remote-groups"].as_bytes().iter().any(u8::is_ascii_control));
}

#[tokio::test]
async fn incomplete_bodies_do_not_block_the_application() {
    let service = Service::with(&[("rate_limit_get_session", "off")]).await;
    let (_, mut browser, domain) = tenant(&service).await;
    let mut app = App::of(&service, &domain, Some(&["*"])).await;
    app.log_in(&mut browser).await;
    // The proxy is not in `trusted_proxies`, so all forwarded requests count for its own address.
    let address = service.app.listen;
    let half = format!(
        "POST /.signpost/logout HTTP/1.1\r\nHost: {address}\r\nOrigin: {APP}\r\nX-Forwarded-Proto: https\r\n\
         X-Forwarded-Host: app.example.com\r\nContent-Type: application/x-www-form-urlencoded\r\n\
         Content-Length: 1000\r\n\r\nform_token="
    );
    let mut open = Vec::new();
    for _ in 0..MAX_IN_PROGRESS {
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        stream.write_all(half.as_bytes()).await.expect("a connection");
        open.push(stream);
    }
    until("no more requests of this address are accepted", async || {
        let page = app.visit("/.signpost/denied").await;
        (page.status == 429 && page.html.contains("in_progress")).then_some(())
    })
    .await;
    assert!(app.is_let_in().await);
    assert_eq!(app.navigate("nginx").await.status, 200);
    drop(open);
}
