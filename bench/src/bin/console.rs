//! Measures the console with the database of a large deployment: the latency of each page, and the
//! effect of open consoles on logins.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use signpost_bench::console_fixture::{ATMS, ConsoleFixture, DELIVERIES, SESSIONS, fill};
use signpost_bench::load::{median, read_reply};
use signpost_bench::server::ApiTarget;
use signpost_bench::{Program, report, serve_or_measure};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant as Tick, MissedTickBehavior, interval, sleep_until};

/// Number of requests per page.
const REQUESTS: usize = 100;
/// Number of logins per second.
const LOGINS: u64 = 200;
/// Duration of a round in seconds.
const SECONDS: u64 = 3;
/// Number of rounds with and without open consoles.
const ROUNDS: u64 = 5;
const CONNECTIONS: u64 = 32;
/// Interval at which all open consoles together reload their counts and a page. It corresponds to a
/// hundred consoles that reload every ten seconds.
const POLL: Duration = Duration::from_millis(100);

fn main() -> Result<()> {
    serve_or_measure(measure)
}

async fn measure() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let begun = Instant::now();
    let fixture = fill(folder.path()).await?;
    println!(
        "{SESSIONS} sessions, {DELIVERIES} deliveries, {ATMS} machines on SQLite, made in {:.0?}",
        begun.elapsed()
    );
    let program = Program::start(&[&format!("data_dir={}", folder.path().display())])?;
    pages(&program.target, &fixture).await?;
    logins(&program.target, &fixture).await
}

/// Creates the request for a page, as sent by a browser on this machine.
fn request(target: &ApiTarget, fixture: &ConsoleFixture, path: &str) -> Vec<u8> {
    let (port, cookie) = (target.address.port(), &fixture.cookie);
    format!("GET {path} HTTP/1.1\r\nhost: localhost:{port}\r\n{cookie}\r\n").into_bytes()
}

async fn pages(target: &ApiTarget, fixture: &ConsoleFixture) -> Result<()> {
    let ConsoleFixture { site, failed, .. } = fixture;
    let paths = [
        "/console".to_owned(),
        "/console/counts".to_owned(),
        "/console/health".to_owned(),
        "/console/machines?q=machine+4711".to_owned(),
        "/console/machines/4711".to_owned(),
        "/console/machines/import".to_owned(),
        "/console/reports".to_owned(),
        "/console/sites".to_owned(),
        format!("/console/sites/{site}"),
        "/console/deliveries".to_owned(),
        "/console/deliveries?state=failed".to_owned(),
        "/console/deliveries?state=pending".to_owned(),
        format!("/console/deliveries?state=failed&domain={site}"),
        format!("/console/deliveries/{failed}"),
        "/console/keys".to_owned(),
        "/console/log".to_owned(),
        "/console/settings".to_owned(),
    ];
    let (mut slowest_p50, mut slowest_p99) = (Duration::ZERO, Duration::ZERO);
    println!("pages of the console, sequential requests, {REQUESTS} each");
    for path in paths {
        let latencies = times(target, &request(target, fixture, &path)).await.with_context(|| path.clone())?;
        let (p50, p99) = (latencies[REQUESTS / 2], latencies[REQUESTS * 99 / 100]);
        let shown = path.replace(&**site, "…").replace(&**failed, "…");
        println!("  {shown:<44} p50 {p50:>9.2?}   p99 {p99:>9.2?}");
        (slowest_p50, slowest_p99) = (slowest_p50.max(p50), slowest_p99.max(p99));
    }
    report("console", slowest_p50.as_secs_f64() * 1e3, None)?;
    report("console_most", slowest_p99.as_secs_f64() * 1e3, None)
}

/// Returns the latencies in ascending order. Excludes the first request, because the first read
/// takes longer.
async fn times(target: &ApiTarget, request: &[u8]) -> Result<Vec<Duration>> {
    let mut connection = TcpStream::connect(target.address).await?;
    connection.set_nodelay(true)?;
    let (mut latencies, mut reply) = (Vec::with_capacity(REQUESTS), Vec::new());
    for number in 0..=REQUESTS {
        let begun = Instant::now();
        connection.write_all(request).await?;
        read_reply(&mut connection, &mut reply).await?;
        if number > 0 {
            latencies.push(begun.elapsed());
        }
    }
    latencies.sort_unstable();
    Ok(latencies)
}

async fn logins(target: &ApiTarget, fixture: &ConsoleFixture) -> Result<()> {
    let (mut alone, mut with_load, mut number) = (Vec::new(), Vec::new(), 1);
    for _ in 0..ROUNDS {
        alone.push(answers(target, &mut number).await?);
        let console = tokio::spawn(poll(target.clone(), fixture.clone()));
        let p99 = answers(target, &mut number).await?;
        if console.is_finished() {
            console.await?.context("the console")?;
        } else {
            console.abort();
        }
        with_load.push(p99);
    }
    let (alone, with_load) = (median(alone), median(with_load));
    println!("{LOGINS} logins per second, p99 {alone:.2} ms without consoles, {with_load:.2} ms with consoles");
    report("console_logins", with_load / alone, None)
}

/// Simulates open consoles that reload their counts and the start page, until the future is
/// dropped.
async fn poll(target: ApiTarget, fixture: ConsoleFixture) -> Result<()> {
    let mut connection = TcpStream::connect(target.address).await?;
    let requests = ["/console/counts", "/console"].map(|path| request(&target, &fixture, path));
    let (mut due, mut reply) = (interval(POLL), Vec::new());
    due.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        due.tick().await;
        for request in &requests {
            connection.write_all(request).await?;
            read_reply(&mut connection, &mut reply).await?;
        }
    }
}

/// Answers sessions that were created in advance, at fixed times. Returns p99 in milliseconds.
async fn answers(target: &ApiTarget, number: &mut u64) -> Result<f64> {
    let mut answers = Vec::new();
    for _ in 0..LOGINS * SECONDS {
        answers.push(target.sign_login(*number).await?.1);
        *number += 1;
    }
    let (address, begun, mut clients) = (target.address, Tick::now() + Duration::from_millis(100), JoinSet::new());
    for first in 0..CONNECTIONS {
        let every = usize::try_from(CONNECTIONS)?;
        let own = (0_u64..).zip(&answers).skip(usize::try_from(first)?).step_by(every);
        let own: Vec<(u64, Vec<u8>)> = own.map(|(at, answer)| (at, answer.clone())).collect();
        clients.spawn(async move {
            let mut connection = TcpStream::connect(address).await?;
            connection.set_nodelay(true)?;
            let (mut latencies, mut reply) = (Vec::with_capacity(own.len()), Vec::new());
            for (at, answer) in own {
                let due = begun + Duration::from_micros(at * 1_000_000 / LOGINS);
                sleep_until(due).await;
                connection.write_all(&answer).await?;
                read_reply(&mut connection, &mut reply).await?;
                latencies.push(due.elapsed());
            }
            anyhow::Ok(latencies)
        });
    }
    let latencies = clients.join_all().await.into_iter().collect::<Result<Vec<_>>>().context("the logins")?;
    let mut latencies = latencies.concat();
    latencies.sort_unstable();
    Ok(latencies[latencies.len() * 99 / 100].as_secs_f64() * 1e3)
}
