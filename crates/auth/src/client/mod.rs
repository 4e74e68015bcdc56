//! An HTTP client of the login service and of the ATM locator, for the servers of integrators.
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
//! A call is retried at most twice, after a pause, if the service responds with 429 or 503, or if
//! the response was lost and the call is idempotent. Types have the member names of `openapi.yaml`,
//! and times are RFC 3339 texts in UTC. Unknown values and members, which later versions of the
//! service may send, are accepted.

mod atm_details;
mod atm_types;
mod atms;
mod clients;
mod deliveries;
mod domains;
mod error;
mod error_code;
mod reports;
mod retry;
mod runtime;
mod searches;
mod session_types;
mod sessions;
mod shared_types;
mod stream;
mod transport;
mod users;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Method;
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use url::Url;

pub use atm_details::{AtmDetails, AtmSource, SeveralAtms};
pub use atm_types::{
    Advisory, AlternativePlace, AreaStatus, AtmList, AtmStatus, CityAtms, ListedAtm, ResolvedLocation,
};
pub use atms::Atms;
pub use clients::{
    Client, ClientAuthMethod, ClientChange, ClientList, ClientRotation, ClientWithSecret, Clients, EmailClaim,
    NewClient, SigningAlgorithm,
};
pub use deliveries::{Deliveries, Delivery, DeliveryFilter, DeliveryList, DeliveryState, Retried};
pub use domains::{
    Domain, DomainChange, DomainList, Domains, HandlerKind, ListedDomain, NewDomain, ProvedDomain, RegisteredDomain,
    Registration,
};
pub use error::SignpostError;
pub use error_code::ErrorCode;
pub use reports::{
    DateRange, DoubtfulField, Finding, FindingSource, FirstOf, ImportOutcome, MachineReport, NewReport, ReportState,
    SkippedLocation, Submission,
};
pub use runtime::{Runtime, SystemRuntime};
pub use searches::{AtmSearch, CitySearch, StatusSearch};
pub use session_types::{
    Completion, CreatedSession, Flow, ListedSession, NewSession, RefreshedSession, Requester, Session, SessionFilter,
    SessionList, SessionStatus, SessionUser, Simulated, SimulatedFault, Simulation,
};
pub use sessions::Sessions;
pub use shared_types::{Change, Confirm, LoginMethod, Metadata, Paging, Signed, Verification};
pub use stream::SessionStream;
#[cfg(feature = "testing")]
pub(crate) use transport::http_client;
#[cfg(not(feature = "testing"))]
use transport::http_client;
use transport::{ApiCall, ApiReply, Transport, address};
pub use users::{
    Credential, CredentialKind, HostedUser, NewUser, SignIn, SignInKind, SignInList, UserChange, UserList, UserSearch,
    Users,
};

/// Base URL of the sandbox of a service on this machine.
const DEFAULT_BASE_URL: &str = "http://localhost:8080/sandbox/v1";
/// Default timeout of an attempt.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Default number of retries.
const RETRIES: u32 = 2;

/// A client of the service with an API key. It is cheap to clone. Reuse it, because it pools
/// connections.
#[derive(Clone)]
pub struct Signpost {
    transport: Transport,
    base: Url,
    mcp_url: Option<Url>,
    mcp_token: Option<SecretString>,
    runtime: Arc<dyn Runtime>,
}

impl Signpost {
    /// Creates a client for the sandbox on this machine; see [`Signpost::with_base_url`] for other
    /// servers. Does not check the API key.
    ///
    /// If the program has installed no default cryptography provider for `rustls`, this function
    /// installs `ring`.
    ///
    /// # Errors
    /// Returns `connection_failed` if the system has no trusted root certificates.
    pub fn new(api_key: impl Into<SecretString>) -> Result<Self, SignpostError> {
        let (http, key) = (http_client()?, api_key.into());
        let max_wait_secs = retry::MAX_WAIT_SECS;
        let transport = Transport { http, key, timeout: TIMEOUT, retries: RETRIES, max_wait_secs };
        let base = parse_base(DEFAULT_BASE_URL)?;
        Ok(Self { transport, base, mcp_url: None, mcp_token: None, runtime: Arc::new(SystemRuntime) })
    }

    /// Sets the base URL: the address of the server, followed by `/v1` or `/sandbox/v1`.
    ///
    /// # Errors
    /// Returns `invalid_argument` if the URL is not http or https, or has a query, a fragment or a
    /// user name.
    pub fn with_base_url(self, base_url: &str) -> Result<Self, SignpostError> {
        Ok(Self { base: parse_base(base_url)?, ..self })
    }

