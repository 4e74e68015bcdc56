//! What every request can reach. Cheap to clone; built once, in `serve`.

use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::Arc;

use signpost_auth::DomainName;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::atm::catalogue::Catalogue;
use crate::atm::submissions::Reports;
use crate::config::Config;
use crate::login::domains::seal::Seal;
use crate::login::domains::{Domain, Prover};
use crate::login::sessions::{self, Session, Waiters};
use crate::platform::accounts::audit::Refusals;
use crate::platform::accounts::keys::KeyCache;
use crate::platform::accounts::{Account, Environment};
use crate::platform::cache::Kept;
use crate::platform::clock::Clock;
use crate::platform::limits::Limits;
use crate::platform::observe::metrics::Metrics;
use crate::platform::outbound::{Outbound, Reach};
use crate::platform::redis::Redis;
use crate::store::Store;
use crate::store::id::SessionId;

/// What every request can reach. One count goes up and down with each copy, not one for each part of it.
#[derive(Clone, Debug)]
pub struct App(Arc<Parts>);

/// The parts of an [`App`].
#[derive(Debug)]
pub struct Parts {
    /// The time.
    pub clock: Clock,
    /// The operator's decisions.
    pub config: Config,
    /// Where the server listens.
    pub listen: SocketAddr,
    /// The address under which programs reach it, without a slash at the end.
    pub base_url: String,
    /// The address under which people reach it, likewise.
    pub public_address: String,
    /// The database.
    pub store: Store,
    /// Closes and opens the webhook secrets in it.
    pub seal: Seal,
    /// Which account a key opens.
    pub keys: KeyCache,
    /// Who was refused.
    pub refusals: Refusals,
    /// What servers behind one address share, if there is such a thing.
    pub redis: Option<Redis>,
    /// Who may ask how often.
    pub limits: Limits,
    /// The ATMs and the places.
    pub catalogue: Arc<Catalogue>,
    /// Which reports of machines are being read.
    pub reports: Reports,
    /// The way to other hosts.
    pub outbound: Outbound,
    /// Looks for the proofs of domains.
    pub prover: Prover,
    /// Wakes the delivery of events.
    pub outbox: Arc<Notify>,
    /// Sessions that need not be read again.
    pub sessions: Kept<SessionId, Session>,
    /// Domains that sessions may be opened on, likewise.
    pub domains: Kept<(Account, DomainName), Domain>,
    /// Who waits for which session.
    pub waiting: Waiters,
    /// What is counted.
    pub metrics: Metrics,
    /// Cancelled when the server is asked to stop: whoever sends it traffic should look elsewhere.
    pub stopping: CancellationToken,
    /// Cancelled when it takes no more, `shutdown_delay` later.
    pub draining: CancellationToken,
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl From<Parts> for App {
    fn from(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }
}

impl App {
    /// A session is not what it was: whoever asks reads it anew, and whoever waits looks.
    pub fn session_changed(&self, id: &SessionId) {
        self.sessions.forget(id);
        self.waiting.wake(id);
    }

    /// A session, as it was a moment ago where changes since would have been told.
    ///
    /// # Errors
    /// As [`sessions::sql::find_in_any_account`].
    pub async fn anyones_session(&self, environment: Environment, id: &SessionId) -> anyhow::Result<Option<Session>> {
        let session = self.sessions.find(id, sessions::sql::find_in_any_account(&self.store, environment, id)).await?;
        Ok(session.filter(|session| session.account.environment == environment))
    }

    /// How far requests on behalf of an integrator may reach in an environment.
    #[must_use]
    pub fn reach(&self, environment: Environment) -> Reach {
        self.config.reach(environment, self.listen)
    }
}
