//! docs/forward-auth.md: authorization subrequests of reverse proxies, with the headers of nginx, Caddy and Traefik;
//! Traefik's are replayed from its source.

use crate::account::{account_of, log_in};
use crate::forward_flow::{APP, App, DAY, HTML, KINDS, REMOTE, is_out, location_text, path_of, shown, tenant, user};
use crate::harness::{Integrator, Service, send, text};
use jiff::SignedDuration;
use reqwest::Method;
use reqwest::header::{ACCEPT, SET_COOKIE};
use serde_json::{Value, json};
use signpost_openid::clients::Client;
use signpost_openid::ids::ClientId;
use signpost_store::{Statement, params};

#[tokio::test]
async fn anonymous_requests_are_redirected_or_rejected() {
    let service = Service::start().await;
    let (_, _, domain) = tenant(&service).await;
    let app = App::of(&service, &domain, Some(&["*"])).await;
    let start = format!("{APP}/.signpost/start?client={}&to=%2Fa%252Fb%3Fc%3D1%26d%3D%2F..%2F", app.client.id);
    for (method, headers, is_sent) in [
        ("GET", &[("accept", HTML)][..], true),
        ("HEAD", &[("accept", HTML)], true),
        ("GET", &[("accept", HTML), ("sec-fetch-mode", "navigate")], true),
        ("POST", &[("accept", HTML)], false),
        ("DELETE", &[("accept", HTML)], false),
        ("GET", &[("accept", "*/*")], false),
        ("GET", &[], false),
        ("GET", &[("accept", HTML), ("x-requested-with", "XMLHttpRequest")], false),
        ("GET", &[("accept", HTML), ("sec-fetch-mode", "cors")], false),
    ] {
        for kind in KINDS {
            let question = app.question(kind, method, "/a%2Fb?c=1&d=/../");
            let reply =
                shown(headers.iter().fold(question, |question, (name, value)| question.header(*name, *value))).await;
            let status = if is_sent && kind != "nginx" { 302 } else { 401 };
            let to = if is_sent { &*start } else { "" };
            assert_eq!((reply.status, location_text(&reply.headers)), (status, to), "{kind} {method} {headers:?}");
            assert_eq!(reply.headers["cache-control"], "no-store");
            assert!(REMOTE.iter().all(|name| !reply.headers.contains_key(*name)), "{kind} {method} {headers:?}");
        }
    }
}

#[tokio::test]
async fn malformed_subrequests_are_never_authorized() {
    let service = Service::start().await;
    let (_, mut browser, domain) = tenant(&service).await;
    let mut app = App::of(&service, &domain, Some(&["*"])).await;
    app.log_in(&mut browser).await;
    assert!(app.is_let_in().await);
    let id = app.client.id.to_string();
    let unknown = ClientId::new(service.clock.now(), [9; 16]);
    let other = App::at(&service, &domain, Some(&["*"]), "https://other.example.com").await;
    for (kind, client, changed, status) in [
        ("caddy", &*id, &[("x-forwarded-uri", None)][..], 400),
        ("caddy", &id, &[("x-forwarded-host", None)], 400),
        ("traefik", &id, &[("x-forwarded-proto", None)], 400),
        ("traefik", &id, &[("x-forwarded-method", None)], 400),
        ("nginx", &id, &[("x-original-url", None)], 400),
        ("nginx", &id, &[("x-original-method", None)], 400),
        ("nginx", &id, &[("x-original-method", Some("get"))], 400),
        ("nginx", &id, &[("x-original-url", Some("/a"))], 400),
        ("nginx", &id, &[("x-original-url", Some("https://app.example.com:8443/"))], 403),
        ("nginx", &id, &[("x-original-url", Some("http://app.example.com/"))], 403),
        ("nginx", &id, &[("x-original-url", Some("https://app.example.com.evil.example/"))], 403),
        ("nginx", &id, &[("x-original-url", Some("https://app.example.com@evil.example/"))], 400),
        ("nginx", &id, &[("x-original-url", Some("https://app.example.com/.signpost/x"))], 403),
        ("caddy", &id, &[("x-forwarded-host", Some("other.example.com"))], 403),
        ("caddy", &id, &[("x-forwarded-host", Some("app.example.com, other.example.com"))], 400),
        ("caddy", &id, &[("x-forwarded-proto", Some("http"))], 403),
        ("caddy", &id, &[("x-forwarded-proto", Some("ws"))], 403),
        ("traefik", &id, &[("x-forwarded-proto", Some("https, http"))], 400),
        ("traefik", &id, &[("x-forwarded-proto", Some("http, wss"))], 400),
        ("traefik", &id, &[("x-forwarded-proto", Some("wss"))], 200),
        ("traefik", &id, &[("x-forwarded-proto", Some("https, wss,HTTPS"))], 200),
        ("caddy", &id, &[("x-forwarded-uri", Some("/.signpost/logout"))], 403),
        ("traefik", unknown.as_str(), &[], 403),
        ("traefik", "", &[], 400),
        ("traefik", "cli_1", &[], 400),
        // A session of one application is invalid in another.
        ("caddy", other.client.id.as_str(), &[("x-forwarded-host", Some("other.example.com"))], 302),
        ("squid", &id, &[], 404),
    ] {
        let question = app.question(kind, "GET", "/").header(ACCEPT, HTML);
        let (client_of, request) = question.build_split();
        let mut request = request.expect("a request");
        request.url_mut().set_query(Some(&format!("client={client}")));
        for (name, value) in changed {
            let name = reqwest::header::HeaderName::from_static(name);
            match value {
                Some(value) => drop(request.headers_mut().insert(name, value.parse().expect("a value"))),
                None => drop(request.headers_mut().remove(name)),
            }
        }
        let reply = client_of.execute(request).await.expect("an answer");
        assert_eq!(reply.status().as_u16(), status, "{kind} {client} {changed:?}");
    }
    let twice = app.question("caddy", "GET", "/").header("x-forwarded-host", "app.example.com");
    assert_eq!(shown(twice).await.status, 400);
}

