//! The console with the database of a large deployment: the latency of each page, and the effect of open consoles on
//! logins.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use signpost_bench::console_fixture::{ConsoleFixture, DELIVERIES, MACHINES, SESSIONS, fill};
use signpost_bench::load::{median, read_reply};
use signpost_bench::server::Door;
use signpost_bench::{Program, or_measure, report};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant as Tick, MissedTickBehavior, interval, sleep_until};

/// Requests per page.
const REQUESTS: usize = 100;
/// Logins per second, seconds per turn, and turns.
const LOGINS: u64 = 200;
const SECONDS: u64 = 3;
const TURNS: u64 = 5;
const CONNECTIONS: u64 = 32;
/// Interval at which all open consoles together load their counts and one page: a hundred consoles, each every ten
/// seconds.
const POLL: Duration = Duration::from_millis(100);

fn main() -> Result<()> {
    or_measure(measure)
}

async fn measure() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let begun = Instant::now();
    let fixture = fill(folder.path()).await?;
    println!(
        "{SESSIONS} sessions, {DELIVERIES} deliveries, {MACHINES} machines on SQLite, made in {:.0?}",
        begun.elapsed()
    );
    let ours = Program::start(&[&format!("data_dir={}", folder.path().display())])?;
    pages(&ours.door, &fixture).await?;
    logins(&ours.door, &fixture).await
}

/// Creates the request for a page, as a browser on this machine sends it.
fn request(door: &Door, fixture: &ConsoleFixture, path: &str) -> Vec<u8> {
    let (port, cookie) = (door.address.port(), &fixture.cookie);
    format!("GET {path} HTTP/1.1\r\nhost: localhost:{port}\r\n{cookie}\r\n").into_bytes()
}

async fn pages(door: &Door, fixture: &ConsoleFixture) -> Result<()> {
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
    let (mut slowest_half, mut slowest_most) = (Duration::ZERO, Duration::ZERO);
    println!("pages of the console, one request after another, {REQUESTS} each");
    for path in paths {
        let took = times(door, &request(door, fixture, &path)).await.with_context(|| path.clone())?;
        let (half, most) = (took[REQUESTS / 2], took[REQUESTS * 99 / 100]);
        let shown = path.replace(&**site, "…").replace(&**failed, "…");
        println!("  {shown:<44} half below {half:>9.2?}   99 of 100 below {most:>9.2?}");
        (slowest_half, slowest_most) = (slowest_half.max(half), slowest_most.max(most));
    }
    report("console", slowest_half.as_secs_f64() * 1e3, None)?;
    report("console_most", slowest_most.as_secs_f64() * 1e3, None)
}

/// Returns the latencies, sorted, without the first: a first read takes longer.
async fn times(door: &Door, request: &[u8]) -> Result<Vec<Duration>> {
    let mut connection = TcpStream::connect(door.address).await?;
    connection.set_nodelay(true)?;
    let (mut took, mut reply) = (Vec::with_capacity(REQUESTS), Vec::new());
    for number in 0..=REQUESTS {
        let begun = Instant::now();
        connection.write_all(request).await?;
        read_reply(&mut connection, &mut reply).await?;
        if number > 0 {
            took.push(begun.elapsed());
        }
    }
    took.sort_unstable();
    Ok(took)
}

async fn logins(door: &Door, fixture: &ConsoleFixture) -> Result<()> {
    let (mut alone, mut beside, mut number) = (Vec::new(), Vec::new(), 1);
    for _ in 0..TURNS {
        alone.push(answers(door, &mut number).await?);
        let console = tokio::spawn(poll(door.clone(), fixture.clone()));
        let took = answers(door, &mut number).await?;
        if console.is_finished() {
            console.await?.context("the console")?;
        } else {
            console.abort();
        }
        beside.push(took);
    }
    let (alone, beside) = (median(alone), median(beside));
    println!("{LOGINS} logins a second, 99 of 100 below {alone:.2} ms alone, {beside:.2} ms while consoles ask");
    report("console_logins", beside / alone, None)
}

/// Simulates open consoles: loads their counts and the page of today until it is dropped.
async fn poll(door: Door, fixture: ConsoleFixture) -> Result<()> {
    let mut connection = TcpStream::connect(door.address).await?;
    let requests = ["/console/counts", "/console"].map(|path| request(&door, &fixture, path));
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

/// Answers sessions that were created in advance, each when it is due. Returns p99 in milliseconds.
async fn answers(door: &Door, number: &mut u64) -> Result<f64> {
    let mut answers = Vec::new();
    for _ in 0..LOGINS * SECONDS {
        answers.push(door.sign_login(*number).await?.1);
        *number += 1;
    }
    let (address, begun, mut clients) = (door.address, Tick::now() + Duration::from_millis(100), JoinSet::new());
    for first in 0..CONNECTIONS {
        let every = usize::try_from(CONNECTIONS)?;
        let own = (0_u64..).zip(&answers).skip(usize::try_from(first)?).step_by(every);
        let own: Vec<(u64, Vec<u8>)> = own.map(|(at, answer)| (at, answer.clone())).collect();
        clients.spawn(async move {
            let mut connection = TcpStream::connect(address).await?;
            connection.set_nodelay(true)?;
            let (mut took, mut reply) = (Vec::with_capacity(own.len()), Vec::new());
            for (at, answer) in own {
                let due = begun + Duration::from_micros(at * 1_000_000 / LOGINS);
                sleep_until(due).await;
                connection.write_all(&answer).await?;
                read_reply(&mut connection, &mut reply).await?;
                took.push(due.elapsed());
            }
            anyhow::Ok(took)
        });
    }
    let took = clients.join_all().await.into_iter().collect::<Result<Vec<_>>>().context("the logins")?;
    let mut took = took.concat();
    took.sort_unstable();
    Ok(took[took.len() * 99 / 100].as_secs_f64() * 1e3)
}
