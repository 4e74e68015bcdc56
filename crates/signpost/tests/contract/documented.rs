//! Conformance with `openapi.yaml`. The harness checks every reply of every test; this module covers the remaining
//! replies and checks that every documented reply occurred.

use std::collections::BTreeSet;
use std::fs;

use jiff::SignedDuration;
use reqwest::Method;
use serde_json::{Value, json};
use signpost_platform::accounts::audit::Actor;
use signpost_platform::accounts::keys::{self, NewKey};
use signpost_platform::accounts::{Account, Environment, Scope};
use signpost_store::random;

use crate::harness::documented::{DOCUMENT, fits, operations, seen_file};
use crate::harness::{Endpoint, Integrator, Reply, Service, send, text};

const UNKNOWN_ID: &str = "000000000000000000000000000000000000";
const MACHINE: &str = r#"{"locations": []}"#;

/// Returns the path with IDs of objects that do not exist.
fn address(path: &str) -> String {
    let kind = match path {
        _ if path.starts_with("/sessions") => "sess",
        _ if path.starts_with("/domains") => "dom",
        _ => "evt",
    };
    let path = path.replace("{id}", &format!("{kind}_{UNKNOWN_ID}"));
    let path = path.replace("{client}", &format!("cli_{UNKNOWN_ID}"));
    path.replace("{user}", "02").replace("{credential}", "02").replace("{challenge}", "x")
}

fn is_keyed(operation: &Value) -> bool {
    operation["security"].as_array().is_none_or(|all| !all.is_empty())
}

/// Returns true for public static documents, which cannot fail.
fn is_document(path: &str) -> bool {
    matches!(path, "/openapi.yaml" | "/reference")
}

async fn ask(integrator: &Integrator, path: &str, method: &str, body: Option<&str>) -> Reply {
    let method: Method = method.to_uppercase().parse().expect("a method");
    let request = integrator.request(method, &address(path));
    send(match body {
        Some(body) => request.header("content-type", "application/json").body(body.to_owned()),
        None => request,
    })
    .await
}

/// Returns a body that matches the schema.
fn body(path: &str) -> Option<&'static str> {
    Some(match path {
        "/sessions" => r#"{"domain": "shop.test"}"#,
        "/sessions/{id}/complete" => r#"{"code": "x"}"#,
        "/sessions/{id}/simulate" | "/domains/{id}" | "/domains/{id}/users" | "/domains/{id}/users/{user}" => "{}",
        "/domains/{id}/clients" => r#"{"redirect_uris": ["https://wiki.test/cb"]}"#,
        _ if path.starts_with("/domains/{id}/clients/{client}") => "{}",
        "/verify" => r#"{"public_key": "02", "signature": "30", "message": "m"}"#,
        "/domains" => r#"{"domain": "shop.test", "webhook_url": "https://shop.test/"}"#,
        "/atms/submissions" => MACHINE,
        "/atms/{id}/reports" => r#"{"seen": "gone"}"#,
        _ if path.ends_with("/authenticate") || path.starts_with("/hosted") => {
            r#"{"public_key": "02", "signature": "30", "challenge": "svc", "timestamp": 1}"#
        }
        _ => return None,
    })
}

fn body_of(path: &str, operation: &Value) -> Option<&'static str> {
    operation.get("requestBody").and_then(|_| body(path))
}