#[tokio::test]
async fn authorized_requests_get_five_identity_headers() {
    let service = Service::start().await;
    let (integrator, mut browser, domain) = tenant(&service).await;
    let mut app = App::of(&service, &domain, Some(&["group:staff"])).await;
    let found = user(&integrator, &domain).await;
    let describe = json!({ "name": "Zoë Łukasz", "groups": ["staff", "night shift"] });
    integrator.patch(&path_of(&domain, &found), &describe).await.with(200);
    app.log_in(&mut browser).await;
    let email = format!("{}@shop.test", text(&found, "id"));
    for kind in KINDS {
        for method in ["GET", "POST", "HEAD", "OPTIONS"] {
            let mut question = app.question(kind, method, "/a").header("remote_user", "admin");
            for name in REMOTE {
                question = question.header(name, "admin");
            }
            let reply = shown(question).await;
            assert_eq!((reply.status, &*reply.html), (200, ""), "{kind} {method}");
            let response = REMOTE.map(|name| {
                let mut values = reply.headers.get_all(name).iter();
                let response = String::from_utf8(values.next().expect("a value").as_bytes().to_vec()).expect("UTF-8");
                assert!(values.next().is_none(), "{name}");
                response
            });
            let expected = [text(&found, "petname"), "Zoë Łukasz", &email, "staff,night shift", text(&found, "id")];
            assert_eq!(response, expected, "{kind} {method}");
            assert!(reply.headers.get(SET_COOKIE).is_none());
        }
    }
}

#[tokio::test]
async fn a_user_not_on_the_list_is_rejected() {
    let service = Service::start().await;
    let (integrator, mut browser, domain) = tenant(&service).await;
    let found = user(&integrator, &domain).await;
    let mut app = App::of(&service, &domain, None).await;
    app.log_in(&mut browser).await;
    for kind in KINDS {
        let reply = app.navigate(kind).await;
        reply.is(403, "refused");
        assert!(reply.html.contains(text(&found, "id")) && reply.html.contains("lets nobody in yet"), "{}", reply.html);
        let script = shown(app.question(kind, "GET", "/")).await;
        assert_eq!(script.status, 403);
        assert!(script.html.contains("\"not_admitted\""), "{}", script.html);
    }
    // nginx shows this page instead of the 403 reply.
    let denied = app.visit(&format!("/.signpost/denied?client={}", app.client.id)).await;
    assert_eq!(denied.html, app.navigate("caddy").await.html);
    denied.is(403, "refused");
}

#[tokio::test]
async fn the_login_page_denies_users_not_on_the_list() {
    let service = Service::start().await;
    let (_, mut browser, domain) = tenant(&service).await;
    let mut app = App::of(&service, &domain, Some(&["group:staff"])).await;
    let back = app.begin_login(&mut browser, "/").await;
    assert!(back.query_pairs().any(|(name, value)| name == "error" && value == "access_denied"), "{back}");
    let page = app.visit(&format!("{}?{}", back.path(), back.query().expect("a query"))).await;
    assert!(page.is(403, "denied").link("account").path().ends_with(text(&domain, "id")), "{}", page.html);
    assert!(!app.is_let_in().await);
}

#[tokio::test]
async fn list_changes_take_effect_at_once() {
    let service = Service::start().await;
    let (integrator, mut browser, domain) = tenant(&service).await;
    let found = user(&integrator, &domain).await;
    let mut app = App::of(&service, &domain, Some(&["group:staff"])).await;
    let joins = async |groups: Value| {
        integrator.patch(&path_of(&domain, &found), &json!({ "groups": groups })).await.with(200);
    };
    joins(json!(["staff"])).await;
    app.log_in(&mut browser).await;
    for _ in 0..2 {
        assert!(app.is_let_in().await);
        joins(json!(["guests"])).await;
        is_out(&app, "the group").await;
        let reply = app.navigate("caddy").await;
        assert!(reply.is(403, "refused").html.contains("does not let you in"), "{}", reply.html);
        joins(json!(["guests", "staff"])).await;
    }
}

