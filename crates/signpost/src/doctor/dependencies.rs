//! Collects the facts about the dependencies of an installation: database latency, disk, Redis,
//! name servers, clocks, endpoints of integrators, and its own public URL. They are collected
//! concurrently, with a timeout of a few seconds each.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use reqwest::Method;
use reqwest::header::{DATE, HeaderMap};
use signpost_login::domains::overview;
use signpost_platform::accounts::Environment;
use signpost_platform::outbound::{EgressPolicy, NameResolver, Outbound, Request, parse_http_date};
use signpost_platform::redis::measure_ping;
use signpost_store::{Store, StoreLatency, available_bytes};
use tokio::time::timeout;
use url::Url;

use super::Fetched;
use super::address::ask_forwarding;
use crate::config::{Config, Service};

/// Timeout of each answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of integrators' hosts that are requested.
const MAX_ENDPOINTS: usize = 3;
/// Maximum number of domains to choose from.
const MAX_DOMAINS: u32 = 50;
/// Host name of the DNS lookup if the server has no name to look up. It is reserved (RFC 2606).
const ANY_NAME: &str = "example.com";

/// The facts about the dependencies of an installation. A part is `None` if the installation does
/// not use it.
#[derive(Debug, Default)]
pub struct DependencyFacts {
    /// Latency of the database.
    pub store_latency: Option<Result<StoreLatency, String>>,
    /// Free bytes on the disk of the data folder.
    pub available_bytes: Option<u64>,
    /// Latency of Redis.
    pub redis: Option<Result<Duration, String>>,
    /// Duration of a DNS lookup.
    pub name_servers: Option<Result<Duration, String>>,
    /// Some hosts that receive events of live domains.
    pub endpoints: Vec<EndpointReached>,
    /// Offset of the database's clock from this machine's, in seconds; positive if it is ahead.
    pub database_clock: Option<i64>,
    /// The response of the public URL, requested from this machine.
    pub public: Option<PublicFacts>,
}

/// A host that receives events, and whether it was reached.
#[derive(Debug)]
pub struct EndpointReached {
    /// The scheme, name and port of the host.
    pub origin: String,
    /// The error if the host was not reached.
    pub error: Option<String>,
}

/// The facts about the public URL, requested from this machine.
#[derive(Debug)]
pub struct PublicFacts {
    /// The URL, without a trailing slash.
    pub address: String,
    /// The answer to `GET /health` with a forged client address.
    pub health: Result<Fetched, String>,
    /// Offset of the answer's clock from this machine's, in seconds; positive if it is ahead.
    pub clock: Option<i64>,
}

impl DependencyFacts {
    pub(super) async fn inspect(config: &Config, store: Option<&Store>, outbound: &Outbound, now: Timestamp) -> Self {
        let begun = Instant::now();
        let (store_latency, redis, name_servers, endpoints, database_clock, public) = tokio::join!(
            async { Some(within(store?.measure(now)).await) },
            async { Some(within(measure_ping(config.redis_url.as_deref()?)).await) },
            measure_name_servers(config),
            reach_endpoints(config, store, outbound),
            read_database_clock(store, now, begun),
            PublicFacts::fetch(config, outbound, now, begun),
        );
        let available_bytes = available_bytes(&config.data_dir);
        Self { store_latency, available_bytes, redis, name_servers, endpoints, database_clock, public }
    }
}

/// Measures a DNS lookup like those of domain proofs. On a server that accepts only local
/// connections, it is measured only if a name server is set.
async fn measure_name_servers(config: &Config) -> Option<Result<Duration, String>> {
    let is_needed =
        config.services.contains(&Service::Auth) && (config.login.dns_server.is_some() || !config.is_loopback_only());
    if !is_needed {
        return None;
    }
    let name = config.public_url.as_ref().and_then(Url::domain).unwrap_or(ANY_NAME);
    let lookup = async {
        let names = NameResolver::uncached(config.login.dns_server)?;
        let started = Instant::now();
        names.lookup_txt(name).await?;
        Ok(started.elapsed())
    };
    Some(within(lookup).await)
}

/// Sends `HEAD /` to some hosts, under the egress policy of events. Neither an event nor the event URL is used.
async fn reach_endpoints(config: &Config, store: Option<&Store>, outbound: &Outbound) -> Vec<EndpointReached> {
    let Some(store) = store else { return Vec::new() };
    let domains = within(overview::list_live(store, MAX_DOMAINS)).await.unwrap_or_default();
    let mut origins: Vec<String> =
        domains.iter().map(|domain| domain.webhook_url.origin().ascii_serialization()).collect();
    origins.sort_unstable();
    origins.dedup();
    origins.truncate(MAX_ENDPOINTS);
    let egress = config.login.egress_policy(Environment::Live, config.is_loopback_only());
    let all = origins.into_iter().map(|origin| EndpointReached::fetch(origin, egress, outbound));
    futures_util::future::join_all(all).await
}

async fn read_database_clock(store: Option<&Store>, now: Timestamp, begun: Instant) -> Option<i64> {
    let asked_at = now + begun.elapsed();
    let time = within(store?.read_clock()).await.ok()??;
    Some(clock_offset(time, asked_at, now + begun.elapsed()))
}

impl EndpointReached {
    async fn fetch(origin: String, egress: EgressPolicy, outbound: &Outbound) -> Self {
        let head = async {
            let url: Url = origin.parse()?;
            let request = Request {
                method: Method::HEAD,
                url: &url,
                headers: HeaderMap::new(),
                body: None,
                timeout: ANSWER_TIMEOUT,
                max_body: 0,
            };
            outbound.send(egress, request).await
        };
        let error = within(head).await.err();
        Self { origin, error }
    }
}

impl PublicFacts {
    async fn fetch(config: &Config, outbound: &Outbound, now: Timestamp, begun: Instant) -> Option<Self> {
        let address = config.public_url.as_ref()?.as_str().trim_end_matches('/').to_owned();
        let asked_at = now + begun.elapsed();
        let health = ask_forwarding(outbound, &address).await;
        let answered_at = now + begun.elapsed();
        let date = health.as_ref().ok().and_then(|answer| parse_http_date(answer.header(DATE.as_str())));
        let clock = date.map(|date| clock_offset(date, asked_at, answered_at));
        Some(Self { address, health, clock })
    }
}

/// Returns the offset of a clock in seconds, positive if it is ahead. It returned `time`, perhaps in whole seconds,
/// between the request and the answer.
fn clock_offset(time: Timestamp, asked_at: Timestamp, answered_at: Timestamp) -> i64 {
    let [time, asked, answered] = [time, asked_at, answered_at].map(Timestamp::as_second);
    if time < asked - 1 {
        time - asked
    } else if time > answered + 1 {
        time - answered
    } else {
        0
    }
}

async fn within<T>(asking: impl Future<Output = anyhow::Result<T>>) -> Result<T, String> {
    match timeout(ANSWER_TIMEOUT, asking).await {
        Ok(answer) => answer.map_err(|error| format!("{error:#}")),
        Err(_) => Err(format!("no answer within {} s", ANSWER_TIMEOUT.as_secs())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_offset_excludes_the_latency() {
        let at = |second| Timestamp::from_second(second).unwrap();
        for (expected, asked, answered, off) in [
            (100, 100, 100, 0),
            (99, 100, 100, 0),
            (103, 100, 105, 0),
            (106, 100, 105, 0),
            (95, 100, 105, -5),
            (165, 100, 105, 60),
        ] {
            assert_eq!(clock_offset(at(expected), at(asked), at(answered)), off, "{expected}");
        }
    }
}
