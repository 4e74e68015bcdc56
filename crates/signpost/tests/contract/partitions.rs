//! Failures of PostgreSQL and Redis (`make test` starts both): no acknowledged write is lost or applied twice, and
//! other requests succeed.

use std::collections::BTreeSet;

use crate::harness::{
    Endpoint, Integrator, NetworkFault, Proxy, Service, WAIT_TIMEOUT, authority, database, http, text, until,
};
use crate::shared_limits::SharedLimits;
use serde_json::{Value, json};
use signpost::server::schema::SCHEMA;
use signpost_platform::accounts::Environment;
use signpost_store::Store;

/// Two servers with a shared database; the second reaches it through a proxy.
struct Pair {
    near: Service,
    far: Service,
    proxy: Proxy,
    near_by: Integrator,
    far_off: Integrator,
}

impl Pair {
    async fn start() -> Self {
        let (url, clock) = (database().await, Service::clock());
        assert!(url.starts_with("postgres"), "SIGNPOST_TEST_POSTGRES names the server: tests/postgres.sh starts one");
        let proxy = Proxy::start(&authority(&url)).await;
        let near = Service::open(&[("database_url", &url)], clock.clone()).await;
        let remote = proxy.replace_authority(&url);
        let settings = [("database_url", remote.as_str()), ("rate_limit_get_session", "off")];
        let far = Service::open(&settings, clock.clone()).await;
        let near_by = near.integrator().await;
        let far_off = at(&near_by, &far);
        Self { near, far, proxy, near_by, far_off }
    }
}

