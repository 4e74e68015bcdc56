//! The client of a service's HTTP API, for commands with `--api`. The API limits what a key may do; see
//! [`Backend`](super::backend::Backend) for the commands.

mod clients;
mod deliveries;
mod domains;
mod failure;
mod flags;
mod users;

use std::fmt::{self, Display};
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Method, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use signpost_platform::accounts::Account;
use signpost_platform::clock::Clock;
use signpost_platform::outbound::{EgressPolicy, NameResolver, Outbound, Request};
use url::Url;

use self::flags::ApiTarget;

pub(super) use self::clients::ClientOfApi;
pub(super) use self::deliveries::SignedEvent;
pub(super) use self::domains::{RegisteredByApi, VerifiedByApi};
pub(super) use self::failure::ApiFailure;
pub(super) use self::flags::{ApiFlags, ApiVariables};
pub(super) use self::users::UserWithCredentials;

/// Timeout of a call. The check of an ownership proof lasts up to 10 seconds.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum length of a response body, in bytes.
const MAX_REPLY_LEN: usize = 8 << 20;
/// Maximum number of retries of a call that the service asks to repeat later.
const MAX_RETRIES: u32 = 2;
/// Maximum delay before a retry that the service may request.
const MAX_RETRY_DELAY: Duration = Duration::from_mins(1);
/// Number of rows that are read at a time.
const PAGE_LEN: u32 = 100;

/// The API of a service, with a key whose account is known.
pub(super) struct ServiceApi {
    outbound: Outbound,
    egress: EgressPolicy,
    base: Url,
    key: SecretString,
    account: Account,
    key_id: String,
}

/// The reply of `GET /account`.
#[derive(Deserialize)]
struct AccountDocument {
    account: String,
    key_id: String,
}

impl ServiceApi {
    /// Connects to a service: reads the account of the key.
    ///
    /// # Errors
    /// Returns an error if no service of this version answers, or the key is not valid there.
    pub(super) async fn connect(target: ApiTarget) -> Result<Self, ApiFailure> {
        let ApiTarget { base, key, environment, egress } = target;
        let outbound = Outbound::new(&NameResolver::System);
        let account = Account { name: String::new(), environment };
        let mut api = Self { outbound, egress, base, key, account, key_id: String::new() };
        let AccountDocument { account, key_id } = api.get(&["account"]).await?;
        api.account.name = account;
        api.key_id = key_id;
        Ok(api)
    }

    /// Returns the account of the key.
    pub(super) fn account(&self) -> &Account {
        &self.account
    }

    /// Returns the address of the service.
    pub(super) fn origin(&self) -> String {
        self.base.origin().ascii_serialization()
    }

    /// Returns the ID of the key.
    pub(super) fn key_id(&self) -> &str {
        &self.key_id
    }

    /// Reads an object.
    async fn get<T: DeserializeOwned>(&self, path: &[&str]) -> Result<T, ApiFailure> {
        self.call(Method::GET, path, &[], None).await
    }

    /// Reads the rows of a list, up to `max`.
    async fn list<T: DeserializeOwned>(
        &self,
        path: &[&str],
        name: &str,
        filter: &[(&str, &str)],
        max: u32,
    ) -> Result<Vec<T>, ApiFailure> {
        let mut rows: Vec<Value> = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let left = max.saturating_sub(u32::try_from(rows.len()).unwrap_or(u32::MAX));
            let limit = left.clamp(1, PAGE_LEN).to_string();
            let mut query = filter.to_vec();
            query.push(("limit", &limit));
            query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
            let mut page: Value = self.call(Method::GET, path, &query, None).await?;
            let Some(Value::Array(found)) = page.get_mut(name).map(Value::take) else {
                return Err(self.not_understood(path, format!("has no list {name}")));
            };
            rows.extend(found);
            cursor = page.get("next_cursor").and_then(Value::as_str).map(str::to_owned);
            if cursor.is_none() || rows.len() >= max as usize {
                break;
            }
        }
        rows.truncate(max as usize);
        serde_json::from_value(rows.into()).map_err(|error| self.not_understood(path, error))
    }

    /// Sends a call, and parses the JSON in its reply. A reply without content is `null`.
    async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &[&str],
        query: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<T, ApiFailure> {
        let mut url = self.address(path)?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let mut headers = HeaderMap::new();
        // Neither a checked key nor this media type has characters that a header field forbids.
        if let Ok(mut bearer) = HeaderValue::from_str(&format!("Bearer {}", self.key.expose_secret())) {
            bearer.set_sensitive(true);
            headers.insert(AUTHORIZATION, bearer);
        }
        if body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let body = body.map(|body| Bytes::from(body.to_string()));
        let mut retries = 0;
        let (status, reply) = loop {
            let (method, headers, body) = (method.clone(), headers.clone(), body.clone());
            let request = Request { method, url: &url, headers, body, timeout: TIMEOUT, max_body: MAX_REPLY_LEN };
            let sent = self.outbound.send(self.egress, request).await;
            let reply = sent.map_err(|error| ApiFailure::no_reply(&url, &error))?;
            let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::BAD_GATEWAY);
            let pause = reply.retry_after.map(|after| after.wait(Clock::System.now()));
            match pause {
                Some(pause)
                    if matches!(reply.status, 429 | 503) && retries < MAX_RETRIES && pause <= MAX_RETRY_DELAY =>
                {
                    retries += 1;
                    tokio::time::sleep(pause).await;
                }
                _ => break (status, reply.body),
            }
        };
        // A URL in an error has no query, which may have identifiers of users.
        url.set_query(None);
        if !status.is_success() {
            return Err(ApiFailure::rejected(&url, status, &reply));
        }
        let document = if status == StatusCode::NO_CONTENT { &b"null"[..] } else { &reply };
        serde_json::from_slice(document)
            .map_err(|error| ApiFailure::not_the_service(&url, status, not_understood(&error)))
    }

    /// Returns the URL of a path below the environment.
    fn address(&self, path: &[&str]) -> Result<Url, ApiFailure> {
        let mut url = self.base.clone();
        // The URL parser skips these segments, so that the call would reach another object.
        if path.iter().any(|segment| matches!(*segment, "" | "." | "..")) {
            return Err(ApiFailure::not_the_service(&url, StatusCode::NOT_FOUND, "would be of another object"));
        }
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.extend(path);
        }
        Ok(url)
    }

    fn not_understood(&self, path: &[&str], reason: impl Display) -> ApiFailure {
        match self.address(path) {
            Ok(url) => ApiFailure::not_the_service(&url, StatusCode::OK, not_understood(&reason)),
            Err(failure) => failure,
        }
    }
}

fn not_understood(reason: &dyn Display) -> String {
    format!("cannot be understood ({reason})")
}

impl fmt::Display for ServiceApi {
    /// Writes the target of a command, without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Account { name, environment } = &self.account;
        write!(f, "{}, {environment}, account {name}, key {}", self.origin(), self.key_id)
    }
}

impl fmt::Debug for ServiceApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceApi").field("target", &self.to_string()).finish_non_exhaustive()
    }
}
