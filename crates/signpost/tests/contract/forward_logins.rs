//! docs/forward-auth.md: logins at and logouts from an application behind a proxy.

use crate::forward_flow::{APP, App, KINDS, LOOPBACK, REMOTE, is_out, location, location_text, shown, tenant};
use crate::harness::{Program, Service, http, send, text};
use reqwest::Method;
use reqwest::header::SET_COOKIE;
use serde_json::{Value, json};
use signpost_store::{Statement, params};

#[tokio::test]
async fn only_the_initiating_browser_completes_a_login() {
    let service = Service::start().await;
    let (_, mut browser, domain) = tenant(&service).await;
    let mut app = App::of(&service, &domain, Some(&["*"])).await;
    let back = app.begin_login(&mut browser, "%2Fdeep%3Fx%3D1").await;
    let path = format!("{}?{}", back.path(), back.query().expect("a query"));
    let mine = app.cookies.clone();
    // An attacker sends the link, with a code of the attacker's own login, to a user with no pending login or with a
    // different pending login.
    app.cookies.clear();
    app.visit(&path).await.is(400, "stale");
    app.cookies = vec!["__Host-signpost_state=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA".to_owned()];
    app.visit(&path).await.is(400, "stale");
    // Another host of the site could set a cookie without the prefix.
    app.cookies = vec![mine[0].trim_start_matches("__Host-").to_owned()];
    app.visit(&path).await.is(400, "stale");
    assert!(!app.is_let_in().await);
    app.cookies = mine;
    let reply = app.visit(&path).await;
    assert_eq!((reply.status, location_text(&reply.headers)), (303, "/deep?x=1"));
    let set = reply.headers[SET_COOKIE].to_str().expect("a cookie");
    assert!(set.starts_with("__Host-signpost_app=") && set.contains("; HttpOnly; SameSite=Lax; Secure"), "{set}");
    assert!(app.is_let_in().await);
    // The code was used twice, so its session is revoked too.
    app.visit(&path).await.is(400, "stale");
    is_out(&app, "the session").await;
}

