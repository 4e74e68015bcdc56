//! Waiting for a change of a session: `?wait=` and `/events` (docs/api.md, Read, additive).

use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use serde_json::{Value, json};
use signpost_login::ids::SessionId;
use signpost_login::sessions::{TooManyWaiters, Waiters};
use signpost_platform::accounts::{Account, Environment};
use signpost_platform::limits::Caller;

use crate::harness::{Integrator, Service, text, until};

const START_TIME: Timestamp = Timestamp::constant(1_800_000_000, 0);

async fn wait(integrator: &Integrator, session: &Value, seconds: &str) -> crate::harness::Reply {
    integrator.get(&format!("/sessions/{}?wait={seconds}", text(session, "id"))).await
}

#[tokio::test]
async fn waiting_request_returns_with_the_answer() {
    let service = Service::with(&[("rate_limit_get_session", "off")]).await;
    let integrator = service.shop().await;
    let session = integrator.create_session("shop.test").await;
    let begun = Instant::now();
    let waiting = join_all((0..20).map(|_| wait(&integrator, &session, "25")));
    let answering = async {
        until("they wait", async || (service.app.login.waiting.sessions() == 1).then_some(())).await;
        integrator.authenticate(&session, &service.phone().answer(&session)).await.with(200)
    };
    let (seen, answered) = tokio::join!(waiting, answering);
    for reply in seen {
        assert_eq!(reply.with(200), answered);
    }
    assert!(begun.elapsed() < Duration::from_secs(25), "they waited to the end");
    until("no request waits", async || (service.app.login.waiting.sessions() == 0).then_some(())).await;
    // A finished session returns immediately.
    assert_eq!(wait(&integrator, &session, "25").await.with(200), answered);
}

#[tokio::test]
async fn waiting_request_times_out_and_reports_each_end() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = integrator.create_session("shop.test").await;
    let begun = Instant::now();
    assert_eq!(text(&wait(&integrator, &session, "1").await.with(200), "status"), "pending");
    assert!(begun.elapsed() >= Duration::from_millis(900));
    let (cancelled, _) = tokio::join!(wait(&integrator, &session, "20"), integrator.cancel(&session));
    cancelled.assert_error(410, "session_cancelled");
    let session = integrator.create_session("shop.test").await;
    let time_passes = async { service.advance_clock(SignedDuration::from_secs(300)) };
    let (expired, ()) = tokio::join!(wait(&integrator, &session, "20"), time_passes);
    expired.assert_error(410, "session_expired");
    for wrong in ["26", "-1", "1.5", "", "long", "1&wait=2"] {
        wait(&integrator, &session, wrong).await.assert_invalid_field("wait");
    }
    wait(&integrator, &json!({ "id": "sess_x" }), "5").await.assert_error(404, "session_not_found");
}

#[tokio::test]
async fn stream_sends_the_status_and_the_end() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = integrator.create_session("shop.test").await;
    let path = format!("/sessions/{}/events", text(&session, "id"));
    let streamed = async { integrator.get(&path).await };
    let answering = async {
        until("it waits", async || (service.app.login.waiting.sessions() == 1).then_some(())).await;
        integrator.authenticate(&session, &service.phone().answer(&session)).await.with(200)
    };
    let (streamed, answered) = tokio::join!(streamed, answering);
    assert_eq!((streamed.status, streamed.header("content-type")), (200, Some("text/event-stream")));
    let data: Vec<Value> = streamed
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).expect("JSON"))
        .collect();
    assert_eq!((text(&data[0], "status"), &data[1], data.len()), ("pending", &answered, 2));
    // A finished session has one event.
    let again = integrator.get(&path).await;
    assert_eq!(again.text.matches("event: status").count(), 1, "{}", again.text);
    let rival = service.integrator_of("rival", signpost_platform::accounts::Environment::Sandbox).await;
    rival.get(&path).await.assert_error(404, "session_not_found");
}

#[tokio::test]
async fn shutdown_ends_waiting_requests() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = integrator.create_session("shop.test").await;
    let waiting = tokio::spawn({
        let (integrator, session) = (integrator.clone(), session.clone());
        async move { wait(&integrator, &session, "25").await }
    });
    until("it waits", async || (service.app.login.waiting.sessions() == 1).then_some(())).await;
    // A request that waits for its full 25 s would be closed after 10 s.
    service.stop().await;
    assert_eq!(text(&waiting.await.expect("no panic").with(200), "status"), "pending");
}

fn account(name: &str) -> Account {
    Account { name: name.to_owned(), environment: Environment::Sandbox }
}

fn id(session: &Value) -> SessionId {
    SessionId::parse(text(session, "id")).expect("an id")
}

