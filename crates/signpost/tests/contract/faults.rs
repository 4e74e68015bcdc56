//! Faulty endpoints, servers that crash at each step of a delivery, DNS rebinding, and clocks that are set back, with
//! the expected results.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::harness::{Endpoint, Integrator, NameServer, Service, WAIT_TIMEOUT, until};
use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use reqwest::header::HeaderMap;
use signpost::server::schema::SCHEMA;
use signpost_login::events::{self, Attempt, AttemptSlots, DeliveryOutcome, EndedAttempt};
use signpost_platform::outbound::{EgressPolicy, NameResolver, Outbound, Request};
use signpost_store::Store;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

async fn log_in(service: &Service, integrator: &Integrator) {
    let session = integrator.create_session("shop.test").await;
    integrator.authenticate(&session, &service.phone().answer(&session)).await.with(200);
}

/// Starts a listener that passes each connection to `treat` after its request arrived; returns the connection count.
async fn listener<F>(treat: impl Fn(TcpStream) -> F + Send + 'static) -> (SocketAddr, Arc<AtomicUsize>)
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let (address, count) = (listener.local_addr().expect("an address"), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&count);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            let mut read = [0; 4096];
            let _ = stream.read(&mut read).await;
            tokio::spawn(treat(stream));
        }
    });
    (address, count)
}

/// Announces 4 GiB and sends until the connection closes; counts the sent bytes.
async fn send_endlessly(mut stream: TcpStream, sent: Arc<AtomicUsize>) {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 4294967296\r\n\r\n";
    let mut chunk = head.as_bytes().to_vec();
    while stream.write_all(&chunk).await.is_ok() {
        sent.fetch_add(chunk.len(), Ordering::SeqCst);
        chunk = vec![b'x'; 16 * 1024];
    }
}

/// Sends a byte every 20 ms without end.
async fn drip(mut stream: TcpStream) {
    for byte in b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n".iter().chain(std::iter::repeat(&b'x')) {
        if stream.write_all(&[*byte]).await.is_err() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_reply_of_4_gib_is_cut_at_2_kib() {
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&sent);
    let (address, _) = listener(move |stream| send_endlessly(stream, Arc::clone(&counted))).await;
    let service = Service::start().await;
    let integrator = service.integrator().await;
    integrator.register_domain_at("shop.test", &format!("http://{address}/")).await;
    log_in(&service, &integrator).await;
    let done = service.wait_for_attempts(1).await;
    assert_eq!((done.state.as_str(), done.last_status), ("delivered", Some(200)));
    // Socket buffers on both sides may already contain data; no more follows.
    let total = sent.load(Ordering::SeqCst);
    assert!(total < 64 << 20, "{total}");
}

#[tokio::test]
async fn a_dripping_reply_times_out() {
    let (address, _) = listener(drip).await;
    let url = format!("http://{address}/").parse().expect("a URL");
    let outbound = Outbound::new(&NameResolver::System);
    // Timeout while the head is sent, and a second later while the body is sent.
    for millis in [300, 1500] {
        let timeout = Duration::from_millis(millis);
        let headers = HeaderMap::new();
        let request = Request { method: Method::GET, url: &url, headers, body: None, timeout, max_body: 2048 };
        let begun = std::time::Instant::now();
        assert!(outbound.send(EgressPolicy::Everything, request).await.is_err());
        assert!(begun.elapsed() < timeout + WAIT_TIMEOUT);
    }
}

#[tokio::test]
async fn a_rebound_name_is_dialled_at_the_checked_address() {
    let (address, connections) = listener(drip).await;
    let names = NameServer::start().await;
    let public = IpAddr::V4(Ipv4Addr::new(192, 0, 0, 9));
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let outbound = Outbound::new(&NameResolver::uncached(Some(names.address)).expect("a resolver"));
    let send = async |host: &str| {
        let url = format!("https://{host}:{}/", address.port()).parse().expect("a URL");
        let timeout = Duration::from_secs(3);
        let request =
            Request { method: Method::GET, url: &url, headers: HeaderMap::new(), body: None, timeout, max_body: 0 };
        format!("{:#}", outbound.send(EgressPolicy::Public, request).await.expect_err("no server"))
    };
    // The first lookup returns a public address, which is dialled; the private address of the second lookup is
    // rejected.
    names.set_addresses("rebinds.test", &[&[public], &[loopback], &[loopback]]);
    send("rebinds.test").await;
    for _ in 0..2 {
        let refused = send("rebinds.test").await;
        assert!(refused.contains("not public"), "{refused}");
    }
    // A public and a private address together: the name is rejected.
    names.set_addresses("mixed.test", &[&[public, loopback]]);
    assert!(send("mixed.test").await.contains("not public"));
    assert_eq!(connections.load(Ordering::SeqCst), 0, "nothing was dialled on this machine");
}

/// The step of a delivery at which the server crashes.
#[derive(Clone, Copy, Debug)]
enum Point {
    Queued,
    Claimed,
    Sent,
    Ended,
}

