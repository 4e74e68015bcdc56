//! The one client through which this program asks other hosts: it dials no address that [`Reach`] closes, follows no
//! redirect, uses no proxy and reads bounded answers in bounded time.

mod cut;
mod guard;
mod names;

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use bytes::Bytes;
use jiff::Timestamp;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Client, Method, redirect};
use url::{Host, Url};

pub use guard::Reach;
pub use names::Names;

/// How long a connection may take to stand.
const CONNECT: Duration = Duration::from_secs(5);

/// A client per reach, each with its own connections; cheap to clone.
#[derive(Clone, Debug)]
pub struct Outbound(Arc<GuardedClients>);

#[derive(Debug)]
struct GuardedClients {
    names: Names,
    public: OnceLock<Guarded>,
    loopback: OnceLock<Guarded>,
    everything: OnceLock<Guarded>,
}

/// What another host answered.
#[derive(Debug)]
pub struct OutboundResponse {
    /// The HTTP status.
    pub status: u16,
    /// The beginning of the body.
    pub body: Vec<u8>,
    /// The wait that the host asked for.
    pub retry_after: Option<RetryAfterHeader>,
    /// The header fields.
    pub headers: HeaderMap,
}

/// `Retry-After` (RFC 9110, section 10.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryAfterHeader {
    /// So long.
    Delay(Duration),
    /// Until then.
    Until(SystemTime),
}

impl RetryAfterHeader {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let delay = text.parse().map(|seconds| Self::Delay(Duration::from_secs(seconds)));
        delay.ok().or_else(|| httpdate::parse_http_date(text).ok().map(Self::Until))
    }

    /// The wait from `now` on; none for a time that is over.
    #[must_use]
    pub fn wait(self, now: Timestamp) -> Duration {
        match self {
            Self::Delay(delay) => delay,
            Self::Until(time) => {
                let Ok(time) = Timestamp::try_from(time) else { return Duration::ZERO };
                time.duration_since(now).try_into().unwrap_or_default()
            }
        }
    }
}

/// A request to another host.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// `GET`, `HEAD` or `POST`.
    pub method: Method,
    /// Where to.
    pub url: &'a Url,
    /// The header fields.
    pub headers: HeaderMap,
    /// The body, if any.
    pub body: Option<Bytes>,
    /// How long the whole exchange may take.
    pub within: Duration,
    /// How many bytes of the answer's body are read.
    pub keep: usize,
}

/// Built for the first request, since each reads all certificates of the machine; the reason is kept where that failed, so
/// that a machine without certificates can still serve all that needs none.
type Guarded = Result<Client, Arc<str>>;

impl Outbound {
    /// Clients that look names up with `names`.
    #[must_use]
    pub fn new(names: &Names) -> Self {
        // Fails only where another part of the process has chosen already.
        drop(rustls::crypto::ring::default_provider().install_default());
        let [public, loopback, everything] = [(); 3].map(|()| OnceLock::new());
        Self(Arc::new(GuardedClients { names: names.clone(), public, loopback, everything }))
    }

    /// Sends one request.
    ///
    /// # Errors
    /// Where the URL or the address behind it is closed to `reach`, the host does not answer in time, or the answer
    /// is not HTTP. The text names the reason, never the answer.
    pub async fn send(&self, reach: Reach, request: Request<'_>) -> Result<OutboundResponse> {
        let (answer, cut) = self.exchange(reach, request).await?;
        cut.map_or(Ok(answer), |error| Err(error.into()))
    }

    /// Sends one request of whose answer the status is what counts: it holds once its status line came in time, whatever
    /// the body does then. Of the body there is what came.
    ///
    /// # Errors
    /// As [`Outbound::send`].
    pub async fn notify(&self, reach: Reach, request: Request<'_>) -> Result<OutboundResponse> {
        Ok(self.exchange(reach, request).await?.0)
    }

    /// Sends one request over plain http, closes the connection in the middle of its body, and waits for no answer.
    ///
    /// # Errors
    /// Where the URL or the address behind it is closed to `reach`, is not http, or the host takes no connection.
    pub async fn cut_short(&self, reach: Reach, request: Request<'_>) -> Result<()> {
        cut::cut_short(reach, request).await
    }

    async fn exchange(&self, reach: Reach, request: Request<'_>) -> Result<(OutboundResponse, Option<reqwest::Error>)> {
        reach.check(request.url).map_err(|reason| anyhow::anyhow!("the URL {reason}"))?;
        // A host that is an address is not looked up, so nobody else would check it.
        let address = match request.url.host() {
            Some(Host::Ipv4(v4)) => Some(v4.into()),
            Some(Host::Ipv6(v6)) => Some(v6.into()),
            _ => None,
        };
        anyhow::ensure!(address.is_none_or(|address| reach.permits(address)), names::CLOSED);
        let GuardedClients { names, public, loopback, everything } = &*self.0;
        let guarded = match reach {
            Reach::Public => public,
            Reach::Loopback => loopback,
            Reach::Everything => everything,
        };
        let built = guarded.get_or_init(|| client(reach, names.clone()));
        let client = built.as_ref().map_err(|reason| anyhow::anyhow!("{reason}"))?;
        exchange(client, request).await
    }
}

