//! The load that every HTTP measurement uses: over loopback, bounded, ended by itself.
//!
//! The variants of one measurement take turns, round by round, so that whatever else the machine does meets all of
//! them; only the ratios mean anything. Every server is a process of its own, so that the processor time that a request
//! costs is the server's alone. Requests that may be sent once only go through [`burst`], all others through one of two
//! generators: `wrk`, which needs least of the processor, and our own where there is no `wrk` or as a check on it.

mod own;
mod wrk;

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tokio::task::JoinSet;

use crate::child::{Server, Spent};
use crate::goals::report;

pub use own::{ask, exchange, read_any_reply, read_reply};

/// How many rounds each variant gets; their median counts.
pub const ROUNDS: usize = 5;
/// How long one takes.
pub const ROUND: Duration = Duration::from_secs(1);

/// What makes the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generator {
    /// `wrk` with one thread.
    Wrk,
    /// Ours, on one thread.
    Own,
}

impl Generator {
    /// `wrk` where it is installed.
    #[must_use]
    pub fn best() -> Self {
        if wrk::is_installed() { Self::Wrk } else { Self::Own }
    }

    /// How many requests were answered, and in how many seconds.
    async fn load(self, address: SocketAddr, request: &[u8], connections: usize) -> Result<(f64, f64)> {
        match self {
            Self::Wrk => wrk::round(address, request, connections).await,
            Self::Own => own::round(address, request, connections).await,
        }
    }
}

/// One request, sent again and again to one server.
#[derive(Clone, Debug)]
pub struct Variant<'a> {
    /// What is measured.
    pub name: &'static str,
    /// Who answers.
    pub server: &'a Server,
    /// The bytes of the request.
    pub request: Vec<u8>,
}

/// What came of one round.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    requests: f64,
    seconds: f64,
    /// Of all requests.
    spent: Spent,
}

/// What came of a variant.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Requests a second: the median of the rounds.
    pub rate: f64,
    /// What one request cost the server.
    pub spent: Spent,
}

impl Measured {
    /// What several rounds say.
    ///
    /// # Errors
    /// Where no request was answered.
    pub fn of(rounds: &[Round]) -> Result<Self> {
        let requests: f64 = rounds.iter().map(|round| round.requests).sum();
        ensure!(requests > 0.0, "no request was answered");
        let rate = median(rounds.iter().map(|round| round.requests / round.seconds).collect());
        Ok(Self { rate, spent: rounds.iter().map(|round| round.spent).sum::<Spent>() / requests })
    }
}

/// Gives each variant its rounds in turn, with the best generator that there is.
///
/// # Errors
/// Where a server does not answer every request with a success.
pub async fn measure(variants: &[Variant<'_>], connections: usize) -> Result<Vec<Measured>> {
    measure_with(Generator::best(), variants, connections).await
}

/// The same with a given generator.
///
/// # Errors
/// Where a server does not answer every request with a success.
pub async fn measure_with(generator: Generator, variants: &[Variant<'_>], connections: usize) -> Result<Vec<Measured>> {
    let mut rounds = vec![Vec::new(); variants.len()];
    for _ in 0..ROUNDS {
        for (variant, rounds) in variants.iter().zip(&mut rounds) {
            rounds.push(round_with(generator, variant, connections).await?);
        }
    }
    rounds.iter().map(|rounds| Measured::of(rounds)).collect()
}

/// One round of one variant, with the best generator that there is.
///
/// # Errors
/// Where the server does not answer every request with a success.
pub async fn round(variant: &Variant<'_>, connections: usize) -> Result<Round> {
    round_with(Generator::best(), variant, connections).await
}

async fn round_with(generator: Generator, variant: &Variant<'_>, connections: usize) -> Result<Round> {
    let Variant { name, server, request } = variant;
    let before = server.spent()?;
    let (requests, seconds) = generator.load(server.address, request, connections).await.context(*name)?;
    Ok(Round { requests, seconds, spent: server.spent()? - before })
}

/// All variants at once, with these connections each: what they did together.
///
/// # Errors
/// Where a server does not answer every request with a success.
pub async fn at_once(variants: &[Variant<'_>], connections: usize) -> Result<Measured> {
    let (generator, mut rounds) = (Generator::best(), Vec::new());
    let spent = || variants.iter().map(|variant| variant.server.spent()).sum::<Result<Spent>>();
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

/// Sends all requests over a few connections, each once.
///
/// # Errors
/// Where the server does not answer every request with a success.
pub async fn burst(server: &Server, requests: Vec<Vec<u8>>, connections: usize) -> Result<Round> {
    let before = server.spent()?;
    let (requests, seconds) = own::burst(server.address, requests, connections).await?;
    Ok(Round { requests, seconds, spent: server.spent()? - before })
}

/// The median of some figures.
///
/// # Panics
/// Where there is none.
#[must_use]
pub fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// The median of what was done in each round of our own, as a rate.
#[must_use]
pub fn per_second(counts: Vec<u32>) -> f64 {
    median(counts.into_iter().map(f64::from).collect()) / ROUND.as_secs_f64()
}

/// Prints one line of a result: what, how often a second, and which part of the baseline that is.
pub fn print(name: &str, per_second: f64, baseline: f64) {
    println!("  {name:<46} {per_second:>9.0} /s   {:>6.3}", per_second / baseline);
}

/// The same with what each request cost the servers.
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

/// Measures, prints, and reports the second variant as a part of the first.
///
/// # Errors
/// Where a server does not answer every request with a success.
pub async fn compare(key: &'static str, variants: &[Variant<'_>], connections: usize) -> Result<Vec<Measured>> {
    let measured = measure(variants, connections).await?;
    print_all(variants, &measured);
    report(key, measured[1].rate / measured[0].rate, Some([measured[1].spent, measured[0].spent]))?;
    Ok(measured)
}

/// Reports how far our own generator's ratio of the second variant to the first is from that of `wrk`, as a factor.
///
/// # Errors
/// Where a server does not answer every request with a success.
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
