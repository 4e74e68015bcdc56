//! Durability after `kill -9`: acknowledged logins are stored, and every login has an event.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use reqwest::{Client, Method};
use serde_json::{Value, json};
use signpost_platform::clock::Clock;
use tokio::task::JoinSet;

use crate::harness::{Endpoint, Integrator, Phone, Program, Running, embedded_database, http, text, until};

/// Number of acknowledged logins before the kill, and of concurrent integrators.
const LOGINS: usize = 300;
const AT_ONCE: usize = 8;

/// The sessions of one integrator, true if their login was acknowledged.
type Told = BTreeMap<String, bool>;

async fn serve(folder: &Path) -> Running {
    let folder = folder.to_owned();
    let limits = ["CREATE_SESSION", "GET_SESSION", "ANSWER"].map(|name| format!("SIGNPOST_RATE_LIMIT_{name}"));
    let start = move || {
        let mut environment: Vec<_> = limits.iter().map(|name| (name.as_str(), "off")).collect();
        environment.push(("SIGNPOST_LOG", "error"));
        Program::serves(&folder, &environment)
    };
    tokio::task::spawn_blocking(start).await.expect("no panic")
}

fn integrator(server: &Running, http: &Client, key: &str) -> Integrator {
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
async fn log_in_until_killed(integrator: Integrator, somebody: u8, logins: Arc<AtomicUsize>) -> Told {
    let (phone, mut told) = (Phone::of(somebody, &Clock::System), Told::new());
    for number in 0_usize.. {
        let Some((status, session)) = post(&integrator, "/sessions", &json!({ "domain": "shop.test" })).await else {
            break;
        };
        assert_eq!(status, 201, "{session}");
        let id = text(&session, "id").to_owned();
        told.insert(id.clone(), false);
        if number % 3 == 2 {
            continue;
        }
        let path = format!("/sessions/{id}/authenticate");
        let Some((status, seen)) = post(&integrator, &path, &phone.answers(&session)).await else { break };
        assert_eq!((status, &seen["status"]), (200, &json!("authenticated")), "{seen}");
        told.insert(id, true);
        logins.fetch_add(1, Ordering::Relaxed);
    }
    told
}

/// Kills a server under load.
async fn kill_under_load(server: Running, http: &Client, key: &str) -> Told {
    let (mut working, logins) = (JoinSet::new(), Arc::new(AtomicUsize::new(0)));
    for somebody in 1..=AT_ONCE {
        let somebody = u8::try_from(somebody).expect("few");
        working.spawn(log_in_until_killed(integrator(&server, http, key), somebody, Arc::clone(&logins)));
    }
    until("enough logins", async || (logins.load(Ordering::Relaxed) >= LOGINS).then_some(())).await;
    tokio::task::spawn_blocking(|| server.kill()).await.expect("no panic");
    let mut told = Told::new();
    while let Some(theirs) = working.join_next().await {
        told.extend(theirs.expect("no panic"));
    }
    told
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_logins_survive_a_kill() {
    let folder = tempfile::tempdir().expect("a folder");
    embedded_database(&folder.path().join("signpost-data"));
    let arguments = ["keys", "create", "--environment", "sandbox", "--name", "crash", "--json"];
    let key = Program::within(folder.path(), &arguments).runs().await.json();
    let (key, http, mut endpoint) = (text(&key, "key").to_owned(), http(), Endpoint::start().await);
    let mut server = serve(folder.path()).await;
    integrator(&server, &http, &key).registers_at("shop.test", &endpoint.url("/events")).await;
    let mut told = Told::new();
    for _ in 0..2 {
        told.extend(kill_under_load(server, &http, &key).await);
        server = serve(folder.path()).await;
    }
    let integrator = integrator(&server, &http, &key);
    let mut authenticated = BTreeSet::new();
    for (id, was_acknowledged) in &told {
        let seen = integrator.get(&format!("/sessions/{id}")).await.with(200);
        if seen["status"] == "authenticated" {
            authenticated.insert(id.clone());
        } else {
            assert!(!was_acknowledged, "the login of {id} was acknowledged and is lost: {seen}");
        }
    }
    assert!(authenticated.len() >= 2 * LOGINS && told.len() > authenticated.len());
    let mut missing = authenticated.clone();
    while !missing.is_empty() {
        let event = endpoint.receives().await.json();
        let session = text(&event, "session_id");
        assert!(authenticated.contains(session), "{session} has an event and is not authenticated");
        missing.remove(session);
    }
}
