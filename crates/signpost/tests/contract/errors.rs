//! The table in docs/api.md, Errors, is complete: every code with its status, and no other.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use jiff::SignedDuration;
use reqwest::{Method, StatusCode};
use secrecy::ExposeSecret;
use serde_json::json;
use signpost_login::domains;
use signpost_login::ids::DomainId;
use signpost_platform::accounts::audit::Actor;
use signpost_platform::accounts::keys::{self, NewKey};
use signpost_platform::accounts::{Account, Environment, Scope};
use signpost_store::{Statement, params, random};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::clients;
use crate::harness::{Integrator, NameServer, Phone, Reply, Service, UNREACHABLE_URL, send, text};
use crate::hosted::shop;
use crate::link;
use crate::page_flow::{create_user, register_hosted_domain, request};

/// The documented table: status and code.
pub(crate) static CODES: LazyLock<BTreeSet<(u16, &str)>> = LazyLock::new(|| {
    let page = include_str!("../../../../docs/api.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" | `"));
    rows.filter_map(|(status, rest)| Some((status.parse().ok()?, rest.split_once('`')?.0))).collect()
});

/// Returns the codes in the source, from lines such as `=> (StatusCode::NOT_FOUND, "not_found")`.
fn source_codes() -> BTreeSet<(u16, String)> {
    let row = |line: &str| {
        let (status, code) = line.split_once("=> (StatusCode::")?.1.split_once(", \"")?;
        let is_named =
            |known: &StatusCode| known.canonical_reason().is_some_and(|reason| upper_snake_case(reason) == status);
        let status = (100..600).filter_map(|number| StatusCode::from_u16(number).ok()).find(is_named);
        Some((status.unwrap_or_else(|| panic!("{line}: no such status")).as_u16(), code.split_once('"')?.0.to_owned()))
    };
    let (mut rows, mut folders) = (BTreeSet::new(), vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")]);
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            let is_ours = path.file_name().is_some_and(|name| name != "tests" && name != "target");
            if path.is_dir() && is_ours {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                rows.extend(fs::read_to_string(path).expect("a file").lines().filter_map(row));
            }
        }
    }
    rows
}

fn upper_snake_case(reason: &str) -> String {
    reason.to_uppercase().replace(' ', "_")
}

#[test]
fn documentation_and_source_have_the_same_codes() {
    let page: BTreeSet<_> = CODES.iter().map(|(status, code)| (*status, (*code).to_owned())).collect();
    assert_eq!(page, source_codes());
}

#[tokio::test]
async fn every_documented_code_occurs() {
    let names = NameServer::start().await;
    let settings = [("rate_limit_verify", "3/m"), ("dns_server", &names.setting()), ("services", "atm,auth")];
    let service = Service::with(&settings).await;
    let integrator = service.shop().await;
    let mut met = request_errors(&integrator).await;
    met.extend(session_errors(&service, &integrator).await);
    met.extend(hosted_errors(&service, &integrator).await);
    met.extend(link_errors(&service).await);
    met.extend(user_errors(&service, &integrator).await);
    met.extend(domain_errors(&service, &integrator).await);
    met.extend(client_errors(&service).await);
    met.extend(report_errors(&service).await);
    met.extend(internal_errors(&service, &integrator).await);
    let met: BTreeSet<_> = met.iter().map(|reply| (reply.status, reply.code())).collect();
    let met: BTreeSet<_> = met.iter().map(|(status, code)| (*status, code.as_str())).collect();
    assert_eq!(met, *CODES);
}

/// Returns replies to malformed requests.
async fn request_errors(integrator: &Integrator) -> Vec<Reply> {
    let typed = integrator.request(Method::POST, "/sessions").header("content-type", "text/plain").body("{}");
    let verify = |key: &str, signature: &str| json!({ "public_key": key, "signature": signature, "message": "m" });
    let key = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
    vec![
        integrator.post_raw("/sessions", "{").await,
        integrator.post_raw("/sessions", "{}").await,
        integrator.with_key(None).get("/domains").await,
        integrator.get("/nothing").await,
        integrator.post_raw("/atms/submissions", "{}").await,
        integrator.get("/sessions/sess_x").await,
        integrator.get("/domains/dom_x").await,
        send(integrator.request(Method::PUT, "/domains")).await,
        integrator.post_raw("/sessions", &" ".repeat(64 * 1024 + 1)).await,
        send(typed).await,
        integrator.post("/verify", &verify(key, "3006")).await,
        integrator.post("/verify", &verify("02", "3006020101020101")).await,
        integrator.post("/verify", &verify(key, "")).await,
        integrator.post("/verify", &verify(key, "")).await,
    ]
}