/// The answer, and why its body ended too early, if it did.
async fn exchange(client: &Client, request: Request<'_>) -> Result<(OutboundResponse, Option<reqwest::Error>)> {
    let Request { method, url, headers, body, within, keep } = request;
    let mut outgoing = client.request(method, url.clone()).headers(headers).timeout(within);
    if let Some(body) = body {
        outgoing = outgoing.body(body);
    }
    let mut response = outgoing.send().await.map_err(reqwest::Error::without_url).context("no answer")?;
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    let retry_after = headers.get(RETRY_AFTER).and_then(|value| RetryAfterHeader::parse(value.to_str().ok()?));
    // Allocated once: a vector that grows copies the body, and both copies are in memory at that time. Pages of the
    // allocation that are not written take no memory.
    let length = response.content_length().and_then(|length| usize::try_from(length).ok()).unwrap_or(keep);
    let mut body = Vec::with_capacity(length.min(keep));
    let mut cut = None;
    while body.len() < keep {
        match response.chunk().await {
            Ok(Some(chunk)) => body.extend_from_slice(&chunk[..chunk.len().min(keep - body.len())]),
            Ok(None) => break,
            Err(error) => {
                cut = Some(error.without_url());
                break;
            }
        }
    }
    Ok((OutboundResponse { status, body, retry_after, headers }, cut))
}

#[expect(clippy::disallowed_methods, reason = "this is the one guarded client")]
fn client(reach: Reach, names: Names) -> Guarded {
    let builder = Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT)
        .pool_idle_timeout(Duration::from_secs(30))
        .pool_max_idle_per_host(8)
        .user_agent(concat!("signpost/", env!("CARGO_PKG_VERSION")))
        .dns_resolver(names::Checked { reach, names });
    builder.build().map_err(|error| {
        let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        format!("outbound requests are off: {error} {cause} (is the package ca-certificates installed?)").into()
    })
}

/// The addresses of a name that may be dialled: all of them, or none.
pub(crate) fn permitted(reach: Reach, found: Vec<SocketAddr>) -> Result<Vec<SocketAddr>> {
    anyhow::ensure!(!found.is_empty(), "the host name does not resolve");
    // One closed address closes the name: else an attacker names one of each and waits for luck.
    anyhow::ensure!(found.iter().all(|address| reach.permits(address.ip())), names::CLOSED);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// Asks a host that answers with these bytes, and then goes on or leaves.
    async fn asked(answer: &'static [u8], stays: bool) -> [Result<OutboundResponse>; 2] {
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
        let outbound = Outbound::new(&Names::System);
        let within = Duration::from_secs(3);
        let request =
            || Request { method: Method::GET, url: &url, headers: HeaderMap::new(), body: None, within, keep: 4 };
        let answers =
            [outbound.notify(Reach::Everything, request()).await, outbound.send(Reach::Everything, request()).await];
        drop(host.await.unwrap());
        answers
    }

    #[tokio::test]
    async fn what_counts_by_its_status_counts_however_its_body_ends() {
        for (answer, stays, body, is_whole) in [
            (&b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfine"[..], false, "fine", true),
            (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\ntoo long", true, "too ", true),
            (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\ncut", false, "cut", false),
            (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nbad\r\nx", true, "bad", false),
            (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n", true, "", false),
        ] {
            let [notified, sent] = asked(answer, stays).await;
            let notified = notified.unwrap();
            assert_eq!((notified.status, &notified.body[..]), (200, body.as_bytes()));
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
            let [_, sent] = asked(answer, false).await;
            assert_eq!(sent.unwrap().body.capacity(), capacity);
        }
    }

    #[tokio::test]
    async fn a_request_that_is_cut_short_arrives_in_half_and_reaches_no_further_than_others() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = Url::parse(&format!("http://{}/in?x=1", listener.local_addr().unwrap())).unwrap();
        let request = |url| {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, "1".parse().unwrap())]);
            let (body, within) = (Some(Bytes::from_static(b"12345678")), Duration::from_secs(3));
            Request { method: Method::POST, url, headers, body, within, keep: 0 }
        };
        let host = tokio::spawn(async move {
            let (mut connection, mut text) = (listener.accept().await.unwrap().0, String::new());
            connection.read_to_string(&mut text).await.unwrap();
            text
        });
        let outbound = Outbound::new(&Names::System);
        assert!(outbound.cut_short(Reach::Public, request(&url)).await.is_err());
        outbound.cut_short(Reach::Loopback, request(&url)).await.unwrap();
        let host_name = url.authority();
        let expected =
            format!("POST /in?x=1 HTTP/1.1\r\nhost: {host_name}\r\ncontent-length: 8\r\nretry-after: 1\r\n\r\n1234");
        assert_eq!(host.await.unwrap(), expected);
        let private = Url::parse("http://10.0.0.1/").unwrap();
        assert!(outbound.cut_short(Reach::Loopback, request(&private)).await.is_err());
    }

    #[test]
    fn a_wait_is_asked_for_in_seconds_or_by_a_date_in_any_of_its_three_forms() {
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