#[tokio::test]
async fn endpoints_require_a_key_with_the_scope() {
    let service = Service::with(&[("services", "atm,auth")]).await;
    let (auth, visitor) = (service.integrator().await, service.integrator().await.with_key(None));
    let atms = NewKey::new(Environment::Sandbox, random(), random()).with_scope(Scope::Atms);
    let account = Account { name: "acme".to_owned(), environment: Environment::Sandbox };
    keys::sql::insert(&service.app.store, &Actor::Operator, &account, "machines", &atms, service.clock.now())
        .await
        .expect("a key");
    let atms = auth.with_key(Some(secrecy::ExposeSecret::expose_secret(&atms.key)));
    for (path, method, operation) in operations().filter(|(.., operation)| is_keyed(operation)) {
        let body = body_of(path, operation);
        ask(&visitor, path, method, body).await.assert_error(401, "invalid_api_key");
        let (fit, unfit) = if path.starts_with("/atms") { (&atms, &auth) } else { (&auth, &atms) };
        ask(unfit, path, method, body).await.assert_error(403, "insufficient_scope");
        let reply = ask(fit, path, method, body).await;
        if path.contains('{') {
            assert_eq!(reply.status, 404, "{method} {path}");
        }
    }
    service.app.store.close().await;
    for (path, method, operation) in operations().filter(|(path, ..)| !is_document(path)) {
        let reply = ask(&auth.with_key(Some("svc_test_x")), path, method, body_of(path, operation)).await;
        assert!(reply.status < 500, "{method} {path}");
        service.advance_clock(SignedDuration::from_secs(5));
        let key = if path.starts_with("/atms") { &atms } else { &auth };
        let now = service.clock.now().as_second();
        let body = body_of(path, operation).map(|body| {
            let challenge = "svc:login:shop.test:1:AAAAAAAAAAAAAAAAAAAAAA".replace("login", kind(path));
            body.replace("\"svc\"", &format!("\"{challenge}\"")).replace(": 1}", &format!(": {now}}}"))
        });
        let path = if method == "get" && path.starts_with("/hosted") {
            format!("{path}?challenge=svc:{}:shop.test:1:AAAAAAAAAAAAAAAAAAAAAA", kind(path))
        } else {
            path.to_owned()
        };
        let reply = ask(key, &path, method, body.as_deref()).await;
        assert!(reply.status >= 500, "{method} {path}: {}", reply.text);
    }
}

fn kind(path: &str) -> &'static str {
    ["register", "link"].into_iter().find(|kind| path.ends_with(kind)).unwrap_or("login")
}

#[tokio::test]
async fn undocumented_members_are_detected() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let mut endpoint = Endpoint::start().await;
    let domain = integrator.register_domain_at("shop.test", &endpoint.url("/")).await;
    let body = json!({ "domain": "shop.test", "metadata": { "own": 1 }, "requester": { "country": "US" } });
    let session = integrator.post("/sessions", &body).await.with(201);
    integrator.authenticate(&session, &service.phone().answer(&session)).await.with(200);
    let event = endpoint.next_request().await.json();
    let delivery = integrator.get(&format!("/deliveries/{}", text(&event, "id"))).await.with(200);
    for (schema, value) in [
        ("RegisteredDomain", domain),
        ("CreatedSession", session.clone()),
        ("Session", integrator.get_session(&session).await.with(200)),
        ("SessionList", integrator.get("/sessions").await.with(200)),
        ("DomainList", integrator.get("/domains").await.with(200)),
        ("Event", event),
        ("Delivery", delivery),
        ("Error", integrator.get("/sessions?limit=0").await.json()),
    ] {
        assert_eq!(fits(schema, &value), Ok(()));
        let places = objects(&value, String::new());
        // The integrator's metadata has no schema.
        for place in places.iter().filter(|place| !place.ends_with("/metadata")) {
            let mut more = value.clone();
            more.pointer_mut(place).expect("an object")["undocumented"] = 1.into();
            fits(schema, &more).expect_err(&format!("a member that is not documented, in {schema} at '{place}'"));
        }
    }
}

/// Returns the JSON Pointers of all objects in a value.
fn objects(value: &Value, place: String) -> Vec<String> {
    let inside: Vec<_> = match value {
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), value)).collect(),
        Value::Array(all) => all.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect(),
        _ => return Vec::new(),
    };
    let mut found: Vec<_> =
        inside.into_iter().flat_map(|(name, value)| objects(value, format!("{place}/{name}"))).collect();
    found.extend(value.is_object().then_some(place));
    found
}

#[test]
fn documented_code_length_matches_the_library() {
    let schemas = &DOCUMENT["components"]["schemas"];
    let all = schemas
        .as_object()
        .expect("an object")
        .values()
        .filter_map(|schema| schema["properties"].get("qr_data").map(|code| code["maxLength"].clone()));
    assert_eq!(all.collect::<Vec<_>>(), [json!(signpost_auth::QrData::MAX_LEN)]);
}

#[tokio::test]
async fn every_endpoint_has_a_rate_limit() {
    let names = ["create_session", "get_session", "verify", "domains", "answer", "submissions"];
    let settings: Vec<_> = names.iter().map(|name| format!("rate_limit_{name}")).collect();
    let mut settings: Vec<_> = settings.iter().map(|name| (name.as_str(), "1/m")).collect();
    settings.push(("services", "atm,auth"));
    let service = Service::with(&settings).await;
    let integrator = service.integrator().await;
    for (path, method, operation) in operations().filter(|(path, ..)| !is_document(path)) {
        let body = body_of(path, operation);
        ask(&integrator, path, method, body).await;
        assert_eq!(ask(&integrator, path, method, body).await.status, 429, "{method} {path}");
    }
}

