//! `signpost wallet`: a wallet for a terminal, and for tests.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use axum::http::StatusCode;
use serde_json::{Value, json};
use signpost_auth::{PublicKey, Signature, verify};
use signpost_platform::clock::Clock;

use crate::harness::{Endpoint, Integrator, Program, Service, members, text};

async fn json_of(folder: &Path, arguments: &[&str]) -> Value {
    Program::within(folder, &[arguments, &["--json"]].concat()).run_async().await.json()
}

/// Starts a server with the system clock, which the wallet uses too.
async fn service() -> Service {
    let clock = Clock::manual(Clock::System.now());
    Service::open(&[("database_url", "sqlite::memory:")], clock).await
}

#[tokio::test]
async fn wallet_is_created_once_and_signs() {
    let folder = tempfile::tempdir().expect("a folder");
    for arguments in [&["wallet", "show"][..], &["wallet", "sign", "text"]] {
        let ended = Program::within(folder.path(), arguments).run_async().await;
        assert!(ended.failed(1).contains("signpost wallet new"), "{}", ended.err);
    }
    let made = json_of(folder.path(), &["wallet", "new"]).await;
    assert_eq!(members(&made), ["public_key"].into());
    let file = folder.path().join("signpost-data/wallet.key");
    assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o600);
    let before = fs::read(&file).expect("a file");
    let again = Program::within(folder.path(), &["wallet", "new"]).run_async().await;
    assert!(again.failed(1).contains("wallet.key"), "{}", again.err);
    assert_eq!(fs::read(&file).expect("a file"), before);
    assert_eq!(json_of(folder.path(), &["wallet", "show"]).await, made);
    for message in ["", "Sign this", "ü \u{1F600}\n'\"", "--json"] {
        let signed =
            Program::within(folder.path(), &["wallet", "sign", "--json", "--", message]).run_async().await.json();
        assert_eq!(members(&signed), ["public_key", "signature", "message"].into());
        assert_eq!((&signed["public_key"], &signed["message"]), (&made["public_key"], &json!(message)));
        let key = PublicKey::parse(text(&signed, "public_key")).expect("a key");
        let signature = Signature::parse(text(&signed, "signature")).expect("a signature");
        assert!(verify(&key, &signature, message.as_bytes()), "{message}");
    }
}

#[tokio::test]
async fn scanned_code_is_signed_and_accepted() {
    let (folder, service) = (tempfile::tempdir().expect("a folder"), service().await);
    let (integrator, mut endpoint) = (service.integrator().await, Endpoint::start().await);
    let wallet = json_of(folder.path(), &["wallet", "new"]).await;
    let domain = integrator.register_domain_at("shop.test", &endpoint.url("/wallets")).await;
    let path = format!("/domains/{}", text(&domain, "id"));
    integrator.patch(&path, &json!({ "event_url": endpoint.url("/events") })).await.with(200);
    for mode in ["login", "register"] {
        let session = integrator.post("/sessions", &json!({ "domain": "shop.test", "mode": mode })).await.with(201);
        endpoint.respond_with((StatusCode::OK, axum::Json(json!({ "status": "authenticated", "message": "welcome" }))));
        let scanned =
            json_of(folder.path(), &["wallet", "scan", text(&session, "qr_data"), "--yes", "--allow-host"]).await;
        assert_eq!(members(&scanned), ["status", "body", "public_key"].into());
        assert_eq!((&scanned["status"], &scanned["public_key"]), (&json!(200), &wallet["public_key"]));
        assert_eq!(scanned["body"], json!({ "status": "authenticated", "message": "welcome" }));
        let posted = endpoint.next_request().await;
        assert_eq!((posted.path.as_str(), posted.header("content-type")), ("/wallets", "application/json"));
        let answer = posted.json();
        assert!(text(&answer, "challenge").starts_with(&format!("Sign this to {mode} to shop.test at ")));
        let seen = integrator.authenticate(&session, &answer).await.with(200);
        assert_eq!(seen["user"]["public_key"], wallet["public_key"]);
        assert_eq!(endpoint.next_request().await.path, "/events");
    }
}

