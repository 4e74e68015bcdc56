//! Event delivery (docs/handlers.md, Delivery): at least once, whatever the endpoint returns.

use crate::harness::{Endpoint, Integrator, QueuedEvent, Service, text, until};
use axum::http::StatusCode;
use futures_util::future::join_all;
use jiff::SignedDuration;
use serde_json::json;
use signpost::server::schema::SCHEMA;
use signpost_login::domains::seal::Seal;
use signpost_login::events::{self, AttemptSlots};
use signpost_login::ids::EventId;
use signpost_platform::accounts::Environment;
use signpost_store::{Statement, params};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;

/// Maximum delays before the first and the second retry: 2 s and 10 s plus 20 % jitter.
const FIRST: SignedDuration = SignedDuration::from_millis(2400);
const SECOND: SignedDuration = SignedDuration::from_secs(12);

/// Starts a server with a pending event for this endpoint.
async fn with_event(endpoint: &Endpoint, settings: &[(&str, &str)]) -> Service {
    let service = Service::with(settings).await;
    let integrator = service.integrator().await;
    integrator.register_domain_at("shop.test", &endpoint.url("/hook")).await;
    log_in(&service, &integrator, "shop.test").await;
    service
}

async fn log_in(service: &Service, integrator: &Integrator, domain: &str) {
    let session = integrator.create_session(domain).await;
    integrator.authenticate(&session, &service.phone().answer(&session)).await.with(200);
}

#[track_caller]
fn assert_retry_delay(service: &Service, queued: &QueuedEvent, from: i64, to: i64) {
    let wait = queued.next_attempt_at.as_millisecond() - service.clock.now().as_millisecond();
    assert!(queued.state == "pending" && (from..=to).contains(&wait), "{wait} {queued:?}");
}

#[tokio::test]
async fn retry_sends_the_same_id_and_bytes() {
    let mut endpoint = Endpoint::start().await;
    endpoint.respond_with((StatusCode::INTERNAL_SERVER_ERROR, "their-secret"));
    endpoint.respond_with(StatusCode::NOT_FOUND);
    let service = with_event(&endpoint, &[]).await;
    let failed = service.wait_for_attempts(1).await;
    assert_retry_delay(&service, &failed, 1600, 2400);
    assert_eq!(failed.last_status, Some(500));
    assert!(!format!("{failed:?}").contains("their-secret"), "{failed:?}");
    service.advance_clock(FIRST);
    assert_retry_delay(&service, &service.wait_for_attempts(2).await, 8000, 12_000);
    service.advance_clock(SECOND);
    let done = service.wait_for_attempts(3).await;
    assert_eq!((done.state.as_str(), done.last_status), ("delivered", Some(200)));
    let [first, second, third] =
        [endpoint.next_request().await, endpoint.next_request().await, endpoint.next_request().await];
    for again in [&second, &third] {
        assert_eq!(again.body, first.body);
        for header in ["webhook-id", "x-svc-signature"] {
            assert_eq!(again.header(header), first.header(header));
        }
    }
    let sent = |at: &crate::harness::Received| at.header("webhook-timestamp").parse::<i64>().expect("seconds");
    assert!(sent(&first) < sent(&second) && sent(&second) < sent(&third));
    assert_eq!(sent(&third), service.clock.now().as_second());
    service.advance_clock(SignedDuration::from_hours(24 * 30));
    assert_eq!(service.wait_for_attempts(3).await.state, "delivered");
    assert!(endpoint.try_next_request().is_none());
}

#[tokio::test]
async fn only_2xx_is_a_success() {
    for (status, state) in [
        (200, "delivered"),
        (201, "delivered"),
        (202, "delivered"),
        (204, "delivered"),
        (299, "delivered"),
        (300, "pending"),
        (400, "pending"),
        (401, "pending"),
        (404, "pending"),
        (408, "pending"),
        (409, "pending"),
        (429, "pending"),
        (500, "pending"),
        (503, "pending"),
        (410, "failed"),
    ] {
        let endpoint = Endpoint::start().await;
        endpoint.respond_with(StatusCode::from_u16(status).expect("a status"));
        let queued = with_event(&endpoint, &[]).await.wait_for_attempts(1).await;
        assert_eq!((queued.state.as_str(), queued.last_status), (state, Some(status.into())));
    }
}

