//! Several servers with a shared PostgreSQL database (started by `make test`) have the guarantees of a single server.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::harness::{Endpoint, Integrator, Phone, Program, Service, config, database, text, until};
use futures_util::future::join_all;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use signpost::server::HttpServer;
use signpost::server::schema::SCHEMA;
use signpost_login::events::{self, Attempt, AttemptSlots, DeliveryOutcome, EndedAttempt};
use signpost_login::ids::{DomainId, EventId};
use signpost_platform::accounts::audit::Actor;
use signpost_platform::accounts::{Environment, keys};
use signpost_platform::clock::Clock;
use signpost_store::{Statement, Store};

/// Three servers, and a client of each with a common API key.
struct Replicas {
    servers: Vec<Service>,
    integrators: Vec<Integrator>,
    clock: Clock,
    url: String,
}

impl Replicas {
    async fn start() -> Self {
        let (url, clock) = (database().await, Service::clock());
        assert!(url.starts_with("postgres"), "SIGNPOST_TEST_POSTGRES names the server: tests/postgres.sh starts one");
        let mut servers = Vec::new();
        for _ in 0..3 {
            servers.push(Service::open(&[("database_url", &url)], clock.clone()).await);
        }
        let first = servers[0].integrator().await;
        let at = |server: &Service| Integrator {
            api: format!("{}{}", server.app.base_url, Environment::Sandbox.path()),
            ..first.clone()
        };
        let integrators = servers.iter().map(at).collect();
        Self { servers, integrators, clock, url }
    }

    /// Closes all database connections of the servers, like a restart of the database.
    async fn cut(&self) {
        let (client, connection) = tokio_postgres::connect(&self.url, tokio_postgres::NoTls).await.expect("a server");
        tokio::spawn(async { drop(connection.await) });
        let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                   WHERE application_name = current_setting('application_name') AND pid <> pg_backend_pid()";
        client.batch_execute(cut).await.expect("permission");
    }
}

#[tokio::test]
#[ignore = "it needs PostgreSQL: tests/postgres.sh, which make test runs"]
async fn one_of_64_answers_at_three_servers_wins() {
    let all = Replicas::start().await;
    let mut endpoint = Endpoint::start().await;
    all.integrators[0].register_domain_at("shop.test", &endpoint.url("/hook")).await;
    let session = all.integrators[1].create_session("shop.test").await;
    let race = (0..64_u8).map(|number| {
        let answer = Phone::of(number % 7 + 1, &all.clock).answer(&session);
        let (integrator, session) = (all.integrators[usize::from(number) % 3].clone(), session.clone());
        async move { integrator.authenticate(&session, &answer).await }
    });
    let replies = join_all(race).await;
    let won = replies.iter().filter(|reply| reply.status == 200).count();
    assert_eq!(won, 1);
    for reply in replies.iter().filter(|reply| reply.status != 200) {
        reply.assert_error(409, "session_already_authenticated");
    }
    let event = endpoint.next_request().await.json();
    assert_eq!(event["session_id"], session["id"]);
    for server in &all.servers {
        server.wait_for_outbox_scans().await;
    }
    assert!(
        all.servers[0].wait_for_attempts(1).await.state == "delivered" && endpoint.try_next_request().is_none(),
        "it was sent twice"
    );
}

#[tokio::test]
#[ignore = "it needs PostgreSQL: tests/postgres.sh, which make test runs"]
async fn servers_share_events_and_send_each_once() {
    let all = Replicas::start().await;
    let mut endpoint = Endpoint::start().await;
    all.integrators[0].register_domain_at("shop.test", &endpoint.url("/hook")).await;
    let logins = (0..60).map(|number| {
        let (integrator, phone) = (all.integrators[number % 3].clone(), all.servers[0].phone());
        async move {
            let session = integrator.create_session("shop.test").await;
            integrator.authenticate(&session, &phone.answer(&session)).await.with(200);
            text(&session, "id").to_owned()
        }
    });
    let logins: BTreeSet<String> = join_all(logins).await.into_iter().collect();
    let mut response = BTreeSet::new();
    while response.len() < logins.len() {
        let event = endpoint.next_request().await.json();
        assert!(response.insert(text(&event, "session_id").to_owned()), "{event} was sent twice");
    }
    assert_eq!(response, logins);
}