#[tokio::test]
async fn rejected_login_is_a_failure() {
    let (folder, service) = (tempfile::tempdir().expect("a folder"), service().await);
    let (integrator, mut endpoint) = (service.integrator().await, Endpoint::start().await);
    json_of(folder.path(), &["wallet", "new"]).await;
    integrator.register_domain_at("localhost", &endpoint.url("/")).await;
    let session = integrator.create_session("localhost").await;
    endpoint.respond_with((StatusCode::NOT_FOUND, "nobody has this key"));
    let ended = Program::within(folder.path(), &["wallet", "scan", text(&session, "qr_data"), "--yes", "--json"]);
    let ended = ended.run_async().await;
    assert_eq!(ended.code, Some(1));
    let response: Value = serde_json::from_str(&ended.out).expect("one document");
    assert_eq!((&response["status"], &response["body"]), (&json!(404), &json!("nobody has this key")));
    assert!(ended.err.starts_with("signpost: ") && ended.err.trim_end().lines().count() == 1, "{}", ended.err);
    assert!(ended.err.contains("not registered at localhost"), "{}", ended.err);
    endpoint.next_request().await;
}

#[tokio::test]
async fn signing_requires_consent_and_a_valid_code() {
    let (folder, service) = (tempfile::tempdir().expect("a folder"), service().await);
    let (integrator, mut endpoint) = (service.integrator().await, Endpoint::start().await);
    json_of(folder.path(), &["wallet", "new"]).await;
    integrator.register_domain_at("localhost", &endpoint.url("/")).await;
    let session = integrator.create_session("localhost").await;
    let qr_data = text(&session, "qr_data");
    let ends_at = |exp: i64| format!("{}&exp={exp}", qr_data.rsplit_once("&exp=").expect("an end").0);
    let now = service.clock.now().as_second();
    let (expired, tomorrow) = (ends_at(now - 1), ends_at(now + 25 * 60 * 60));
    let yesterday = qr_data.replace(
        text(&session, "challenge"),
        &format!("svc:login:localhost:{}:AAAAAAAAAAAAAAAAAAAAAA", now - 25 * 60 * 60),
    );
    let evil = qr_data.replace("svc://", "https://");
    for (qr_data, yes, code) in [
        (qr_data, false, 2),
        (&expired, true, 1),
        (&tomorrow, true, 1),
        (&yesterday, true, 1),
        (&evil, true, 2),
        ("", true, 2),
    ] {
        let flags: &[&str] = if yes { &["--yes"] } else { &[] };
        let arguments = [&["wallet", "scan", qr_data][..], flags].concat();
        let ended = Program::within(folder.path(), &arguments).run_async().await;
        assert_eq!(ended.code, Some(code), "{arguments:?}: {}", ended.err);
        assert!(ended.err.starts_with("signpost: "), "{}", ended.err);
    }
    assert!(endpoint.try_next_request().is_none());
}

#[tokio::test]
async fn scan_shows_domain_host_and_requester() {
    let (folder, service) = (tempfile::tempdir().expect("a folder"), service().await);
    let (integrator, mut endpoint) = (service.integrator().await, Endpoint::start().await);
    json_of(folder.path(), &["wallet", "new"]).await;
    let url = endpoint.url("/hook").replace("127.0.0.1", "localhost");
    integrator.register_domain_at("localhost", &url).await;
    let session = integrator.create_session("localhost").await;
    let agent = format!("Fire\u{202e}fox\u{1b}[2J\n\u{200b}login at  bank.example {}", "x".repeat(200));
    let context = json!({ "requester": { "ip": "203.0.113.9", "country": "US", "user_agent": agent } });
    endpoint.respond_with((StatusCode::OK, axum::Json(context)));
    endpoint.respond_with((StatusCode::OK, "welcome"));
    let ended =
        Program::within(folder.path(), &["wallet", "scan", text(&session, "qr_data"), "--yes"]).run_async().await;
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let (asked, answered) = (endpoint.next_request().await, endpoint.next_request().await);
    assert!(asked.path.starts_with("/hook?challenge=svc%3Alogin%3Alocalhost%3A") && asked.body.is_empty(), "{asked:?}");
    assert_eq!(answered.path, "/hook");
    let host = endpoint.url("").replace("127.0.0.1", "localhost");
    let lines: Vec<_> = ended.err.lines().collect();
    assert_eq!(lines[..2], ["login at  localhost", &format!("answer to {host}")]);
    let message = format!("{} reports that the login was requested by: ", host.trim_start_matches("http://"));
    assert!(lines[2].starts_with(&message) && lines[2].contains("\"203.0.113.9\", country \"US\""), "{}", ended.err);
    assert!(lines[2].ends_with("x\"") && lines[2].matches('x').count() < 80, "{}", ended.err);
    assert!(!lines[2].contains(['\u{202e}', '\u{1b}', '\u{200b}']), "{}", ended.err);
    // There are no warnings.
    assert_eq!(lines.len(), 3, "{}", ended.err);
}

