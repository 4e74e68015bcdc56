//! The HTTP client for requests to other hosts. It does not connect to addresses that the
//! [`EgressPolicy`] forbids, follows no redirects, uses no proxy, and limits the size and the
//! duration of responses.

mod aborted;
mod guard;
mod name_resolver;

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::{Context, Result};
use bytes::Bytes;
use jiff::Timestamp;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Client, Method, redirect};
use url::{Host, Url};

pub use guard::EgressPolicy;
pub use name_resolver::NameResolver;

/// Timeout of opening a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The HTTP clients, one for each [`EgressPolicy`], with separate connections. They are cheap to
/// clone.
#[derive(Clone, Debug)]
pub struct Outbound(Arc<GuardedClients>);

#[derive(Debug)]
struct GuardedClients {
    resolver: NameResolver,
    public: OnceLock<Guarded>,
    loopback: OnceLock<Guarded>,
    everything: OnceLock<Guarded>,
}

/// The response of another host.
#[derive(Debug)]
pub struct OutboundResponse {
    /// The HTTP status.
    pub status: u16,
    /// The start of the body, up to [`Request::max_body`].
    pub body: Vec<u8>,
    /// The parsed header `Retry-After`, if any.
    pub retry_after: Option<RetryAfterHeader>,
    /// The header fields.
    pub headers: HeaderMap,
}

/// The value of the header `Retry-After` (RFC 9110, section 10.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryAfterHeader {
    /// A delay in seconds.
    Delay(Duration),
    /// A point in time.
    Until(Timestamp),
}

impl RetryAfterHeader {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        match text.parse() {
            Ok(seconds) => Some(Self::Delay(Duration::from_secs(seconds))),
            Err(_) => parse_http_date(text).map(Self::Until),
        }
    }

    /// Returns the time to wait from `now` on. It is zero for a time in the past.
    #[must_use]
    pub fn wait(self, now: Timestamp) -> Duration {
        match self {
            Self::Delay(delay) => delay,
            Self::Until(time) => time.duration_since(now).try_into().unwrap_or_default(),
        }
    }
}

/// Parses an HTTP date in any of its three formats (RFC 9110, section 5.6.7).
#[must_use]
pub fn parse_http_date(text: &str) -> Option<Timestamp> {
    Timestamp::try_from(httpdate::parse_http_date(text).ok()?).ok()
}

/// A request to another host.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The method: `GET`, `HEAD` or `POST`.
    pub method: Method,
    /// The target URL.
    pub url: &'a Url,
    /// The header fields.
    pub headers: HeaderMap,
    /// The body, if any.
    pub body: Option<Bytes>,
    /// Timeout of the whole exchange.
    pub timeout: Duration,
    /// Maximum number of bytes of the response body to read.
    pub max_body: usize,
}

/// An HTTP client, or the reason it could not be created. It is created for the first request,
/// because this loads all certificates of the machine, and the server must start even without
/// certificates.
type Guarded = Result<Client, Arc<str>>;

impl Outbound {
    /// Creates the HTTP clients, with `resolver` for host names.
    #[must_use]
    pub fn new(resolver: &NameResolver) -> Self {
        // Fails only if a provider is already installed.
        drop(rustls::crypto::ring::default_provider().install_default());
        let [public, loopback, everything] = [(); 3].map(|()| OnceLock::new());
        Self(Arc::new(GuardedClients { resolver: resolver.clone(), public, loopback, everything }))
    }

    /// Sends a request and reads the response, up to its maximum size.
    ///
    /// # Errors
    /// Returns an error if `egress` forbids the URL or its address, if the host does not respond in
    /// time, or if the response is incomplete or not HTTP. The error message contains nothing from
    /// the response.
    pub async fn send(&self, egress: EgressPolicy, request: Request<'_>) -> Result<OutboundResponse> {
        let (answer, cut) = self.exchange(egress, request).await?;
        cut.map_or(Ok(answer), |error| Err(error.into()))
    }

    /// Sends a request for the status of its response. An incomplete body is not an error.
    ///
    /// # Errors
    /// Returns an error if `egress` forbids the URL or its address, or if no status line arrives in
    /// time.
    pub async fn send_for_status(&self, egress: EgressPolicy, request: Request<'_>) -> Result<OutboundResponse> {
        Ok(self.exchange(egress, request).await?.0)
    }

