//! The shop's client of the login service. It uses the HTTP API with an API key like any other site.

use std::time::Duration;

use anyhow::{Context, Result};
use reqwest::Method;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use signpost_platform::outbound::{EgressPolicy, Outbound, Request};
use url::Url;

/// Timeout of a request to the service.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Name of the shop on the login page.
const SHOP_NAME: &str = "Fern & Kettle";
/// Maximum bytes that are read of a response.
const MAX_RESPONSE_BYTES: usize = 256 * 1024;

/// A client of the service's API.
#[derive(Debug)]
pub(super) struct ShopApi {
    outbound: Outbound,
    /// The base URL of the API, without a trailing slash.
    base: String,
    key: SecretString,
}

/// The error of a request to the service.
#[derive(Debug)]
pub(super) enum ApiError {
    /// The service refused the request.
    Refused {
        /// The HTTP status.
        status: u16,
        /// The error's `code`.
        code: String,
        /// The error's `details`.
        details: Value,
    },
    /// The service did not answer, or the answer cannot be parsed.
    Unavailable(anyhow::Error),
}

/// The members of a session that the shop reads.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ShopSession {
    /// The URL of the login page, for new sessions.
    #[serde(default)]
    pub(super) page_url: String,
    /// `login` or `register`.
    #[serde(default)]
    pub(super) mode: String,
    /// The login method.
    #[serde(default)]
    pub(super) method: String,
    /// The user, for completed sessions.
    pub(super) user: Option<ShopUser>,
}

/// A user of the shop's domain.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ShopUser {
    /// The user ID, `usr_…`.
    pub(super) id: String,
    /// A generated name, such as `amber-otter-4821`.
    #[serde(default)]
    pub(super) petname: String,
    /// The credentials of the user.
    #[serde(default)]
    pub(super) credentials: Vec<ShopCredential>,
}

/// A credential of a user.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ShopCredential {
    /// `wallet`, `lightning` or `passkey`.
    pub(super) kind: String,
    /// The public key in hex.
    pub(super) public_key: String,
    /// The name of the credential.
    pub(super) name: String,
    /// The time of its first use.
    pub(super) added_at: jiff::Timestamp,
}

impl ShopApi {
    /// Creates a client of the sandbox API of a server on this machine.
    pub(super) fn new(outbound: Outbound, base: String, key: SecretString) -> Self {
        Self { outbound, base, key }
    }

    /// Registers `localhost` as a hosted domain, unless it is registered, and returns its ID.
    pub(super) async fn register_domain(&self, site: &str) -> Result<String, ApiError> {
        #[derive(Deserialize)]
        struct Registered {
            id: String,
        }
        // This URL is never called, because the service handles the wallets of a hosted domain, and
        // the shop uses no events.
        let events = format!("{site}/events");
        let body = json!({ "domain": "localhost", "webhook_url": events });
        let id = match self.send::<Registered>(Method::POST, "/domains", Some(&body)).await {
            Ok(registered) => registered.id,
            Err(ApiError::Refused { details, code, .. }) if code == "domain_exists" => {
                details["id"].as_str().unwrap_or_default().to_owned()
            }
            Err(error) => return Err(error),
        };
        let settings = json!({ "handler": "hosted", "webhook_url": events, "display_name": SHOP_NAME });
        self.send::<Registered>(Method::PATCH, &format!("/domains/{id}"), Some(&settings)).await?;
        Ok(id)
    }

    /// Posts to a path of the API, and returns the session.
    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<ShopSession, ApiError> {
        self.send(Method::POST, path, Some(body)).await
    }

    /// Finds a user of the domain, with credentials, among the first 100 users.
    pub(super) async fn find_user(&self, domain: &str, id: &str) -> Result<Option<ShopUser>, ApiError> {
        #[derive(Deserialize)]
        struct Listed {
            users: Vec<ShopUser>,
        }
        let path = format!("/domains/{domain}/users?limit=100");
        let Listed { users } = self.send(Method::GET, &path, None).await?;
        Ok(users.into_iter().find(|user| user.id == id))
    }

    async fn send<T: DeserializeOwned>(&self, method: Method, path: &str, body: Option<&Value>) -> Result<T, ApiError> {
        let (status, body) = self.exchange(method, path, body).await.map_err(ApiError::Unavailable)?;
        if (200..300).contains(&status) {
            let read = serde_json::from_slice(&body).context("the service's answer was not understood");
            return read.map_err(ApiError::Unavailable);
        }
        let mut body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let code = body["error"]["code"].as_str().unwrap_or_default().to_owned();
        Err(ApiError::Refused { status, code, details: body["error"]["details"].take() })
    }

    async fn exchange(&self, method: Method, path: &str, body: Option<&Value>) -> Result<(u16, Vec<u8>)> {
        let url = Url::parse(&format!("{}{path}", self.base))?;
        let mut headers = HeaderMap::new();
        let mut bearer = HeaderValue::try_from(format!("Bearer {}", self.key.expose_secret()))?;
        bearer.set_sensitive(true);
        headers.insert(AUTHORIZATION, bearer);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let body = body.map(serde_json::to_vec).transpose()?.map(Into::into);
        let request = Request { method, url: &url, headers, body, timeout: TIMEOUT, max_body: MAX_RESPONSE_BYTES };
        let answer = self.outbound.send(EgressPolicy::Loopback, request).await?;
        Ok((answer.status, answer.body))
    }
}
