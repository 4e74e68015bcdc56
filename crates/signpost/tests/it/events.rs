//! Events: what is sent, how it is signed, and when it is sent again (specification, §6; contract, §3.4).

use serde_json::{Value, json};
use signpost::account::Environment;
use signpost::id;
use signpost::id::DomainId;
use signpost_auth::WebhookSecret;

use crate::endpoint::{Answer, Endpoint, Received};
use crate::harness::{Integrator, Phone, TestServer, server, server_in, server_with};

/// Registers `localhost` with the endpoint as its webhook.
async fn registered(integrator: &Integrator, endpoint: &Endpoint) -> Value {
    integrator.register("localhost", &endpoint.url("/login")).await
}

/// Logs a phone in; the answer as the wallet sent it.
async fn log_in(server: &TestServer, integrator: &Integrator, mode: &str) -> (Value, Value) {
    let session = integrator.post("/sessions", json!({ "domain": "localhost", "mode": mode })).await.expect(201);
    let mut answer = Phone::new(1).answer(&session, server.now());
    answer["device_info"] = json!({ "platform": "ios", "version": "1.2" });
    let path = format!("/sessions/{}/authenticate", session["id"].as_str().unwrap());
    integrator.post(&path, answer.clone()).await.expect(200);
    (session, answer)
}

/// Lets time pass and the outbox notice.
fn pass(server: &TestServer, seconds: i64) {
    server.pass(seconds);
    server.app.outbox.notify_one();
}

/// How deliveries ended so far: state, attempts, last status.
async fn deliveries(server: &TestServer) -> Vec<(String, i64, Option<i64>)> {
    let rows = server.app.store.read("SELECT state, attempts, last_status FROM deliveries ORDER BY id", vec![]).await;
    let row =
        |row: signpost::store::Row| (row.text(0).unwrap().to_owned(), row.int(1).unwrap(), row.opt_int(2).unwrap());
    rows.unwrap().into_iter().map(row).collect()
}

