//! `signpost serve`: its addresses, its exclusive data folder, and its shutdown.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::harness::{
    Endpoint, Integrator, Phone, Program, RunningProgram, embedded_database, http, members, text, until,
};

/// Creates an API key in a folder's database.
async fn key(folder: &Path) -> String {
    embedded_database(&folder.join("signpost-data"));
    let arguments = ["keys", "create", "--environment", "sandbox", "--name", "a test's", "--json"];
    text(&Program::within(folder, &arguments).run_async().await.json(), "key").to_owned()
}

async fn serve(folder: &Path, environment: &[(&str, &str)]) -> RunningProgram {
    let (folder, environment) = (folder.to_owned(), environment.iter().map(|(n, v)| (n.to_string(), v.to_string())));
    let environment: Vec<_> = environment.collect();
    let start = move || {
        let environment: Vec<_> = environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        Program::serve(&folder, &environment)
    };
    tokio::task::spawn_blocking(start).await.expect("no panic")
}

/// Waits for the server's exit. Returns the exit code and the log.
async fn wait_for_exit(mut server: RunningProgram) -> (Option<i32>, String) {
    let ended = tokio::task::spawn_blocking(move || server.wait_for_exit()).await.expect("no panic");
    (ended.0.code(), ended.1)
}

fn integrator(server: &RunningProgram, key: &str) -> Integrator {
    Integrator { http: http(), api: server.address("sandbox"), key: Some(key.to_owned()) }
}

fn address(server: &RunningProgram) -> SocketAddr {
    server.address("listen").parse().expect("an address")
}

#[tokio::test]
async fn serve_prints_its_addresses_and_exits_cleanly() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = serve(folder.path(), &[]).await;
    assert!(members(&server.addresses).is_superset(&["version", "listen", "live", "sandbox", "health"].into()));
    let visitor = Integrator { http: http(), api: format!("http://{}", address(&server)), key: None };
    let health = visitor.get("/health").await.with(200);
    assert_eq!((&health["status"], &health["version"]), (&json!("ok"), &server.addresses["version"]));
    assert_eq!(server.address("health"), format!("{}/health", visitor.api));
    assert_eq!(visitor.get("/health/ready").await.with(200)["status"], "ok");
    server.terminate();
    assert_eq!(wait_for_exit(server).await.0, Some(0));
}

#[tokio::test]
async fn second_server_on_a_folder_is_rejected() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = serve(folder.path(), &[]).await;
    let second = Program::within(folder.path(), &["serve", "--listen", "127.0.0.1:0"]).run_async().await;
    let line = second.failed(1);
    assert!(line.contains("another server") && line.contains("signpost-data") && line.contains("--data-dir"), "{line}");
    server.terminate();
    assert_eq!(wait_for_exit(server).await.0, Some(0));
    // The folder is no longer locked.
    serve(folder.path(), &[]).await.kill();
}

#[tokio::test]
async fn sigterm_works_once_the_addresses_are_printed() {
    let folder = tempfile::tempdir().expect("a folder");
    for _ in 0..12 {
        let server = serve(folder.path(), &[]).await;
        server.terminate();
        assert_eq!(wait_for_exit(server).await.0, Some(0), "the signal arrived before its handler");
    }
}

#[tokio::test]
async fn second_server_on_a_database_is_rejected() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = [("SIGNPOST_DATABASE_URL", "sqlite:named.sqlite")];
    let _server = serve(folder.path(), &database).await;
    let second = Program::within(folder.path(), &["serve", "--json", "--listen", "127.0.0.1:0"]);
    let mut second = second.env(database[0].0, database[0].1).spawn();
    let ended = until("the second server's end", async || second.ended()).await;
    assert_eq!(ended.code(), Some(1));
}

/// Sends the head of a request and waits until the server requests the body, so that its handler runs.
fn send_partial_request(to: SocketAddr, key: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(to).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a socket");
    let head = format!(
        "POST /sandbox/v1/sessions HTTP/1.1\r\nHost: {to}\r\nAuthorization: Bearer {key}\r\nExpect: 100-continue\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).expect("a connection");
    let mut answer = [0; 25];
    stream.read_exact(&mut answer).expect("an interim response");
    assert_eq!(&answer, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream
}

#[tokio::test]
async fn shutdown_completes_running_requests() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = key(folder.path()).await;
    let server = serve(folder.path(), &[]).await;
    integrator(&server, &key).register_domain("shop.test").await;
    let body = json!({ "domain": "shop.test" }).to_string();
    let mut stream = send_partial_request(address(&server), &key, &body);
    server.terminate();
    let closed = async || TcpStream::connect(address(&server)).is_err().then_some(());
    until("the end of new connections", closed).await;
    let finished = tokio::task::spawn_blocking(move || {
        stream.write_all(body.as_bytes()).expect("a connection");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    });
    let answer = finished.await.expect("no panic");
    assert!(answer.starts_with("HTTP/1.1 201 Created\r\n"), "{answer}");
    assert_eq!(wait_for_exit(server).await.0, Some(0));
    let (_, session) = answer.split_once("\r\n\r\n").expect("a body");
    let session = serde_json::from_str(session).expect("JSON");
    let server = serve(folder.path(), &[]).await;
    assert_eq!(integrator(&server, &key).get_session(&session).await.with(200)["status"], "pending");
}

#[tokio::test]
async fn shutdown_takes_at_most_ten_seconds() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = key(folder.path()).await;
    let server = serve(folder.path(), &[]).await;
    let (integrator, mut endpoint) = (integrator(&server, &key), Endpoint::hanging().await);
    integrator.register_domain_at("shop.test", &endpoint.url("/")).await;
    let session = integrator.create_session("shop.test").await;
    let phone = Phone::of(7, &signpost_platform::clock::Clock::System);
    integrator.authenticate(&session, &phone.answer(&session)).await.with(200);
    endpoint.next_request().await;
    let _never_finished = send_partial_request(address(&server), &key, "{}");
    server.terminate();
    let begun = Instant::now();
    assert_eq!(wait_for_exit(server).await.0, Some(0));
    // Includes a margin for a busy machine.
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn secrets_are_not_logged() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = key(folder.path()).await;
    let server = serve(folder.path(), &[("SIGNPOST_LOG", "debug")]).await;
    let (integrator, mut endpoint) = (integrator(&server, &key), Endpoint::start().await);
    let domain = integrator.register_domain_at("shop.test", &endpoint.url("/hook?token=their-secret")).await;
    let session = integrator.create_session("shop.test").await;
    let answer = Phone::of(7, &signpost_platform::clock::Clock::System).answer(&session);
    integrator.authenticate(&session, &answer).await.with(200);
    integrator.with_key(Some(&key[..60])).get("/domains?key=query-secret").await.assert_error(401, "invalid_api_key");
    endpoint.next_request().await;
    server.terminate();
    let (code, log) = wait_for_exit(server).await;
    assert!(code == Some(0) && log.contains("request"), "{log}");
    let nonce = text(&session, "challenge").rsplit(':').next().expect("a nonce");
    for secret in [&key, &key[40..60], text(&domain, "webhook_secret"), "their-secret", "query-secret", nonce] {
        assert!(!log.contains(secret), "{secret} is in {log}");
    }
}
