//! Durability after `kill -9`: acknowledged logins are stored, and every login has an event.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use reqwest::{Client, Method};
use serde_json::{Value, json};
use signpost_platform::clock::Clock;
use tokio::task::JoinSet;

use crate::harness::{Endpoint, Integrator, Phone, Program, RunningProgram, embedded_database, http, text, until};

/// Number of acknowledged logins before the kill, and of concurrent integrators.
const LOGINS: usize = 300;
const INTEGRATORS: usize = 8;

/// The sessions of an integrator, true if their login was acknowledged.
type SessionOutcomes = BTreeMap<String, bool>;

async fn serve(folder: &Path) -> RunningProgram {
    let folder = folder.to_owned();
    let limits = ["CREATE_SESSION", "GET_SESSION", "ANSWER"].map(|name| format!("SIGNPOST_RATE_LIMIT_{name}"));
    let start = move || {
        let mut environment: Vec<_> = limits.iter().map(|name| (name.as_str(), "off")).collect();
        environment.push(("SIGNPOST_LOG", "error"));
        Program::serve(&folder, &environment)
    };
    tokio::task::spawn_blocking(start).await.expect("no panic")
}

fn integrator(server: &RunningProgram, http: &Client, key: &str) -> Integrator {
    Integrator { http: http.clone(), api: server.address("sandbox"), key: Some(key.to_owned()) }
}

/// Posts a body; returns `None` if the server is gone.
async fn post(integrator: &Integrator, path: &str, body: &Value) -> Option<(u16, Value)> {
    let request = integrator.request(Method::POST, path).header("content-type", "application/json");
    let response = request.body(body.to_string()).send().await.ok()?;
    let status = response.status().as_u16();
    let body = response.text().await.ok()?;
    Some((status, serde_json::from_str(&body).expect("JSON")))
}

/// Creates sessions and completes two of three, until the server is killed.
async fn log_in_until_killed(integrator: Integrator, seed: u8, logins: Arc<AtomicUsize>) -> SessionOutcomes {
    let (phone, mut logins_by_session) = (Phone::of(seed, &Clock::System), SessionOutcomes::new());
    for number in 0_usize.. {
        let Some((status, session)) = post(&integrator, "/sessions", &json!({ "domain": "shop.test" })).await else {
            break;
        };
        assert_eq!(status, 201, "{session}");
        let id = text(&session, "id").to_owned();
        logins_by_session.insert(id.clone(), false);
        if number % 3 == 2 {
            continue;
        }
        let path = format!("/sessions/{id}/authenticate");
        let Some((status, updated)) = post(&integrator, &path, &phone.answer(&session)).await else { break };
        assert_eq!((status, &updated["status"]), (200, &json!("authenticated")), "{updated}");
        logins_by_session.insert(id, true);
        logins.fetch_add(1, Ordering::Relaxed);
    }
    logins_by_session
}

/// Kills a server under load.
async fn kill_under_load(server: RunningProgram, http: &Client, key: &str) -> SessionOutcomes {
    let (mut working, logins) = (JoinSet::new(), Arc::new(AtomicUsize::new(0)));
    for number in 1..=INTEGRATORS {
        let number = u8::try_from(number).expect("few");
        working.spawn(log_in_until_killed(integrator(&server, http, key), number, Arc::clone(&logins)));
    }
    until("enough logins", async || (logins.load(Ordering::Relaxed) >= LOGINS).then_some(())).await;
    tokio::task::spawn_blocking(|| server.kill()).await.expect("no panic");
    let mut logins_by_session = SessionOutcomes::new();
    while let Some(sessions) = working.join_next().await {
        logins_by_session.extend(sessions.expect("no panic"));
    }
    logins_by_session
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_logins_survive_a_kill() {
    let folder = tempfile::tempdir().expect("a folder");
    embedded_database(&folder.path().join("signpost-data"));
    let arguments = ["keys", "create", "--environment", "sandbox", "--name", "crash", "--json"];
    let key = Program::within(folder.path(), &arguments).run_async().await.json();
    let (key, http, mut endpoint) = (text(&key, "key").to_owned(), http(), Endpoint::start().await);
    let mut server = serve(folder.path()).await;
    integrator(&server, &http, &key).register_domain_at("shop.test", &endpoint.url("/events")).await;
    let mut logins_by_session = SessionOutcomes::new();
    for _ in 0..2 {
        logins_by_session.extend(kill_under_load(server, &http, &key).await);
        server = serve(folder.path()).await;
    }
    let integrator = integrator(&server, &http, &key);
    let mut authenticated = BTreeSet::new();
    for (id, was_acknowledged) in &logins_by_session {
        let seen = integrator.get(&format!("/sessions/{id}")).await.with(200);
        if seen["status"] == "authenticated" {
            authenticated.insert(id.clone());
        } else {
            assert!(!was_acknowledged, "the login of {id} was acknowledged and is lost: {seen}");
        }
    }
    assert!(authenticated.len() >= 2 * LOGINS && logins_by_session.len() > authenticated.len());
    let mut missing = authenticated.clone();
    while !missing.is_empty() {
        let event = endpoint.next_request().await.json();
        let session = text(&event, "session_id");
        assert!(authenticated.contains(session), "{session} has an event and is not authenticated");
        missing.remove(session);
    }
}
