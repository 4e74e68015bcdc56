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
use serde_json::{Map, Value};
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
/// Maximum number of pages of a list, besides those that its rows fill: a search may return pages with few rows.
const MAX_SHORT_PAGES: u32 = 1_000;
/// Maximum mean size of a row in a list, in bytes. The largest rows are users with metadata.
const MAX_ROW_LEN: usize = 8 << 10;
/// Maximum duration of the calls for a list.
const LIST_TIMEOUT: Duration = Duration::from_mins(10);
/// Maximum length of a text of the service in an error or in the name of the target, in characters.
const MAX_TEXT_LEN: usize = 300;

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
        api.account.name = short_line(&account);
        api.key_id = short_line(&key_id);
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

    /// Reads the rows of a list, up to `max`, within [`LIST_TIMEOUT`].
    async fn list<T: DeserializeOwned>(
        &self,
        path: &[&str],
        name: &str,
        filter: &[(&str, &str)],
        max: u32,
    ) -> Result<Vec<T>, ApiFailure> {
        let rows = tokio::time::timeout(LIST_TIMEOUT, self.list_pages(path, name, filter, max)).await;
        rows.unwrap_or_else(|_| Err(self.not_understood(path, "takes longer than ten minutes")))
    }

    async fn list_pages<T: DeserializeOwned>(
        &self,
        path: &[&str],
        name: &str,
        filter: &[(&str, &str)],
        max: u32,
    ) -> Result<Vec<T>, ApiFailure> {
        let max_rows = max as usize;
        let max_len = MAX_REPLY_LEN.saturating_add(max_rows.saturating_mul(MAX_ROW_LEN));
        let (mut rows, mut len) = (Vec::new(), 0);
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_SHORT_PAGES.saturating_add(max / PAGE_LEN) {
            let left = max_rows.saturating_sub(rows.len()).clamp(1, PAGE_LEN as usize);
            let limit = left.to_string();
            let mut query = filter.to_vec();
            query.push(("limit", &limit));
            query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
            let (url, status, body) = self.exchange(Method::GET, path, &query, None).await?;
            len += body.len();
            let mut page: Map<String, Value> = parse(&url, status, &body)?;
            let found = page.remove(name).ok_or_else(|| self.not_understood(path, format!("has no list {name}")))?;
            let found: Vec<T> = serde_json::from_value(found).map_err(|error| self.not_understood(path, error))?;
            if found.len() > left || len > max_len {
                return Err(self.not_understood(path, "has more data than requested"));
            }
            rows.extend(found);
            let next = page.get("next_cursor").and_then(Value::as_str).map(str::to_owned);
            if next.is_none() || rows.len() >= max_rows {
                return Ok(rows);
            }
            if next == cursor {
                return Err(self.not_understood(path, "repeats its cursor"));
            }
            cursor = next;
        }
        Err(self.not_understood(path, "has too many pages"))
    }

    /// Sends a call, and parses the JSON in its reply. A reply without content is `null`.
    async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &[&str],
        query: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<T, ApiFailure> {
        let (url, status, reply) = self.exchange(method, path, query, body).await?;
        parse(&url, status, &reply)
    }

    /// Sends a call. Returns its URL without the query, and the status and the body of its successful reply.
    async fn exchange(
        &self,
        method: Method,
        path: &[&str],
        query: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<(Url, StatusCode, Vec<u8>), ApiFailure> {
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
        Ok((url, status, reply))
    }

    /// Returns the URL of a path below the environment.
    fn address(&self, path: &[&str]) -> Result<Url, ApiFailure> {
        let mut url = self.base.clone();
        // The URL parser skips these segments and these characters, so that the call would reach another object.
        if path.iter().any(|segment| matches!(*segment, "" | "." | "..") || segment.contains(char::is_control)) {
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

/// Parses the JSON of a successful reply.
fn parse<T: DeserializeOwned>(url: &Url, status: StatusCode, body: &[u8]) -> Result<T, ApiFailure> {
    let document = if status == StatusCode::NO_CONTENT { b"null" } else { body };
    serde_json::from_slice(document).map_err(|error| ApiFailure::not_the_service(url, status, not_understood(&error)))
}

/// Returns a text of the service as the start of a single line.
fn short_line(text: &str) -> String {
    signpost_text::clean_line(text).chars().take(MAX_TEXT_LEN).collect()
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
