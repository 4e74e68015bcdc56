//! Sends API calls over HTTP and retries them.

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
use super::error_code::ErrorCode;
use super::retry;
use super::runtime::Runtime;
use super::shared_types::Paging;
use super::stream::SessionStream;

/// Maximum length of a response body in bytes.
const MAX_REPLY_LEN: usize = 4 * 1024 * 1024;
/// The first bytes of every PNG image.
const PNG_SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
const AGENT: &str = concat!("signpost-sdk-rust/", env!("CARGO_PKG_VERSION"));
/// The characters to escape in a path segment: all except the unreserved characters of RFC 3986
/// (section 2.3).
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// An API call that was not sent yet.
#[derive(Debug)]
pub(super) struct ApiCall {
    method: Method,
    url: Url,
    body: Option<Vec<u8>>,
    idempotency_key: Option<String>,
    is_idempotent: bool,
    authorization: Authorization,
    /// How long the service may delay its response. It is added to the timeout.
    wait: Duration,
}

/// The credential that a call is sent with.
#[derive(Debug)]
enum Authorization {
    /// The API key.
    ApiKey,
    /// The token of the ATM locator, if it requires one.
    Locator(Option<SecretString>),
    /// No credential.
    Anonymous,
}

/// A successful response.
#[derive(Debug)]
pub(super) struct ApiReply {
    status: StatusCode,
    body: Vec<u8>,
    request_id: Option<String>,
}

/// Sends API calls over HTTP. It is cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Transport {
    pub(super) http: Client,
    pub(super) key: SecretString,
    pub(super) timeout: Duration,
    pub(super) retries: u32,
    /// Maximum delay that the service may request before a retry, in seconds.
    pub(super) max_wait_secs: u64,
}

/// Appends path segments to the base URL.
///
/// # Errors
/// Returns `invalid_argument` if a segment would change the structure of the path.
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
    /// Creates an idempotent call.
    pub(super) fn new(method: Method, url: Url) -> Self {
        Self {
            method,
            url,
            body: None,
            idempotency_key: None,
            is_idempotent: true,
            authorization: Authorization::ApiKey,
            wait: Duration::ZERO,
        }
    }

    /// Marks the call as not idempotent, so that it is not retried after a lost response.
    pub(super) fn not_idempotent(self) -> Self {
        Self { is_idempotent: false, ..self }
    }

    /// Sends the call to the ATM locator, without the API key.
    pub(super) fn for_locator(self, token: Option<SecretString>) -> Self {
        Self { authorization: Authorization::Locator(token), ..self }
    }

    pub(super) fn without_credential(self) -> Self {
        Self { authorization: Authorization::Anonymous, ..self }
    }

    pub(super) fn with_wait(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    pub(super) fn with_idempotency_key(self, idempotency_key: String) -> Self {
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
        // serde also deserializes structs from arrays, but the service sends only objects.
        let value: Value = serde_json::from_slice(&self.body).map_err(|_| self.unexpected("it is no JSON"))?;
        if !value.is_object() {
            return Err(self.unexpected("it is no object"));
        }
        serde_json::from_value(value).map_err(|error| self.unexpected(error))
    }

    /// Checks that the response is the empty response of a deletion. Any other success may come
    /// from a proxy.
    pub(super) fn expect_no_content(self) -> Result<(), SignpostError> {
        if self.status == StatusCode::NO_CONTENT { Ok(()) } else { Err(self.unexpected("it is not 204")) }
    }

    pub(super) fn svg(self) -> Result<String, SignpostError> {
        match str::from_utf8(&self.body) {
            Ok(text) if text.contains("<svg") => Ok(text.to_owned()),
            _ => Err(self.unexpected("it is no SVG")),
        }
    }

    pub(super) fn png(self) -> Result<Vec<u8>, SignpostError> {
        if self.body.starts_with(PNG_SIGNATURE) { Ok(self.body) } else { Err(self.unexpected("it is no PNG")) }
    }

    /// Creates the error for a response that does not have the documented form.
    pub(super) fn unexpected(&self, message: impl std::fmt::Display) -> SignpostError {
        SignpostError { request_id: self.request_id.clone(), ..SignpostError::invalid_response(self.status, message) }
    }

    /// Creates the error for a successful HTTP response of the locator that contains an error.
    pub(super) fn error(&self, code: ErrorCode, message: &str) -> SignpostError {
        SignpostError {
            status: Some(self.status.as_u16()),
            request_id: self.request_id.clone(),
            ..SignpostError::new(code, message)
        }
    }
}

impl Transport {
    /// Sends a call and retries it up to `retries` times.
    pub(super) async fn send(&self, call: &ApiCall, runtime: &dyn Runtime) -> Result<ApiReply, SignpostError> {
        for tries in 0..self.retries {
            let error = match self.attempt(call, runtime).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            match retry::pause(&error, call.is_idempotent, tries, self.max_wait_secs, &runtime.random()) {
                Some(pause) => runtime.pause(pause).await,
                None => return Err(error),
            }
        }
        self.attempt(call, runtime).await
    }

