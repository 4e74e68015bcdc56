//! The state that all services of a server share.

use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::Arc;

use signpost_store::Store;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::accounts::audit::refusals::{self, RejectionCounter};
use super::accounts::keys::cache::KeyCache;
use super::accounts::keys::used;
use super::clock::Clock;
use super::limits::{Limits, Proxies};
use super::observe::metrics::Metrics;
use super::observe::wrong_host_log::WrongHostLog;
use super::origin::PublicOrigin;
use super::outbound::Outbound;
use super::redis::Redis;

/// The shared state of all services. It is created when the server starts, and is cheap to clone.
#[derive(Clone, Debug)]
pub struct Platform(Arc<PlatformParts>);

/// The components of a [`Platform`].
#[derive(Debug)]
pub struct PlatformParts {
    /// The clock.
    pub clock: Clock,
    /// Set if the public URL has the scheme `https`.
    pub is_https: bool,
    /// Set if the server is reachable only from its own machine.
    pub is_loopback_only: bool,
    /// The address that the server listens on.
    pub listen: SocketAddr,
    /// The public URL, if the operator configured it.
    pub public_url: Option<Url>,
    /// The base URL for programs, without a trailing slash.
    pub base_url: String,
    /// The base URL for browsers, without a trailing slash.
    pub public_address: String,
    /// The origin of `public_address`, as browsers send it.
    pub origin: PublicOrigin,
    /// The trusted proxies, and the header that contains the client address.
    pub proxies: Proxies,
    /// The database.
    pub store: Store,
    /// The cache of API keys.
    pub keys: KeyCache,
    /// Counts of rejected callers for the audit log.
    pub refusals: RejectionCounter,
    /// The log of requests that got 404 because of their host.
    pub wrong_host_log: WrongHostLog,
    /// The Redis that the servers of a deployment share, if configured.
    pub redis: Option<Redis>,
    /// The rate limits.
    pub limits: Limits,
    /// The HTTP client for requests to other hosts. It applies the egress policy.
    pub outbound: Outbound,
    /// The metrics.
    pub metrics: Metrics,
    /// Cancelled when the server is asked to stop, so that load balancers send traffic to other
    /// servers.
    pub stopping: CancellationToken,
    /// Cancelled when the server stops accepting requests, `shutdown_delay` after `stopping`.
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
    /// Starts the background jobs that all services need. They run until the server drains.
    #[must_use]
    pub fn spawn_jobs(&self) -> [JoinHandle<()>; 2] {
        let PlatformParts { clock, store, keys, refusals, draining, .. } = &**self;
        [
            tokio::spawn(refusals::run(refusals.clone(), store.clone(), clock.clone(), draining.clone())),
            tokio::spawn(used::run(keys.used.clone(), store.clone(), draining.clone())),
        ]
    }
}