    /// Sets the URL of the ATM locator's MCP endpoint, by default `/mcp` at the origin of the base
    /// URL.
    ///
    /// # Errors
    /// Returns `invalid_argument` if the URL is not http or https, or has a query, a fragment or a
    /// user name.
    pub fn with_mcp_url(self, mcp_url: &str) -> Result<Self, SignpostError> {
        match Url::parse(mcp_url) {
            Ok(url) if is_base(&url) => Ok(Self { mcp_url: Some(url), ..self }),
            _ => Err(SignpostError::invalid_argument(
                "the MCP URL is an http or https URL without query and user name, such as https://<host>/mcp",
            )),
        }
    }

    /// Sets the token for the ATM locator, if the server requires one: an access token, or an API
    /// key with the scope `mcp`. The API key of this client is never sent to the locator.
    ///
    /// # Errors
    /// Returns `invalid_argument` if the token is empty.
    pub fn with_mcp_token(self, mcp_token: impl Into<SecretString>) -> Result<Self, SignpostError> {
        let mcp_token = mcp_token.into();
        if mcp_token.expose_secret().is_empty() {
            return Err(SignpostError::invalid_argument("the token for the locator is empty"));
        }
        Ok(Self { mcp_token: Some(mcp_token), ..self })
    }

    /// Sets the timeout of each attempt, 30 seconds by default. Calls that wait for a session may
    /// take longer by their wait.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.transport.timeout = timeout;
        self
    }

    /// Sets the maximum number of retries, 2 by default.
    #[must_use]
    pub fn with_retries(mut self, retries: u32) -> Self {
        self.transport.retries = retries;
        self
    }

    /// Sets the HTTP client. It should not follow redirects, because it would send the API key to
    /// the redirect target.
    #[must_use]
    pub fn with_http_client(mut self, http: reqwest::Client) -> Self {
        self.transport.http = http;
        self
    }

    /// Sets the clock, the randomness and the timer, for tests.
    #[must_use]
    pub fn with_runtime(self, runtime: impl Runtime + 'static) -> Self {
        Self { runtime: Arc::new(runtime), ..self }
    }

    /// Returns the calls about login sessions.
    #[must_use]
    pub fn sessions(&self) -> Sessions<'_> {
        Sessions(self)
    }

    /// Returns the calls about domains.
    #[must_use]
    pub fn domains(&self) -> Domains<'_> {
        Domains(self)
    }

    /// Returns the calls about users of hosted domains.
    #[must_use]
    pub fn users(&self) -> Users<'_> {
        Users(self)
    }

    /// Returns the calls about the OpenID Connect clients of hosted domains.
    #[must_use]
    pub fn clients(&self) -> Clients<'_> {
        Clients(self)
    }

    /// Returns the calls about deliveries of events to your endpoints.
    #[must_use]
    pub fn deliveries(&self) -> Deliveries<'_> {
        Deliveries(self)
    }

    /// Returns the calls about Bitcoin ATMs. Searches are sent without the API key.
    #[must_use]
    pub fn atms(&self) -> Atms<'_> {
        Atms(self)
    }

    /// Verifies a signature without a session. [`crate::verify`] is the local equivalent.
    ///
    /// Sends `POST /verify`.
    ///
    /// # Errors
    /// Returns `invalid_public_key` or `invalid_signature` for malformed values. A signature that
    /// does not match is not an error.
    pub async fn verify(&self, signed: &Signed) -> Result<Verification, SignpostError> {
        self.fetch(self.call(Method::POST, &["verify"])?.json(signed)?).await
    }

    /// Returns the base URL.
    #[must_use]
    pub fn base_url(&self) -> &Url {
        &self.base
    }

    /// Sets the maximum delay before a retry that the service may request, in seconds.
    #[cfg(feature = "axum")]
    pub(crate) fn with_max_retry_wait(mut self, seconds: u64) -> Self {
        self.transport.max_wait_secs = seconds;
        self
    }

    pub(crate) fn runtime(&self) -> &dyn Runtime {
        &*self.runtime
    }

    fn call(&self, method: Method, segments: &[&str]) -> Result<ApiCall, SignpostError> {
        Ok(ApiCall::new(method, address(&self.base, segments)?))
    }

    async fn send(&self, call: ApiCall) -> Result<ApiReply, SignpostError> {
        self.transport.send(&call, self.runtime()).await
    }

    async fn fetch<T: DeserializeOwned>(&self, call: ApiCall) -> Result<T, SignpostError> {
        self.send(call).await?.parse()
    }
}

impl fmt::Debug for Signpost {
    /// Omits the API key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signpost").field("base_url", &self.base.as_str()).finish_non_exhaustive()
    }
}

fn parse_base(text: &str) -> Result<Url, SignpostError> {
    match Url::parse(text) {
        Ok(url) if is_base(&url) => Ok(url),
        _ => Err(SignpostError::invalid_argument(
            "the base URL is https://<host>/v1, /sandbox/v1 behind it for the sandbox, without query or user name",
        )),
    }
}

/// Returns `true` if a URL is http or https without query, fragment, user name and password.
fn is_base(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none()
}
