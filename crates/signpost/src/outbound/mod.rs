//! The one client through which this program asks other hosts: it dials no address that [`Reach`] closes, follows no
//! redirect, uses no proxy and reads bounded answers in bounded time.

mod guard;
mod names;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use bytes::Bytes;
use reqwest::header::HeaderMap;
use reqwest::{Client, Method, redirect};
use url::{Host, Url};

pub use guard::Reach;
pub use names::Names;

/// How long a connection may take to stand.
const CONNECT: Duration = Duration::from_secs(5);

/// A client per reach, each with its own connections; cheap to clone.
#[derive(Clone, Debug)]
pub struct Outbound {
    public: Guarded,
    loopback: Guarded,
    everything: Guarded,
}

/// What another host answered.
#[derive(Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The beginning of the body.
    pub body: Vec<u8>,
    /// The wait that the host asked for (`Retry-After` in seconds).
    pub retry_after: Option<Duration>,
    /// The header fields.
    pub headers: HeaderMap,
}

/// A request to another host.
#[derive(Debug)]
pub struct Request<'a> {
    /// `GET` or `POST`.
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

/// Built at start; the reason is kept where that failed, so that a machine without certificates can still serve all
/// that needs none.
type Guarded = Result<Client, Arc<str>>;

impl Outbound {
    /// Clients that look names up with `names`.
    #[must_use]
    pub fn new(names: &Names) -> Self {
        // Fails only where another part of the process has chosen already.
        drop(rustls::crypto::ring::default_provider().install_default());
        let [public, loopback, everything] =
            [Reach::Public, Reach::Loopback, Reach::Everything].map(|reach| client(reach, names.clone()));
        Self { public, loopback, everything }
    }

    /// Sends one request.
    ///
    /// # Errors
    /// Where the URL or the address behind it is closed to `reach`, the host does not answer in time, or the answer
    /// is not HTTP. The text names the reason, never the answer.
    pub async fn send(&self, reach: Reach, request: Request<'_>) -> Result<Answer> {
        reach.check(request.url).map_err(|reason| anyhow::anyhow!("the URL {reason}"))?;
        // A host that is an address is not looked up, so nobody else would check it.
        let address = match request.url.host() {
            Some(Host::Ipv4(v4)) => Some(v4.into()),
            Some(Host::Ipv6(v6)) => Some(v6.into()),
            _ => None,
        };
        anyhow::ensure!(address.is_none_or(|address| reach.permits(address)), names::CLOSED);
        let client = match reach {
            Reach::Public => &self.public,
            Reach::Loopback => &self.loopback,
            Reach::Everything => &self.everything,
        };
        let client = client.as_ref().map_err(|reason| anyhow::anyhow!("{reason}"))?;
        exchange(client, request).await
    }
}

async fn exchange(client: &Client, request: Request<'_>) -> Result<Answer> {
    let Request { method, url, headers, body, within, keep } = request;
    let mut outgoing = client.request(method, url.clone()).headers(headers).timeout(within);
    if let Some(body) = body {
        outgoing = outgoing.body(body);
    }
    let mut response = outgoing.send().await.map_err(reqwest::Error::without_url).context("no answer")?;
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    let retry_after = headers.get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
    let mut kept = Vec::new();
    while kept.len() < keep {
        let Some(chunk) = response.chunk().await.map_err(reqwest::Error::without_url)? else { break };
        kept.extend_from_slice(&chunk[..chunk.len().min(keep - kept.len())]);
    }
    Ok(Answer { status, body: kept, retry_after: retry_after.map(Duration::from_secs), headers })
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
    anyhow::ensure!(!found.is_empty(), "the name has no address");
    // One closed address closes the name: else an attacker names one of each and waits for luck.
    anyhow::ensure!(found.iter().all(|address| reach.permits(address.ip())), names::CLOSED);
    Ok(found)
}
