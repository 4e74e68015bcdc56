//! The login service: the state that its requests and jobs share.

use std::ops::Deref;
use std::sync::Arc;

use signpost_auth::RelyingParty;
use signpost_platform::Platform;
use signpost_platform::accounts::Environment;
use signpost_platform::cache::ReadCache;
use signpost_platform::observe::log_limiter::LogLimiter;
use signpost_platform::origin::PublicOrigin;
use signpost_platform::outbound::EgressPolicy;
use signpost_platform::pages::Language;
use tokio::sync::{Notify, OnceCell};

use super::domains::seal::Seal;
use super::domains::{DomainCache, DomainVerifier, LoginMethod, LoginMethods};
use super::sessions::{PASSKEY_REFUSALS, SessionCache, Waiters};
use super::settings::{LoginSettings, WalletLocation};
use super::sign_ins::ApplicationSignIns;
use crate::ids::SessionId;
use crate::users::UsernameKey;
use crate::users::identifier_sql::find_username_key;

/// The login service. Cheap to clone; built once, when the server starts.
#[derive(Clone, Debug)]
pub struct LoginService(Arc<LoginParts>);

/// The cache key of a rendered page: the session, the version of the page's content, and the
/// language.
pub type PageKey = (SessionId, String, Language);

/// The parts of a [`LoginService`].
#[derive(Debug)]
pub struct LoginParts {
    /// The state that all services share.
    pub platform: Platform,
    /// The settings of the operator.
    pub settings: LoginSettings,
    /// Encrypts and decrypts the signing secrets in the database.
    pub seal: Seal,
    /// Checks the proofs of domains.
    pub domain_verifier: DomainVerifier,
    /// The sign-ins at applications.
    pub applications: &'static dyn ApplicationSignIns,
    /// Wakes the job that delivers events.
    pub outbox: Notify,
    /// Recently read sessions.
    pub sessions: SessionCache,
    /// Recently read domains that allow sessions.
    pub domains: DomainCache,
    /// Rendered pages, split at the seconds of the countdown. The key contains the version of the content, so that no
    /// entry is ever outdated.
    pub pages: ReadCache<PageKey, Arc<[Box<str>]>>,
    /// The requests that wait for a session to change.
    pub waiting: Waiters,
    /// The key of the hashes of usernames, from its first use on.
    username_key: OnceCell<UsernameKey>,
    /// Limits the log lines about refused passkeys.
    pub passkey_refusals: LogLimiter<{ PASSKEY_REFUSALS.len() }>,
    /// The relying party of passkeys. `None` if browsers do not support passkeys at the public address.
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
    /// Creates the service.
    #[must_use]
    pub fn new(
        platform: Platform,
        settings: LoginSettings,
        domain_verifier: DomainVerifier,
        applications: &'static dyn ApplicationSignIns,
    ) -> Self {
        let pages = ReadCache::new(|page: &Arc<[Box<str>]>| page.iter().map(|part| part.len()).sum());
        pages.restart(true);
        Self(Arc::new(LoginParts {
            sessions: SessionCache::new(platform.store.clone()),
            domains: DomainCache::new(platform.store.clone()),
            relying_party: RelyingParty::of(platform.origin.as_str()),
            platform,
            seal: settings.seal(),
            settings,
            domain_verifier,
            applications,
            outbox: Notify::new(),
            pages,
            waiting: Waiters::default(),
            username_key: OnceCell::new(),
            passkey_refusals: LogLimiter::default(),
        }))
    }

    /// Returns the key of the hashes of usernames.
    ///
    /// # Errors
    /// Returns an error if the database is unavailable.
    pub(crate) async fn username_key(&self) -> anyhow::Result<&UsernameKey> {
        self.username_key.get_or_try_init(|| find_username_key(&self.store)).await
    }

    /// Invalidates the cached session and wakes the requests that wait for it.
    pub fn session_changed(&self, id: &SessionId) {
        self.sessions.invalidate(id);
        self.waiting.wake(id);
    }

    /// Returns the login methods that this server supports in an environment.
    #[must_use]
    pub fn supported_methods(&self, environment: Environment) -> LoginMethods {
        let mut others = vec![LoginMethod::Lightning];
        if self.settings.wallet.is_offered(environment) {
            others.push(LoginMethod::Browser);
        }
        if self.relying_party.is_some() {
            others.push(LoginMethod::Passkey);
        }
        LoginMethods::new(LoginMethod::Scan, others)
    }

    /// Returns the URL of the browser wallet. `None` if it is not offered in the environment.
    #[must_use]
    pub fn wallet_url(&self, environment: Environment) -> Option<String> {
        if !self.settings.wallet.is_offered(environment) {
            return None;
        }
        let address = self.settings.wallet.own_origin().map_or(self.public_address.as_str(), PublicOrigin::as_str);
        Some(format!("{address}/wallet"))
    }

    /// Returns the origin of the browser wallet's requests, if the wallet is enabled.
    #[must_use]
    pub fn wallet_origin(&self) -> Option<&PublicOrigin> {
        match &self.settings.wallet {
            WalletLocation::Off => None,
            WalletLocation::LoginHost => Some(&self.origin),
            WalletLocation::SeparateOrigin(origin) => Some(origin),
        }
    }

    /// Returns the allowed addresses of requests on behalf of an integrator in an environment.
    #[must_use]
    pub fn egress_policy(&self, environment: Environment) -> EgressPolicy {
        self.settings.egress_policy(environment, self.is_loopback_only)
    }
}
