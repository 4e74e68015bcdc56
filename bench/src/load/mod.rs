//! Load generators for HTTP measurements over the loopback interface.
//!
//! The variants of a measurement alternate in short rounds, so that other load on the machine
//! affects all of them; only the ratios are meaningful. Every server runs in a separate process, so
//! that the processor time per request excludes the load generator. One-shot requests are sent by
//! [`burst`]. All other requests are sent by `wrk`, which uses the least processor time, or by the
//! generator in this crate if `wrk` is not installed or to cross-check the results.

mod built_in;
mod wrk;

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tokio::task::JoinSet;

use crate::child::{CpuTime, Server};
use crate::goals::report;

pub use built_in::{exchange, read_any_reply, read_reply, send_request};

/// Number of rounds per variant. The result is their median.
pub const ROUNDS: usize = 5;
/// Duration of a round.
pub const ROUND: Duration = Duration::from_secs(1);

/// A load generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generator {
    /// `wrk` with a single thread.
    Wrk,
    /// The generator in this crate, on a single thread.
    BuiltIn,
}

impl Generator {
    /// Returns `wrk` if it is installed, and the generator in this crate otherwise.
    #[must_use]
    pub fn best() -> Self {
        if wrk::is_installed() { Self::Wrk } else { Self::BuiltIn }
    }

    /// Generates load for a round. Returns the number of responses and the elapsed seconds.
    async fn load(self, address: SocketAddr, request: &[u8], connections: usize) -> Result<(f64, f64)> {
        match self {
            Self::Wrk => wrk::round(address, request, connections).await,
            Self::BuiltIn => built_in::round(address, request, connections).await,
        }
    }
}

/// A request that is sent to a server repeatedly.
#[derive(Clone, Debug)]
pub struct Variant<'a> {
    /// The name of the variant in the output.
    pub name: &'static str,
    /// The server under test.
    pub server: &'a Server,
    /// The bytes of the request.
    pub request: Vec<u8>,
}

/// The result of a round of a variant.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    requests: f64,
    seconds: f64,
    /// Processor time of the server for all requests.
    cpu_time: CpuTime,
}

/// The result of all rounds of a variant.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Requests per second, the median of the rounds.
    pub rate: f64,
    /// Processor time of the server per request.
    pub cpu_time: CpuTime,
}

impl Measured {
    /// Combines the results of several rounds.
    ///
    /// # Errors
    /// Returns an error if there was no response.
    pub fn of(rounds: &[Round]) -> Result<Self> {
        let requests: f64 = rounds.iter().map(|round| round.requests).sum();
        ensure!(requests > 0.0, "no request was answered");
        let rate = median(rounds.iter().map(|round| round.requests / round.seconds).collect());
        Ok(Self { rate, cpu_time: rounds.iter().map(|round| round.cpu_time).sum::<CpuTime>() / requests })
    }
}