async fn report_errors(service: &Service) -> Vec<Reply> {
    let key = NewKey::new(Environment::Sandbox, random(), random()).with_scope(Scope::Atms);
    let account = Account { name: "kiosks".to_owned(), environment: Environment::Sandbox };
    let (store, now) = (&service.app.store, service.clock.now());
    keys::sql::insert(store, &Actor::Operator, &account, "machines", &key, now).await.expect("a stored key");
    let operator = service.integrator().await.with_key(Some(key.key.expose_secret()));
    let (visitor, gone) = (operator.with_key(None), json!({ "seen": "gone" }));
    let mut met = vec![
        visitor.post("/atms/0/reports", &gone).await,
        visitor.post("/atms/1/reports", &json!({ "seen": "gone", "pow": "x" })).await,
        operator.post("/atms/1/reports", &gone).await,
    ];
    signpost_atm::reports::sql::ban(store, key.id.as_str(), now).await.expect("a reporter");
    met.push(operator.post("/atms/1/reports", &gone).await);
    met
}

async fn session_errors(service: &Service, integrator: &Integrator) -> Vec<Reply> {
    let (phone, session) = (service.phone(), integrator.create_session("shop.test").await);
    let answer = phone.answer(&session);
    let altered = |member: &str, value: serde_json::Value| {
        let mut answer = answer.clone();
        answer[member] = value;
        answer
    };
    let mut met = vec![
        integrator.authenticate(&session, &altered("timestamp", json!(1))).await,
        integrator.authenticate(&session, &altered("challenge", json!("svc:login"))).await,
        integrator.authenticate(&session, &altered("signature", json!("3006020101020101"))).await,
    ];
    integrator.authenticate(&session, &answer).await.with(200);
    met.push(integrator.authenticate(&session, &answer).await);
    let session = integrator.create_session("shop.test").await;
    integrator.cancel(&session).await;
    integrator.create_idempotently("key", &json!({ "domain": "shop.test" })).await;
    met.push(integrator.create_idempotently("key", &json!({ "domain": "shop.test", "mode": "register" })).await);
    met.push(integrator.get_session(&session).await);
    let session = integrator.create_session("shop.test").await;
    service.advance_clock(SignedDuration::from_secs(300));
    met.push(integrator.get_session(&session).await);
    met
}

async fn domain_errors(service: &Service, integrator: &Integrator) -> Vec<Reply> {
    let rival = service.integrator_of("rival", Environment::Sandbox).await;
    let domain = rival.register_domain("shop.test").await;
    let body = json!({ "domain": "shop.test" });
    let mut met = vec![
        integrator.post("/sessions", &json!({ "domain": "unknown.test" })).await,
        integrator.post("/domains", &json!({ "domain": "shop.test", "webhook_url": UNREACHABLE_URL })).await,
        rival.post_nothing(&format!("/domains/{}/verify", text(&domain, "id"))).await,
    ];
    let proved = DomainId::parse(text(&domain, "id")).expect("an id");
    let account = Account { name: "rival".to_owned(), environment: Environment::Sandbox };
    domains::sql::set_verified(&service.app.store, &account, &proved, &Actor::Operator, service.clock.now())
        .await
        .expect("a domain");
    met.push(integrator.post("/sessions", &body).await);
    let live = service.integrator_of("acme", Environment::Live).await;
    let hosted = live.register_domain_at("hosted.test", "https://hosted.test/").await;
    live.patch(&format!("/domains/{}", text(&hosted, "id")), &json!({ "handler": "hosted" })).await.with(200);
    met.push(live.post("/sessions", &json!({ "domain": "hosted.test" })).await);
    met
}