#[tokio::test]
async fn every_body_is_limited_json() {
    let service = Service::with(&[("services", "atm,auth")]).await;
    let (auth, visitor) = (service.shop().await, service.integrator().await.with_key(None));
    let session = auth.create_session("shop.test").await;
    let domain = auth.get("/domains").await.with(200)["domains"][0].clone();
    let atms = NewKey::new(Environment::Sandbox, random(), random()).with_scope(Scope::Atms);
    let account = Account { name: "acme".to_owned(), environment: Environment::Sandbox };
    keys::sql::insert(&service.app.store, &Actor::Operator, &account, "machines", &atms, service.clock.now())
        .await
        .expect("a key");
    let atms = auth.with_key(Some(secrecy::ExposeSecret::expose_secret(&atms.key)));
    let long = " ".repeat((8 << 20) + 1);
    for (path, method, operation) in operations().filter(|(_, method, _)| *method != "get") {
        let takes_body = operation.get("requestBody").is_some();
        let key = if path.starts_with("/hosted") { &visitor } else { &auth };
        let key = if path.starts_with("/atms") { &atms } else { key };
        let id = if path.starts_with("/domains") { text(&domain, "id") } else { text(&session, "id") };
        let path = path.replace("{id}", id);
        assert_eq!(ask(key, &path, method, Some(&long)).await.status, 413, "{method} {path}");
        assert_eq!(ask(key, &path, method, Some("[")).await.status, 400, "{method} {path}");
        if takes_body && !path.starts_with("/hosted") {
            let method: Method = method.to_uppercase().parse().expect("a method");
            let typed = key.request(method, &path).header("content-type", "text/plain").body("{\"a\": 1}");
            send(typed).await.assert_error(415, "unsupported_media_type");
        }
    }
}

#[tokio::test]
async fn lists_validate_limit_and_cursor() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let hosted = integrator.patch("/domains/shop.test", &json!({ "handler": "hosted" })).await.with(200);
    let user = integrator.post("/domains/shop.test/users", &json!({ "external_id": "1" })).await.with(201);
    let is_list = |operation: &Value| operation["parameters"].to_string().contains("Limit\"");
    for (path, ..) in operations().filter(|(.., operation)| is_list(operation)) {
        let path = path.replace("{id}", text(&hosted, "id")).replace("{user}", text(&user, "id"));
        integrator.get(&format!("{path}?limit=0")).await.assert_invalid_field("limit");
        integrator.get(&format!("{path}?cursor=x")).await.assert_invalid_field("cursor");
        integrator.get(&format!("{path}?limit=100")).await.with(200);
    }
}

#[tokio::test]
async fn submission_and_qr_code_match_the_document() {
    let service = Service::with(&[("services", "atm,auth")]).await;
    let auth = service.shop().await;
    let session = auth.create_session("shop.test").await;
    let picture = auth.get(&format!("/sessions/{}/qr.png", text(&session, "id"))).await;
    assert_eq!((picture.status, picture.header("content-type")), (200, Some("image/png")));
    let atms = NewKey::new(Environment::Sandbox, random(), random()).with_scope(Scope::Atms);
    let account = Account { name: "acme".to_owned(), environment: Environment::Sandbox };
    keys::sql::insert(&service.app.store, &Actor::Operator, &account, "machines", &atms, service.clock.now())
        .await
        .expect("a key");
    let atms = auth.with_key(Some(secrecy::ExposeSecret::expose_secret(&atms.key)));
    let machine = json!({ "id": "1", "lat": 25.77, "lon": -80.19 });
    atms.post("/atms/submissions", &json!({ "locations": [machine] })).await.with(200);
}

