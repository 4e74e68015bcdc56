//! Limits that several servers count in a shared Redis (started by `make test`): exact while Redis replies, even
//! slowly, and divided between the servers while it is unavailable. The window is an hour, so that no busy machine
//! exceeds it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use jiff::SignedDuration;
use reqwest::Method;
use serde_json::json;
use signpost_platform::accounts::Environment;
use signpost_platform::redis::{Redis, Servers};
use tokio::task::JoinHandle;

use crate::harness::{Integrator, NetworkFault, Proxy, Reply, Service, authority, database, redis, send, until};

/// Three servers with a shared Redis, each with a separate proxy and a client.
pub(crate) struct SharedLimits {
    pub(crate) servers: Vec<Service>,
    pub(crate) proxies: Vec<Proxy>,
    integrators: Vec<Integrator>,
    redis: String,
}

impl SharedLimits {
    /// Starts the servers and waits until each has discovered the others.
    pub(crate) async fn start(settings: &[(&str, &str)]) -> Self {
        let (url, redis, clock) = (database().await, redis(), Service::clock());
        let (mut servers, mut proxies) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            let proxy = Proxy::start(&authority(&redis)).await;
            let through = proxy.replace_authority(&redis);
            let own = [("database_url", url.as_str()), ("redis_url", &through)];
            servers.push(Service::open(&[&own, settings].concat(), clock.clone()).await);
            proxies.push(proxy);
        }
        let first = servers[0].integrator().await;
        let api = |server: &Service| server.url(Environment::Sandbox.path());
        let integrators = servers.iter().map(|server| Integrator { api: api(server), ..first.clone() }).collect();
        let all = Self { servers, proxies, integrators, redis };
        until("they know of each other", async || all.redis().all(|redis| redis.servers().count == 3).then_some(()))
            .await;
        all
    }

    /// Starts servers with a limit of 100 creations an hour, and registers a domain.
    async fn with_limit_of_100() -> Self {
        let all = Self::start(&[("rate_limit_create_session", "100/h")]).await;
        all.integrators[0].register_domain("shop.test").await;
        all
    }

    pub(crate) fn set_faults(&self, fault: NetworkFault) {
        for proxy in &self.proxies {
            proxy.set_fault(fault);
        }
    }

    fn redis(&self) -> impl Iterator<Item = &Redis> {
        self.servers.iter().map(|server| server.app.redis.as_ref().expect("a Redis"))
    }

    async fn wait_for_redis(&self, answers: bool) {
        until("all have noticed", async || self.redis().all(|redis| redis.is_reachable() == answers).then_some(()))
            .await;
    }

    /// Sends `requests` concurrent requests, in turn to all servers. Returns the number of accepted requests and the
    /// number that were refused because Redis was slow.
    async fn flood(&self, requests: usize) -> (usize, usize) {
        flood(&self.integrators, requests).await
    }

    /// Sends requests until the limit refuses all of them, and checks the number of accepted requests, including
    /// earlier requests. On a busy machine Redis may reply after more than a second: it has counted the request, but
    /// the server refuses it as late.
    async fn fill_limit(&self, expected: usize, (mut passed, mut late): (usize, usize)) {
        until("the limit is full", async || {
            let (more, slow) = self.flood(150).await;
            passed += more;
            late += slow;
            (slow == 0).then_some(())
        })
        .await;
        assert!(passed <= expected && passed + late >= expected, "{passed} passed, {late} late");
    }

    /// Deletes all data in the test's part of Redis.
    async fn flush(&self) {
        ::redis::cmd("FLUSHDB").query_async::<()>(&mut self.connection().await).await.expect("permission");
    }

    /// Moves all counted requests into the future, as if the clock of Redis was set back by three hours.
    async fn set_redis_clock_back(&self) {
        const AHEAD: &str = "
            for _, key in ipairs(redis.call('KEYS', 'signpost:limit:create_session:*')) do
                for at, passed in ipairs(redis.call('LRANGE', key, 0, -1)) do
                    redis.call('LSET', key, at - 1, passed + 3 * 3600000)
                end
                redis.call('PEXPIRE', key, 4 * 3600000)
            end";
        let script = ::redis::Script::new(AHEAD);
        script.prepare_invoke().invoke_async::<()>(&mut self.connection().await).await.expect("permission");
    }

    async fn connection(&self) -> ::redis::aio::MultiplexedConnection {
        let client = ::redis::Client::open(self.redis.as_str()).expect("an address");
        client.get_multiplexed_async_connection().await.expect("a server")
    }
}