#[tokio::test]
#[ignore = "it needs PostgreSQL: tests/postgres.sh, which make test runs"]
async fn changes_at_one_server_reach_the_others() {
    let all = Replicas::start().await;
    let [first, second, third] = &all.integrators[..] else { panic!("three") };
    first.register_domain("shop.test").await;
    let session = second.create_session("shop.test").await;
    // A request that waits at one server is notified of an answer at another.
    let path = format!("/sessions/{}?wait=25", text(&session, "id"));
    let answer = all.servers[0].phone().answer(&session);
    let (response, ()) = tokio::join!(third.get(&path), async {
        until("it waits", async || (all.servers[2].app.login.waiting.requests() == 1).then_some(())).await;
        first.authenticate(&session, &answer).await.with(200);
    });
    assert_eq!(response.with(200)["status"], "authenticated");
    // An idempotency key creates a single session at all servers.
    let body = json!({ "domain": "shop.test" });
    let asked = (0..24).map(|number| {
        let (integrator, body) = (all.integrators[number % 3].clone(), body.clone());
        async move { integrator.create_idempotently("one", &body).await.with(201) }
    });
    let ids: BTreeSet<String> = join_all(asked).await.iter().map(|made| text(made, "id").to_owned()).collect();
    assert_eq!(ids.len(), 1);
    // A revoked API key is revoked at all servers.
    let keys = keys::sql::list(&all.servers[0].app.store).await.expect("a database");
    keys::sql::revoke(&all.servers[1].app.store, &Actor::Operator, &keys[0].id, all.clock.now())
        .await
        .expect("a valid key");
    all.clock.advance(SignedDuration::from_secs(5));
    for integrator in &all.integrators {
        integrator.get("/domains").await.assert_error(401, "invalid_api_key");
    }
}

#[tokio::test]
#[ignore = "it needs PostgreSQL: tests/postgres.sh, which make test runs"]
async fn event_of_a_crashed_server_is_sent_by_another() {
    let all = Replicas::start().await;
    let mut endpoint = Endpoint::start().await;
    all.integrators[0].register_domain_at("shop.test", "http://127.0.0.1:1/dead").await;
    let session = all.integrators[0].create_session("shop.test").await;
    all.integrators[0].authenticate(&session, &all.servers[0].phone().answer(&session)).await.with(200);
    all.servers[0].wait_for_attempts(1).await;
    let store = &all.servers[0].app.store;
    let now = all.clock.now();
    // Another process leased the delivery and crashed.
    let taken = "UPDATE deliveries SET url = $1, endpoint = 'http://moved', leased_until = $2, next_attempt_at = $3";
    let lease = now + SignedDuration::from_secs(45);
    let params = vec![endpoint.url("/hook").as_str().into(), lease.into(), now.into()];
    assert!(store.write([signpost_store::Statement::new(taken, params)]).await.expect("a database").is_committed());
    for server in &all.servers {
        server.wait_for_outbox_scans().await;
    }
    let queued = all.servers[0].outbox().await.remove(0);
    assert!(
        (queued.attempts, queued.is_running) == (1, true) && endpoint.try_next_request().is_none(),
        "it is still the other's"
    );
    all.clock.advance(SignedDuration::from_secs(46));
    assert_eq!(endpoint.next_request().await.json()["session_id"], session["id"]);
}

#[tokio::test]
#[ignore = "it needs PostgreSQL: tests/postgres.sh, which make test runs"]
async fn acknowledged_sessions_survive_cut_connections() {
    let all = Replicas::start().await;
    all.integrators[0].register_domain("shop.test").await;
    let mut acknowledged: Vec<Value> = Vec::new();
    for round in 0..4 {
        let answered = AtomicUsize::new(0);
        let open = (0..30).map(|number| {
            let (integrator, answered) = (all.integrators[number % 3].clone(), &answered);
            async move {
                let reply = integrator.post("/sessions", &json!({ "domain": "shop.test" })).await;
                answered.fetch_add(1, Ordering::Relaxed);
                reply
            }
        });
        // Some requests have a response, the others are in progress.
        let (replies, ()) = tokio::join!(join_all(open), async {
            let enough = async || (answered.load(Ordering::Relaxed) >= 8 * round).then_some(());
            until("some are answered", enough).await;
            all.cut().await;
        });
        for reply in replies {
            match reply.status {
                201 => acknowledged.push(reply.json()),
                // The error is explicit: the request may have been executed, and may be retried.
                _ => drop(reply.assert_error(503, "unavailable")),
            }
        }
    }
    assert!(!acknowledged.is_empty());
    for session in &acknowledged {
        until("it is there", async || {
            let reply = all.integrators[0].get_session(session).await;
            if reply.status == 503 { None } else { Some(reply.with(200)) }
        })
        .await;
    }
    all.integrators[2].create_session("shop.test").await;
}

