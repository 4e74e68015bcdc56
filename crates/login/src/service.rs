//! The login service: what its requests and jobs can reach.

use std::ops::Deref;
use std::sync::Arc;

use signpost_auth::{DomainName, RelyingParty};
use signpost_platform::Platform;
use signpost_platform::accounts::{Account, Environment};
use signpost_platform::cache::ReadCache;
use signpost_platform::observe::line_gate::LineGate;
use signpost_platform::origin::PublicOrigin;
use signpost_platform::outbound::Reach;
use signpost_platform::pages::Language;
use signpost_platform::read_rows::ReadRows;
use tokio::sync::Notify;

use super::domains::seal::Seal;
use super::domains::{KnownDomain, LoginMethod, LoginMethods, Prover};
use super::sessions::{self, PASSKEY_REFUSALS, Session, Waiters};
use super::settings::{LoginSettings, WalletPlace};
use crate::ids::SessionId;

/// The login service. Cheap to clone; built once, when the server starts.
#[derive(Clone, Debug)]
pub struct LoginService(Arc<LoginParts>);

/// A drawn page: of which session, in which version, in which language.
pub type PageKey = (SessionId, String, Language);

/// The parts of a [`LoginService`].
#[derive(Debug)]
pub struct LoginParts {
    /// What it shares with the other service.
    pub platform: Platform,
    /// The operator's decisions.
    pub settings: LoginSettings,
    /// Encrypts and decrypts the signing secrets in the database.
    pub seal: Seal,
    /// Looks for the proofs of domains.
    pub prover: Prover,
    /// Wakes the delivery of events.
    pub outbox: Notify,
    /// Sessions that need not be read again.
    pub sessions: ReadCache<SessionId, Arc<Session>>,
    /// Sessions as they were when they were read last.
    read_sessions: ReadRows<SessionId, Session>,
    /// Domains that sessions may be opened on. Where changes are not told each is good for the state that it names.
    pub domains: ReadCache<(Account, DomainName), KnownDomain>,
    /// Pages that need not be drawn again, in parts with the seconds of the countdown between them. What a page shows is in
    /// its key, so nothing here is ever out of date.
    pub pages: ReadCache<PageKey, Arc<[Box<str>]>>,
    /// Requests waiting for a session to change.
    pub waiting: Waiters,
    /// Reasons for which a passkey was refused lately.
    pub passkey_refusals: LineGate<{ PASSKEY_REFUSALS.len() }>,
    /// Whom passkeys are made for; `None` where browsers offer none at the public address.
    pub relying_party: Option<RelyingParty>,
}

impl Deref for LoginService {
    type Target = LoginParts;

    fn deref(&self) -> &LoginParts {
        &self.0
    }
}

impl Deref for LoginParts {
    type Target = Platform;

    fn deref(&self) -> &Platform {
        &self.platform
    }
}

impl LoginService {
    /// The service on a platform.
    #[must_use]
    pub fn new(platform: Platform, settings: LoginSettings, prover: Prover) -> Self {
        let pages = ReadCache::new(|page: &Arc<[Box<str>]>| page.iter().map(|part| part.len()).sum());
        pages.restart(true);
        // A name, two addresses, and what signs.
        let domains = ReadCache::new(|_| 2048);
        domains.restart(platform.store.watched_version().is_some());
        let relying_party = RelyingParty::of(platform.origin.as_str());
        Self(Arc::new(LoginParts {
            platform,
            seal: settings.seal(),
            settings,
            prover,
            outbox: Notify::new(),
            sessions: ReadCache::new(|session| session.size()),
            // The row takes about as much as what it says.
            read_sessions: ReadRows::new(|session: &Session| 2 * session.size()),
            domains,
            pages,
            waiting: Waiters::default(),
            passkey_refusals: LineGate::default(),
            relying_party,
        }))
    }

    /// A session is not what it was: whoever asks reads it anew, and whoever waits looks.
    pub fn session_changed(&self, id: &SessionId) {
        self.sessions.invalidate(id);
        self.waiting.wake(id);
    }

    /// A session of any account; as it was a moment ago where nothing was written since, or changes would have been heard of.
    ///
    /// # Errors
    /// As [`sessions::sql::find_in_any_account`].
    pub async fn find_session_in_any_account(
        &self,
        environment: Environment,
        id: &SessionId,
    ) -> anyhow::Result<Option<Arc<Session>>> {
        let state = self.store.file_state();
        let read = async {
            let row = sessions::sql::read_in_any_account(&self.store, environment, id).await?;
            row.map(|row| self.read_sessions.understand(id, row, |row| sessions::sql::from_row(id, row))).transpose()
        };
        let session = self.sessions.find_as_of(id, state, read).await?;
        Ok(session.filter(|session| session.account.environment == environment))
    }

    /// The ways to log in that this server accepts in an environment.
    #[must_use]
    pub fn supported_methods(&self, environment: Environment) -> LoginMethods {
        let browser = self.settings.wallet.is_offered(environment).then_some(LoginMethod::Browser);
        let passkey = self.relying_party.as_ref().map(|_| LoginMethod::Passkey);
        LoginMethods::of(LoginMethod::Scan, [LoginMethod::Lightning].into_iter().chain(browser).chain(passkey))
    }

    /// Where the browser wallet is, for people who log in in an environment; `None` where it is not offered there.
    #[must_use]
    pub fn wallet_url(&self, environment: Environment) -> Option<String> {
        let is_offered = self.settings.wallet.is_offered(environment);
        is_offered.then(|| match self.settings.wallet.own_origin() {
            Some(origin) => format!("{}/wallet", origin.as_str()),
            None => format!("{}/wallet", self.public_address),
        })
    }

    /// The origin that the browser wallet's requests name, if it is on.
    #[must_use]
    pub fn wallet_origin(&self) -> Option<&PublicOrigin> {
        match &self.settings.wallet {
            WalletPlace::Off => None,
            WalletPlace::LoginHost => Some(&self.origin),
            WalletPlace::OwnHost(origin) => Some(origin),
        }
    }

    /// How far requests on behalf of an integrator may reach in an environment.
    #[must_use]
    pub fn reach(&self, environment: Environment) -> Reach {
        self.settings.reach(environment, self.serves_only_its_machine)
    }
}
