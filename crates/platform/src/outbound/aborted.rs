//! Sends a request that is aborted in the middle of its body, to test how a host handles it.

use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use url::Host;

use super::{CONNECT_TIMEOUT, EgressPolicy, Request, check_addresses};

/// Sends the head of an unencrypted HTTP request and half of its body, and closes the connection.
///
/// # Errors
/// Returns an error if `egress` forbids the URL or its address, if the URL is not http, or if the
/// host accepts no connection.
pub(super) async fn send_aborted(egress: EgressPolicy, request: Request<'_>) -> Result<()> {
    let Request { method, url, headers, body, timeout, .. } = request;
    egress.check(url).map_err(|reason| anyhow::anyhow!("the URL {reason}"))?;
    ensure!(url.scheme() == "http", "only requests over plain http can be cut off");
    let port = url.port_or_known_default().unwrap_or(80);
    let found: Vec<SocketAddr> = match url.host().context("the URL must have a host")? {
        Host::Ipv4(v4) => vec![(v4, port).into()],
        Host::Ipv6(v6) => vec![(v6, port).into()],
        Host::Domain(name) => tokio::net::lookup_host((name, port)).await?.collect(),
    };
    let addresses = check_addresses(egress, found)?;
    let body = body.unwrap_or_default();
    let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
    let path = &url[url::Position::BeforePath..];
    let mut sent =
        format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {}\r\n", body.len()).into_bytes();
    for (name, value) in &headers {
        sent.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
    }
    sent.extend_from_slice(b"\r\n");
    sent.extend_from_slice(&body[..body.len() / 2]);
    let exchange = async {
        let mut connection =
            tokio::time::timeout(CONNECT_TIMEOUT, TcpStream::connect(&addresses[..])).await.context("no answer")??;
        connection.write_all(&sent).await?;
        connection.shutdown().await?;
        Ok(())
    };
    tokio::time::timeout(timeout, exchange).await.context("no answer")?
}