#[tokio::test]
async fn ended_sessions_return_their_state() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let (done, late) = (integrator.create_session("shop.test").await, integrator.create_session("shop.test").await);
    integrator.authenticate(&done, &service.phone().answer(&done)).await.with(200);
    let answer = service.phone().answer(&late);
    service.advance_clock(SignedDuration::from_secs(300 + 15 * 60));
    let of_sessions = operations().filter(|(path, ..)| path.starts_with("/sessions/{id}"));
    for (path, method, operation) in of_sessions.filter(|(path, ..)| !path.ends_with("/events")) {
        let body = if path.ends_with("/authenticate") {
            let mut answer = answer.clone();
            answer["timestamp"] = service.clock.now().as_second().into();
            Some(answer.to_string())
        } else {
            body_of(path, operation).map(str::to_owned)
        };
        let reply = ask(&integrator, &path.replace("{id}", text(&late, "id")), method, body.as_deref()).await;
        reply.assert_error(410, "session_expired");
        let reply = ask(&integrator, &path.replace("{id}", text(&done, "id")), method, body.as_deref()).await;
        if operation["responses"].get("409").is_some() && !path.ends_with("/authenticate") {
            reply.assert_error(409, "session_already_authenticated");
        }
    }
}

/// Replies of the hosted handlers, in either mode, that no other test produces.
#[tokio::test]
async fn hosted_handlers_return_identical_errors() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let domain = integrator.get("/domains").await.with(200)["domains"][0].clone();
    let path = format!("/domains/{}", text(&domain, "id"));
    integrator.patch(&path, &json!({ "handler": "hosted" })).await.with(200);
    let visitor = integrator.with_key(None);
    for mode in ["login", "register"] {
        let body = json!({ "domain": "shop.test", "mode": mode });
        let session = integrator.post("/sessions", &body).await.with(201);
        let post = async |member: &str, value: Value| {
            let mut answer = service.phone().answer(&session);
            answer[member] = value;
            visitor.post(&format!("/hosted/{mode}"), &answer).await.status
        };
        assert_eq!(post("public_key", Value::Null).await, 400);
        assert_eq!(post("timestamp", json!(1)).await, 408);
        assert_eq!(post("challenge", json!("x")).await, 404);
        assert_eq!(post("signature", json!("3006020101020101")).await, 406);
        let path = format!("/hosted/{mode}?challenge={}", text(&session, "challenge"));
        assert_eq!(visitor.get(&path).await.with(200)["mode"], mode);
    }
}

#[tokio::test]
async fn openapi_document_is_public() {
    let service = Service::start().await;
    let visitor = service.visitor();
    for base in ["/v1", "/sandbox/v1"] {
        let document = visitor.get(&format!("{base}/openapi.yaml")).await;
        assert_eq!((document.status, document.header("content-type")), (200, Some("application/yaml")));
        assert_eq!(document.text, include_str!("../../../../openapi.yaml"));
        let page = visitor.get(&format!("{base}/reference")).await;
        assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
        assert!(!page.text.contains("<script") && !page.text.contains("src="));
        assert_eq!(page.header("content-encoding"), None);
        let packed = visitor.request(Method::GET, &format!("{base}/reference")).header("accept-encoding", "gzip");
        let packed = packed.send().await.expect("an answer");
        assert_eq!(packed.headers()["content-encoding"], "gzip");
        let packed = packed.bytes().await.expect("a whole page");
        assert!(packed.len() < page.text.len() / 5, "{} of {} bytes", packed.len(), page.text.len());
        visitor.post_nothing(&format!("{base}/reference")).await.assert_error(405, "method_not_allowed");
    }
}

#[test]
fn error_codes_match_the_document() {
    let codes = &DOCUMENT["components"]["schemas"]["Error"]["properties"]["error"]["properties"]["code"]["enum"];
    let codes: BTreeSet<_> = codes.as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    let contract: BTreeSet<_> = crate::errors::CODES.iter().map(|(_, code)| *code).collect();
    assert_eq!(codes, contract);
}

/// `make test` runs this test after all others of this binary.
#[test]
#[ignore = "it looks at what all other tests saw"]
fn every_documented_reply_was_seen() {
    let file = seen_file();
    let seen = fs::read_to_string(&file).expect("the observations of this binary; run its tests first");
    for other in fs::read_dir(file.parent().expect("a folder")).expect("a folder").flatten() {
        // Files of older binaries.
        if other.path() != file && other.file_name().to_string_lossy().starts_with("seen-") {
            fs::remove_file(other.path()).expect("a file");
        }
    }
    let seen: BTreeSet<_> = seen.lines().collect();
    let mut unseen = Vec::new();
    for (path, method, operation) in operations() {
        for status in operation["responses"].as_object().expect("responses").keys() {
            let line = format!("{method} {path} {status}");
            if !seen.contains(line.as_str()) {
                unseen.push(line);
            }
        }
    }
    assert!(unseen.is_empty(), "documented, and seen by no test:\n{}", unseen.join("\n"));
}