#[tokio::test]
async fn unlisted_host_receives_no_request() {
    let (folder, service) = (tempfile::tempdir().expect("a folder"), service().await);
    let (integrator, mut endpoint) = (service.integrator().await, Endpoint::start().await);
    json_of(folder.path(), &["wallet", "new"]).await;
    // The name does not resolve, so the hosts of the domain are unknown.
    integrator.register_domain_at("shop.invalid", &endpoint.url("/hook")).await;
    let session = integrator.create_session("shop.invalid").await;
    let host = endpoint.url("").replace("http://", "");
    for flags in [&["--yes"][..], &["--yes", "--json"], &["--yes", "--allow-host", "evil.example"]] {
        let arguments = [&["wallet", "scan", text(&session, "qr_data")], flags].concat();
        let ended = Program::within(folder.path(), &arguments).run_async().await;
        let response = ended.failed(1);
        assert!(response.contains("shop.invalid") && response.contains(&format!("--allow-host {host}")), "{response}");
        assert_eq!(response.trim_end().lines().count(), 1, "{response}");
    }
    assert!(endpoint.try_next_request().is_none());
    for allowed in [&host, "127.0.0.1"] {
        let arguments = ["wallet", "scan", text(&session, "qr_data"), "--yes", "--json", "--allow-host", allowed];
        assert_eq!(Program::within(folder.path(), &arguments).run_async().await.code, Some(0), "{allowed}");
        assert_eq!(endpoint.next_request().await.path, "/hook");
    }
}

/// Registers a domain with the hosted handler.
async fn hosted(integrator: &Integrator) {
    let domain = integrator.register_domain_at("localhost", "http://localhost:9/").await;
    let path = format!("/domains/{}", text(&domain, "id"));
    integrator.patch(&path, &json!({ "handler": "hosted" })).await.with(200);
}

#[tokio::test]
async fn scan_requires_the_confirmation_number() {
    let (folder, service) = (tempfile::tempdir().expect("a folder"), service().await);
    let integrator = service.integrator().await;
    let wallet = json_of(folder.path(), &["wallet", "new"]).await;
    hosted(&integrator).await;
    let body = json!({ "domain": "localhost", "mode": "register", "confirm": "code" });
    let session = integrator.post("/sessions", &body).await.with(201);
    let scan = ["wallet", "scan", text(&session, "qr_data"), "--yes"];
    let ended = Program::within(folder.path(), &scan).run_async().await;
    assert!(ended.failed(2).contains("--confirm-code"), "{}", ended.err);
    let ended = Program::within(folder.path(), &[&scan[..], &["--confirm-code", "4 2"]].concat()).run_async().await;
    assert!(ended.failed(2).contains("digits"), "{}", ended.err);
    let right = text(&session, "confirm_code");
    let wrong = if right == "11" { "12" } else { "11" };
    for (number, code, status) in [(wrong, 1, 406), (right, 0, 200)] {
        let arguments = [&scan[..], &["--json", "--confirm-code", number]].concat();
        let ended = Program::within(folder.path(), &arguments).run_async().await;
        let response: Value = serde_json::from_str(&ended.out).expect("one document");
        assert_eq!((ended.code, &response["status"]), (Some(code), &json!(status)), "{response}");
    }
    assert_eq!(integrator.get_session(&session).await.with(200)["user"]["public_key"], wallet["public_key"]);
}
