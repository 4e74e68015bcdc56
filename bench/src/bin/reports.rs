//! Measures the effect of a flood of reports on searches: p99 of searches with 1,000 reports per
//! second, each from a different address, compared with p99 without reports. The server accepts 600
//! reports per minute. Rejecting all further reports must not affect searches either.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use signpost_bench::load::read_any_reply;
use signpost_bench::{Program, post, report, serve_or_measure};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

const SECONDS: u64 = 5;
const SEARCHES: u64 = 400;
const REPORTS: u64 = 1_000;
const CONNECTIONS: u64 = 32;
/// Number of sample ATMs that are reported.
const ATMS: u64 = 100;

fn main() -> Result<()> {
    serve_or_measure(measure)
}

async fn measure() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let data_dir = format!("data_dir={}", folder.path().display());
    let program =
        Program::start(&[&data_dir, "services=atm,auth", "trusted_proxies=127.0.0.1", "rate_limit_reports=5/h"])?;
    let address = program.target.address;
    let arguments = r#"{"location":"Austin, TX","limit":10}"#;
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"find_nearest_bitcoin_atm","arguments":{arguments}}}}}"#
    );
    let search = move |_: u64| post("/mcp", "", &call);
    // Warms up, because first reads take longer.
    measure_at_rate(address, SEARCHES, search.clone()).await?;
    let (alone, refused_alone) = measure_at_rate(address, SEARCHES, search.clone()).await?;
    let (under, reports) =
        tokio::join!(measure_at_rate(address, SEARCHES, search), measure_at_rate(address, REPORTS, report_from));
    let ((under, refused_under), (reports, refused)) = (under?, reports?);
    ensure!(refused_alone + refused_under == 0, "searches were refused");
    println!(
        "{SEARCHES} searches a second: {alone:.2?} alone, {under:.2?} beside {REPORTS} reports a second ({reports:.2?}, \
         {refused} of them refused)"
    );
    report("reports_search", under.as_secs_f64() / alone.as_secs_f64(), None)
}

/// Creates a report from a unique address.
fn report_from(number: u64) -> Vec<u8> {
    let [.., a, b, c] = number.to_be_bytes();
    let header = format!("x-forwarded-for: 10.{a}.{b}.{c}\r\n");
    let atm = number % ATMS + 1;
    post(&format!("/v1/atms/{atm}/reports"), &header, r#"{"seen":"gone","how":"saw"}"#)
}

/// Sends `rate` requests per second at fixed times. Returns p99 and the number of rejected
/// requests.
async fn measure_at_rate(
    address: SocketAddr,
    rate: u64,
    request: impl Fn(u64) -> Vec<u8> + Clone + Send + 'static,
) -> Result<(Duration, usize)> {
    let (begun, mut clients) = (Instant::now() + Duration::from_millis(100), JoinSet::new());
    for first in 0..CONNECTIONS {
        let request = request.clone();
        clients.spawn(async move {
            let mut connection = TcpStream::connect(address).await?;
            connection.set_nodelay(true)?;
            let (mut latencies, mut refused, mut reply) = (Vec::new(), 0, Vec::new());
            for number in (first..rate * SECONDS).step_by(usize::try_from(CONNECTIONS)?) {
                let due = begun + Duration::from_micros(number * 1_000_000 / rate);
                sleep_until(due).await;
                connection.write_all(&request(number)).await?;
                read_any_reply(&mut connection, &mut reply).await?;
                latencies.push(due.elapsed());
                refused += usize::from(!reply.starts_with(b"HTTP/1.1 2"));
            }
            anyhow::Ok((latencies, refused))
        });
    }
    let clients = clients.join_all().await.into_iter().collect::<Result<Vec<_>>>().context("the load")?;
    let refused = clients.iter().map(|(_, refused)| refused).sum();
    let mut latencies: Vec<_> = clients.into_iter().flat_map(|(latencies, _)| latencies).collect();
    ensure!(!latencies.is_empty(), "nothing was sent");
    latencies.sort_unstable();
    Ok((latencies[latencies.len() * 99 / 100], refused))
}
