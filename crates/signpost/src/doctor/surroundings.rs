//! What an installation stands on and reaches: the speed of its database, the disk, Redis, name servers, clocks, the endpoints
//! of others, and its own public URL. All is asked side by side, each for a few seconds at most.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::Method;
use reqwest::header::{DATE, HeaderMap};
use signpost_login::domains::overview;
use signpost_platform::accounts::Environment;
use signpost_platform::outbound::{Names, Outbound, Reach, Request};
use signpost_platform::redis::time_ping;
use signpost_store::{Store, StoreLatency, available_bytes};
use tokio::time::timeout;
use url::Url;

use super::Fetched;
use super::visit::ask_forwarding;
use crate::config::{Config, Service};

/// How long each answer may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// How many hosts of integrators are asked.
const MOST_ENDPOINTS: usize = 3;
/// Of how many domains those are chosen.
const MOST_DOMAINS: u32 = 50;
/// Whose name is looked up where the server has none. It is reserved (RFC 2606).
const ANY_NAME: &str = "example.com";

/// What an installation stands on and reaches; none where there is nothing to ask.
#[derive(Debug, Default)]
pub struct SurroundingsSeen {
    /// How fast the database is.
    pub store_latency: Option<Result<StoreLatency, String>>,
    /// How many bytes are left on the disk of the data folder.
    pub available_bytes: Option<u64>,
    /// How fast Redis is.
    pub redis: Option<Result<Duration, String>>,
    /// How fast the name servers are that proofs are looked up with.
    pub name_servers: Option<Result<Duration, String>>,
    /// Some hosts that events of live domains go to.
    pub endpoints: Vec<EndpointReached>,
    /// How many seconds the database's clock is ahead of this machine's.
    pub database_clock: Option<i64>,
    /// The public URL, as this machine sees it.
    pub public: Option<PublicSeen>,
}

/// A host that events go to.
#[derive(Debug)]
pub struct EndpointReached {
    /// Scheme, name and port.
    pub origin: String,
    /// Why it was not reached, if it was not.
    pub trouble: Option<String>,
}

/// The public URL, as this machine sees it.
#[derive(Debug)]
pub struct PublicSeen {
    /// It, without a slash at the end.
    pub address: String,
    /// `GET /health` there, with an address that nobody has in the headers of proxies.
    pub health: Result<Fetched, String>,
    /// How many seconds the clock of who answers there is ahead of this machine's.
    pub clock: Option<i64>,
}

impl SurroundingsSeen {
    pub(super) async fn look(config: &Config, store: Option<&Store>, outbound: &Outbound, now: Timestamp) -> Self {
        let begun = Instant::now();
        let (store_latency, redis, name_servers, endpoints, database_clock, public) = tokio::join!(
            measure_store(store, now),
            measure_redis(config),
            measure_name_servers(config),
            reach_endpoints(config, store, outbound),
            read_database_clock(store, now, begun),
            PublicSeen::ask(config, outbound, now, begun),
        );
        let available_bytes = available_bytes(&config.data_dir);
        Self { store_latency, available_bytes, redis, name_servers, endpoints, database_clock, public }
    }
}

async fn measure_store(store: Option<&Store>, now: Timestamp) -> Option<Result<StoreLatency, String>> {
    Some(within(store?.measure(now)).await)
}

async fn measure_redis(config: &Config) -> Option<Result<Duration, String>> {
    Some(within(time_ping(config.redis_url.as_deref()?)).await)
}

/// Proofs are looked up by who logs people in at domains of others: on one's own machine only where a name server is named.
async fn measure_name_servers(config: &Config) -> Option<Result<Duration, String>> {
    let is_needed = config.services.contains(&Service::Auth)
        && (config.login.dns_server.is_some() || !config.serves_only_its_machine());
    let name = config.public_url.as_ref().and_then(Url::domain).unwrap_or(ANY_NAME);
    let ask = async {
        let names = Names::uncached(config.login.dns_server)?;
        let asked = Instant::now();
        names.texts(name).await?;
        Ok(asked.elapsed())
    };
    if is_needed { Some(within(ask).await) } else { None }
}

/// Asks some hosts whether they are there, by `HEAD /` and as far as events may go: no event, and nothing at the address that
/// events go to.
async fn reach_endpoints(config: &Config, store: Option<&Store>, outbound: &Outbound) -> Vec<EndpointReached> {
    let Some(store) = store else { return Vec::new() };
    let domains = within(overview::list_live(store, MOST_DOMAINS)).await.unwrap_or_default();
    let mut origins: Vec<String> =
        domains.iter().map(|domain| domain.webhook_url.origin().ascii_serialization()).collect();
    origins.sort_unstable();
    origins.dedup();
    origins.truncate(MOST_ENDPOINTS);
    let reach = config.login.reach(Environment::Live, config.serves_only_its_machine());
    let all = origins.into_iter().map(|origin| EndpointReached::ask(origin, reach, outbound));
    futures_util::future::join_all(all).await
}

async fn read_database_clock(store: Option<&Store>, now: Timestamp, begun: Instant) -> Option<i64> {
    let asked_at = now + begun.elapsed();
    let told = within(store?.read_clock()).await.ok()??;
    Some(clock_offset(told, asked_at, now + begun.elapsed()))
}

impl EndpointReached {
    async fn ask(origin: String, reach: Reach, outbound: &Outbound) -> Self {
        let head = async {
            let url: Url = origin.parse()?;
            let (method, headers) = (Method::HEAD, HeaderMap::new());
            outbound
                .send(reach, Request { method, url: &url, headers, body: None, within: ANSWER_TIMEOUT, keep: 0 })
                .await
        };
        let trouble = within(head).await.err();
        Self { origin, trouble }
    }
}

impl PublicSeen {
    async fn ask(config: &Config, outbound: &Outbound, now: Timestamp, begun: Instant) -> Option<Self> {
        let address = config.public_url.as_ref()?.as_str().trim_end_matches('/').to_owned();
        let asked_at = now + begun.elapsed();
        let health = ask_forwarding(outbound, &address).await;
        let answered_at = now + begun.elapsed();
        let date = health
            .as_ref()
            .ok()
            .and_then(|answer| rfc2822::DateTimeParser::new().parse_timestamp(answer.header(DATE.as_str())).ok());
        let clock = date.map(|told| clock_offset(told, asked_at, answered_at));
        Some(Self { address, health, clock })
    }
}

/// By how many seconds a clock is ahead that told a time, of whole seconds perhaps, between two moments of ours.
fn clock_offset(told: Timestamp, asked_at: Timestamp, answered_at: Timestamp) -> i64 {
    let [told, asked, answered] = [told, asked_at, answered_at].map(Timestamp::as_second);
    if told < asked - 1 {
        told - asked
    } else if told > answered + 1 {
        told - answered
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
    fn a_clock_is_off_by_what_the_wait_for_it_does_not_explain() {
        let at = |second| Timestamp::from_second(second).unwrap();
        for (told, asked, answered, off) in [
            (100, 100, 100, 0),
            (99, 100, 100, 0),
            (103, 100, 105, 0),
            (106, 100, 105, 0),
            (95, 100, 105, -5),
            (165, 100, 105, 60),
        ] {
            assert_eq!(clock_offset(at(told), at(asked), at(answered)), off, "{told}");
        }
    }
}