async fn create_session(integrator: &Integrator) -> Reply {
    integrator.post("/sessions", json!({ "domain": "shop.test" })).await
}

/// Creates a session, with retries while Redis is too slow.
async fn create_with_retries(integrator: &Integrator) {
    until("it passes", async || match create_session(integrator).await {
        reply if is_slow(&reply) => None,
        reply => Some(reply.with(201)),
    })
    .await;
}

/// Returns true if the retry delay is one second; a full window requires most of an hour.
fn is_slow(reply: &Reply) -> bool {
    reply.status == 429 && reply.header("retry-after") == Some("1")
}

async fn flood(integrators: &[Integrator], requests: usize) -> (usize, usize) {
    let asked = (0..requests).map(|number| create_session(&integrators[number % integrators.len()]));
    let replies = join_all(asked).await;
    for reply in replies.iter().filter(|reply| reply.status != 201) {
        reply.assert_error(429, "rate_limited");
    }
    let passed = replies.iter().filter(|reply| reply.status == 201).count();
    (passed, replies.iter().filter(|reply| is_slow(reply)).count())
}

/// Keeps every processor busy until it is dropped.
struct BusyProcessors(Arc<AtomicBool>);

impl BusyProcessors {
    fn start() -> Self {
        let is_stopped = Arc::new(AtomicBool::new(false));
        for _ in 0..2 * std::thread::available_parallelism().map_or(2, usize::from) {
            let is_stopped = Arc::clone(&is_stopped);
            std::thread::spawn(move || while !is_stopped.load(Ordering::Relaxed) {});
        }
        Self(is_stopped)
    }
}

