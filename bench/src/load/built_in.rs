//! A load generator with many connections on a single thread. Each connection has one request in
//! flight.

use std::net::SocketAddr;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::ROUND;

const HEAD_END: &[u8] = b"\r\n\r\n";

/// Generates load for a round. Returns the number of responses and the elapsed seconds.
pub(super) async fn round(address: SocketAddr, request: &[u8], connections: usize) -> Result<(f64, f64)> {
    let (mut clients, begun) = (JoinSet::new(), Instant::now());
    for _ in 0..connections {
        let request = request.to_vec();
        clients.spawn(async move {
            let (mut connection, mut answered) = (Connection::open(address).await?, 0_u32);
            while begun.elapsed() < ROUND {
                connection.exchange(&request).await?;
                answered += 1;
            }
            anyhow::Ok(answered)
        });
    }
    let answered = clients.join_all().await.into_iter().sum::<Result<u32>>()?;
    Ok((f64::from(answered), begun.elapsed().as_secs_f64()))
}

/// Sends each request once. Returns the number of requests and the elapsed seconds.
pub(super) async fn burst(address: SocketAddr, requests: Vec<Vec<u8>>, connections: usize) -> Result<(f64, f64)> {
    let (count, mut clients) = (u32::try_from(requests.len())?, JoinSet::new());
    let mut shares = vec![Vec::new(); connections];
    for (at, request) in requests.into_iter().enumerate() {
        shares[at % connections].push(request);
    }
    let begun = Instant::now();
    for share in shares {
        clients.spawn(async move {
            let mut connection = Connection::open(address).await?;
            for request in share {
                connection.exchange(&request).await?;
                let body = connection.body();
                // Error responses to Lightning wallets have a successful HTTP status.
                ensure!(!body.starts_with(br#"{"status":"ERROR""#), "{}", String::from_utf8_lossy(body));
            }
            anyhow::Ok(())
        });
    }
    clients.join_all().await.into_iter().collect::<Result<()>>()?;
    Ok((f64::from(count), begun.elapsed().as_secs_f64()))
}

/// A connection with one request in flight. Most responses are as long as the first response: if a
/// response has an equal length header at an equal offset, it is complete at that length, and its
/// head is not parsed again.
struct Connection {
    stream: TcpStream,
    reply: Vec<u8>,
    head: usize,
    layout: Option<ResponseLayout>,
}

struct ResponseLayout {
    response_len: usize,
    /// The offset and the bytes of the length header.
    at: usize,
    length: Vec<u8>,
}

impl Connection {
    async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, reply: Vec::with_capacity(64 * 1024), head: 0, layout: None })
    }

    async fn exchange(&mut self, request: &[u8]) -> Result<()> {
        self.stream.write_all(request).await?;
        self.reply.clear();
        loop {
            ensure!(self.stream.read_buf(&mut self.reply).await? > 0, "the server hung up");
            if self.layout.as_ref().is_some_and(|layout| layout.matches(&self.reply)) {
                return Ok(());
            }
            let Some(head) = head(&self.reply)? else { continue };
            if head.is_complete(&self.reply) {
                self.head = head.end;
                self.layout = head.layout(&self.reply);
                return Ok(());
            }
        }
    }

    fn body(&self) -> &[u8] {
        &self.reply[self.head..]
    }
}

impl ResponseLayout {
    fn matches(&self, reply: &[u8]) -> bool {
        reply.len() == self.response_len
            && reply.starts_with(b"HTTP/1.1 20")
            && reply[self.at..].starts_with(&self.length)
    }
}

/// The parsed head of a response.
struct Head {
    /// The offset of the body.
    end: usize,
    /// The offset of the length header and its value, or `None` if the body is chunked.
    length: Option<(usize, usize)>,
}