#[tokio::test]
async fn status_410_ends_the_delivery() {
    let mut endpoint = Endpoint::start().await;
    endpoint.respond_with(StatusCode::GONE);
    let service = with_event(&endpoint, &[]).await;
    assert_eq!(service.wait_for_attempts(1).await.state, "failed");
    endpoint.next_request().await;
    service.advance_clock(SignedDuration::from_hours(24 * 30));
    let (integrator, mut other) = (service.integrator().await, Endpoint::start().await);
    integrator.register_domain_at("other.test", &other.url("/")).await;
    // A later event arrives only after due earlier events were attempted.
    log_in(&service, &integrator, "other.test").await;
    other.next_request().await;
    assert!(endpoint.try_next_request().is_none());
}

#[tokio::test]
async fn retry_schedule_is_configurable_and_finite() {
    for (schedule, attempts) in [("1s", 2), ("1s,1s,1s", 4)] {
        let mut endpoint = Endpoint::start().await;
        (0..10).for_each(|_| endpoint.respond_with(StatusCode::BAD_GATEWAY));
        let service = with_event(&endpoint, &[("webhook_retry_schedule", schedule)]).await;
        for attempt in 1..=attempts {
            let queued = service.wait_for_attempts(attempt).await;
            assert_eq!(queued.state, if attempt < attempts { "pending" } else { "failed" }, "{schedule} {attempt}");
            endpoint.next_request().await;
            service.advance_clock(SignedDuration::from_millis(1200));
        }
        service.advance_clock(SignedDuration::from_hours(24 * 30));
        assert_eq!(service.wait_for_attempts(attempts).await.state, "failed");
    }
}

#[tokio::test]
async fn retry_after_extends_the_delay() {
    for (asked, from, to) in [
        ("120", 120_000, 120_000),
        ("1", 1600, 2400),
        ("soon", 1600, 2400),
        // Two minutes after the whole second of the test clock.
        ("Fri, 15 Jan 2027 08:02:00 GMT", 119_750, 119_750),
        ("Fri, 15 Jan 2027 07:00:00 GMT", 1600, 2400),
    ] {
        let endpoint = Endpoint::start().await;
        endpoint.respond_with((StatusCode::SERVICE_UNAVAILABLE, [("retry-after", asked)]));
        let service = with_event(&endpoint, &[]).await;
        assert_retry_delay(&service, &service.wait_for_attempts(1).await, from, to);
    }
}

#[tokio::test]
async fn truncated_2xx_body_is_a_success() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/hook", listener.local_addr().expect("an address"));
    let service = Service::start().await;
    let integrator = service.integrator().await;
    integrator.register_domain_at("shop.test", &url).await;
    log_in(&service, &integrator, "shop.test").await;
    let (mut connection, _) = listener.accept().await.expect("a connection");
    assert!(connection.read(&mut [0; 1024]).await.expect("a request") > 0);
    connection.write_all(b"HTTP/1.1 202 Accepted\r\ncontent-length: 1000\r\n\r\ncut").await.expect("a connection");
    drop(connection);
    let queued = service.wait_for_attempts(1).await;
    assert_eq!((queued.state.as_str(), queued.last_status, queued.last_error), ("delivered", Some(202), None));
}

/// Returns the statement that inserts a pending event directly, without a login.
fn queue(service: &Service, account: &str, domain: &serde_json::Value, url: &str) -> Statement {
    const QUEUE: &str = "INSERT INTO deliveries (id, account, environment, domain_id, url, endpoint, body, state,
                                                 attempts, created_at, next_attempt_at)
                         VALUES ($1, $5, 'sandbox', $2, $3, $3, $6, 'pending', 0, $4, $4)";
    let now = service.clock.now();
    let id = EventId::new(now, signpost_store::random());
    let body = json!({ "id": id, "event": "test", "timestamp": now, "session_id": "", "data": {} }).to_string();
    Statement::new(QUEUE, params![id.as_str(), text(domain, "id"), url, now, account, body])
}

