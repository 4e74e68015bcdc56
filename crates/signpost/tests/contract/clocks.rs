//! Rows that a server with a wrong clock stored, after the clock was corrected.

use jiff::{SignedDuration, Timestamp};
use signpost_login::jobs::recheck::sweep;
use signpost_store::Statement;

use crate::harness::{Endpoint, Integrator, NameServer, Service, text};

const HOUR: SignedDuration = SignedDuration::from_hours(1);
const DAY: SignedDuration = SignedDuration::from_hours(24);

/// Times of a delivery that a server with another clock stored.
struct StoredTimes {
    in_backoff: i64,
    next_attempt_at: Timestamp,
    leased_until: Option<Timestamp>,
}

async fn log_in(service: &Service, integrator: &Integrator) {
    let session = integrator.create_session("shop.test").await;
    integrator.authenticate(&session, &service.phone().answer(&session)).await.with(200);
}

/// Queues an event with an unreachable endpoint, then sets its times and a working endpoint.
async fn store_delivery(service: &Service, endpoint: &Endpoint, times: StoredTimes) {
    let integrator = service.integrator().await;
    integrator.register_domain_at("shop.test", "http://127.0.0.1:1/dead").await;
    log_in(service, &integrator).await;
    service.wait_for_attempts(1).await;
    let moved = "UPDATE deliveries SET url = $1, endpoint = 'http://moved', in_backoff = $2, next_attempt_at = $3,
                                       leased_until = $4";
    let StoredTimes { in_backoff, next_attempt_at, leased_until } = times;
    let params =
        vec![endpoint.url("/hook").as_str().into(), in_backoff.into(), next_attempt_at.into(), leased_until.into()];
    assert!(service.app.store.write([Statement::new(moved, params)]).await.expect("a database").is_committed());
}

#[tokio::test]
async fn event_of_a_fast_clock_is_delivered() {
    for (name, in_backoff, next_attempt_in, leased_in) in [
        ("a new event of a clock three hours ahead", 0, 3 * HOUR, None),
        ("a further attempt later than any wait of the schedule", 1, 30 * HOUR, None),
        ("a further attempt in years", 1, 3000 * DAY, None),
        ("a lease of a server that died", 0, SignedDuration::ZERO, Some(3 * HOUR)),
    ] {
        let service = Service::start().await;
        let mut endpoint = Endpoint::start().await;
        let now = service.clock.now();
        let leased_until = leased_in.map(|ahead| now + ahead);
        store_delivery(
            &service,
            &endpoint,
            StoredTimes { in_backoff, next_attempt_at: now + next_attempt_in, leased_until },
        )
        .await;
        service.app.login.outbox.notify_one();
        endpoint.next_request().await;
        assert_eq!(service.wait_for_attempts(2).await.state, "delivered", "{name}");
        service.stop().await;
    }
}

#[tokio::test]
async fn invalid_time_does_not_block_deliveries() {
    let service = Service::start().await;
    let mut endpoint = Endpoint::start().await;
    let now = service.clock.now();
    store_delivery(&service, &endpoint, StoredTimes { in_backoff: 1, next_attempt_at: now + DAY, leased_until: None })
        .await;
    let changed = Statement::new("UPDATE deliveries SET next_attempt_at = $1", vec![i64::MAX.into()]);
    assert!(service.app.store.write([changed]).await.expect("a database").is_committed());
    service.app.login.outbox.notify_one();
    endpoint.next_request().await;
    assert_eq!(service.wait_for_attempts(2).await.state, "delivered");
    service.stop().await;
}

#[tokio::test]
async fn valid_retry_delay_is_unchanged() {
    for (in_backoff, next_attempt_in, leased_in) in
        [(1, DAY, None), (0, SignedDuration::ZERO, Some(SignedDuration::from_secs(45)))]
    {
        let service = Service::start().await;
        let mut endpoint = Endpoint::start().await;
        let now = service.clock.now();
        let leased_until = leased_in.map(|ahead| now + ahead);
        store_delivery(
            &service,
            &endpoint,
            StoredTimes { in_backoff, next_attempt_at: now + next_attempt_in, leased_until },
        )
        .await;
        service.wait_for_outbox_scans().await;
        assert!(endpoint.try_next_request().is_none());
        service.advance_clock(next_attempt_in.max(leased_in.unwrap_or_default()));
        endpoint.next_request().await;
        service.stop().await;
    }
}

#[tokio::test]
async fn long_retry_delay_is_unchanged() {
    let service = Service::with(&[("webhook_retry_schedule", "48h")]).await;
    let integrator = service.integrator().await;
    integrator.register_domain_at("shop.test", "http://127.0.0.1:1/dead").await;
    log_in(&service, &integrator).await;
    let wait = service.wait_for_attempts(1).await.next_attempt_at.duration_since(service.clock.now());
    assert!(wait > DAY && wait <= 3 * DAY, "{wait}");
    service.wait_for_outbox_scans().await;
    assert_eq!(service.wait_for_attempts(1).await.state, "pending");
}

#[tokio::test]
async fn far_future_probe_is_due_now() {
    let service = Service::start().await;
    let mut endpoint = Endpoint::start().await;
    let now = service.clock.now();
    store_delivery(
        &service,
        &endpoint,
        StoredTimes { in_backoff: 0, next_attempt_at: now, leased_until: Some(now + HOUR) },
    )
    .await;
    let disabled = "INSERT INTO endpoints (account, environment, endpoint, failing_since, next_probe_at, disabled_at)
                    VALUES ('acme', 'sandbox', 'http://moved', $1, $2, $1)";
    let probe = now + DAY;
    let free = Statement::new("UPDATE deliveries SET leased_until = NULL", Vec::new());
    let written = service.app.store.write([Statement::new(disabled, vec![now.into(), probe.into()]), free]).await;
    assert!(written.expect("a database").is_committed());
    service.app.login.outbox.notify_one();
    endpoint.next_request().await;
}

#[tokio::test]
async fn proof_checked_by_a_fast_clock_is_rechecked() {
    let names = NameServer::start().await;
    let service = Service::with(&[("dns_server", &names.setting())]).await;
    let integrator = service.integrator().await;
    let domain = integrator.register_domain("shop.test").await;
    names.set_txt("shop.test", &[text(&domain, "verification_token")]);
    integrator.post_nothing(&format!("/domains/{}/verify", text(&domain, "id"))).await.with(200);
    let checked_at = async |at: Timestamp| {
        let sql = "UPDATE domains SET last_checked_at = $1 WHERE name = 'shop.test'";
        service.app.store.write([Statement::new(sql, vec![at.into()])]).await.expect("a database");
        sweep(&service.app.login).await.expect("a database")
    };
    let now = service.clock.now();
    assert_eq!(checked_at(now + HOUR).await, 0);
    assert_eq!(checked_at(now + 2 * HOUR).await, 1);
    // The check counts as today's check.
    assert_eq!(sweep(&service.app.login).await.expect("a database"), 0);
    // Failed checks count too; the third removes the proof.
    names.set_txt("shop.test", &[]);
    for misses in 1..=3 {
        assert_eq!(checked_at(now + 365 * DAY).await, 1, "{misses}");
        let shown = integrator.get(&format!("/domains/{}", text(&domain, "id"))).await.with(200);
        assert_eq!(shown["verified"], misses < 3);
    }
}
