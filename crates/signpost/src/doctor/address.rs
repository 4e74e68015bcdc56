//! Probes an address with external requests, and collects the responses.

use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use jiff::Timestamp;
use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE, FORWARDED, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use signpost_auth::is_loopback_url;
use signpost_mcp::Revision;
use signpost_platform::limits::{FORWARDING_REQUEST, PROBE_ADDRESS};
use signpost_platform::outbound::{EgressPolicy, Outbound, Request};
use url::Url;

/// Timeout of each answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum bytes that are read of an answer. The list of tools is the longest.
const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// A probed address, with the responses to all requests.
#[derive(Debug)]
pub struct AddressProbe {
    /// The address, without a trailing slash.
    pub address: String,
    /// The parsed address.
    pub url: Url,
    /// The time of the requests.
    pub now: Timestamp,
    /// The response to `GET /health`.
    pub health: Result<Fetched, String>,
    /// The response to `GET /health` over http, if the address is https.
    pub in_clear: Option<Result<Fetched, String>>,
    /// The response to `GET /`, with the headers of a browser.
    pub home: Result<Fetched, String>,
    /// The login page of an unknown session, requested with the headers of a browser.
    pub login_page: Result<Fetched, String>,
    /// The response to `GET /v1/domains` without an API key.
    pub api: Result<Fetched, String>,
    /// The response to `GET /health` with a forged client address.
    pub forwarding: Result<Fetched, String>,
    /// The handshakes of `/mcp` in each revision of the protocol, newest first.
    pub handshakes: Vec<(Revision, Result<Fetched, String>)>,
    /// The response to `tools/list` at `/mcp`.
    pub tools: Result<Fetched, String>,
    /// The response to `GET /.well-known/mcp-server`.
    pub discovery: Result<Fetched, String>,
}

/// An HTTP response of the probed address.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct Fetched {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

impl Fetched {
    /// Returns a header's text, or an empty text if it is missing.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Returns the body as JSON, or the first message of an event stream. Returns null if the body
    /// is not JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        let mut body = self.body.as_str();
        if self.header("content-type").starts_with("text/event-stream") {
            body = body.lines().find_map(|line| line.strip_prefix("data:")).unwrap_or(body);
        }
        serde_json::from_str(body).unwrap_or_default()
    }
}

impl AddressProbe {
    /// Sends all requests to an address concurrently.
    pub async fn run(url: Url, outbound: &Outbound, now: Timestamp) -> Self {
        let address = url.as_str().trim_end_matches('/').to_owned();
        let clear = unencrypted_url(&url);
        let in_clear = async { Some(get(outbound, clear.as_deref()?, "/health", "application/json").await) };
        let (health, in_clear, home, login_page, api, forwarding, handshakes, tools, discovery) = tokio::join!(
            get(outbound, &address, "/health", "application/json"),
            in_clear,
            get(outbound, &address, "/", "text/html"),
            get(outbound, &address, "/login/sess_none", "text/html"),
            get(outbound, &address, "/v1/domains", "application/json"),
            ask_forwarding(outbound, &address),
            join_all(Revision::ALL.map(|revision| handshake(outbound, &address, revision))),
            call(outbound, &address, "tools/list", json!({}), &[]),
            get(outbound, &address, "/.well-known/mcp-server", "application/json"),
        );
        Self { address, url, now, health, in_clear, home, login_page, api, forwarding, handshakes, tools, discovery }
    }

    /// Returns true if the server has the login service: its API requires a key.
    #[must_use]
    pub fn has_login(&self) -> bool {
        self.api.as_ref().is_ok_and(|api| api.status == 401)
    }

    /// Returns true if the server has the locator: `/mcp` exists.
    #[must_use]
    pub fn has_locator(&self) -> bool {
        self.handshakes.iter().any(|(_, answer)| answer.as_ref().is_ok_and(|answer| answer.status != 404))
    }

    /// Returns true if the address is on this machine.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        is_loopback_url(&self.url)
    }
}

/// Returns the http address of an https address.
fn unencrypted_url(url: &Url) -> Option<String> {
    if url.scheme() != "https" {
        return None;
    }
    let mut clear = url.clone();
    clear.set_scheme("http").ok()?;
    clear.set_port(None).ok()?;
    Some(clear.as_str().trim_end_matches('/').to_owned())
}

/// Sends `GET /health` with a forged client address, and requests the address that the server uses.
pub(super) async fn ask_forwarding(outbound: &Outbound, address: &str) -> Result<Fetched, String> {
    let claimed = PROBE_ADDRESS.to_string();
    let headers = [
        (FORWARDING_REQUEST, "1"),
        (HeaderName::from_static("x-forwarded-for"), &claimed),
        (FORWARDED, &format!("for={claimed}")),
    ];
    ask(outbound, Method::GET, &format!("{address}/health"), &headers, None).await
}

/// Sends the handshake of a revision.
async fn handshake(outbound: &Outbound, address: &str, revision: Revision) -> (Revision, Result<Fetched, String>) {
    const DISCOVER: &str = "server/discover";
    let client = json!({ "name": "signpost-doctor", "version": env!("CARGO_PKG_VERSION") });
    let answer = if revision.is_stateless() {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": revision.as_str(),
            "io.modelcontextprotocol/clientInfo": client,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let headers = [("mcp-protocol-version", revision.as_str()), ("mcp-method", DISCOVER)];
        let headers = headers.map(|(name, value)| (HeaderName::from_static(name), value));
        call(outbound, address, DISCOVER, json!({ "_meta": meta }), &headers).await
    } else {
        let params = json!({ "protocolVersion": revision.as_str(), "capabilities": {}, "clientInfo": client });
        call(outbound, address, "initialize", params, &[]).await
    };
    (revision, answer)
}

async fn get(outbound: &Outbound, address: &str, path: &str, accept: &'static str) -> Result<Fetched, String> {
    let headers = [(ACCEPT, accept), (HeaderName::from_static("sec-fetch-mode"), "cors")];
    ask(outbound, Method::GET, &format!("{address}{path}"), &headers, None).await
}

async fn call(
    outbound: &Outbound,
    address: &str,
    method: &str,
    params: Value,
    headers: &[(HeaderName, &str)],
) -> Result<Fetched, String> {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let always = [(ACCEPT, "application/json, text/event-stream"), (CONTENT_TYPE, "application/json")];
    let headers = [&always[..], headers].concat();
    ask(outbound, Method::POST, &format!("{address}/mcp"), &headers, Some(body.into())).await
}

async fn ask(
    outbound: &Outbound,
    method: Method,
    url: &str,
    headers: &[(HeaderName, &str)],
    body: Option<Bytes>,
) -> Result<Fetched, String> {
    let url: Url = url.parse().map_err(|error| format!("{error}"))?;
    let mut fields = HeaderMap::new();
    for (name, text) in headers {
        fields.append(name, HeaderValue::from_str(text).map_err(|error| error.to_string())?);
    }
    let request =
        Request { method, url: &url, headers: fields, body, timeout: ANSWER_TIMEOUT, max_body: MAX_ANSWER_BYTES };
    // The user at the terminal typed the address, so it may be private.
    let answer = outbound.send(EgressPolicy::Everything, request).await.map_err(|error| format!("{error:#}"))?;
    let body = String::from_utf8_lossy(&answer.body).into_owned();
    Ok(Fetched { status: answer.status, headers: answer.headers, body })
}