/// Returns errors of hosted domains, and of calls that require a hosted domain.
async fn hosted_errors(service: &Service, integrator: &Integrator) -> Vec<Reply> {
    let page = json!({ "domain": "shop.test", "flow": "page", "metadata": { "return_url": "/in" } });
    let mut met = vec![integrator.post("/sessions", &page).await];
    let hosted = integrator.register_domain("hosted.test").await;
    let path = format!("/domains/{}", text(&hosted, "id"));
    integrator.patch(&path, &json!({ "handler": "hosted", "methods": ["lightning"] })).await.with(200);
    let page =
        json!({ "domain": "hosted.test", "flow": "page", "confirm": "code", "metadata": { "return_url": "/in" } });
    met.push(integrator.post("/sessions", &page).await);
    for mode in ["login", "register", "register"] {
        let session = integrator.post("/sessions", &json!({ "domain": "hosted.test", "mode": mode })).await.with(201);
        met.push(integrator.authenticate(&session, &service.phone().answer(&session)).await);
    }
    let credential = format!("{path}/users/{0}/credentials/{0}", service.phone().public_key());
    met.push(send(integrator.request(Method::DELETE, &credential)).await);
    let (live, rival) = (
        service.integrator_of("acme", Environment::Live).await,
        service.integrator_of("rival", Environment::Live).await,
    );
    for (integrator, methods) in [(&live, json!(["scan"])), (&rival, json!(["lightning"]))] {
        let domain = integrator.register_domain_at("shared.test", "https://shared.test/").await;
        let change = json!({ "handler": "hosted", "methods": methods });
        met.push(integrator.patch(&format!("/domains/{}", text(&domain, "id")), &change).await);
    }
    met.retain(|reply| reply.status != 200);
    met
}

/// Returns the errors of link sessions.
async fn link_errors(service: &Service) -> Vec<Reply> {
    let integrator = service.integrator_of("linking", Environment::Sandbox).await;
    register_hosted_domain(&integrator, "shop.test").await;
    let user = link::register_user(service, &integrator).await;
    let (session, page) = link::open_link(service, &integrator, &user).await;
    let second = Phone::of(21, &service.clock);
    link::answer_and_confirm(service, &integrator, &session, &second).await;
    create_user(service, &integrator, &second).await;
    let mut met = vec![link::complete_link(&integrator, &session, &page).await];
    link::add_keys_up_to(service, &user, 10).await;
    let body = request(&json!({ "mode": "link", "user": user }));
    met.push(integrator.post("/sessions", &body).await);
    service.advance_clock(SignedDuration::from_mins(6));
    met.push(integrator.post("/sessions", &body).await);
    met.push(integrator.post("/sessions", &json!({ "domain": "shop.test", "user": user })).await);
    let remove = Statement::new("DELETE FROM credentials WHERE user_id = $1", params![&user]);
    assert!(service.app.store.write([remove]).await.expect("a database").is_committed());
    met.push(integrator.post("/sessions", &request(&json!({ "user": user }))).await);
    met
}

async fn client_errors(service: &Service) -> Vec<Reply> {
    let integrator = service.integrator_of("clients", Environment::Sandbox).await;
    let domain = shop(&integrator, UNREACHABLE_URL).await;
    let path = format!("/domains/{}/clients", text(&domain, "id"));
    let public = json!({ "redirect_uris": ["https://wiki.test/cb"], "public": true });
    let client = integrator.post(&path, &public).await.with(201);
    clients::fill_clients(service, &domain, 1).await;
    vec![
        integrator.get(&format!("{path}/cli_x")).await,
        integrator.post_nothing(&format!("{path}/{}/rotate", text(&client, "client_id"))).await,
        integrator.post(&path, &public).await,
    ]
}

/// Returns internal errors. Closes the database, so it must be called last.
async fn internal_errors(service: &Service, integrator: &Integrator) -> Vec<Reply> {
    let other = service.integrator_of("broken", Environment::Sandbox).await;
    other.register_domain("broken.test").await;
    let session = other.create_session("broken.test").await;
    let broken = Statement::new("UPDATE sessions SET challenge = 'secret-of-ours'", Vec::new());
    assert!(service.app.store.write([broken]).await.expect("a database").is_committed());
    let fault = other.get_session(&session).await;
    let details = fault.assert_error(500, "internal_error");
    assert_eq!(details, json!({}));
    assert!(!fault.text.contains("secret-of-ours") && !fault.text.contains("challenge"), "{}", fault.text);
    service.app.store.close().await;
    let closed = integrator.get("/domains").await;
    closed.assert_error(503, "unavailable");
    vec![fault, closed]
}

/// Returns refusals of identifiers that another user has.
async fn user_errors(service: &Service, integrator: &Integrator) -> Vec<Reply> {
    let manager = service.manager().await;
    integrator.register_domain("users.test").await;
    integrator.patch("/domains/users.test", &json!({ "handler": "hosted" })).await.with(200);
    let mut met = Vec::new();
    for taken in [json!({ "external_id": "1" }), json!({ "username": "ann" }), json!({ "email": "ann@users.test" })] {
        manager.post("/domains/users.test/users", &taken).await.with(201);
        met.push(manager.post("/domains/users.test/users", &taken).await);
    }
    met
}