/// Parses the head of a successful response. Returns `None` if it is incomplete.
fn head(reply: &[u8]) -> Result<Option<Head>> {
    let found = any_head(reply)?;
    ensure!(found.is_none() || reply.starts_with(b"HTTP/1.1 20"), "{}", String::from_utf8_lossy(reply));
    Ok(found)
}

fn any_head(reply: &[u8]) -> Result<Option<Head>> {
    const LENGTH: &[u8] = b"content-length: ";
    let Some(end) = reply.windows(4).position(|bytes| bytes == HEAD_END) else { return Ok(None) };
    let head = &reply[..end];
    let at = head.windows(LENGTH.len()).position(|bytes| bytes.eq_ignore_ascii_case(LENGTH));
    let length = at.map(|at| {
        let digits = head[at + LENGTH.len()..].split(|byte| *byte == b'\r').next().unwrap_or_default();
        anyhow::Ok((at, std::str::from_utf8(digits)?.parse()?))
    });
    Ok(Some(Head { end: end + HEAD_END.len(), length: length.transpose()? }))
}

impl Head {
    fn is_complete(&self, reply: &[u8]) -> bool {
        match self.length {
            Some((_, length)) => reply.len() >= self.end + length,
            None => reply.ends_with(b"0\r\n\r\n"),
        }
    }

    fn layout(&self, reply: &[u8]) -> Option<ResponseLayout> {
        let (at, _) = self.length?;
        let line = reply[at..].split_inclusive(|byte| *byte == b'\n').next()?;
        Some(ResponseLayout { response_len: reply.len(), at, length: line.to_vec() })
    }
}

/// Reads a successful response with a `content-length` or in chunks.
///
/// # Errors
/// Returns an error if the status is not a success.
pub async fn read_reply(connection: &mut TcpStream, reply: &mut Vec<u8>) -> Result<()> {
    read_whole(connection, reply, head).await
}

/// Reads a response with any status.
///
/// # Errors
/// Returns an error if the server closes the connection or the bytes are not a response.
pub async fn read_any_reply(connection: &mut TcpStream, reply: &mut Vec<u8>) -> Result<()> {
    read_whole(connection, reply, any_head).await
}

async fn read_whole(
    connection: &mut TcpStream,
    reply: &mut Vec<u8>,
    head: fn(&[u8]) -> Result<Option<Head>>,
) -> Result<()> {
    reply.clear();
    loop {
        ensure!(connection.read_buf(reply).await? > 0, "the server hung up");
        if head(reply)?.is_some_and(|head| head.is_complete(reply)) {
            return Ok(());
        }
    }
}

/// Sends a request over a new connection. Returns the body of the response.
///
/// # Errors
/// Returns an error if the status is not a success.
pub async fn send_request(address: SocketAddr, request: &[u8]) -> Result<Vec<u8>> {
    exchange(&mut TcpStream::connect(address).await?, request).await
}

/// Sends a request over an open connection. Returns the body of the response.
///
/// # Errors
/// Returns an error if the status is not a success.
pub async fn exchange(connection: &mut TcpStream, request: &[u8]) -> Result<Vec<u8>> {
    connection.write_all(request).await?;
    let mut reply = Vec::new();
    read_reply(connection, &mut reply).await?;
    let head = head(&reply)?.context("a head")?;
    Ok(reply.split_off(head.end))
}

#[cfg(test)]
mod tests {
    use super::head;

    #[test]
    fn response_is_complete_with_its_body() {
        let reply = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc";
        for end in 0..reply.len() {
            let part = &reply[..end];
            assert!(!head(part).unwrap().is_some_and(|head| head.is_complete(part)), "{end}");
        }
        let known = head(reply).unwrap().unwrap();
        assert!(known.is_complete(reply));
        let layout = known.layout(reply).unwrap();
        assert!(layout.matches(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nxyz"));
        assert!(!layout.matches(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nxyz"), "a byte is missing");
    }

    #[test]
    fn error_response_ends_the_measurement() {
        assert!(head(b"HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\n\r\n").is_err());
    }
}
