//! What every service of one server shares: the time, the database, keys, limits, the way to other hosts, counters.

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

/// What every service shares. Cheap to clone; built once, when the server starts.
#[derive(Clone, Debug)]
pub struct Platform(Arc<PlatformParts>);

/// The parts of a [`Platform`].
#[derive(Debug)]
pub struct PlatformParts {
    /// The time.
    pub clock: Clock,
    /// Whether the public URL is encrypted.
    pub is_https: bool,
    /// Whether only programs on its own machine reach the server.
    pub serves_only_its_machine: bool,
    /// Where the server listens.
    pub listen: SocketAddr,
    /// The public URL, as the operator set it.
    pub public_url: Option<Url>,
    /// The address under which programs reach the server, without a slash at the end.
    pub base_url: String,
    /// The address under which people reach it, likewise.
    pub public_address: String,
    /// Scheme and host of that, as browsers spell them.
    pub origin: PublicOrigin,
    /// Whose header names the client's address.
    pub proxies: Proxies,
    /// The database.
    pub store: Store,
    /// The account of each key.
    pub keys: KeyCache,
    /// Callers that were refused.
    pub refusals: Refusals,
    /// Requests that got 404 because of their host.
    pub host_refusals: HostRefusals,
    /// What the servers of one deployment share, if there are several.
    pub redis: Option<Redis>,
    /// How often a caller may ask.
    pub limits: Limits,
    /// The guarded client for other hosts.
    pub outbound: Outbound,
    /// The counters.
    pub metrics: Metrics,
    /// Cancelled when the server is asked to stop: load balancers should send their traffic elsewhere.
    pub stopping: CancellationToken,
    /// Cancelled when it accepts no more requests, `shutdown_delay` later.
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
    /// Starts the work that a running server does for every service, until it drains.
    #[must_use]
    pub fn spawn_jobs(&self) -> [JoinHandle<()>; 2] {
        let Self(parts) = self;
        let (store, draining) = (|| parts.store.clone(), || parts.draining.clone());
        [
            tokio::spawn(refusals::run(parts.refusals.clone(), store(), parts.clock.clone(), draining())),
            tokio::spawn(used::run(parts.keys.used.clone(), store(), draining())),
        ]
    }
}