#[tokio::test]
async fn an_incomplete_callback_is_rejected() {
    let service = Service::start().await;
    let (_, mut browser, domain) = tenant(&service).await;
    let mut app = App::of(&service, &domain, Some(&["*"])).await;
    let back = app.begin_login(&mut browser, "/").await;
    let pairs: Vec<(String, String)> = back.query_pairs().into_owned().collect();
    let with = |name: &str, value: Option<&str>| {
        let mut url = back.clone();
        url.query_pairs_mut().clear().extend_pairs(
            pairs
                .iter()
                .filter(|(found, _)| found != name)
                .map(|(name, value)| (&**name, &**value))
                .chain(value.map(|value| (name, value))),
        );
        format!("{}?{}", url.path(), url.query().expect("a query"))
    };
    for (name, value, state) in [
        ("iss", None, "stale"),
        ("iss", Some("https://evil.example"), "stale"),
        ("state", None, "stale"),
        ("state", Some("x"), "stale"),
        ("code", None, "stale"),
        ("code", Some("sgp_code_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), "stale"),
        ("error", Some("access_denied"), "stale"),
    ] {
        app.visit(&with(name, value)).await.is(400, state);
    }
    let refused = with("code", None) + "&error=access_denied";
    let page = app.visit(&refused).await;
    assert!(page.is(403, "denied").html.contains("/.signpost/start?client="), "{}", page.html);
    let head = app.own(Method::HEAD, &with("x", None));
    assert_eq!(app.send(head).await.status, 405);
    let whole = app.visit(&with("x", None)).await;
    assert_eq!(whole.status, 303, "{}", whole.html);
}

#[tokio::test]
async fn a_login_redirects_only_within_the_application() {
    let service = Service::start().await;
    let (_, mut browser, domain) = tenant(&service).await;
    let mut app = App::of(&service, &domain, Some(&["*"])).await;
    for to in
        ["%2F%2Fevil.example", "%2F%5Cevil.example", "https%3A%2F%2Fevil.example", "%2F%09%2Fevil.example", "", "evil"]
    {
        let back = app.begin_login(&mut browser, to).await;
        let reply = app.visit(&format!("{}?{}", back.path(), back.query().expect("a query"))).await;
        assert_eq!((reply.status, location_text(&reply.headers)), (303, "/"), "{to}");
    }
}

#[tokio::test]
async fn a_login_requires_a_client_of_its_host() {
    let service = Service::start().await;
    let (_, _, domain) = tenant(&service).await;
    let mut app = App::of(&service, &domain, Some(&["*"])).await;
    let other = App::at(&service, &domain, Some(&["*"]), "https://other.example.com").await;
    let own = app.client.id.to_string();
    for (client, status) in [(&*own, 303), (other.client.id.as_str(), 403), ("cli_1", 400), ("", 400)] {
        assert_eq!(app.visit(&format!("/.signpost/start?client={client}")).await.status, status, "{client}");
    }
    // The client's own `Host` header does not replace the headers of the proxy.
    let path = format!("/.signpost/start?client={}", app.client.id);
    let direct = app.request(Method::GET, &path).header("host", "app.example.com");
    assert_eq!(shown(direct).await.status, 400);
    let again = app.visit(&format!("{path}&other=1")).await;
    assert!(location(&again.headers).query_pairs().any(|(name, value)| name == "prompt" && value == "login"));
}

#[tokio::test]
async fn duplicate_session_cookies_are_rejected() {
    let service = Service::start().await;
    let (_, mut browser, domain) = tenant(&service).await;
    let mut app = App::of(&service, &domain, Some(&["*"])).await;
    app.log_in(&mut browser).await;
    let session =
        app.cookies.iter().find(|cookie| cookie.starts_with("__Host-signpost_app=")).expect("a cookie").clone();
    app.cookies.push(session.clone());
    assert!(!app.is_let_in().await);
    app.cookies = vec![session.clone(), "signpost_app=x; other=y".to_owned()];
    assert!(app.is_let_in().await);
    app.cookies = vec![session.trim_start_matches("__Host-").to_owned()];
    assert!(!app.is_let_in().await);
}

#[tokio::test]
async fn localhost_allows_http_and_any_port() {
    let service = Service::start().await;
    let (_, mut browser, domain) = tenant(&service).await;
    let mut app = App::at(&service, &domain, Some(&["*"]), "http://localhost:8000").await;
    app.origin = "http://localhost:8123".to_owned();
    app.log_in(&mut browser).await;
    assert!(app.cookies.iter().any(|cookie| cookie.starts_with("signpost_app=")), "{:?}", app.cookies);
    assert!(app.is_let_in().await);
}

#[tokio::test]
async fn forward_auth_requires_a_trusted_proxy() {
    let service = Service::with(&[("trusted_proxies", "10.0.0.0/8"), LOOPBACK]).await;
    let (_, _, domain) = tenant(&service).await;
    let mut app = App::of(&service, &domain, Some(&["*"])).await;
    for kind in KINDS {
        let reply = app.navigate(kind).await;
        assert_eq!(reply.status, 400);
        assert!(reply.html.contains("SIGNPOST_TRUSTED_PROXIES"), "{}", reply.html);
    }
    for page in ["start", "callback", "denied", "logout"] {
        assert_eq!(app.visit(&format!("/.signpost/{page}?client={}", app.client.id)).await.status, 400, "{page}");
    }
    let service = Service::with(&[("trusted_proxies", "127.0.0.1"), LOOPBACK]).await;
    let (_, mut browser, domain) = tenant(&service).await;
    let mut app = App::of(&service, &domain, Some(&["*"])).await;
    app.log_in(&mut browser).await;
    assert!(app.is_let_in().await);
}

#[tokio::test]
async fn proxy_errors_are_logged_once_a_minute() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = [("SIGNPOST_TRUSTED_PROXIES", "10.0.0.0/8"), ("SIGNPOST_LOG_FORMAT", "json")];
    let mut server = Program::serve(folder.path(), &settings);
    let question = format!("{}/forward/caddy?client=cli_x", server.address("public_address"));
    for _ in 0..3 {
        let reply = send(http().get(&question).header("x-forwarded-host", "secret.example")).await;
        assert_eq!(reply.status, 400);
    }
    server.terminate();
    let (_, log) = tokio::task::spawn_blocking(move || server.wait_for_exit()).await.expect("no panic");
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let lines: Vec<_> = lines.filter(|line| line["message"] == "forward auth refused a proxy").collect();
    let [line] = &lines[..] else { panic!("{log}") };
    assert_eq!((&line["level"], &line["proxy"]), (&json!("WARN"), &json!("caddy")));
    assert!(text(line, "reason").contains("SIGNPOST_TRUSTED_PROXIES"), "{line}");
}

#[tokio::test]
async fn logout_requires_a_form_submission() {
    let service = Service::start().await;
    let (_, mut browser, domain) = tenant(&service).await;
    let mut app = App::of(&service, &domain, Some(&["*"])).await;
    app.visit("/.signpost/logout").await.is(200, "not-logged-in");
    app.log_in(&mut browser).await;
    let before = app.cookies.clone();
    let page = app.visit("/.signpost/logout").await;
    page.is(200, "log-out");
    assert!(app.is_let_in().await);
    let (action, token) = page.form("logout");
    let press = |app: &App<'_>, origin: &str, token: &str| {
        let request = app.own(Method::POST, &action).header("origin", origin);
        request.header("content-type", "application/x-www-form-urlencoded").body(format!("token={token}"))
    };
    for (origin, token) in
        [("https://evil.example", &*token), (APP, "x"), ("null", &token), ("http://localhost", &token)]
    {
        let request = press(&app, origin, token);
        app.send(request).await.is(403, "nothing-done");
        assert!(app.is_let_in().await);
    }
    let request = press(&app, APP, &token);
    let page = app.send(request).await;
    let out = page.is(200, "logged-out").link("sign-out");
    assert!(out.path().ends_with("/logout"), "{out}");
    assert!(!app.cookies.iter().any(|cookie| cookie.starts_with("__Host-signpost_app")), "{:?}", app.cookies);
    app.cookies = before;
    is_out(&app, "the session").await;
}