/// Creates an embedded database with an account that logs in, and `sessions` more sessions.
async fn embedded(folder: &std::path::Path, sessions: i64) -> (Integrator, Value) {
    let service = Service::on(folder, &Service::clock(), &[]).await;
    let integrator = service.integrator().await;
    integrator.register_domain("shop.test").await;
    let session = integrator.create_session("shop.test").await;
    integrator.authenticate(&session, &service.phone().answer(&session)).await.with(200);
    let more = "WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < $1)
                INSERT INTO sessions (id, account, environment, domain_id, challenge, webhook_url, created_at, expires_at,
                                      flow)
                SELECT substr(id, 1, 20) || printf('%012d', number), account, environment, domain_id, challenge, webhook_url,
                       created_at, expires_at, flow
                FROM sessions, numbers";
    service.app.store.write([signpost_store::Statement::new(more, vec![sessions.into()])]).await.expect("a database");
    service.stop().await;
    (integrator, session)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs PostgreSQL: tests/postgres.sh, which make test runs"]
async fn interrupted_move_to_postgres_can_be_repeated() {
    let (folder, url) = (tempfile::tempdir().expect("a folder"), database().await);
    let (integrator, session) = embedded(folder.path(), 60_000).await;
    let from = format!("sqlite:{}", folder.path().join("signpost.sqlite").display());
    let starts = || Program::within(folder.path(), &["move", "--json", "--from", &from, "--to", &url]);
    let store = Store::open(&url, &SCHEMA).expect("a database");
    for cut_after in [1, 10_000, 40_000] {
        let mut running = starts().spawn();
        until("so many are moved", async || {
            let moved = store.read("SELECT COUNT(*) FROM sessions", Vec::new()).await.ok().map(|rows| rows[0].int(0));
            let is_far = moved.is_some_and(|moved| moved.expect("a number") >= cut_after);
            (is_far || running.ended().is_some()).then_some(())
        })
        .await;
        if running.ended().is_some() {
            break;
        }
        running.kill();
        // The target is incomplete: no server opens it.
        let response = HttpServer::open(config(&[("database_url", &url)]), Service::clock()).await;
        let response = response.err().map(|error| format!("{error:#}"));
        assert!(response.as_ref().is_some_and(|response| response.contains("not finished")), "{response:?}");
    }
    let done = starts().run_async().await;
    if !done.err.contains("already received a move") {
        let tables = done.json()["tables"].as_array().expect("tables").clone();
        let sessions = tables.iter().find(|moved| moved["table"] == "sessions").expect("the table");
        assert_eq!(sessions["rows"], 60_001);
    }
    // The second run moves nothing, and leaves a database of another installation unchanged.
    assert!(starts().run_async().await.failed(1).contains("already received a move"));
    let server = Service::open(&[("database_url", &url)], Service::clock()).await;
    let api = format!("{}{}", server.app.base_url, Environment::Sandbox.path());
    let integrator = Integrator { api, ..integrator };
    assert_eq!(integrator.get_session(&session).await.with(200)["status"], "authenticated");
    integrator.create_session("shop.test").await;
    let count = server.app.store.read("SELECT COUNT(*) FROM sessions", Vec::new()).await.expect("a database");
    assert_eq!(count[0].int(0).expect("a number"), 60_002);
    let used = database().await;
    Service::open(&[("database_url", &used)], Service::clock()).await.shop().await;
    let arguments = ["move", "--from", from.as_str(), "--to", &used];
    assert!(Program::within(folder.path(), &arguments).run_async().await.failed(1).contains("not empty"));
}

#[tokio::test]
#[ignore = "it needs PostgreSQL: tests/postgres.sh, which make test runs"]
async fn migrate_command_updates_the_tables() {
    let (folder, url) = (tempfile::tempdir().expect("a folder"), database().await);
    let migrates = |more: &[&str]| {
        Program::within(folder.path(), &[&["migrate", "--json", "--database-url", &url], more].concat())
    };
    let first = migrates(&[]).run_async().await.json();
    assert_eq!(first["from"], 0);
    assert_eq!(
        migrates(&["--contract"]).run_async().await.json(),
        json!({ "from": first["to"], "to": first["to"], "waiting": [] })
    );
    Service::open(&[("database_url", &url)], Service::clock()).await.shop().await;
}

/// Leases due events and completes them immediately, like an endpoint without latency, until no event is left.
async fn lease_and_complete(store: Store, now: Timestamp) -> Vec<String> {
    let (lease, mut taken) = (now + SignedDuration::from_secs(45), Vec::new());
    let attempt = Attempt { status: Some(200), error: None, retry_after: None, answer: None, clock_ahead_s: None };
    loop {
        let claimed =
            events::sql::claim(&store, now, lease, &mut AttemptSlots::default()).await.expect("a database").deliveries;
        let left = store.read("SELECT 1 FROM deliveries WHERE state = 'pending' LIMIT 1", Vec::new()).await;
        if claimed.is_empty() && left.expect("a database").is_empty() {
            return taken;
        }
        let ends = claimed.iter().map(|delivery| {
            let ended = EndedAttempt {
                id: &delivery.id,
                leased_until: lease,
                attempt: &attempt,
                past_attempts: "[]".to_owned(),
                outcome: DeliveryOutcome::Delivered,
                now,
            };
            events::sql::end_attempt(&store, ended, Vec::new())
        });
        for ended in join_all(ends).await {
            assert!(ended.expect("a database").is_some(), "another server had the lease");
        }
        taken.extend(claimed.into_iter().map(|delivery| delivery.id));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_event_is_leased_once() {
    let (url, now) = (database().await, Service::clock().now());
    let first = Store::open(&url, &SCHEMA).expect("a database");
    // An embedded database has one server; these are its handles.
    let another = || {
        if url.starts_with("sqlite") { first.clone() } else { Store::open(&url, &SCHEMA).expect("a database") }
    };
    let stores = [another(), another(), another()];
    let queue = "INSERT INTO deliveries (id, account, environment, domain_id, url, endpoint, body, state, attempts,
                                         created_at, next_attempt_at)
                 VALUES ($1, $5, $6, $2, 'http://127.0.0.1:1/', $3, '{}', 'pending', 0, $4, $4)";
    let domain = DomainId::new(now, signpost_store::random());
    let queued = (0..3000).map(|number| {
        let id = EventId::new(now, signpost_store::random());
        let endpoint = format!("http://{}.test", number % 5);
        let account = format!("account-{}", number % 3);
        let environment = if number % 2 == 0 { "live" } else { "sandbox" };
        let place = [endpoint.into(), now.into(), account.into(), environment.into()];
        Statement::new(queue, [id.as_str().into(), domain.as_str().into()].into_iter().chain(place).collect())
    });
    stores[0].write(queued.collect::<Vec<_>>()).await.expect("a database");
    let taking = stores.map(|store| tokio::spawn(lease_and_complete(store, now)));
    let taken: Vec<String> = join_all(taking).await.into_iter().flat_map(|taken| taken.expect("no panic")).collect();
    assert_eq!((taken.len(), taken.iter().collect::<BTreeSet<_>>().len()), (3000, 3000));
}

#[tokio::test]
#[ignore = "it needs PostgreSQL: tests/postgres.sh, which make test runs"]
async fn three_servers_create_one_first_signing_key() {
    let all = Replicas::start().await;
    let domain = all.integrators[0].register_domain("shop.test").await;
    let path = format!("/domains/{}", text(&domain, "id"));
    all.integrators[0].patch(&path, &json!({ "handler": "hosted" })).await.with(200);
    let jwks = format!("/sandbox/{}/jwks", text(&domain, "id"));
    let sets = join_all(all.servers.iter().map(async |server| server.visitor().get(&jwks).await.with(200))).await;
    assert_eq!(sets[0]["keys"].as_array().map(Vec::len), Some(2));
    assert!(sets.iter().all(|set| *set == sets[0]));
    let signed = all.servers.iter().map(async |server| {
        let algorithm = signpost_openid::jose::SigningAlgorithm::Rs256;
        server.app.openid.sign_token(Environment::Sandbox, algorithm, &json!({}), "JWT").await.expect("a token")
    });
    for token in join_all(signed).await {
        for server in &all.servers {
            let claims = server.app.openid.verify_own_token(Environment::Sandbox, &token).await;
            assert_eq!(claims.expect("a database"), Some(json!({})));
        }
    }
}