#[tokio::test]
async fn unknown_paths_and_methods_are_errors() {
    let service = Service::start().await;
    let (integrator, visitor) = (service.integrator().await, service.visitor());
    for path in ["", "/", "/nothing", "/sessions/", "/sessions/a/b", "/domains/a/verify/b", "//domains"] {
        integrator.get(path).await.assert_error(404, "not_found");
    }
    let root = send(visitor.request(Method::GET, "/").header("accept", "application/json")).await;
    root.assert_error(404, "not_found");
    for path in ["/v2/sessions", "/live/v1/sessions", "/sandbox", "/health/x"] {
        visitor.get(path).await.assert_error(404, "not_found");
    }
    for (method, path, allowed) in [
        (Method::PUT, "/sessions", "POST"),
        (Method::POST, "/sessions/sess_x", "GET"),
        (Method::GET, "/sessions/sess_x/refresh", "POST"),
        (Method::GET, "/sessions/sess_x/authenticate", "POST"),
        (Method::GET, "/verify", "POST"),
        (Method::PUT, "/domains", "POST"),
        (Method::PUT, "/domains/dom_x", "PATCH"),
        (Method::GET, "/domains/dom_x/verify", "POST"),
    ] {
        let reply = send(integrator.request(method.clone(), path)).await;
        reply.assert_error(405, "method_not_allowed");
        let allow = reply.header("allow").unwrap_or_else(|| panic!("{method} {path}: 405 without Allow"));
        assert!(allow.contains(allowed), "{method} {path}: {allow}");
    }
}

#[tokio::test]
async fn health_endpoints_reject_other_methods() {
    let visitor = Service::start().await.visitor();
    for path in ["/health", "/health/ready"] {
        assert_eq!(visitor.get(path).await.status, 200);
        visitor.post_nothing(path).await.assert_error(405, "method_not_allowed");
    }
}

#[tokio::test]
async fn a_request_requires_one_valid_host() {
    let service = Service::with(&[("services", "auth,atm")]).await;
    let ask = async |head: String| {
        let mut stream = tokio::net::TcpStream::connect(service.app.listen).await.expect("a connection");
        stream.write_all(head.as_bytes()).await.expect("a connection");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("an answer");
        assert!(answer.contains("x-content-type-options: nosniff"), "{answer}");
        answer
    };
    let end = "Content-Type: application/json\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    for hosts in
        ["", "Host: a.test\r\nHost: a.test\r\n", "Host: a.test\r\nHost: b.test\r\n", "Host: a b\r\n", "Host:\r\n"]
    {
        for version in ["1.0", "1.1"] {
            for target in ["/health", "/v1/domains", "/nothing", "http://a.test/v1/domains"] {
                let answer = ask(format!("GET {target} HTTP/{version}\r\n{hosts}{end}")).await;
                assert!(answer.contains(" 400 Bad Request\r\n"), "{target} {hosts}: {answer}");
                assert!(
                    answer.contains(r#""code":"invalid_request""#) && answer.contains(r#""field":"Host""#),
                    "{answer}"
                );
            }
            for target in ["/mcp", "/sse"] {
                let answer = ask(format!("POST {target} HTTP/{version}\r\n{hosts}{end}")).await;
                assert!(answer.contains(" 400 Bad Request\r\n") && answer.contains(r#""code":-32600"#), "{answer}");
            }
        }
    }
    let answer = ask(format!("GET /health HTTP/1.1\r\nHost: any.test:80\r\n{end}")).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
}

#[tokio::test]
async fn a_malformed_id_is_not_found() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let long = "a".repeat(4000);
    for id in ["x", "sess_", "dom_", "sess_0000", "null", "%20", "%00", "sess_%C3%A9", "'--", &long] {
        integrator.get(&format!("/sessions/{id}")).await.assert_error(404, "session_not_found");
        integrator.post_nothing(&format!("/sessions/{id}/refresh")).await.assert_error(404, "session_not_found");
        integrator.get(&format!("/domains/{id}")).await.assert_error(404, "domain_not_found");
        integrator.post_nothing(&format!("/domains/{id}/verify")).await.assert_error(404, "domain_not_found");
    }
}

#[tokio::test]
async fn an_id_that_is_not_utf_8_is_not_found() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    integrator.get("/sessions/%FF").await.assert_error(404, "session_not_found");
    integrator.get("/domains/%FF").await.assert_error(404, "domain_not_found");
}