    /// Sends an unencrypted HTTP request, closes the connection in the middle of its body, and
    /// reads no response.
    ///
    /// # Errors
    /// Returns an error if `egress` forbids the URL or its address, if the URL is not http, or if
    /// the host accepts no connection.
    pub async fn send_aborted(&self, egress: EgressPolicy, request: Request<'_>) -> Result<()> {
        aborted::send_aborted(egress, request).await
    }

    async fn exchange(
        &self,
        egress: EgressPolicy,
        request: Request<'_>,
    ) -> Result<(OutboundResponse, Option<reqwest::Error>)> {
        egress.check(request.url).map_err(|reason| anyhow::anyhow!("the URL {reason}"))?;
        // A URL with an IP address needs no name resolution, so the resolver does not check the
        // address.
        let address = match request.url.host() {
            Some(Host::Ipv4(v4)) => Some(v4.into()),
            Some(Host::Ipv6(v6)) => Some(v6.into()),
            _ => None,
        };
        anyhow::ensure!(address.is_none_or(|address| egress.permits(address)), name_resolver::FORBIDDEN);
        let GuardedClients { resolver, public, loopback, everything } = &*self.0;
        let guarded = match egress {
            EgressPolicy::Public => public,
            EgressPolicy::Loopback => loopback,
            EgressPolicy::Everything => everything,
        };
        let built = guarded.get_or_init(|| client(egress, resolver.clone()));
        let client = built.as_ref().map_err(|reason| anyhow::anyhow!("{reason}"))?;
        exchange(client, request).await
    }
}

/// Returns the response, together with the error if its body is incomplete.
async fn exchange(client: &Client, request: Request<'_>) -> Result<(OutboundResponse, Option<reqwest::Error>)> {
    let Request { method, url, headers, body, timeout, max_body } = request;
    let mut outgoing = client.request(method, url.clone()).headers(headers).timeout(timeout);
    if let Some(body) = body {
        outgoing = outgoing.body(body);
    }
    let mut response = outgoing.send().await.map_err(reqwest::Error::without_url).context("no answer")?;
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    let retry_after = headers.get(RETRY_AFTER).and_then(|value| RetryAfterHeader::parse(value.to_str().ok()?));
    // Allocated once, because a growing vector copies the body and needs memory for both copies.
    // Unused pages of the allocation do not occupy memory.
    let length = response.content_length().and_then(|length| usize::try_from(length).ok()).unwrap_or(max_body);
    let mut body = Vec::with_capacity(length.min(max_body));
    let mut cut = None;
    while body.len() < max_body {
        match response.chunk().await {
            Ok(Some(chunk)) => body.extend_from_slice(&chunk[..chunk.len().min(max_body - body.len())]),
            Ok(None) => break,
            Err(error) => {
                cut = Some(error.without_url());
                break;
            }
        }
    }
    Ok((OutboundResponse { status, body, retry_after, headers }, cut))
}

#[expect(clippy::disallowed_methods, reason = "this is the guarded client")]
fn client(egress: EgressPolicy, resolver: NameResolver) -> Guarded {
    let builder = Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(Duration::from_secs(30))
        .pool_max_idle_per_host(8)
        .user_agent(concat!("signpost/", env!("CARGO_PKG_VERSION")))
        .dns_resolver(name_resolver::Checked { egress, resolver });
    builder.build().map_err(|error| {
        let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        format!("outbound requests are off: {error} {cause} (is the package ca-certificates installed?)").into()
    })
}

