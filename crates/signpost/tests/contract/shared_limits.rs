//! Limits that several servers count in one Redis (`make test` starts it): exact while it answers, however slowly, and
//! shared out while it is away. A limit of an hour, so that no busy machine takes longer than its window.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;
use signpost_platform::accounts::Environment;
use signpost_platform::redis::{Redis, Servers};

use crate::harness::{Integrator, Proxy, Reply, Service, Weather, authority, database, redis, until};

/// Three servers with one Redis, each through a proxy of its own, and one integrator at each.
pub(crate) struct Sharing {
    pub(crate) servers: Vec<Service>,
    pub(crate) proxies: Vec<Proxy>,
    integrators: Vec<Integrator>,
    redis: String,
}

impl Sharing {
    /// Servers that all know of each other.
    pub(crate) async fn start(settings: &[(&str, &str)]) -> Self {
        let (url, redis, clock) = (database().await, redis(), Service::clock());
        let (mut servers, mut proxies) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            let proxy = Proxy::before(&authority(&redis)).await;
            let through = proxy.instead_of(&redis);
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

    /// The same with a hundred creations an hour, and a domain for them.
    async fn hundred() -> Self {
        let all = Self::start(&[("rate_limit_create_session", "100/h")]).await;
        all.integrators[0].registers("shop.test").await;
        all
    }

    pub(crate) fn all_have(&self, weather: Weather) {
        for proxy in &self.proxies {
            proxy.has(weather);
        }
    }

    fn redis(&self) -> impl Iterator<Item = &Redis> {
        self.servers.iter().map(|server| server.app.redis.as_ref().expect("one is set"))
    }

    async fn answers(&self, answers: bool) {
        until("all have noticed", async || self.redis().all(|redis| redis.answers() == answers).then_some(())).await;
    }

    /// So many at once, in turn at all servers: how many passed, and how many were refused because Redis was slow.
    async fn flood(&self, requests: usize) -> (usize, usize) {
        flood(&self.integrators, requests).await
    }

    /// Sends requests until the limit refuses all of them, and checks how many pass, together with those that passed before. On a
    /// busy machine Redis may reply after more than a second: it has counted the request, which is refused as late.
    async fn fills_to(&self, expected: usize, (mut passed, mut late): (usize, usize)) {
        until("the limit is full", async || {
            let (more, slow) = self.flood(150).await;
            passed += more;
            late += slow;
            (slow == 0).then_some(())
        })
        .await;
        assert!(passed <= expected && passed + late >= expected, "{passed} passed, {late} late");
    }

    /// Forgets everything in the test's own part of Redis.
    async fn forgets(&self) {
        ::redis::cmd("FLUSHDB").query_async::<()>(&mut self.connection().await).await.expect("leave to do so");
    }

    /// Leaves Redis as it is when its clock is set back by three hours: what passed lies ahead.
    async fn sets_the_clock_of_redis_back(&self) {
        const AHEAD: &str = "
            for _, key in ipairs(redis.call('KEYS', 'signpost:limit:create_session:*')) do
                for at, passed in ipairs(redis.call('LRANGE', key, 0, -1)) do
                    redis.call('LSET', key, at - 1, passed + 3 * 3600000)
                end
                redis.call('PEXPIRE', key, 4 * 3600000)
            end";
        let script = ::redis::Script::new(AHEAD);
        script.prepare_invoke().invoke_async::<()>(&mut self.connection().await).await.expect("leave to do so");
    }

    async fn connection(&self) -> ::redis::aio::MultiplexedConnection {
        let client = ::redis::Client::open(self.redis.as_str()).expect("an address");
        client.get_multiplexed_async_connection().await.expect("a server")
    }
}

async fn creates(integrator: &Integrator) -> Reply {
    integrator.post("/sessions", json!({ "domain": "shop.test" })).await
}

/// Creates one session, however often Redis is too slow for it.
async fn passes(integrator: &Integrator) {
    until("it passes", async || match creates(integrator).await {
        reply if is_slow(&reply) => None,
        reply => Some(reply.with(201)),
    })
    .await;
}

/// Refused for a second, where the window would take most of an hour.
fn is_slow(reply: &Reply) -> bool {
    reply.status == 429 && reply.header("retry-after") == Some("1")
}

async fn flood(integrators: &[Integrator], requests: usize) -> (usize, usize) {
    let asked = (0..requests).map(|number| creates(&integrators[number % integrators.len()]));
    let replies = join_all(asked).await;
    for reply in replies.iter().filter(|reply| reply.status != 201) {
        reply.refused(429, "rate_limited");
    }
    let passed = replies.iter().filter(|reply| reply.status == 201).count();
    (passed, replies.iter().filter(|reply| is_slow(reply)).count())
}

/// Keeps every processor busy until it is dropped.
struct Busy(Arc<AtomicBool>);

impl Busy {
    fn start() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        for _ in 0..2 * std::thread::available_parallelism().map_or(2, usize::from) {
            let is_over = Arc::clone(&is_over);
            std::thread::spawn(move || while !is_over.load(Ordering::Relaxed) {});
        }
        Self(is_over)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs PostgreSQL and Redis: tests/postgres.sh, which make test runs"]
async fn a_hundred_are_a_hundred_at_three_servers() {
    let all = Sharing::hundred().await;
    all.fills_to(100, (0, 0)).await;
    let refused =
        until("Redis refuses it", async || Some(creates(&all.integrators[1]).await).filter(|reply| !is_slow(reply)))
            .await;
    let wait: u64 = refused.header("retry-after").expect("a wait").parse().expect("seconds");
    assert!((3000..=3600).contains(&wait), "{wait}");
    refused.refused(429, "rate_limited");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs PostgreSQL and Redis: tests/postgres.sh, which make test runs"]
async fn a_burst_on_a_machine_without_a_free_processor_passes_no_more_than_the_limit() {
    let all = Sharing::hundred().await;
    let busy = Busy::start();
    let (passed, late) = all.flood(300).await;
    assert!(passed <= 100, "{passed} passed");
    drop(busy);
    all.fills_to(100, (passed, late)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs PostgreSQL and Redis: tests/postgres.sh, which make test runs"]
async fn a_slow_redis_is_awaited_and_still_decides() {
    let all = Sharing::hundred().await;
    all.all_have(Weather::Slow(Duration::from_millis(300)));
    let (passed, late) = all.flood(300).await;
    assert!(passed <= 100, "{passed} passed");
    all.all_have(Weather::Fair);
    all.fills_to(100, (passed, late)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs PostgreSQL and Redis: tests/postgres.sh, which make test runs"]
async fn who_would_wait_for_redis_longer_than_a_second_is_refused_for_a_second() {
    let all = Sharing::hundred().await;
    all.all_have(Weather::Slow(Duration::from_millis(1100)));
    for integrator in &all.integrators {
        let reply = creates(integrator).await;
        assert!(is_slow(&reply), "{reply:?}");
        reply.refused(429, "rate_limited");
    }
    assert!(all.redis().all(Redis::answers), "it is slow, and not away");
    all.all_have(Weather::Fair);
    passes(&all.integrators[0]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs PostgreSQL and Redis: tests/postgres.sh, which make test runs"]
async fn without_redis_each_server_lets_through_its_share_of_what_is_left() {
    let all = Sharing::hundred().await;
    for integrator in all.integrators.iter().cycle().skip(2).take(40) {
        passes(integrator).await;
    }
    // One is silent, the others are cut off.
    for (proxy, weather) in all.proxies.iter().zip([Weather::Cut, Weather::Silent, Weather::Cut]) {
        proxy.has(weather);
    }
    // Who asks finds out; nothing fails for it.
    join_all(all.servers.iter().map(async |server| server.visitor().get("/health").await)).await;
    all.answers(false).await;
    let mut passed = 0;
    // The last that each heard of was one's own.
    for ((integrator, redis), heard) in all.integrators.iter().zip(all.redis()).zip([38, 39, 40]) {
        let Servers { count, .. } = redis.servers();
        let share = redis.servers().share(100 - heard);
        assert_eq!((count, flood(std::slice::from_ref(integrator), 100).await.0), (3, share as usize));
        passed += share;
    }
    assert!((60..=62).contains(&passed), "{passed}");
    // Back, each hands in with its next request what it let through; after the last one nothing is left.
    all.all_have(Weather::Fair);
    all.answers(true).await;
    for integrator in &all.integrators {
        until("Redis decides", async || Some(creates(integrator).await).filter(|reply| !is_slow(reply))).await;
    }
    all.fills_to(0, (0, 0)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs PostgreSQL and Redis: tests/postgres.sh, which make test runs"]
async fn limits_are_shared_again_once_redis_is_back() {
    let all = Sharing::hundred().await;
    all.all_have(Weather::Cut);
    all.answers(false).await;
    for integrator in &all.integrators {
        passes(integrator).await;
    }
    all.all_have(Weather::Fair);
    all.answers(true).await;
    all.fills_to(97, (0, 0)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs PostgreSQL and Redis: tests/postgres.sh, which make test runs"]
async fn what_a_server_let_through_counts_there_when_redis_has_forgotten_everything() {
    let all = Sharing::hundred().await;
    let first = &all.integrators[..1];
    for _ in 0..60 {
        passes(&first[0]).await;
    }
    all.forgets().await;
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
async fn nobody_waits_for_longer_than_a_window_when_the_clock_of_redis_is_set_back() {
    let all = Sharing::hundred().await;
    all.fills_to(100, (0, 0)).await;
    all.sets_the_clock_of_redis_back().await;
    // A server that let through less than the limit asks Redis.
    let refused = until("Redis decides", async || {
        Some(creates(&all.integrators[0]).await).filter(|reply| reply.status == 429 && !is_slow(reply))
    });
    let wait: u64 = refused.await.header("retry-after").and_then(|wait| wait.parse().ok()).expect("a wait");
    assert!((3500..=3600).contains(&wait), "{wait}");
}
