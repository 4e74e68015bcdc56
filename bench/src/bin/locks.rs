//! Measures contention for the state that all requests share: the cache of API keys, the rate
//! limiter, a cached session, the counters and the log. The result is the additional processor time
//! per operation with 64 threads compared with one thread. Threads without shared state also slow
//! each other down; a loop that formats text measures that time, which is subtracted. Each
//! voluntary context switch of a thread is a wait for a lock.

use std::fs;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::task::{Context as Task, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use axum::body::Body;
use axum::http::Request;
use secrecy::ExposeSecret;
use signpost_bench::goals::report;
use signpost_bench::server;
use signpost_platform::accounts::Environment;
use signpost_platform::accounts::audit::Actor;
use signpost_platform::accounts::keys::{self, KeyHash, NewKey};
use signpost_platform::cache::ReadCache;
use signpost_platform::limits::{Caller, Limit};
use tower::Service;

const THREADS: usize = 64;
const ROUND: Duration = Duration::from_millis(500);
/// Number of callers, keys and sessions that the threads use in turn.
const CALLERS: usize = 256;

fn main() -> Result<()> {
    let running = server::start_with(&[("rate_limit_mcp", "1000/s")])?;
    let app = &running.app;
    let now = app.clock.now();
    println!("state shared by all requests, {} cores: per second with one thread and with {THREADS}", cores());
    let account = signpost_platform::accounts::Account { name: "bench".to_owned(), environment: Environment::Sandbox };
    let keys: Vec<_> = (0..CALLERS)
        .map(|_| NewKey::new(Environment::Sandbox, signpost_store::random(), signpost_store::random()))
        .collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for key in &keys {
        runtime.block_on(keys::sql::insert(&app.store, &Actor::Operator, &account, "bench", key, now))?;
        let (environment, hash) = KeyHash::parse(key.key.expose_secret()).context("a key")?;
        runtime.block_on(app.keys.find_grant(&app.store, environment, hash, now))?;
    }
    let (single, together) = rates("texts of its own", || |index| !format!("sandbox/{index}").is_empty())?;
    let max = together / single;
    measure("locks_key", max, "the account of a key", || {
        |index| {
            let parsed = KeyHash::parse(keys[index % CALLERS].key.expose_secret());
            parsed.is_some_and(|(environment, hash)| {
                poll_once(app.keys.find_grant(&app.store, environment, hash, now)).is_some_and(|found| found.is_ok())
            })
        }
    })?;
    let callers: Vec<_> = (0..CALLERS).map(|number| Caller::Account(format!("sandbox/{number}"))).collect();
    measure("locks_limiter", max, "a request of a caller, counted", || {
        |index| poll_once(app.limits.check(Limit::Mcp, &callers[index % CALLERS], app.clock.elapsed())).is_some()
    })?;
    let cache = ReadCache::new(|_: &Arc<str>| 64);
    cache.restart(true);
    for key in 0..CALLERS {
        runtime.block_on(cache.find(&key, async { Ok(Some(Arc::from("cached"))) }))?;
    }
    measure("locks_kept", max, "a cached row", || |index| cache.get(&(index % CALLERS)).is_some())?;
    let _entered = runtime.enter();
    let router = signpost::server::routes::front(app).router;
    measure("locks_health", max, "/health, without a socket", || {
        let mut connection = router.clone();
        move |_| {
            let request = Request::get("/health").header("host", "localhost").body(Body::empty());
            let answered = request.ok().and_then(|request| poll_once(connection.call(request)));
            answered.is_some_and(|Ok(reply)| reply.status() == 200)
        }
    })
}

/// Returns the output of a future that is ready at its first poll.
fn poll_once<T>(running: impl Future<Output = T>) -> Option<T> {
    match pin!(running).poll(&mut Task::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// Reports the additional processor time per operation with 64 threads, in microseconds, minus the
/// additional time without shared state.
fn measure<R: FnMut(usize) -> bool>(key: &str, max: f64, name: &str, connect: impl Fn() -> R + Sync) -> Result<()> {
    let (single, together) = rates(name, connect)?;
    let cores = f64::from(u32::try_from(cores())?);
    report(key, 1e6 * (cores / together - cores / max / single).max(0.0), None)
}

/// Returns the operations per second with 1 thread and with 64 threads. Each thread has a separate
/// connection.
fn rates<R: FnMut(usize) -> bool>(name: &str, connect: impl Fn() -> R + Sync) -> Result<(f64, f64)> {
    // A single thread is measured before and after, because the server still has background work
    // right after its start.
    let (before, _) = measure_rate(1, &connect)?;
    let (together, switches) = measure_rate(THREADS, &connect)?;
    let single = before.max(measure_rate(1, &connect)?.0);
    let ratio = together / single;
    println!("  {name:<32} {single:>10.0} {together:>10.0}  {ratio:>5.2}, {switches:.1} switches per million");
    Ok((single, together))
}

/// Returns the operations per second, and the voluntary context switches per million operations.
fn measure_rate<R: FnMut(usize) -> bool>(threads: usize, connect: &(impl Fn() -> R + Sync)) -> Result<(f64, f64)> {
    let (has_ended, start) = (AtomicBool::new(false), Barrier::new(threads + 1));
    thread::scope(|scope| {
        let (mut done, mut switches) = (0.0, 0.0);
        let each = |thread: usize| {
            let (has_ended, start) = (&has_ended, &start);
            move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
                let (_entered, mut run) = (runtime.enter(), connect());
                start.wait();
                let (before, begun, mut count) = (switches_of_this_thread()?, Instant::now(), 0_u32);
                while !has_ended.load(Ordering::Relaxed) {
                    anyhow::ensure!(run(thread * 7 + count as usize), "it waited or failed");
                    count += 1;
                }
                let ended = Instant::now();
                Ok((f64::from(count), switches_of_this_thread()? - before, begun, ended))
            }
        };
        let running: Vec<_> = (0..threads).map(|thread| scope.spawn(each(thread))).collect();
        start.wait();
        thread::sleep(ROUND);
        has_ended.store(true, Ordering::Relaxed);
        // This thread is scheduled late among so many threads, so each thread records its own start
        // and end.
        let (mut first, mut last) = (None::<Instant>, None::<Instant>);
        for thread in running {
            let (count, thread_switches, begun, ended) =
                thread.join().map_err(|_| anyhow::anyhow!("a thread panicked"))??;
            done += count;
            switches += thread_switches;
            first = Some(first.map_or(begun, |first| first.min(begun)));
            last = last.max(Some(ended));
        }
        let (first, last) = first.zip(last).context("no thread ran")?;
        let elapsed = last - first;
        anyhow::Ok((done / elapsed.as_secs_f64(), switches * 1e6 / done))
    })
}

/// Returns the number of voluntary context switches of this thread so far.
fn switches_of_this_thread() -> Result<f64> {
    let status = fs::read_to_string("/proc/thread-self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")).context("switches")?;
    Ok(line.trim().parse()?)
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
