//! `kill -9` in the middle of load: nothing that was acknowledged is lost.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::endpoint::Endpoint;
use crate::harness::{Integrator, Phone};
use crate::program::{Serving, document, serve};

const CLIENTS: u8 = 16;
const LOAD: Duration = Duration::from_millis(1_500);

/// What clients were told before the crash: sessions, and which of them are authenticated.
type Acknowledged = Arc<Mutex<BTreeMap<String, bool>>>;

#[tokio::test(flavor = "multi_thread")]
async fn no_acknowledged_session_and_no_event_is_lost() {
    let (folder, endpoint) = (tempfile::tempdir().unwrap(), Endpoint::start().await);
    let made = document(folder.path(), &["keys", "create", "--environment", "sandbox", "--name", "crash"]);
    let acknowledged = Acknowledged::default();
    for _ in 0..2 {
        let mut running = Serving::start(serve(folder.path()));
        let integrator = Integrator::at(running.address("sandbox"), made["key"].as_str().unwrap());
        let body = json!({ "domain": "localhost", "webhook_url": endpoint.url("/events") });
        assert!([201, 409].contains(&integrator.post("/domains", body).await.status));
        let mut clients = JoinSet::new();
        for number in 0..CLIENTS {
            clients.spawn(load(integrator.clone(), Phone::new(number + 1), Arc::clone(&acknowledged)));
        }
        tokio::time::sleep(LOAD).await;
        running.child.kill().unwrap();
        running.child.wait().unwrap();
        clients.join_all().await;
    }
    let acknowledged = acknowledged.lock().unwrap().clone();
    let authenticated: Vec<_> = acknowledged.iter().filter(|(_, done)| **done).map(|(id, _)| id.clone()).collect();
    assert!(acknowledged.len() > 10 && authenticated.len() > 5, "{} {}", acknowledged.len(), authenticated.len());

    let running = Serving::start(serve(folder.path()));
    let integrator = Integrator::at(running.address("sandbox"), made["key"].as_str().unwrap());
    let mut expected = authenticated.clone();
    for (id, done) in &acknowledged {
        let shown = integrator.get(&format!("/sessions/{id}")).await.expect(200);
        // An answer whose acknowledgement the crash cut off may have been kept, and then has an event too.
        let is_authenticated = shown["status"] == "authenticated";
        assert!(is_authenticated || !done, "{id} was acknowledged as authenticated");
        if is_authenticated && !done {
            expected.push(id.clone());
        }
    }
    all_arrive(&endpoint, &expected).await;
}

/// Opens sessions and answers them until the server is gone.
async fn load(integrator: Integrator, phone: Phone, acknowledged: Acknowledged) {
    loop {
        let Some(session) = created(&integrator, "/sessions", json!({ "domain": "localhost" })).await else { return };
        let id = session["id"].as_str().unwrap().to_owned();
        acknowledged.lock().unwrap().insert(id.clone(), false);
        let now = signpost::clock::Clock::System.now().as_second();
        let answer = phone.answer(&session, now);
        let answered = created(&integrator, &format!("/sessions/{id}/authenticate"), answer).await;
        if answered.is_none() {
            return;
        }
        acknowledged.lock().unwrap().insert(id, true);
    }
}

/// The body of a success; nothing where the server died before it was told.
async fn created(integrator: &Integrator, path: &str, body: Value) -> Option<Value> {
    let reply = integrator.try_post(path, body).await?;
    assert!([200, 201].contains(&reply.status), "{}", reply.text);
    Some(reply.body)
}

async fn all_arrive(endpoint: &Endpoint, sessions: &[String]) {
    let begun = Instant::now();
    loop {
        let arrived: std::collections::BTreeSet<String> = endpoint
            .received()
            .iter()
            .map(|received| received.json()["session_id"].as_str().unwrap().to_owned())
            .collect();
        let missing = sessions.iter().filter(|session| !arrived.contains(*session)).count();
        if missing == 0 {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{missing} of {} events never came", sessions.len());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
