use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER, USER_AGENT};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode, redirect};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::Url;

use super::error::SignpostError;
use super::retry;
use super::shapes::Paging;
use super::surroundings::Surroundings;

/// The longest reply that is read, in bytes.
const MAX_REPLY_LEN: usize = 4 * 1024 * 1024;
const AGENT: &str = concat!("signpost-sdk-rust/", env!("CARGO_PKG_VERSION"));
/// Everything but the unreserved characters of RFC 3986 (section 2.3).
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A call to the service, before it is sent.
#[derive(Debug)]
pub(super) struct ApiCall {
    method: Method,
    url: Url,
    body: Option<Vec<u8>>,
    idempotency_key: Option<String>,
    is_repeatable: bool,
    /// Whether it goes to the locator, which wants no API key.
    is_open: bool,
    /// How long the service itself may wait, beside the time-out.
    patience: Duration,
}

/// What came back, if it was a success.
#[derive(Debug)]
pub(super) struct ApiReply {
    status: StatusCode,
    body: Vec<u8>,
    request_id: Option<String>,
}

/// How calls are sent; cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Transport {
    pub(super) http: Client,
    pub(super) key: SecretString,
    pub(super) timeout: Duration,
    pub(super) retries: u32,
}

/// A path of ids and words below the base URL.
///
/// # Errors
/// `invalid_argument` for an id that would lead to another address.
pub(super) fn address(base: &Url, segments: &[&str]) -> Result<Url, SignpostError> {
    let mut path = base.path().trim_end_matches('/').to_owned();
    for segment in segments {
        if matches!(*segment, "" | "." | "..") {
            return Err(SignpostError::invalid_argument(format!("{segment:?} is no id: it would lead elsewhere")));
        }
        path.push('/');
        path.extend(utf8_percent_encode(segment, SEGMENT));
    }
    let mut url = base.clone();
    url.set_path(&path);
    Ok(url)
}

impl ApiCall {
    /// A call that does no harm if it comes twice.
    pub(super) fn new(method: Method, url: Url) -> Self {
        Self {
            method,
            url,
            body: None,
            idempotency_key: None,
            is_repeatable: true,
            is_open: false,
            patience: Duration::ZERO,
        }
    }

    /// A call that the service may have carried out although its reply was lost.
    pub(super) fn once(self) -> Self {
        Self { is_repeatable: false, ..self }
    }

    pub(super) fn open(self) -> Self {
        Self { is_open: true, ..self }
    }

    pub(super) fn waiting(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    pub(super) fn under(self, idempotency_key: String) -> Self {
        Self { idempotency_key: Some(idempotency_key), ..self }
    }

    pub(super) fn query<T: ToString>(mut self, name: &str, value: Option<&T>) -> Self {
        if let Some(value) = value {
            self.url.query_pairs_mut().append_pair(name, &value.to_string());
        }
        self
    }

    pub(super) fn page(self, Paging { limit, cursor }: &Paging) -> Self {
        self.query("limit", limit.as_ref()).query("cursor", cursor.as_ref())
    }

    pub(super) fn json(self, body: &impl Serialize) -> Result<Self, SignpostError> {
        let body = serde_json::to_vec(body).map_err(|error| SignpostError::invalid_argument(error.to_string()))?;
        Ok(Self { body: Some(body), ..self })
    }
}

impl ApiReply {
    pub(super) fn parse<T: DeserializeOwned>(&self) -> Result<T, SignpostError> {
        // A struct of serde's is read from a list too; the service sends objects.
        let value: Value = serde_json::from_slice(&self.body).map_err(|_| self.not_as_promised("it is no JSON"))?;
        if !value.is_object() {
            return Err(self.not_as_promised("it is no object"));
        }
        serde_json::from_value(value).map_err(|error| self.not_as_promised(error))
    }

    /// What a deletion gives. A page that stands before the service is no deletion.
    pub(super) fn nothing(self) -> Result<(), SignpostError> {
        if self.status == StatusCode::NO_CONTENT { Ok(()) } else { Err(self.not_as_promised("it is not 204")) }
    }