impl Drop for BusyProcessors {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs PostgreSQL and Redis: tests/postgres.sh, which make test runs"]
async fn three_servers_share_an_exact_limit() {
    let all = SharedLimits::with_limit_of_100().await;
    all.fill_limit(100, (0, 0)).await;
    let refused = until("Redis refuses it", async || {
        Some(create_session(&all.integrators[1]).await).filter(|reply| !is_slow(reply))
    })
    .await;
    let wait: u64 = refused.header("retry-after").expect("a wait").parse().expect("seconds");
    assert!((3000..=3600).contains(&wait), "{wait}");
    refused.assert_error(429, "rate_limited");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs PostgreSQL and Redis: tests/postgres.sh, which make test runs"]
async fn burst_on_a_busy_machine_obeys_the_limit() {
    let all = SharedLimits::with_limit_of_100().await;
    let busy = BusyProcessors::start();
    let (passed, late) = all.flood(300).await;
    assert!(passed <= 100, "{passed} passed");
    drop(busy);
    all.fill_limit(100, (passed, late)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs PostgreSQL and Redis: tests/postgres.sh, which make test runs"]
async fn slow_redis_enforces_the_limit() {
    let all = SharedLimits::with_limit_of_100().await;
    all.set_faults(NetworkFault::Slow(Duration::from_millis(300)));
    let (passed, late) = all.flood(300).await;
    assert!(passed <= 100, "{passed} passed");
    all.set_faults(NetworkFault::None);
    all.fill_limit(100, (passed, late)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs PostgreSQL and Redis: tests/postgres.sh, which make test runs"]
async fn redis_timeout_returns_retry_after_one_second() {
    let all = SharedLimits::with_limit_of_100().await;
    all.set_faults(NetworkFault::Slow(Duration::from_millis(1100)));
    for integrator in &all.integrators {
        let reply = create_session(integrator).await;
        assert!(is_slow(&reply), "{reply:?}");
        reply.assert_error(429, "rate_limited");
    }
    assert!(all.redis().all(Redis::is_reachable), "it is slow, and not away");
    all.set_faults(NetworkFault::None);
    create_with_retries(&all.integrators[0]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs PostgreSQL and Redis: tests/postgres.sh, which make test runs"]
async fn servers_divide_the_quota_without_redis() {
    let all = SharedLimits::with_limit_of_100().await;
    for integrator in all.integrators.iter().cycle().skip(2).take(40) {
        create_with_retries(integrator).await;
    }
    // One connection hangs, the others are closed.
    for (proxy, fault) in all.proxies.iter().zip([NetworkFault::Cut, NetworkFault::Silent, NetworkFault::Cut]) {
        proxy.set_fault(fault);
    }
    // A request detects the outage and does not fail.
    join_all(all.servers.iter().map(async |server| server.visitor().get("/health").await)).await;
    all.wait_for_redis(false).await;
    let mut passed = 0;
    // Each server last heard from itself.
    for ((integrator, redis), heard) in all.integrators.iter().zip(all.redis()).zip([38, 39, 40]) {
        let Servers { count, .. } = redis.servers();
        let share = redis.servers().share(100 - heard);
        assert_eq!((count, flood(std::slice::from_ref(integrator), 100).await.0), (3, share as usize));
        passed += share;
    }
    assert!((60..=62).contains(&passed), "{passed}");
    // After the outage, the next request of each server reports the requests that it accepted; after the last server no
    // quota is left.
    all.set_faults(NetworkFault::None);
    all.wait_for_redis(true).await;
    for integrator in &all.integrators {
        until("Redis decides", async || Some(create_session(integrator).await).filter(|reply| !is_slow(reply))).await;
    }
    all.fill_limit(0, (0, 0)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs PostgreSQL and Redis: tests/postgres.sh, which make test runs"]
async fn limits_are_shared_after_redis_recovers() {
    let all = SharedLimits::with_limit_of_100().await;
    all.set_faults(NetworkFault::Cut);
    all.wait_for_redis(false).await;
    for integrator in &all.integrators {
        create_with_retries(integrator).await;
    }
    all.set_faults(NetworkFault::None);
    all.wait_for_redis(true).await;
    all.fill_limit(97, (0, 0)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs PostgreSQL and Redis: tests/postgres.sh, which make test runs"]
async fn local_counts_apply_after_redis_loses_its_data() {
    let all = SharedLimits::with_limit_of_100().await;
    let first = &all.integrators[..1];
    for _ in 0..60 {
        create_with_retries(&first[0]).await;
    }
    all.flush().await;
    let mut passed = 0;
    until("the limit is full", async || {
        let (more, slow) = flood(first, 60).await;
        passed += more;
        (slow == 0).then_some(())
    })
    .await;
    assert_eq!(passed, 40);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs PostgreSQL and Redis: tests/postgres.sh, which make test runs"]
async fn redis_clock_set_back_delays_at_most_one_window() {
    let all = SharedLimits::with_limit_of_100().await;
    all.fill_limit(100, (0, 0)).await;
    all.set_redis_clock_back().await;
    // A server that accepted fewer requests than the limit asks Redis.
    let refused = until("Redis decides", async || {
        Some(create_session(&all.integrators[0]).await).filter(|reply| reply.status == 429 && !is_slow(reply))
    });
    let wait: u64 = refused.await.header("retry-after").and_then(|wait| wait.parse().ok()).expect("a wait");
    assert!((3500..=3600).contains(&wait), "{wait}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs PostgreSQL and Redis: tests/postgres.sh, which make test runs"]
async fn waiting_messages_get_their_turns_from_redis() {
    let all = SharedLimits::start(&[("services", "atm,auth"), ("rate_limit_mcp", "10/s")]).await;
    let ping = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
    let burst: Vec<_> = (0..45)
        .map(|number| {
            let request = all.servers[number % 3].visitor().request(Method::POST, "/mcp").body(ping);
            let request = request.header("mcp-protocol-version", "2025-06-18");
            tokio::spawn(send(request.header("content-type", "application/json")))
        })
        .collect();
    // A server waits by its own clock, for the time that Redis returned.
    until("all are answered", async || {
        all.servers[0].advance_clock(SignedDuration::from_millis(50));
        burst.iter().all(JoinHandle::is_finished).then_some(())
    })
    .await;
    let mut passed = 0;
    for message in burst {
        let reply = message.await.expect("a reply");
        assert!(matches!(reply.status, 200 | 429), "{reply:?}");
        passed += usize::from(reply.status == 200);
    }
    assert!(passed > 10, "{passed} passed");
    // The list of Redis starts with the turns of the last second before the last message.
    let key = "signpost:limit:mcp:127.0.0.1";
    let turns: Vec<i64> =
        ::redis::cmd("LRANGE").arg(key).arg(0).arg(-1).query_async(&mut all.connection().await).await.expect("a list");
    assert!(turns.is_sorted() && turns.len() <= passed, "{turns:?}");
    assert!(turns.windows(11).all(|turns| turns[10] - turns[0] >= 1000), "{turns:?}");
}