/// Waits until the first delivery is in this state after so many attempts.
async fn settled(server: &TestServer, state: &str, attempts: i64) {
    for _ in 0..2_000 {
        let found = deliveries(server).await;
        let leases = "SELECT 1 FROM deliveries WHERE leased_until IS NOT NULL";
        let is_leased = !server.app.store.read(leases, vec![]).await.unwrap().is_empty();
        if found[0].0 == state && found[0].1 == attempts && !is_leased {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    panic!("{:?} instead of {state} after {attempts}", deliveries(server).await);
}

fn id_of(received: &Received) -> String {
    received.json()["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_event_says_who_logged_in_and_is_signed() {
    let (server, endpoint) = (server().await, Endpoint::start().await);
    let integrator = server.integrator().await;
    let domain = registered(&integrator, &endpoint).await;
    for (number, (mode, event)) in [("login", "login"), ("registration", "register")].into_iter().enumerate() {
        let (session, answer) = log_in(&server, &integrator, mode).await;
        let received = endpoint.wait_for(number + 1).await.pop().unwrap();
        let sent = received.json();
        let expected = json!({
            "id": sent["id"], "event": event, "timestamp": "2027-01-15T08:00:00Z", "session_id": session["id"],
            "data": {
                "public_key": answer["public_key"], "signature": answer["signature"],
                "challenge": session["challenge"], "signed_message": answer["challenge"],
                "signed_at": answer["timestamp"], "device_info": { "platform": "ios", "version": "1.2" },
            },
        });
        assert_eq!(sent, expected);
        assert!(sent["id"].as_str().unwrap().starts_with("evt_"));
        let secret = WebhookSecret::parse(domain["webhook_secret"].as_str().unwrap()).unwrap();
        assert!(secret.made_x_svc_signature(received.header("x-svc-signature"), &received.body));
        let (id, at) = (received.header("webhook-id"), received.header("webhook-timestamp"));
        assert_eq!((id, at), (sent["id"].as_str().unwrap(), server.now().to_string().as_str()));
        let signature = received.header("webhook-signature");
        assert!(secret.made_standard_signature(signature, id, server.now(), &received.body));
        assert_eq!(
            (received.header("content-type"), received.header("x-svc-signature-next")),
            ("application/json", "")
        );
    }
}

#[tokio::test]
async fn two_secrets_sign_while_one_replaces_the_other() {
    let (server, endpoint) = (server().await, Endpoint::start().await);
    let integrator = server.integrator().await;
    let domain = registered(&integrator, &endpoint).await;
    let id = DomainId::parse(domain["id"].as_str().unwrap()).unwrap();
    let old = WebhookSecret::parse(domain["webhook_secret"].as_str().unwrap()).unwrap();
    let new = WebhookSecret::from_bytes(&id::random());
    assert!(!server.app.store.activate_secret(&id).await.unwrap());
    assert!(server.app.store.rotate_secret(&id, &new).await.unwrap());
    log_in(&server, &integrator, "login").await;
    let received = endpoint.wait_for(1).await.pop().unwrap();
    assert!(old.made_x_svc_signature(received.header("x-svc-signature"), &received.body));
    assert!(new.made_x_svc_signature(received.header("x-svc-signature-next"), &received.body));
    let (signatures, event) = (received.header("webhook-signature"), id_of(&received));
    for secret in [&old, &new] {
        assert!(secret.made_standard_signature(signatures, &event, server.now(), &received.body));
    }
    assert!(server.app.store.activate_secret(&id).await.unwrap());
    log_in(&server, &integrator, "login").await;
    let received = endpoint.wait_for(2).await.pop().unwrap();
    assert!(new.made_x_svc_signature(received.header("x-svc-signature"), &received.body));
    assert_eq!(received.header("x-svc-signature-next"), "");
}

#[tokio::test]
async fn an_event_url_keeps_events_apart_from_wallets() {
    let (server, endpoint) = (server().await, Endpoint::start().await);
    let integrator = server.integrator().await;
    let domain = registered(&integrator, &endpoint).await;
    let path = format!("/domains/{}", domain["id"].as_str().unwrap());
    log_in(&server, &integrator, "login").await;
    integrator.patch(&path, json!({ "event_url": endpoint.url("/events") })).await.expect(200);
    log_in(&server, &integrator, "login").await;
    let paths: Vec<_> = endpoint.wait_for(2).await.into_iter().map(|received| received.path).collect();
    assert_eq!(paths, ["/login", "/events"]);
}

#[tokio::test]
async fn a_failed_attempt_is_repeated_with_the_same_bytes() {
    let settings = [("webhook_retry_schedule", "10s,60s")];
    let (server, endpoint) = (server_with(&settings).await, Endpoint::start().await);
    let integrator = server.integrator().await;
    registered(&integrator, &endpoint).await;
    endpoint.answer(Answer::Status(500));
    log_in(&server, &integrator, "login").await;
    settled(&server, "pending", 1).await;
    pass(&server, 7);
    assert_eq!(endpoint.wait_for(1).await.len(), 1, "the wait varies by 20 % and no more");
    endpoint.answer(Answer::Redirect);
    pass(&server, 5);
    settled(&server, "pending", 2).await;
    endpoint.answer(Answer::Status(204));
    pass(&server, 72);
    settled(&server, "delivered", 3).await;
    let received = endpoint.received();
    assert_eq!(received.len(), 3, "a redirect is not followed");
    assert!(received.iter().all(|one| one.body == received[0].body && one.header("webhook-id") == id_of(&received[0])));
    assert!(received.iter().all(|one| one.path == "/login"));
    pass(&server, 100_000);
    assert_eq!(deliveries(&server).await, [("delivered".to_owned(), 3, Some(204))]);
}

#[tokio::test]
async fn the_schedule_ends_and_gone_means_never_again() {
    for (answer, attempts) in [(Answer::Status(503), 2), (Answer::Status(410), 1)] {
        let (server, endpoint) = (server_with(&[("webhook_retry_schedule", "10s")]).await, Endpoint::start().await);
        let integrator = server.integrator().await;
        registered(&integrator, &endpoint).await;
        endpoint.answer(answer);
        log_in(&server, &integrator, "login").await;
        settled(&server, if attempts == 1 { "failed" } else { "pending" }, 1).await;
        pass(&server, 12);
        settled(&server, "failed", attempts).await;
    }
}

#[tokio::test]
async fn an_endpoint_may_ask_for_time() {
    let (server, endpoint) = (server_with(&[("webhook_retry_schedule", "1s,1s")]).await, Endpoint::start().await);
    let integrator = server.integrator().await;
    registered(&integrator, &endpoint).await;
    endpoint.answer(Answer::RetryAfter(429, "120"));
    log_in(&server, &integrator, "login").await;
    settled(&server, "pending", 1).await;
    pass(&server, 119);
    // The outbox looked, for another event went out; this one waits.
    endpoint.answer(Answer::Status(200));
    log_in(&server, &integrator, "login").await;
    assert_ne!(id_of(&endpoint.wait_for(2).await[1]), id_of(&endpoint.received()[0]));
    pass(&server, 1);
    assert_eq!(id_of(&endpoint.wait_for(3).await[2]), id_of(&endpoint.received()[0]));
}

#[tokio::test]
async fn a_slow_endpoint_delays_nobody_else() {
    let (server, slow, quick) = (server().await, Endpoint::start().await, Endpoint::start().await);
    let (first, second) = (server.integrator().await, server.integrator_of("other", Environment::Sandbox).await);
    registered(&first, &slow).await;
    registered(&second, &quick).await;
    slow.answer(Answer::Never);
    for _ in 0..20 {
        log_in(&server, &first, "login").await;
    }
    log_in(&server, &second, "login").await;
    quick.wait_for(1).await;
    assert_eq!(slow.wait_for(8).await.len(), 8, "eight at once to one endpoint");
}

#[tokio::test]
async fn a_dead_endpoint_and_one_that_is_closed_to_us_are_failures() {
    let server = server_with(&[("webhook_retry_schedule", "10s"), ("allow_private_webhooks", "true")]).await;
    let endpoint = Endpoint::start().await;
    let integrator = server.integrator().await;
    integrator.register("localhost", "http://127.0.0.1:1/nobody").await;
    log_in(&server, &integrator, "login").await;
    settled(&server, "pending", 1).await;
    assert_eq!(deliveries(&server).await[0].2, None);
    drop(endpoint);
}

#[tokio::test]
async fn what_is_registered_is_checked_again_when_it_is_dialled() {
    let endpoint = Endpoint::start().await;
    let folder = tempfile::tempdir().unwrap();
    // Registered while private addresses were allowed, sent when they are no longer.
    let server = server_in(folder.path(), &[("allow_private_webhooks", "true")]).await;
    let integrator = server.integrator_of("default", Environment::Live).await;
    let created = integrator.register("example.com", &endpoint.url("/login")).await;
    let session = integrator.post("/sessions", json!({ "domain": "example.com" })).await.expect(201);
    server.stop().await;
    let server = server_in(folder.path(), &[("allow_private_webhooks", "false")]).await;
    let integrator = server.integrator_of("default", Environment::Live).await;
    let path = format!("/sessions/{}/authenticate", session["id"].as_str().unwrap());
    integrator.post(&path, Phone::new(1).answer(&session, server.now())).await.expect(200);
    settled(&server, "pending", 1).await;
    assert!(endpoint.received().is_empty() && created["id"].is_string());
}

#[tokio::test]
async fn events_survive_a_restart_and_leases_end_with_their_process() {
    let (folder, endpoint) = (tempfile::tempdir().unwrap(), Endpoint::start().await);
    let server = server_in(folder.path(), &[]).await;
    let integrator = server.integrator().await;
    registered(&integrator, &endpoint).await;
    endpoint.answer(Answer::Never);
    log_in(&server, &integrator, "login").await;
    let first = endpoint.wait_for(1).await.remove(0);
    // Cut off in mid-attempt: the lease is in the database and nobody holds it.
    let app = server.app.clone();
    server.cut_off().await;
    app.store.close().await;
    endpoint.answer(Answer::Status(200));
    let server = server_in(folder.path(), &[]).await;
    let second = endpoint.wait_for(2).await.remove(1);
    assert_eq!((&first.body, id_of(&second)), (&second.body, first.header("webhook-id").to_owned()));
    settled(&server, "delivered", 2).await;
}