#[tokio::test]
async fn hanging_account_does_not_delay_other_accounts() {
    // Enough endpoints to exceed the limit of concurrent attempts.
    const ENDPOINTS: usize = 40;
    let service = Service::start().await;
    let hostile = service.integrator_of("hostile", Environment::Sandbox).await;
    let anywhere = tokio::net::TcpListener::bind("0.0.0.0:0").await.expect("a free port");
    let port = anywhere.local_addr().expect("an address").port();
    let mut tarpit = Endpoint::on(anywhere, true);
    let domain = hostile.register_domain_at("localhost", &format!("http://127.0.0.1:{port}/")).await;
    let (integrator, mut endpoint) = (service.integrator().await, Endpoint::start().await);
    integrator.register_domain_at("shop.test", &endpoint.url("/")).await;
    let urls = (1..=ENDPOINTS).map(|last| format!("http://127.0.0.{last}:{port}"));
    let queued =
        urls.flat_map(|url| (0..8).map(move |_| url.clone())).map(|url| queue(&service, "hostile", &domain, &url));
    service.app.store.write(queued.collect::<Vec<_>>()).await.expect("a database");
    service.app.login.outbox.notify_one();
    // No other account has events, so this account exceeds its share.
    for _ in 0..192 {
        tarpit.next_request().await;
    }
    join_all((0..32).map(|_| log_in(&service, &integrator, "shop.test"))).await;
    for _ in 0..32 {
        endpoint.next_request().await;
    }
    let outbox = service.outbox().await;
    assert!(outbox.iter().all(|queued| queued.last_error.is_none()), "the tarpit's attempts hang still");
    assert!(tarpit.try_next_request().is_none(), "it has all but the spare places");
}

#[tokio::test]
async fn disabled_endpoints_do_not_block_other_endpoints() {
    let service = Service::start().await;
    let (integrator, mut endpoint) = (service.integrator().await, Endpoint::start().await);
    let domain = integrator.register_domain_at("shop.test", &endpoint.url("/")).await;
    let now = service.clock.now();
    // More than one batch, all due before the event of the working endpoint.
    let disabled = (0..150).flat_map(|number| {
        const DISABLED: &str = "INSERT INTO endpoints VALUES ('acme', 'sandbox', $1, 0, $2, $3)";
        let url = format!("http://0-{number}.test");
        let probe_at = now + SignedDuration::from_hours(1);
        [
            queue(&service, "acme", &domain, &url),
            Statement::new(DISABLED, vec![url.into(), now.into(), probe_at.into()]),
        ]
    });
    service.app.store.write(disabled.collect::<Vec<_>>()).await.expect("a database");
    log_in(&service, &integrator, "shop.test").await;
    endpoint.next_request().await;
    let tried = service.outbox().await.iter().filter(|queued| queued.attempts > 0).count();
    assert_eq!(tried, 1);
}