/// Returns a client for another server.
fn at(integrator: &Integrator, server: &Service) -> Integrator {
    Integrator { api: format!("{}{}", server.app.base_url, Environment::Sandbox.path()), ..integrator.clone() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs PostgreSQL: tests/postgres.sh, which make test runs"]
async fn database_outage_affects_one_server() {
    let pair = Pair::start().await;
    pair.near_by.register_domain("shop.test").await;
    let known = pair.far_off.create_session("shop.test").await;
    pair.far_off.get_session(&known).await.with(200);
    pair.proxy.set_fault(NetworkFault::Silent);
    let body = json!({ "domain": "shop.test" });
    let (asked, reads) = (pair.far_off.post("/sessions", &body), pair.far_off.get("/domains"));
    let ((asked, reads), ()) = tokio::join!(async { tokio::join!(asked, reads) }, async {
        for _ in 0..20 {
            pair.near_by.create_session("shop.test").await;
        }
    });
    asked.assert_error(503, "unavailable");
    reads.assert_error(503, "unavailable");
    // Once the failure is detected, requests fail at once, and the cache is not used: if each of them waited for the
    // database, they would take minutes.
    let refused = async {
        for _ in 0..100 {
            pair.far_off.get_session(&known).await.assert_error(503, "unavailable");
        }
    };
    tokio::time::timeout(WAIT_TIMEOUT, refused).await.expect("an immediate failure");
    let health = pair.far.visitor().get("/health/ready").await;
    assert_eq!(health.status, 503);
    pair.proxy.set_fault(NetworkFault::None);
    until("it is back", async || Some(pair.far_off.get_session(&known).await).filter(|reply| reply.status == 200))
        .await;
    pair.far_off.create_session("shop.test").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs PostgreSQL: tests/postgres.sh, which make test runs"]
async fn answer_with_unknown_commit_counts_once() {
    let pair = Pair::start().await;
    let mut endpoint = Endpoint::start().await;
    pair.near_by.register_domain_at("shop.test", &endpoint.url("/hook")).await;
    let mut logins = BTreeSet::new();
    for _ in 0..5 {
        let session = pair.near_by.create_session("shop.test").await;
        let answer = pair.near.phone().answer(&session);
        pair.proxy.set_fault(NetworkFault::CutAtCommit);
        let first = pair.far_off.authenticate(&session, &answer).await;
        pair.proxy.set_fault(NetworkFault::None);
        // The answer was not acknowledged, so the wallet retries it at the other server.
        first.assert_error(503, "unavailable");
        let again = pair.near_by.authenticate(&session, &answer).await;
        assert!([200, 409].contains(&again.status), "{again:?}");
        let seen = until("it is back", async || {
            Some(pair.far_off.get_session(&session).await).filter(|reply| reply.status == 200)
        });
        assert_eq!(seen.await.with(200)["status"], "authenticated");
        pair.far_off.authenticate(&session, &answer).await.assert_error(409, "session_already_authenticated");
        logins.insert(text(&session, "id").to_owned());
    }
    let mut response = BTreeSet::new();
    while response.len() < logins.len() {
        let event = endpoint.next_request().await.json();
        assert!(response.insert(text(&event, "session_id").to_owned()), "{event} was sent twice");
    }
    for server in [&pair.near, &pair.far] {
        server.wait_for_outbox_scans().await;
    }
    let attempts: Vec<_> = pair.near.outbox().await.iter().map(|queued| queued.attempts).collect();
    assert!(attempts == [1; 5] && endpoint.try_next_request().is_none(), "an event too many: {attempts:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs PostgreSQL: tests/postgres.sh, which make test runs"]
async fn lost_notifications_clear_the_cache() {
    let pair = Pair::start().await;
    pair.near_by.register_domain("shop.test").await;
    let session = pair.near_by.create_session("shop.test").await;
    for _ in 0..3 {
        assert_eq!(pair.far_off.get_session(&session).await.with(200)["status"], "pending");
    }
    // All connections are cut, including the connection for notifications, and the session changes in the meantime.
    pair.proxy.set_fault(NetworkFault::Cut);
    pair.near_by.authenticate(&session, &pair.near.phone().answer(&session)).await.with(200);
    pair.proxy.set_fault(NetworkFault::None);
    let seen = until("it is back", async || {
        Some(pair.far_off.get_session(&session).await).filter(|reply| reply.status == 200)
    })
    .await;
    assert_eq!(seen.with(200)["status"], "authenticated");
}

#[tokio::test]
#[ignore = "it needs PostgreSQL: tests/postgres.sh, which make test runs"]
async fn database_tls_requires_a_valid_certificate() {
    let url = database().await;
    #[expect(clippy::disallowed_methods, reason = "the variable names the CA of the test's server")]
    let authority = std::env::var("SIGNPOST_TEST_POSTGRES_CA").expect("tests/postgres.sh makes one");
    let open = |url: String| tokio::task::spawn_blocking(move || Store::open(&url, &SCHEMA));
    let checked = format!("{url}&sslmode=verify-full&sslrootcert={authority}");
    let store = open(checked.clone()).await.expect("no panic").expect("a trusted server");
    let encrypted = "SELECT CASE WHEN ssl THEN 1 ELSE 0 END FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let row = store.read_one(encrypted, Vec::new()).await.expect("a database").expect("a row");
    assert_eq!(row.int(0).expect("a number"), 1);
    // A name that differs from the certificate's; an unknown authority.
    for wrong in [checked.replace("127.0.0.1", "localhost"), format!("{url}&sslmode=require")] {
        let refused = open(wrong).await.expect("no panic").expect_err("an untrusted server");
        assert!(format!("{refused:#}").contains("certificate"), "{refused:#}");
    }
}

/// An event stream, as a client of the 2024-11-05 transport reads it.
struct Stream {
    response: reqwest::Response,
    read: String,
}

impl Stream {
    async fn open(server: &Service) -> Self {
        let response = http().get(server.url("/sse")).send().await;
        Self { response: response.expect("an answer"), read: String::new() }
    }

    /// Waits until messages through these servers arrive, as each server subscribes with a delay.
    async fn is_reached(&mut self, servers: &[Service], path: &str) {
        for (number, server) in (1000..).zip(servers) {
            until("it is reached", async || (ping(server, path, number).await == 202).then_some(())).await;
            // A message of a failed request may have arrived nevertheless.
            while serde_json::from_str::<Value>(&self.next().await).expect("JSON")["id"] != number {}
        }
    }

    /// Returns the data of the next event.
    async fn next(&mut self) -> String {
        loop {
            if let Some(end) = self.read.find("\n\n") {
                let event: String = self.read.drain(..end + 2).collect();
                let data = event.lines().find_map(|line| line.strip_prefix("data: ")).map(str::to_owned);
                match data {
                    Some(data) => return data,
                    None => continue,
                }
            }
            let chunk = tokio::time::timeout(WAIT_TIMEOUT, self.response.chunk()).await;
            let chunk = chunk.expect("an event in time").expect("a stream").expect("another item");
            self.read.push_str(str::from_utf8(&chunk).expect("text"));
        }
    }
}

async fn post(server: &Service, path: &str, message: &Value) -> u16 {
    let request = http().post(server.url(path));
    let request = request.header("content-type", "application/json").body(message.to_string());
    request.send().await.expect("an answer").status().as_u16()
}

async fn ping(server: &Service, path: &str, id: u32) -> u16 {
    post(server, path, &json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs PostgreSQL and Redis: tests/postgres.sh, which make test runs"]
async fn message_reaches_a_stream_at_another_server() {
    let settings = [("services", "atm,auth"), ("rate_limit_mcp", "off"), ("rate_limit_sse", "off")];
    let all = SharedLimits::start(&settings).await;
    let servers = &all.servers;
    let mut stream = Stream::open(&servers[0]).await;
    let path = stream.next().await;
    stream.is_reached(&servers[1..], &path).await;
    for (id, server) in (1_u32..).zip(servers.iter().cycle()).take(30) {
        assert_eq!(ping(server, &path, id).await, 202, "message {id}");
        let reply: Value = serde_json::from_str(&stream.next().await).expect("JSON");
        assert_eq!(reply["id"], id);
    }
    // A version negotiated at one server applies at the other.
    let initialize = json!({ "jsonrpc": "2.0", "id": 50, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } });
    assert_eq!(post(&servers[1], &path, &initialize).await, 202);
    let reply: Value = serde_json::from_str(&stream.next().await).expect("JSON");
    assert_eq!(reply["result"]["protocolVersion"], "2025-11-25");
    let unknown = "/sse?sessionId=00000000000000000000000000000000";
    assert_eq!(ping(&servers[1], unknown, 1).await, 404);
    // Without Redis, only its own server reaches a stream; afterwards all servers do again.
    all.set_faults(NetworkFault::Cut);
    assert_eq!(ping(&servers[0], &path, 60).await, 202);
    assert_eq!(serde_json::from_str::<Value>(&stream.next().await).expect("JSON")["id"], 60);
    assert_eq!(ping(&servers[1], &path, 61).await, 404);
    all.set_faults(NetworkFault::None);
    stream.is_reached(&servers[1..], &path).await;
    drop(stream);
    until("it is gone", async || (ping(&servers[2], &path, 63).await == 404).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs PostgreSQL and Redis: tests/postgres.sh, which make test runs"]
async fn full_stream_rejects_messages_by_any_server() {
    let settings = [("services", "atm,auth"), ("rate_limit_mcp", "off"), ("rate_limit_sse", "off")];
    let all = SharedLimits::start(&settings).await;
    let servers = &all.servers;
    let mut stream = Stream::open(&servers[0]).await;
    let path = stream.next().await;
    stream.is_reached(&servers[1..], &path).await;
    let mut statuses = BTreeSet::new();
    // The unread replies fill the connection, then the queue.
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    for _ in 0..2000 {
        let status = post(&servers[1], &path, &list).await;
        statuses.insert(status);
        if status == 429 {
            break;
        }
    }
    assert_eq!(statuses, [202, 429].into());
}