#[tokio::test]
async fn waiting_requests_per_session_are_limited() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let (session, other) = (integrator.create_session("shop.test").await, integrator.create_session("shop.test").await);
    let (acme, waiting) = (account("acme"), &service.app.login.waiting);
    let places: Vec<_> = (0..100).map(|_| waiting.acquire(&id(&session), &acme, None).expect("a place")).collect();
    integrator.get(&format!("/sessions/{}?wait=1", text(&session, "id"))).await.assert_error(503, "unavailable");
    assert!(waiting.acquire(&id(&other), &acme, None).is_ok());
    drop(places);
    assert!(waiting.sessions() == 0 && waiting.acquire(&id(&session), &acme, None).is_ok());
}

#[tokio::test]
async fn waiting_requests_per_account_are_limited() {
    let service = Service::start().await;
    let hostile = service.shop().await;
    let session = hostile.create_session("shop.test").await;
    let fill = |number: usize| {
        let id = SessionId::new(START_TIME, [u8::try_from(number / 100).expect("small"); 16]);
        service.app.login.waiting.acquire(&id, &account("acme"), None).expect("a place")
    };
    let mut places: Vec<_> = (0..2500).map(fill).collect();
    for path in ["?wait=25", "/events"] {
        let refused = hostile.get(&format!("/sessions/{}{path}", text(&session, "id"))).await;
        let details = refused.assert_error(429, "rate_limited");
        assert_eq!((&details["limit"], &details["at_once"]), (&json!("waiting"), &json!(2500)));
        assert_eq!(refused.header("retry-after"), Some("1"));
    }
    let other = service.integrator_of("rival", Environment::Sandbox).await;
    other.register_domain("rival.test").await;
    let foreign = other.create_session("rival.test").await;
    let (seen, _) = tokio::join!(wait(&other, &foreign, "25"), async {
        until("the other waits", async || (service.app.login.waiting.requests() == 2501).then_some(())).await;
        other.cancel(&foreign).await
    });
    seen.assert_error(410, "session_cancelled");
    // The slot of a finished request is free immediately.
    places.pop();
    let (seen, _) = tokio::join!(wait(&hostile, &session, "25"), async {
        until("it waits", async || (service.app.login.waiting.requests() == 2500).then_some(())).await;
        hostile.cancel(&session).await
    });
    seen.assert_error(410, "session_cancelled");
}

#[test]
fn waiting_pages_leave_slots_for_the_account() {
    let (waiting, acme) = (Waiters::default(), account("acme"));
    let take = |number: u32, is_page: bool| {
        let id = SessionId::new(START_TIME, [u8::try_from(number / 100).expect("small"); 16]);
        let address = Caller::Address(Ipv4Addr::from_bits(number / 64).into());
        waiting.acquire(&id, &acme, is_page.then_some(&address))
    };
    let mut pages: Vec<_> = (0..2000).map(|number| take(number, true).expect("a place")).collect();
    assert_eq!(take(2000, true).expect_err("a page too many"), TooManyWaiters::Client(2000));
    let own: Vec<_> = (2000..2500).map(|number| take(number, false).expect("a place")).collect();
    assert_eq!(take(2500, false).expect_err("the limit"), TooManyWaiters::Client(2500));
    pages.pop();
    drop((take(1999, true).expect("a released place"), own));
}

#[tokio::test]
async fn waiting_pages_per_client_ip_are_limited() {
    let service = Service::with(&[("trusted_proxies", "127.0.0.1"), ("allow_private_webhooks", "true")]).await;
    let integrator = service.shop().await;
    let session = integrator.create_session("shop.test").await;
    let path = format!("/sessions/{}/events", text(&session, "id"));
    let page = integrator.with_key(Some(text(&session, "client_secret")));
    let opens = async |address: &str| {
        let request = page.request(Method::GET, &path).header("x-forwarded-for", address);
        request.send().await.expect("an answer")
    };
    let mut streams = Vec::new();
    for _ in 0..64 {
        let stream = opens("203.0.113.1").await;
        assert_eq!(stream.status(), 200);
        streams.push(stream);
    }
    let refused = opens("203.0.113.1").await;
    assert_eq!((refused.status().as_u16(), &refused.headers()["retry-after"]), (429, &"1".parse().expect("a value")));
    assert_eq!(opens("203.0.113.2").await.status(), 200);
    // Requests of the account's servers count for the account, at any client IP.
    let own = integrator.request(Method::GET, &path).header("x-forwarded-for", "203.0.113.1");
    assert_eq!(own.send().await.expect("an answer").status(), 200);
    streams.pop();
    let again = async || (opens("203.0.113.1").await.status() == 200).then_some(());
    until("the place of a stream that ended is free", again).await;
}