#[tokio::test]
async fn delivery_survives_a_crash_at_every_step() {
    for (point, arrivals) in [(Point::Queued, 1), (Point::Claimed, 1), (Point::Sent, 2), (Point::Ended, 1)] {
        let folder = tempfile::tempdir().expect("a folder");
        let clock = Service::clock();
        let mut endpoint = Endpoint::start().await;
        let url = endpoint.url("/hook");
        let first = Service::on(folder.path(), &clock, &[]).await;
        let integrator = first.integrator().await;
        integrator.register_domain_at("shop.test", "http://127.0.0.1:1/dead").await;
        log_in(&first, &integrator).await;
        first.wait_for_attempts(1).await;
        first.stop().await;
        // Only the database writes of the crashing server are simulated.
        let file = folder.path().join("signpost.sqlite");
        let dying = Store::open(&format!("sqlite:{}", file.display()), &SCHEMA).expect("a database");
        let moved = "UPDATE deliveries SET url = $1, endpoint = 'http://moved', attempts = 0, next_attempt_at = $2";
        let now = clock.now();
        let params = vec![url.as_str().into(), now.into()];
        dying.write([signpost_store::Statement::new(moved, params)]).await.expect("a database");
        run_until(point, &dying, now, &url).await;
        dying.close().await;
        let second = Service::on(folder.path(), &clock, &[]).await;
        let done = until("it is delivered", async || {
            second.outbox().await.pop().filter(|queued| queued.state == "delivered" && !queued.is_running)
        });
        let done = done.await;
        let mut bodies = Vec::new();
        while let Some(arrived) = endpoint.try_next_request() {
            bodies.push(arrived.body);
        }
        assert_eq!(bodies.len(), arrivals, "{point:?}");
        assert!(bodies.iter().all(|body| *body == bodies[0]), "{point:?}");
        assert_eq!(serde_json::from_slice::<serde_json::Value>(&bodies[0]).expect("JSON"), done.body);
        second.stop().await;
    }
}

/// Runs the steps of a delivery up to the crash.
async fn run_until(point: Point, store: &Store, now: Timestamp, url: &str) {
    let leased_until = now + SignedDuration::from_secs(45);
    if matches!(point, Point::Queued) {
        return;
    }
    events::sql::make_ready(store, now, 256).await.expect("a database");
    let claimed = events::sql::claim(store, now, leased_until, &mut AttemptSlots::default())
        .await
        .expect("a database")
        .deliveries;
    let [delivery] = &claimed[..] else { panic!("{claimed:?}") };
    if matches!(point, Point::Claimed) {
        return;
    }
    let sent = crate::harness::http()
        .post(url)
        .body(delivery.delivery.as_ref().expect("a row").body.clone())
        .send()
        .await
        .expect("an answer");
    assert_eq!(sent.status(), 200);
    if matches!(point, Point::Sent) {
        return;
    }
    let attempt = Attempt { status: Some(200), error: None, retry_after: None, answer: None, clock_ahead_s: None };
    let past_attempts = "[]".to_owned();
    let ended = EndedAttempt {
        id: &delivery.id,
        leased_until,
        attempt: &attempt,
        past_attempts,
        outcome: DeliveryOutcome::Delivered,
        now,
    };
    assert!(events::sql::end_attempt(store, ended, Vec::new()).await.expect("a database").is_some());
}

#[tokio::test]
async fn a_clock_set_back_accepts_no_old_answer() {
    let service = Service::start().await;
    let (integrator, mut endpoint) = (service.integrator().await, Endpoint::start().await);
    integrator.register_domain_at("shop.test", &endpoint.url("/hook")).await;
    let session = integrator.create_session("shop.test").await;
    let early = service.phone().answer(&session);
    service.clock.advance(-SignedDuration::from_mins(10));
    // The earlier answer is now in the future; an answer with the new time is accepted once.
    integrator.authenticate(&session, &early).await.assert_error(408, "timestamp_out_of_range");
    let answer = service.phone().answer(&session);
    integrator.authenticate(&session, &answer).await.with(200);
    integrator.authenticate(&session, &answer).await.assert_error(409, "session_already_authenticated");
    endpoint.next_request().await;
    integrator.get_session(&session).await.with(200);
    // A session created after the change expires by the new time.
    let late = integrator.create_session("shop.test").await;
    service.advance_clock(SignedDuration::from_secs(300));
    integrator.get_session(&late).await.assert_error(410, "session_expired");
}

#[tokio::test]
async fn answers_at_the_moment_of_expiry_are_too_late() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = integrator.create_session("shop.test").await;
    service.advance_clock(SignedDuration::from_secs(300));
    let answers = (1..=8).map(|number| {
        let phone = crate::harness::Phone::of(number, &service.clock);
        let (integrator, session, answer) = (integrator.clone(), session.clone(), phone.answer(&session));
        async move { integrator.authenticate(&session, &answer).await.assert_error(410, "session_expired") }
    });
    futures_util::future::join_all(answers).await;
    assert!(service.outbox().await.is_empty());
}
