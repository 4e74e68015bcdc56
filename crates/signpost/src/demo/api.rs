//! The login service, as the shop's server calls it: over HTTP, with an API key, as any other site's would.

use std::time::Duration;

use anyhow::{Context, Result};
use reqwest::Method;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use signpost_platform::outbound::{Outbound, Reach, Request};
use url::Url;

/// How long the service may take to answer.
const WITHIN: Duration = Duration::from_secs(10);
/// What the shop calls itself: the login page says it beside the domain.
const SHOP_NAME: &str = "Fern & Kettle";
/// How much of an answer is read, in bytes.
const KEPT: usize = 256 * 1024;

/// The service's API, and the key to it.
#[derive(Debug)]
pub(super) struct ShopApi {
    outbound: Outbound,
    /// Without a slash at the end.
    base: String,
    key: SecretString,
}

/// What went wrong with a request to the service.
#[derive(Debug)]
pub(super) enum ApiError {
    /// The service said no.
    Refused {
        /// The HTTP status.
        status: u16,
        /// The error's `code`.
        code: String,
        /// What else it said.
        details: Value,
    },
    /// It did not answer, or what it answered is not to be understood.
    Away(anyhow::Error),
}

/// A session, as far as the shop reads one.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ShopSession {
    /// Where the browser goes: there when it was just opened.
    #[serde(default)]
    pub(super) page_url: String,
    /// `login` or `register`.
    #[serde(default)]
    pub(super) mode: String,
    /// How the person proved who they are.
    #[serde(default)]
    pub(super) method: String,
    /// Who: there once it is complete.
    pub(super) user: Option<ShopUser>,
}

/// Whom the service knows at the shop's domain.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ShopUser {
    /// `usr_…`
    pub(super) id: String,
    /// A name that the service made up, such as `amber-otter-4821`.
    #[serde(default)]
    pub(super) petname: String,
    /// The keys that this person can log in with.
    #[serde(default)]
    pub(super) credentials: Vec<ShopCredential>,
}

/// A key of a user.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ShopCredential {
    /// `wallet`, `lightning` or `passkey`.
    pub(super) kind: String,
    /// In hex.
    pub(super) public_key: String,
    /// What its owner or the service calls it.
    pub(super) name: String,
    /// When it was first used here.
    pub(super) added_at: jiff::Timestamp,
}

impl ShopApi {
    /// The sandbox API of a server on this machine.
    pub(super) fn new(outbound: Outbound, base: String, key: SecretString) -> Self {
        Self { outbound, base, key }
    }

    /// Registers `localhost` as a domain whose wallets the service answers, or finds it registered. Returns its id.
    pub(super) async fn register_domain(&self, site: &str) -> Result<String, ApiError> {
        #[derive(Deserialize)]
        struct Registered {
            id: String,
        }
        // Nobody posts there: the service answers the wallets, and the shop asks instead of waiting for events.
        let events = format!("{site}/events");
        let wanted = json!({ "domain": "localhost", "webhook_url": events });
        let id = match self.send::<Registered>(Method::POST, "/domains", Some(&wanted)).await {
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

    /// Posts to an address of sessions.
    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<ShopSession, ApiError> {
        self.send(Method::POST, path, Some(body)).await
    }

    /// A user of the domain with their keys, where there are not too many users to find one among them.
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
        let (status, body) = self.exchange(method, path, body).await.map_err(ApiError::Away)?;
        if (200..300).contains(&status) {
            let read = serde_json::from_slice(&body).context("the service's answer was not understood");
            return read.map_err(ApiError::Away);
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
        let request = Request { method, url: &url, headers, body, within: WITHIN, keep: KEPT };
        let answer = self.outbound.send(Reach::Loopback, request).await?;
        Ok((answer.status, answer.body))
    }
}