/// Measures the variants round by round, with the best available generator.
///
/// # Errors
/// Returns an error if a response is not a success.
pub async fn measure(variants: &[Variant<'_>], connections: usize) -> Result<Vec<Measured>> {
    measure_with(Generator::best(), variants, connections).await
}

/// Measures the variants round by round, with this generator.
///
/// # Errors
/// Returns an error if a response is not a success.
pub async fn measure_with(generator: Generator, variants: &[Variant<'_>], connections: usize) -> Result<Vec<Measured>> {
    let mut rounds = vec![Vec::new(); variants.len()];
    for _ in 0..ROUNDS {
        for (variant, rounds) in variants.iter().zip(&mut rounds) {
            rounds.push(round_with(generator, variant, connections).await?);
        }
    }
    rounds.iter().map(|rounds| Measured::of(rounds)).collect()
}

/// Measures a round of a variant, with the best available generator.
///
/// # Errors
/// Returns an error if a response is not a success.
pub async fn round(variant: &Variant<'_>, connections: usize) -> Result<Round> {
    round_with(Generator::best(), variant, connections).await
}

async fn round_with(generator: Generator, variant: &Variant<'_>, connections: usize) -> Result<Round> {
    let Variant { name, server, request } = variant;
    let before = server.cpu_time()?;
    let (requests, seconds) = generator.load(server.address, request, connections).await.context(*name)?;
    Ok(Round { requests, seconds, cpu_time: server.cpu_time()? - before })
}

/// Measures all variants concurrently, with `connections` connections each. Returns the sum of the
/// results.
///
/// # Errors
/// Returns an error if a response is not a success.
pub async fn measure_concurrently(variants: &[Variant<'_>], connections: usize) -> Result<Measured> {
    let (generator, mut rounds) = (Generator::best(), Vec::new());
    let cpu_time = || variants.iter().map(|variant| variant.server.cpu_time()).sum::<Result<CpuTime>>();
    for _ in 0..ROUNDS {
        let (before, mut loads) = (cpu_time()?, JoinSet::new());
        for Variant { server, request, .. } in variants {
            let (address, request) = (server.address, request.clone());
            loads.spawn(async move { generator.load(address, &request, connections).await });
        }
        let loads = loads.join_all().await.into_iter().collect::<Result<Vec<_>>>()?;
        let (requests, seconds): (Vec<_>, Vec<_>) = loads.into_iter().unzip();
        let (requests, seconds) = (requests.iter().sum(), seconds.into_iter().fold(0.0, f64::max));
        rounds.push(Round { requests, seconds, cpu_time: cpu_time()? - before });
    }
    Measured::of(&rounds)
}

/// Sends each request once, over a few connections.
///
/// # Errors
/// Returns an error if a response is not a success.
pub async fn burst(server: &Server, requests: Vec<Vec<u8>>, connections: usize) -> Result<Round> {
    let before = server.cpu_time()?;
    let (requests, seconds) = built_in::burst(server.address, requests, connections).await?;
    Ok(Round { requests, seconds, cpu_time: server.cpu_time()? - before })
}

/// Returns the median of the figures.
///
/// # Panics
/// Panics if there are no figures.
#[must_use]
pub fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Converts the counts of several rounds to their median rate per second.
#[must_use]
pub fn per_second(counts: Vec<u32>) -> f64 {
    median(counts.into_iter().map(f64::from).collect()) / ROUND.as_secs_f64()
}

/// Prints a result: the name, the rate per second, and the ratio to the baseline.
pub fn print(name: &str, per_second: f64, baseline: f64) {
    println!("  {name:<46} {per_second:>9.0} /s   {:>6.3}", per_second / baseline);
}

/// Prints a result with the processor time per request of the server and of the baseline.
pub fn print_measured(name: &str, measured: Measured, baseline: Measured) {
    let (part, cpu_time) = (measured.rate / baseline.rate, measured.cpu_time);
    println!("  {name:<46} {:>9.0} /s   {part:>6.3}   {cpu_time}", measured.rate);
}

/// Prints the results of all variants, compared with the first variant.
pub fn print_all(variants: &[Variant<'_>], measured: &[Measured]) {
    for (variant, one) in variants.iter().zip(measured) {
        print_measured(variant.name, *one, measured[0]);
    }
}

/// Measures and prints the variants. Reports the ratio of the second variant to the first.
///
/// # Errors
/// Returns an error if a response is not a success.
pub async fn compare(key: &'static str, variants: &[Variant<'_>], connections: usize) -> Result<Vec<Measured>> {
    let measured = measure(variants, connections).await?;
    print_all(variants, &measured);
    report(key, measured[1].rate / measured[0].rate, Some([measured[1].cpu_time, measured[0].cpu_time]))?;
    Ok(measured)
}

/// Measures the variants with the generator in this crate. Reports by which factor the ratio of the
/// second variant to the first differs from the ratio that `wrk` measured.
///
/// # Errors
/// Returns an error if a response is not a success.
pub async fn check(key: &str, variants: &[Variant<'_>], connections: usize, by_wrk: &[Measured]) -> Result<()> {
    if Generator::best() == Generator::BuiltIn {
        return Ok(());
    }
    let pair = &variants[..2];
    let by_own = measure_with(Generator::BuiltIn, pair, connections).await?;
    println!("  the same two by our own generator:");
    print_all(pair, &by_own);
    let [one, other] = [by_wrk, &by_own].map(|measured| measured[1].rate / measured[0].rate);
    report(key, (one / other).max(other / one), None)
}