    /// Sends a call once, and returns its response as a stream.
    pub(super) async fn open(&self, call: &ApiCall, runtime: &dyn Runtime) -> Result<SessionStream, SignpostError> {
        // The timeout of a request includes its body, which has no end here.
        let sent = tokio::time::timeout(self.timeout, self.request_without_timeout(call)?.send()).await;
        let Ok(response) = sent else {
            return Err(SignpostError::new(ErrorCode::Timeout, "the service sent no reply in time"));
        };
        let response = response.map_err(SignpostError::no_reply)?;
        if response.status().is_success() {
            return SessionStream::new(response, self.timeout);
        }
        Err(read_error(response, runtime).await)
    }

    async fn attempt(&self, call: &ApiCall, runtime: &dyn Runtime) -> Result<ApiReply, SignpostError> {
        let response = self.request(call)?.send().await.map_err(SignpostError::no_reply)?;
        let status = response.status();
        if !status.is_success() {
            return Err(read_error(response, runtime).await);
        }
        let request_id = header_text(&response, "x-request-id").map(str::to_owned);
        match read_body(response).await {
            Ok(body) => Ok(ApiReply { status, body, request_id }),
            Err(error) => Err(SignpostError { request_id, ..error }),
        }
    }

    fn request(&self, call: &ApiCall) -> Result<RequestBuilder, SignpostError> {
        Ok(self.request_without_timeout(call)?.timeout(self.timeout.saturating_add(call.wait)))
    }

    fn request_without_timeout(&self, call: &ApiCall) -> Result<RequestBuilder, SignpostError> {
        let request = self.http.request(call.method.clone(), call.url.clone());
        let mut request = request.header(USER_AGENT, AGENT);
        match &call.authorization {
            Authorization::ApiKey => request = request.header(AUTHORIZATION, bearer(&self.key, "API key")?),
            Authorization::Anonymous => {}
            Authorization::Locator(token) => {
                request = request.header(ACCEPT, "application/json, text/event-stream");
                if let Some(token) = token {
                    request = request.header(AUTHORIZATION, bearer(token, "token of the locator")?);
                }
            }
        }
        if let Some(key) = &call.idempotency_key {
            let value = match HeaderValue::from_str(key) {
                Ok(value) if !value.is_empty() => value,
                _ => {
                    return Err(SignpostError::invalid_argument(
                        "an idempotency key is 1 to 255 printable characters of ASCII without spaces",
                    ));
                }
            };
            request = request.header("idempotency-key", value);
        }
        Ok(match &call.body {
            Some(body) => request.header(CONTENT_TYPE, "application/json").body(body.clone()),
            None => request,
        })
    }
}

/// Returns the value of the header `Authorization`. `name` is the name of the credential.
fn bearer(credential: &SecretString, name: &str) -> Result<HeaderValue, SignpostError> {
    let Ok(mut value) = HeaderValue::from_str(&format!("Bearer {}", credential.expose_secret())) else {
        return Err(SignpostError::invalid_argument(format!(
            "the {name} cannot be sent: it has a line end or another control character in it",
        )));
    };
    value.set_sensitive(true);
    Ok(value)
}

/// Returns the error that an error response describes.
async fn read_error(response: Response, runtime: &dyn Runtime) -> SignpostError {
    let status = response.status();
    let request_id = header_text(&response, "x-request-id").map(str::to_owned);
    let retry_after =
        header_text(&response, RETRY_AFTER.as_str()).and_then(|text| retry::retry_after(text, runtime.now()));
    match read_body(response).await {
        Ok(body) => SignpostError { request_id, retry_after, ..SignpostError::of_reply(status, &body) },
        Err(error) => SignpostError { request_id, ..error },
    }
}

/// Returns the value of a response header if it is ASCII text.
pub(super) fn header_text<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    response.headers().get(name)?.to_str().ok()
}

async fn read_body(mut response: Response) -> Result<Vec<u8>, SignpostError> {
    let status = response.status();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(SignpostError::no_reply)? {
        if body.len() + chunk.len() > MAX_REPLY_LEN {
            return Err(SignpostError::invalid_response(status, "it is longer than 4 MiB"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Creates an HTTP client that does not follow redirects, because it would send the API key to the
/// redirect target.
#[expect(clippy::disallowed_methods, reason = "the guarded client is the server's, and this is another program")]
pub(crate) fn http_client() -> Result<Client, SignpostError> {
    // Fails if the program has already installed a provider, which then remains in use.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().redirect(redirect::Policy::none()).build();
    client.map_err(|error| SignpostError::new(ErrorCode::ConnectionFailed, format!("no client of HTTP: {error:?}")))
}