    pub(super) fn svg(self) -> Result<String, SignpostError> {
        let text = String::from_utf8(self.body.clone()).ok().filter(|text| text.contains("<svg"));
        text.ok_or_else(|| self.not_as_promised("it is no SVG"))
    }

    pub(super) fn not_as_promised(&self, what: impl std::fmt::Display) -> SignpostError {
        SignpostError { request_id: self.request_id.clone(), ..SignpostError::invalid_response(self.status, what) }
    }

    /// The error that a successful reply of the locator tells of.
    pub(super) fn told(&self, code: &str, message: &str) -> SignpostError {
        let (status, request_id) = (Some(self.status.as_u16()), self.request_id.clone());
        SignpostError { status, request_id, ..SignpostError::new(code, message) }
    }
}

impl Transport {
    /// Tries until there is a reply that is none of "later", as often as `retries` says and once more.
    pub(super) async fn send(&self, call: &ApiCall, world: &dyn Surroundings) -> Result<ApiReply, SignpostError> {
        for tries in 0..self.retries {
            let error = match self.attempt(call, world).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            match retry::pause(&error, call.is_repeatable, tries, &world.random()) {
                Some(pause) => world.pause(pause).await,
                None => return Err(error),
            }
        }
        self.attempt(call, world).await
    }

    async fn attempt(&self, call: &ApiCall, world: &dyn Surroundings) -> Result<ApiReply, SignpostError> {
        let response = self.request(call)?.send().await.map_err(SignpostError::lost)?;
        let status = response.status();
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        let request_id = header("x-request-id").map(str::to_owned);
        let retry_after = header(RETRY_AFTER.as_str()).and_then(|text| retry::retry_after(text, world.now()));
        let body = read_body(response).await;
        let body = body.map_err(|error| SignpostError { request_id: request_id.clone(), ..error })?;
        if status.is_success() {
            return Ok(ApiReply { status, body, request_id });
        }
        Err(SignpostError { request_id, retry_after, ..SignpostError::of_reply(status, &body) })
    }

    fn request(&self, call: &ApiCall) -> Result<RequestBuilder, SignpostError> {
        let request = self.http.request(call.method.clone(), call.url.clone());
        let request = request.timeout(self.timeout.saturating_add(call.patience));
        let mut request = request.header(USER_AGENT, AGENT);
        if call.is_open {
            request = request.header(ACCEPT, "application/json, text/event-stream");
        } else {
            request = request.header(AUTHORIZATION, self.authorization()?);
        }
        if let Some(key) = &call.idempotency_key {
            let value = HeaderValue::from_str(key).ok().filter(|value| !value.is_empty());
            let told = "an idempotency key is 1 to 255 printable characters of ASCII without spaces";
            request = request.header("idempotency-key", value.ok_or_else(|| SignpostError::invalid_argument(told))?);
        }
        Ok(match &call.body {
            Some(body) => request.header(CONTENT_TYPE, "application/json").body(body.clone()),
            None => request,
        })
    }

    fn authorization(&self) -> Result<HeaderValue, SignpostError> {
        let told = "the API key cannot be sent: it has a line end or another control character in it";
        let value = HeaderValue::from_str(&format!("Bearer {}", self.key.expose_secret()));
        let mut value = value.map_err(|_| SignpostError::invalid_argument(told))?;
        value.set_sensitive(true);
        Ok(value)
    }
}

async fn read_body(mut response: Response) -> Result<Vec<u8>, SignpostError> {
    let (status, mut body) = (response.status(), Vec::new());
    while let Some(chunk) = response.chunk().await.map_err(SignpostError::lost)? {
        if body.len() + chunk.len() > MAX_REPLY_LEN {
            return Err(SignpostError::invalid_response(status, "it is longer than 4 MiB"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// A client of HTTP that follows no redirect: the API key would go along.
#[expect(clippy::disallowed_methods, reason = "the guarded client is the server's, and this is another program")]
pub(super) fn http_client() -> Result<Client, SignpostError> {
    // Fails where the program has chosen one already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().redirect(redirect::Policy::none()).build();
    client.map_err(|error| SignpostError::new("connection_failed", format!("no client of HTTP: {error:?}")))
}