#[tokio::test]
async fn a_new_login_ends_the_previous_session() {
    let service = Service::start().await;
    let (_, mut browser, domain) = tenant(&service).await;
    let mut app = App::of(&service, &domain, Some(&["*"])).await;
    app.log_in(&mut browser).await;
    let before = app.cookies.clone();
    app.log_in(&mut browser).await;
    assert!(app.is_let_in().await);
    app.cookies = before;
    is_out(&app, "the session").await;
}

#[tokio::test]
async fn forward_pages_load_assets_below_their_path() {
    let service = Service::start().await;
    let (_, _, domain) = tenant(&service).await;
    let mut app = App::of(&service, &domain, Some(&["*"])).await;
    let page = app.visit("/.signpost/logout").await;
    let sheet = page.between("rel=\"stylesheet\" href=\"", "\"").to_owned();
    assert!(sheet.starts_with("/.signpost/assets/"), "{sheet}");
    let loaded = app.visit(&sheet).await;
    assert_eq!((loaded.status, &loaded.headers["content-type"].to_str().unwrap()[..8]), (200, "text/css"));
    assert_eq!(location_text(&app.visit("/.signpost/").await.headers), "/");
}

#[tokio::test]
async fn a_database_failure_authorizes_no_request() {
    let service = Service::start().await;
    let (_, mut browser, domain) = tenant(&service).await;
    let mut app = App::of(&service, &domain, Some(&["*"])).await;
    app.log_in(&mut browser).await;
    service
        .app
        .store
        .write([Statement::new("ALTER TABLE openid_grants RENAME TO gone", params![])])
        .await
        .expect("a database");
    service.app.openid.app_sessions.invalidate_all();
    for kind in KINDS {
        let reply = app.navigate(kind).await;
        assert!(reply.status >= 500, "{}", reply.status);
        assert!(REMOTE.iter().all(|name| !reply.headers.contains_key(*name)));
    }
}
