//! Predicts the latency of writes at unmeasured rates with the model in `queue.rs`, from the
//! latency of a single request and the maximum rate, and compares the prediction with a measurement
//! of the writes of 1,000 logins per second.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use signpost_bench::load::read_reply;
use signpost_bench::queue::{Latency, Writer, arrivals};
use signpost_bench::{Program, Variant, measure as load, report, serve_or_measure};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant as Tick, sleep_until};

/// Number of writes per login: the creation of the session and the answer.
const WRITES: f64 = 2.0;
const LOGINS: f64 = 1_000.0;
const SECONDS: f64 = 5.0;
const SEQUENTIAL_WRITES: usize = 600;
const CONNECTIONS: usize = 64;
/// Maximum number of writes that the server commits together.
const BATCH: usize = 256;

fn main() -> Result<()> {
    serve_or_measure(measure)
}

async fn measure() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let program = Program::start(&[&format!("data_dir={}", folder.path().display())])?;
    program.target.register("localhost", "http://127.0.0.1:1/").await?;
    let request = program.target.creation();
    let alone = sequential(&program, &request).await?;
    let max_rate =
        load(&[Variant { name: "creations", server: &program.server, request: request.clone() }], 128).await?[0].rate;
    let writer = Writer::of(alone, max_rate);
    println!("durable writes: {alone:?} for a single write, at most {max_rate:.0} /s");
    println!("  predicted  logins/s           p50               p99");
    for logins in [10.0, 100.0, 300.0, LOGINS, 3_000.0, 10_000.0] {
        let Latency { p50, p99 } = writer.latency(&arrivals(logins * WRITES, SECONDS), BATCH);
        println!("  {logins:>19} {:>10.2} ms {:>14.2} ms", p50 * 1e3, p99 * 1e3);
    }
    let arrivals = arrivals(LOGINS * WRITES, SECONDS);
    let predicted = writer.latency(&arrivals, BATCH);
    let measured = measure_at(&program, &request, &arrivals).await?;
    println!("  measured {LOGINS:>10} {:>10.2} ms {:>14.2} ms", measured.p50 * 1e3, measured.p99 * 1e3);
    report("scale_half", measured.p50 / predicted.p50, None)?;
    report("scale_most", measured.p99 / predicted.p99, None)
}

/// Returns the p50 latency of sequential requests on a single connection.
async fn sequential(program: &Program, request: &[u8]) -> Result<Duration> {
    let mut connection = TcpStream::connect(program.target.address).await?;
    connection.set_nodelay(true)?;
    let (mut latencies, mut reply) = (Vec::new(), Vec::new());
    for _ in 0..SEQUENTIAL_WRITES {
        let begun = Instant::now();
        connection.write_all(request).await?;
        read_reply(&mut connection, &mut reply).await?;
        latencies.push(begun.elapsed());
    }
    latencies.sort_unstable();
    Ok(latencies[SEQUENTIAL_WRITES / 2])
}

/// Returns the latencies of requests that are sent at these times, even if earlier requests are
/// still in flight. The wait for a free connection is included.
async fn measure_at(program: &Program, request: &[u8], arrivals: &[f64]) -> Result<Latency> {
    let (address, begun, mut clients) =
        (program.target.address, Tick::now() + Duration::from_millis(100), JoinSet::new());
    for first in 0..CONNECTIONS {
        let own: Vec<f64> = arrivals.iter().skip(first).step_by(CONNECTIONS).copied().collect();
        let request = request.to_vec();
        clients.spawn(async move {
            let mut connection = TcpStream::connect(address).await?;
            connection.set_nodelay(true)?;
            let (mut latencies, mut reply) = (Vec::with_capacity(own.len()), Vec::new());
            for arrival in own {
                let due = begun + Duration::from_secs_f64(arrival);
                let is_late = due < Tick::now();
                sleep_until(due).await;
                let sent = if is_late { due } else { Tick::now() };
                connection.write_all(&request).await?;
                read_reply(&mut connection, &mut reply).await?;
                latencies.push(sent.elapsed().as_secs_f64());
            }
            anyhow::Ok(latencies)
        });
    }
    let latencies = clients.join_all().await.into_iter().collect::<Result<Vec<_>>>().context("the measured point")?;
    Ok(Latency::of(latencies.concat()))
}