#[tokio::test]
async fn unsendable_event_fails_only_its_own_attempt() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let (mut unreadable, mut endpoint) = (Endpoint::start().await, Endpoint::start().await);
    let domain = integrator.register_domain_at("unreadable.test", &unreadable.url("/")).await;
    let other = integrator.register_domain_at("shop.test", &endpoint.url("/")).await;
    // Encrypted with a key that this server does not have.
    let sealed = Seal::new(Some(&[9; 32]), None).encrypt("whsec_x", text(&domain, "id"), [1; 12]);
    let spoil = Statement::new(
        "UPDATE domains SET webhook_secret = $1 WHERE id = $2",
        vec![sealed.into(), text(&domain, "id").into()],
    );
    service.app.store.write([spoil]).await.expect("a database");
    // Both are older than the valid event, and claimed in its batch.
    let spoil = Statement::new("UPDATE deliveries SET attempts = -9", vec![]);
    let counted = [queue(&service, "acme", &other, &endpoint.url("/")), spoil];
    let poison = [queue(&service, "acme", &domain, &unreadable.url("/")), queue(&service, "acme", &other, "nowhere")];
    service.app.store.write(counted.into_iter().chain(poison).collect::<Vec<_>>()).await.expect("a database");
    log_in(&service, &integrator, "shop.test").await;
    assert_eq!(endpoint.next_request().await.json()["event"], "login");
    let outbox = until("the others were tried", async || {
        let outbox = service.outbox().await;
        let is_tried = |queued: &QueuedEvent| (queued.attempts == 1 || queued.state == "failed") && !queued.is_running;
        outbox.iter().all(is_tried).then_some(outbox)
    });
    let errors: Vec<_> = outbox.await.into_iter().filter_map(|queued| queued.last_error).collect();
    assert_eq!(errors.len(), 3, "{errors:?}");
    assert!(errors.iter().any(|error| error.contains("deliveries.attempts")), "{errors:?}");
    assert!(errors.iter().any(|error| error.contains("cannot read the webhook secret")), "{errors:?}");
    assert!(errors.iter().any(|error| error.contains("deliveries.url")), "{errors:?}");
    let shown = integrator.get("/deliveries?state=pending").await.with(200);
    assert_eq!(shown["deliveries"].as_array().map(Vec::len), Some(2), "{shown}");
    assert!(unreadable.try_next_request().is_none());
    // These errors do not count as failures of the endpoints.
    assert!(events::endpoints::list_failing(&service.app.store, 100).await.expect("a database").is_empty());
}

#[tokio::test]
async fn redirects_fail_and_are_not_followed() {
    for status in [301, 302, 303, 307, 308] {
        let (endpoint, mut elsewhere) = (Endpoint::start().await, Endpoint::start().await);
        let location = [("location", elsewhere.url("/"))];
        endpoint.respond_with((StatusCode::from_u16(status).expect("a status"), location));
        let service = with_event(&endpoint, &[]).await;
        let queued = service.wait_for_attempts(1).await;
        assert_retry_delay(&service, &queued, 1600, 2400);
        assert_eq!(queued.last_status, Some(status.into()));
        assert!(elsewhere.try_next_request().is_none());
    }
}

#[tokio::test]
async fn events_wait_for_an_unreachable_endpoint() {
    // The port is bound without a listener, so connections are refused.
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind("127.0.0.1:0".parse().expect("an address")).expect("a free port");
    let url = format!("http://{}/hook", socket.local_addr().expect("an address"));
    let service = Service::start().await;
    let integrator = service.integrator().await;
    integrator.register_domain_at("shop.test", &url).await;
    log_in(&service, &integrator, "shop.test").await;
    let queued = service.wait_for_attempts(1).await;
    assert_retry_delay(&service, &queued, 1600, 2400);
    assert!(queued.last_status.is_none() && queued.last_error.is_some(), "{queued:?}");
    let mut endpoint = Endpoint::on(socket.listen(16).expect("a listener"), false);
    service.advance_clock(FIRST);
    assert_eq!(endpoint.next_request().await.json()["id"], json!(queued.id));
    assert_eq!(service.wait_for_attempts(2).await.state, "delivered");
}

#[tokio::test]
async fn slow_endpoint_does_not_delay_others() {
    const SLOW: usize = 300;
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let (mut slow, mut quick) = (Endpoint::hanging().await, Endpoint::start().await);
    integrator.register_domain_at("slow.test", &slow.url("/")).await;
    integrator.register_domain_at("quick.test", &quick.url("/")).await;
    // More than the limit of concurrent attempts, over all accounts.
    for _ in 0..SLOW / 100 {
        join_all((0..100).map(|_| log_in(&service, &integrator, "slow.test"))).await;
    }
    slow.next_request().await;
    for _ in 0..3 {
        log_in(&service, &integrator, "quick.test").await;
        quick.next_request().await;
    }
    let delivered = until("the quick endpoint's events are done", async || {
        let outbox = service.outbox().await;
        let delivered = outbox.iter().filter(|queued| queued.state == "delivered").count();
        (delivered == 3).then_some(outbox)
    });
    assert_eq!(delivered.await.iter().filter(|queued| queued.state == "pending").count(), SLOW);
}

