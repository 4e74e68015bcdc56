//! The state that all services of a server share.

use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::Arc;

use signpost_store::Store;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::accounts::audit::refusals::{self, Refusals};
use super::accounts::keys::cache::KeyCache;
use super::accounts::keys::used;
use super::clock::Clock;
use super::limits::{Limits, Proxies};
use super::observe::host_refusals::HostRefusals;
use super::observe::metrics::Metrics;
use super::origin::PublicOrigin;
use super::outbound::Outbound;
use super::redis::Redis;

/// The shared state of all services. Cheap to clone; created once, when the server starts.
#[derive(Clone, Debug)]
pub struct Platform(Arc<PlatformParts>);

/// The parts of a [`Platform`].
#[derive(Debug)]
pub struct PlatformParts {
    /// The clock.
    pub clock: Clock,
    /// Set if the public URL is encrypted.
    pub is_https: bool,
    /// Set if the server is reachable only from its own machine.
    pub serves_only_its_machine: bool,
    /// The listen address.
    pub listen: SocketAddr,
    /// The public URL, as the operator set it.
    pub public_url: Option<Url>,
    /// The URL of the server for programs, without a trailing slash.
    pub base_url: String,
    /// The URL of the server for browsers, without a trailing slash.
    pub public_address: String,
    /// The origin of that URL, as browsers send it.
    pub origin: PublicOrigin,
    /// The trusted proxies, and their header for the client address.
    pub proxies: Proxies,
    /// The database.
    pub store: Store,
    /// The cached API keys.
    pub keys: KeyCache,
    /// Counts of rejected callers.
    pub refusals: Refusals,
    /// Counts of requests that got 404 because of their host.
    pub host_refusals: HostRefusals,
    /// The Redis that the servers of a deployment share, if there are several.
    pub redis: Option<Redis>,
    /// The rate limits.
    pub limits: Limits,
    /// The HTTP client for other hosts, which applies the egress policy.
    pub outbound: Outbound,
    /// The metrics.
    pub metrics: Metrics,
    /// Cancelled when the server is asked to stop: load balancers should send their traffic to other servers.
    pub stopping: CancellationToken,
    /// Cancelled when the server stops accepting requests, `shutdown_delay` later.
    pub draining: CancellationToken,
}

impl Deref for Platform {
    type Target = PlatformParts;

    fn deref(&self) -> &PlatformParts {
        &self.0
    }
}

impl From<PlatformParts> for Platform {
    fn from(parts: PlatformParts) -> Self {
        Self(Arc::new(parts))
    }
}

impl Platform {
    /// Starts the background jobs that are common to all services. They run until the server drains.
    #[must_use]
    pub fn spawn_jobs(&self) -> [JoinHandle<()>; 2] {
        let PlatformParts { clock, store, keys, refusals, draining, .. } = &**self;
        [
            tokio::spawn(refusals::run(refusals.clone(), store.clone(), clock.clone(), draining.clone())),
            tokio::spawn(used::run(keys.used.clone(), store.clone(), draining.clone())),
        ]
    }
}
