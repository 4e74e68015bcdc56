//! The client of the login service and the locator, for integrators' servers.
//!
//! ```no_run
//! # async fn example() -> Result<(), signpost_auth::client::SignpostError> {
//! use signpost_auth::client::{NewSession, Signpost};
//!
//! let signpost = Signpost::new("svc_test_…")?.with_base_url("http://localhost:8080/sandbox/v1")?;
//! let created = signpost.sessions().create(&NewSession::on("example.com")).await?;
//! println!("{}", created.qr_data);
//! let session = signpost.sessions().wait(&created.id).await?;
//! println!("{}", session.status);
//! # Ok(())
//! # }
//! ```
//!
//! Calls are tried again, twice at most and after a pause, where the service says "later" (429, 503), and where the reply was
//! lost and doing it twice does no harm. Types have the members of `openapi.yaml` by their names; times are RFC 3339 in UTC.
//! Words and members that a later version of the service adds do no harm.

mod atms;
mod deliveries;
mod domains;
mod error;
mod login_attempts;
mod machines;
mod retry;
mod searches;
mod sessions;
mod shapes;
mod surroundings;
mod transport;
mod users;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Method;
use secrecy::SecretString;
use serde::de::DeserializeOwned;
use url::Url;

pub use atms::Atms;
pub use deliveries::{Deliveries, Delivery, DeliveryFilter, DeliveryList, DeliveryState, Retried};
pub use domains::{
    Domain, DomainChange, DomainList, Domains, HandlerKind, ListedDomain, NewDomain, ProvedDomain, RegisteredDomain,
    Registration,
};
pub use error::SignpostError;
pub use login_attempts::{
    Completion, CreatedSession, Flow, ListedSession, NewSession, RefreshedSession, Requester, Session, SessionFilter,
    SessionList, SessionStatus, SessionUser, Simulated, SimulatedFault, Simulation,
};
pub use machines::{
    Advisory, AlternativePlace, AreaStatus, AtmDetails, AtmList, AtmSource, AtmStatus, CityAtms, ListedAtm,
    ResolvedLocation,
};
pub use searches::{AtmSearch, CitySearch, StatusSearch};
pub use sessions::Sessions;
pub use shapes::{Change, Confirm, LoginMethod, Metadata, Paging, Signed, Verification};
pub use surroundings::{Surroundings, SystemSurroundings};
use transport::{ApiCall, ApiReply, Transport, address, http_client};
pub use users::{Credential, CredentialKind, HostedUser, UserChange, UserList, Users};

/// The service on one's own machine, with its sandbox.
const DEFAULT_BASE_URL: &str = "http://localhost:8080/sandbox/v1";
const TIMEOUT: Duration = Duration::from_secs(30);
const RETRIES: u32 = 2;

/// The service, as the holder of an API key calls it. Cheap to clone, and to be kept: it has the connections.
#[derive(Clone)]
pub struct Signpost {
    transport: Transport,
    base: Url,
    surroundings: Arc<dyn Surroundings>,
}

impl Signpost {
    /// A client of the sandbox on this machine; [`Signpost::with_base_url`] names another. The key is not looked at.
    ///
    /// Where the program has no default provider of cryptography for `rustls`, it gets `ring`.
    ///
    /// # Errors
    /// `connection_failed` where the system has no certificates to trust.
    pub fn new(api_key: impl Into<SecretString>) -> Result<Self, SignpostError> {
        let (http, key) = (http_client()?, api_key.into());
        let transport = Transport { http, key, timeout: TIMEOUT, retries: RETRIES };
        Ok(Self { transport, base: parse_base(DEFAULT_BASE_URL)?, surroundings: Arc::new(SystemSurroundings) })
    }

    /// The same with another address: that of the server with `/v1` or `/sandbox/v1`.
    ///
    /// # Errors
    /// `invalid_argument` for what is not http or https, or has a query, a fragment or a user name.
    pub fn with_base_url(self, base_url: &str) -> Result<Self, SignpostError> {
        Ok(Self { base: parse_base(base_url)?, ..self })
    }

    /// The same with another time for each attempt; 30 s by default. What a call that waits for a session
    /// waits comes on top.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.transport.timeout = timeout;
        self
    }

    /// The same with so many tries after the first; 2 by default.
    #[must_use]
    pub fn with_retries(mut self, retries: u32) -> Self {
        self.transport.retries = retries;
        self
    }

    /// The same with a client of one's own, which should follow no redirects: the API key would go along.
    #[must_use]
    pub fn with_http_client(mut self, http: reqwest::Client) -> Self {
        self.transport.http = http;
        self
    }

    /// The same with a clock, randomness and a timer of one's own, for tests.
    #[must_use]
    pub fn with_surroundings(self, surroundings: impl Surroundings + 'static) -> Self {
        Self { surroundings: Arc::new(surroundings), ..self }
    }

    /// Login attempts.
    #[must_use]
    pub fn sessions(&self) -> Sessions<'_> {
        Sessions(self)
    }

    /// The host names that people log in to.
    #[must_use]
    pub fn domains(&self) -> Domains<'_> {
        Domains(self)
    }

    /// People of hosted domains.
    #[must_use]
    pub fn users(&self) -> Users<'_> {
        Users(self)
    }

    /// Events sent to your endpoints.
    #[must_use]
    pub fn deliveries(&self) -> Deliveries<'_> {
        Deliveries(self)
    }

    /// Bitcoin ATMs, without the API key.
    #[must_use]
    pub fn atms(&self) -> Atms<'_> {
        Atms(self)
    }

    /// `POST /verify`: checks a signature, without a session. Where the program can, it checks faster itself:
    /// [`crate::verify`].
    ///
    /// # Errors
    /// `invalid_public_key` and `invalid_signature` for what is not well-formed; a wrong signature is `valid: false`.
    pub async fn verify(&self, signed: &Signed) -> Result<Verification, SignpostError> {
        self.fetch(self.call(Method::POST, &["verify"])?.json(signed)?).await
    }

    pub(crate) fn surroundings(&self) -> &dyn Surroundings {
        &*self.surroundings
    }

    fn call(&self, method: Method, segments: &[&str]) -> Result<ApiCall, SignpostError> {
        Ok(ApiCall::new(method, address(&self.base, segments)?))
    }

    async fn send(&self, call: ApiCall) -> Result<ApiReply, SignpostError> {
        self.transport.send(&call, self.surroundings()).await
    }

    async fn fetch<T: DeserializeOwned>(&self, call: ApiCall) -> Result<T, SignpostError> {
        self.send(call).await?.parse()
    }
}

impl fmt::Debug for Signpost {
    /// Without the API key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signpost").field("base_url", &self.base.as_str()).finish_non_exhaustive()
    }
}

fn parse_base(text: &str) -> Result<Url, SignpostError> {
    let told = "the base URL is https://<host>/v1, /sandbox/v1 behind it for the sandbox, without query or user name";
    let url = Url::parse(text).ok().filter(|url| {
        let is_bare = url.query().is_none() && url.fragment().is_none() && url.password().is_none();
        matches!(url.scheme(), "http" | "https") && is_bare && url.username().is_empty()
    });
    url.ok_or_else(|| SignpostError::invalid_argument(told))
}
