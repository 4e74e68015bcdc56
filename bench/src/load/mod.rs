//! The load generators of all HTTP measurements: over loopback, and bounded.
//!
//! The variants of a measurement alternate by round, so that other load of the machine affects all of them; only the
//! ratios are meaningful. Every server has its own process, so that the processor time per request excludes the
//! generator. One-shot requests go through [`burst`], all others through `wrk`, which uses the least processor time, or
//! through the generator in this crate, if `wrk` is not installed or as a cross-check.

mod own;
mod wrk;

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tokio::task::JoinSet;

use crate::child::{CpuTime, Server};
use crate::goals::report;

pub use own::{ask, exchange, read_any_reply, read_reply};

/// Rounds per variant; the median is the result.
pub const ROUNDS: usize = 5;
/// Duration of a round.
pub const ROUND: Duration = Duration::from_secs(1);

/// A load generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generator {
    /// `wrk` with a single thread.
    Wrk,
    /// The generator in this crate, on a single thread.
    Own,
}

impl Generator {
    /// Returns `wrk` if it is installed.
    #[must_use]
    pub fn best() -> Self {
        if wrk::is_installed() { Self::Wrk } else { Self::Own }
    }

    /// Returns the number of responses and the elapsed seconds.
    async fn load(self, address: SocketAddr, request: &[u8], connections: usize) -> Result<(f64, f64)> {
        match self {
            Self::Wrk => wrk::round(address, request, connections).await,
            Self::Own => own::round(address, request, connections).await,
        }
    }
}

/// A request that is sent to a server repeatedly.
#[derive(Clone, Debug)]
pub struct Variant<'a> {
    /// The name of the variant.
    pub name: &'static str,
    /// The server under test.
    pub server: &'a Server,
    /// The bytes of the request.
    pub request: Vec<u8>,
}

/// The result of a round.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    requests: f64,
    seconds: f64,
    /// Processor time of all requests.
    spent: CpuTime,
}

/// The result of a variant.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Requests per second, the median of the rounds.
    pub rate: f64,
    /// Processor time of the server per request.
    pub spent: CpuTime,
}

impl Measured {
    /// Combines several rounds.
    ///
    /// # Errors
    /// Returns an error if no request was answered.
    pub fn of(rounds: &[Round]) -> Result<Self> {
        let requests: f64 = rounds.iter().map(|round| round.requests).sum();
        ensure!(requests > 0.0, "no request was answered");
        let rate = median(rounds.iter().map(|round| round.requests / round.seconds).collect());
        Ok(Self { rate, spent: rounds.iter().map(|round| round.spent).sum::<CpuTime>() / requests })
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
    Ok(Round { requests, seconds, spent: server.cpu_time()? - before })
}

/// Measures all variants concurrently, with these connections each, and returns the sum.
///
/// # Errors
/// Returns an error if a response is not a success.
pub async fn at_once(variants: &[Variant<'_>], connections: usize) -> Result<Measured> {
    let (generator, mut rounds) = (Generator::best(), Vec::new());
    let spent = || variants.iter().map(|variant| variant.server.cpu_time()).sum::<Result<CpuTime>>();
    for _ in 0..ROUNDS {
        let (before, mut loads) = (spent()?, JoinSet::new());
        for Variant { server, request, .. } in variants {
            let (address, request) = (server.address, request.clone());
            loads.spawn(async move { generator.load(address, &request, connections).await });
        }
        let loads = loads.join_all().await.into_iter().collect::<Result<Vec<_>>>()?;
        let (requests, seconds): (Vec<_>, Vec<_>) = loads.into_iter().unzip();
        let (requests, seconds) = (requests.iter().sum(), seconds.into_iter().fold(0.0, f64::max));
        rounds.push(Round { requests, seconds, spent: spent()? - before });
    }
    Measured::of(&rounds)
}

/// Sends each request once, over a few connections.
///
/// # Errors
/// Returns an error if a response is not a success.
pub async fn burst(server: &Server, requests: Vec<Vec<u8>>, connections: usize) -> Result<Round> {
    let before = server.cpu_time()?;
    let (requests, seconds) = own::burst(server.address, requests, connections).await?;
    Ok(Round { requests, seconds, spent: server.cpu_time()? - before })
}

/// Returns the median.
///
/// # Panics
/// Panics if there are no figures.
#[must_use]
pub fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Returns the median count of the fixed-length rounds as a rate per second.
#[must_use]
pub fn per_second(counts: Vec<u32>) -> f64 {
    median(counts.into_iter().map(f64::from).collect()) / ROUND.as_secs_f64()
}

/// Prints a line of the result: the name, the rate per second, and its ratio to the baseline.
pub fn print(name: &str, per_second: f64, baseline: f64) {
    println!("  {name:<46} {per_second:>9.0} /s   {:>6.3}", per_second / baseline);
}

/// Prints a line of the result with the processor time per request of the server and of the baseline.
pub fn print_measured(name: &str, measured: Measured, baseline: Measured) {
    let (part, spent) = (measured.rate / baseline.rate, measured.spent);
    println!("  {name:<46} {:>9.0} /s   {part:>6.3}   {spent}", measured.rate);
}

/// Prints all variants, compared with the first.
pub fn print_all(variants: &[Variant<'_>], measured: &[Measured]) {
    for (variant, one) in variants.iter().zip(measured) {
        print_measured(variant.name, *one, measured[0]);
    }
}

/// Measures and prints the variants, and reports the ratio of the second to the first.
///
/// # Errors
/// Returns an error if a response is not a success.
pub async fn compare(key: &'static str, variants: &[Variant<'_>], connections: usize) -> Result<Vec<Measured>> {
    let measured = measure(variants, connections).await?;
    print_all(variants, &measured);
    report(key, measured[1].rate / measured[0].rate, Some([measured[1].spent, measured[0].spent]))?;
    Ok(measured)
}

/// Reports how far the ratio of the second variant to the first by the generator of this crate deviates from that by
/// `wrk`, as a factor.
///
/// # Errors
/// Returns an error if a response is not a success.
pub async fn check(key: &str, variants: &[Variant<'_>], connections: usize, by_wrk: &[Measured]) -> Result<()> {
    if Generator::best() == Generator::Own {
        return Ok(());
    }
    let pair = &variants[..2];
    let by_own = measure_with(Generator::Own, pair, connections).await?;
    println!("  the same two by our own generator:");
    print_all(pair, &by_own);
    let [one, other] = [by_wrk, &by_own].map(|measured| measured[1].rate / measured[0].rate);
    report(key, (one / other).max(other / one), None)
}