/// Returns the resolved addresses of a name if `egress` permits all of them.
pub(crate) fn check_addresses(egress: EgressPolicy, found: Vec<SocketAddr>) -> Result<Vec<SocketAddr>> {
    anyhow::ensure!(!found.is_empty(), "the host name does not resolve");
    // A single forbidden address forbids the name. Otherwise an attacker could mix permitted and
    // forbidden addresses and retry.
    anyhow::ensure!(found.iter().all(|address| egress.permits(address.ip())), name_resolver::FORBIDDEN);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// Sends a request to a host that responds with these bytes. The host then leaves the
    /// connection open if `stays` is set, or closes it.
    async fn exchange_with(answer: &'static [u8], stays: bool) -> [Result<OutboundResponse>; 2] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = Url::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
        let host = tokio::spawn(async move {
            let mut open = Vec::new();
            for _ in 0..2 {
                let (mut connection, _) = listener.accept().await.unwrap();
                assert!(connection.read(&mut [0; 1024]).await.unwrap() > 0);
                connection.write_all(answer).await.unwrap();
                open.extend(stays.then_some(connection));
            }
            open
        });
        let outbound = Outbound::new(&NameResolver::System);
        let timeout = Duration::from_secs(3);
        let request =
            || Request { method: Method::GET, url: &url, headers: HeaderMap::new(), body: None, timeout, max_body: 4 };
        let answers = [
            outbound.send_for_status(EgressPolicy::Everything, request()).await,
            outbound.send(EgressPolicy::Everything, request()).await,
        ];
        drop(host.await.unwrap());
        answers
    }

    #[tokio::test]
    async fn send_for_status_accepts_an_incomplete_body() {
        for (answer, stays, body, is_whole) in [
            (&b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfine"[..], false, "fine", true),
            (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\ntoo long", true, "too ", true),
            (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\ncut", false, "cut", false),
            (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nbad\r\nx", true, "bad", false),
            (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n", true, "", false),
        ] {
            let [status_only, sent] = exchange_with(answer, stays).await;
            let response = status_only.unwrap();
            assert_eq!((response.status, &response.body[..]), (200, body.as_bytes()));
            assert_eq!(sent.is_ok(), is_whole, "{body}");
        }
    }

    #[tokio::test]
    async fn body_is_allocated_once() {
        for (answer, capacity) in [
            (&b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc"[..], 3),
            (b"HTTP/1.1 200 OK\r\ncontent-length: 9999999999\r\n\r\nabcde", 4),
            (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\n\r\n", 4),
        ] {
            let [_, sent] = exchange_with(answer, false).await;
            assert_eq!(sent.unwrap().body.capacity(), capacity);
        }
    }

    #[tokio::test]
    async fn send_aborted_sends_half_of_the_body() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = Url::parse(&format!("http://{}/in?x=1", listener.local_addr().unwrap())).unwrap();
        let request = |url| {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, "1".parse().unwrap())]);
            let (body, timeout) = (Some(Bytes::from_static(b"12345678")), Duration::from_secs(3));
            Request { method: Method::POST, url, headers, body, timeout, max_body: 0 }
        };
        let host = tokio::spawn(async move {
            let (mut connection, mut text) = (listener.accept().await.unwrap().0, String::new());
            connection.read_to_string(&mut text).await.unwrap();
            text
        });
        let outbound = Outbound::new(&NameResolver::System);
        assert!(outbound.send_aborted(EgressPolicy::Public, request(&url)).await.is_err());
        outbound.send_aborted(EgressPolicy::Loopback, request(&url)).await.unwrap();
        let host_name = url.authority();
        let expected =
            format!("POST /in?x=1 HTTP/1.1\r\nhost: {host_name}\r\ncontent-length: 8\r\nretry-after: 1\r\n\r\n1234");
        assert_eq!(host.await.unwrap(), expected);
        let private = Url::parse("http://10.0.0.1/").unwrap();
        assert!(outbound.send_aborted(EgressPolicy::Loopback, request(&private)).await.is_err());
    }

    #[test]
    fn retry_after_is_a_number_of_seconds_or_a_date() {
        let now = Timestamp::from_second(784_111_777 - 90).unwrap();
        let wait = |text| RetryAfterHeader::parse(text).map(|after| after.wait(now).as_secs());
        for (text, expected) in [
            ("120", Some(120)),
            (" 0 ", Some(0)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(90)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(90)),
            ("Sun Nov  6 08:49:37 1994", Some(90)),
            ("Sun, 06 Nov 1994 08:40:00 GMT", Some(0)),
            ("soon", None),
            ("-1", None),
            ("1.5", None),
            ("", None),
        ] {
            assert_eq!(wait(text), expected, "{text}");
        }
    }
}