#[tokio::test]
async fn a_session_ends_with_its_user_client_or_grant() {
    type End = fn(&Service, &Integrator, &Value, &Value, &Client) -> (Method, String);
    let deletes: [End; 2] = [
        |_, _, domain, user, _| (Method::DELETE, path_of(domain, user)),
        |_, _, domain, _, _| (Method::DELETE, format!("/domains/{}", text(domain, "id"))),
    ];
    for delete in deletes {
        let service = Service::start().await;
        let (integrator, mut browser, domain) = tenant(&service).await;
        let found = user(&integrator, &domain).await;
        let mut app = App::of(&service, &domain, Some(&["*"])).await;
        app.log_in(&mut browser).await;
        assert!(app.is_let_in().await);
        let (method, path) = delete(&service, &integrator, &domain, &found, &app.client);
        let reply = send(integrator.request(method, &path)).await;
        assert!(reply.status < 300, "{reply:?}");
        is_out(&app, &path).await;
    }
    for (what, statement) in [
        ("the client", "DELETE FROM openid_clients"),
        ("the grant", "UPDATE openid_grants SET revoked_at = 1"),
        ("the key", "UPDATE credentials SET public_key = public_key || '0'"),
        ("the handler", "UPDATE domains SET handler = 'direct'"),
        ("the token", "DELETE FROM openid_tokens WHERE kind = 'session'"),
        ("the kind", "UPDATE openid_tokens SET kind = 'access'"),
    ] {
        let service = Service::start().await;
        let (_, mut browser, domain) = tenant(&service).await;
        let mut app = App::of(&service, &domain, Some(&["*"])).await;
        app.log_in(&mut browser).await;
        assert!(app.is_let_in().await, "{what}");
        service.app.store.write([Statement::new(statement, params![])]).await.expect("a database");
        is_out(&app, what).await;
    }
}

#[tokio::test]
async fn signing_out_everywhere_ends_app_sessions() {
    let service = Service::start().await;
    let (integrator, mut browser, domain) = tenant(&service).await;
    let mut app = App::of(&service, &domain, Some(&["*"])).await;
    // The clock of the server that signs out may be behind the clock of the server of the login.
    for seconds in [1, -120] {
        app.log_in(&mut browser).await;
        assert!(app.is_let_in().await, "{seconds}");
        service.advance_clock(SignedDuration::from_secs(seconds));
        let page = browser.visit(&account_of(&domain)).await;
        browser.submit(&page, "sign-out-everywhere", "").await.is(200, "signed-out");
        is_out(&app, "the session").await;
        log_in(&integrator, &mut browser, &service.phone(), "shop.test").await;
    }
}

#[tokio::test]
async fn a_session_expires_after_a_day_or_thirty_days() {
    let service = Service::start().await;
    let (_, mut browser, domain) = tenant(&service).await;
    let mut idle = App::of(&service, &domain, Some(&["*"])).await;
    idle.log_in(&mut browser).await;
    let mut used = App::at(&service, &domain, Some(&["*"]), "https://other.example.com").await;
    used.log_in(&mut browser).await;
    let (hour, second) = (SignedDuration::from_hours(1), SignedDuration::from_secs(1));
    service.advance_clock(DAY - second);
    assert!(used.is_let_in().await);
    service.advance_clock(second);
    assert!(!idle.is_let_in().await);
    assert!(used.is_let_in().await);
    for _ in 0..29 * 24 - 1 {
        service.advance_clock(hour);
        assert!(used.is_let_in().await);
    }
    service.advance_clock(hour);
    assert!(!used.is_let_in().await, "30 days after the login");
}

#[tokio::test]
async fn session_use_is_stored_every_five_minutes() {
    const END: &str = "SELECT expires_at FROM openid_tokens WHERE kind = 'session'";
    let service = Service::start().await;
    let (_, mut browser, domain) = tenant(&service).await;
    let mut app = App::of(&service, &domain, Some(&["*"])).await;
    app.log_in(&mut browser).await;
    let end = async || {
        service.app.store.read_one(END, params![]).await.expect("a database").expect("a row").int(0).expect("a time")
    };
    let first = end().await;
    service.advance_clock(SignedDuration::from_secs(299));
    assert!(app.is_let_in().await);
    assert_eq!(end().await, first);
    service.advance_clock(SignedDuration::from_secs(1));
    assert!(app.is_let_in().await);
    assert_eq!(end().await, first + 300_000);
}