#[tokio::test]
async fn forbidden_addresses_are_not_dialled() {
    let folder = tempfile::tempdir().expect("a folder");
    let clock = Service::clock();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.set_nonblocking(true).expect("a socket");
    let port = listener.local_addr().expect("an address").port();
    let permissive = Service::on(folder.path(), &clock, &[("allow_private_webhooks", "true")]).await;
    let integrator = permissive.integrator_of("acme", Environment::Live).await;
    let (mut sessions, hosts) = (Vec::new(), ["http://127.0.0.1", "https://127.0.0.1", "https://localhost"]);
    for (number, host) in hosts.iter().enumerate() {
        let name = format!("n{number}.test");
        integrator.register_domain_at(&name, &format!("{host}:{port}/")).await;
        sessions.push([integrator.create_session(&name).await, integrator.create_session(&name).await]);
    }
    permissive.stop().await;
    for (turn, setting) in ["auto", "false"].into_iter().enumerate() {
        let service = Service::on(folder.path(), &clock, &[("allow_private_webhooks", setting)]).await;
        let integrator = service.integrator_of("acme", Environment::Live).await;
        for session in &sessions {
            integrator.authenticate(&session[turn], &service.phone().answer(&session[turn])).await.with(200);
        }
        let outbox = until("every event was tried", async || {
            let outbox = service.outbox().await;
            outbox.iter().all(|queued| queued.attempts > 0 && !queued.is_running).then_some(outbox)
        });
        for queued in outbox.await {
            assert!(queued.last_status.is_none() && queued.last_error.is_some(), "{queued:?}");
        }
        service.stop().await;
    }
    let dialled = listener.accept().map_err(|error| error.kind());
    assert_eq!(dialled.err(), Some(std::io::ErrorKind::WouldBlock));
}

#[tokio::test]
async fn events_survive_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let data_dir = folder.path().to_str().expect("text").to_owned();
    an_event_outlives_its_server(&[("data_dir", &data_dir)]).await;
}

#[tokio::test]
async fn events_survive_a_restart_with_a_named_database() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = format!("sqlite:{}", folder.path().join("named.sqlite").display());
    an_event_outlives_its_server(&[("database_url", &database)]).await;
}

/// Checks that a server delivers an event of a stopped server without waiting for the old lease.
async fn an_event_outlives_its_server(settings: &[(&str, &str)]) {
    let clock = Service::clock();
    let mut endpoint = Endpoint::start().await;
    endpoint.respond_with(StatusCode::SERVICE_UNAVAILABLE);
    let first = Service::open(settings, clock.clone()).await;
    let integrator = first.integrator().await;
    integrator.register_domain_at("shop.test", &endpoint.url("/hook")).await;
    log_in(&first, &integrator, "shop.test").await;
    let queued = first.wait_for_attempts(1).await;
    first.stop().await;
    clock.advance(FIRST);
    let now = clock.now();
    let config = crate::harness::config(settings);
    let dying = signpost_store::Store::open(&config.database_url(), &SCHEMA).expect("the database");
    let lease = now + SignedDuration::from_secs(45);
    events::sql::make_ready(&dying, now, 256).await.expect("a database");
    let claimed = events::sql::claim(&dying, now, lease, &mut AttemptSlots::default()).await.expect("a database");
    assert_eq!(claimed.deliveries.len(), 1);
    dying.close().await;
    let second = Service::open(settings, clock.clone()).await;
    let first_body = endpoint.next_request().await.body;
    let again = endpoint.next_request().await;
    assert_eq!(again.body, first_body);
    assert_eq!(text(&again.json(), "id"), queued.id);
    assert_eq!(second.wait_for_attempts(3).await.state, "delivered");
    second.stop().await;
}
