//! Contention for the state that all requests share (the account of a key, the limiter, a cached session, the counters
//! and the log): additional processor time per operation with 64 threads instead of one. Threads without shared state
//! slow each other down too; a loop that formats text measures that, and it is subtracted. Each voluntary context
//! switch of a thread is a wait for a lock.

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
const TIME: Duration = Duration::from_millis(500);
/// Number of alternating callers, keys and sessions.
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
    let (alone, together) = rates("texts of its own", || |at| !format!("sandbox/{at}").is_empty())?;
    let most = together / alone;
    measure("locks_key", most, "the account of a key", || {
        |at| {
            let parsed = KeyHash::parse(keys[at % CALLERS].key.expose_secret());
            parsed.is_some_and(|(environment, hash)| {
                at_once(app.keys.find_grant(&app.store, environment, hash, now)).is_some_and(|found| found.is_ok())
            })
        }
    })?;
    let callers: Vec<_> = (0..CALLERS).map(|number| Caller::Account(format!("sandbox/{number}"))).collect();
    measure("locks_limiter", most, "a request of a caller, counted", || {
        |at| at_once(app.limits.check(Limit::Mcp, &callers[at % CALLERS], app.clock.elapsed())).is_some()
    })?;
    let kept = ReadCache::new(|_: &Arc<str>| 64);
    kept.restart(true);
    for key in 0..CALLERS {
        runtime.block_on(kept.find(&key, async { Ok(Some(Arc::from("kept"))) }))?;
    }
    measure("locks_kept", most, "a cached row", || |at| kept.get(&(at % CALLERS)).is_some())?;
    let _entered = runtime.enter();
    let router = signpost::server::routes::front(app).router;
    measure("locks_health", most, "/health, without a socket", || {
        let mut connection = router.clone();
        move |_| {
            let request = Request::get("/health").header("host", "localhost").body(Body::empty());
            let answered = request.ok().and_then(|request| at_once(connection.call(request)));
            answered.is_some_and(|Ok(reply)| reply.status() == 200)
        }
    })
}

/// Returns the result of a future that is ready at its first poll.
fn at_once<T>(running: impl Future<Output = T>) -> Option<T> {
    match pin!(running).poll(&mut Task::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// Reports the additional processor time per operation with 64 threads, in microseconds, minus the time without shared
/// state.
fn measure<R: FnMut(usize) -> bool>(key: &str, most: f64, name: &str, connect: impl Fn() -> R + Sync) -> Result<()> {
    let (alone, together) = rates(name, connect)?;
    let cores = f64::from(u32::try_from(cores())?);
    report(key, 1e6 * (cores / together - cores / most / alone).max(0.0), None)
}

/// Returns the operations per second of 1 thread and of 64. Each thread has its own connection.
fn rates<R: FnMut(usize) -> bool>(name: &str, connect: impl Fn() -> R + Sync) -> Result<(f64, f64)> {
    // Measured before and after: right after its start the server still has background work.
    let (before, _) = by(1, &connect)?;
    let (together, switches) = by(THREADS, &connect)?;
    let alone = before.max(by(1, &connect)?.0);
    let ratio = together / alone;
    println!("  {name:<32} {alone:>10.0} {together:>10.0}  {ratio:>5.2}, {switches:.1} switches per million");
    Ok((alone, together))
}

/// Returns the operations per second and the voluntary context switches per million operations.
fn by<R: FnMut(usize) -> bool>(threads: usize, connect: &(impl Fn() -> R + Sync)) -> Result<(f64, f64)> {
    let (is_over, start) = (AtomicBool::new(false), Barrier::new(threads + 1));
    thread::scope(|scope| {
        let (mut done, mut switches) = (0.0, 0.0);
        let each = |thread: usize| {
            let (is_over, start) = (&is_over, &start);
            move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
                let (_entered, mut run) = (runtime.enter(), connect());
                start.wait();
                let (before, begun, mut count) = (switches_of_this_thread()?, Instant::now(), 0_u32);
                while !is_over.load(Ordering::Relaxed) {
                    anyhow::ensure!(run(thread * 7 + count as usize), "it waited or failed");
                    count += 1;
                }
                let ended = Instant::now();
                Ok((f64::from(count), switches_of_this_thread()? - before, begun, ended))
            }
        };
        let running: Vec<_> = (0..threads).map(|thread| scope.spawn(each(thread))).collect();
        start.wait();
        thread::sleep(TIME);
        is_over.store(true, Ordering::Relaxed);
        // This thread is scheduled late among so many, so each thread records its own start and end.
        let (mut first, mut last) = (None::<Instant>, None::<Instant>);
        for thread in running {
            let (count, given_up, begun, ended) = thread.join().map_err(|_| anyhow::anyhow!("a thread panicked"))??;
            done += count;
            switches += given_up;
            first = Some(first.map_or(begun, |first| first.min(begun)));
            last = last.max(Some(ended));
        }
        let (first, last) = first.zip(last).context("no thread ran")?;
        let took = last - first;
        anyhow::Ok((done / took.as_secs_f64(), switches * 1e6 / done))
    })
}

/// Returns the number of voluntary context switches of this thread.
fn switches_of_this_thread() -> Result<f64> {
    let status = fs::read_to_string("/proc/thread-self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")).context("switches")?;
    Ok(line.trim().parse()?)
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
