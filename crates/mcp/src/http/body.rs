//! Bounded reading of request bodies.

use std::pin::pin;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use futures_util::future::poll_immediate;
use http::header::{CONTENT_TYPE, EXPECT};
use http::{HeaderMap, StatusCode};
use http_body_util::{BodyExt, Collected, LengthLimitError, Limited};

use crate::fault::{RpcFault, quoted};
use crate::message::MAX_MESSAGE_BYTES;

/// Maximum number of bytes that are read and discarded from a body that is too large. Without this, a client that is
/// still sending would get a connection reset instead of the response.
const DISCARDED_BYTES: usize = 16 * MAX_MESSAGE_BYTES;

/// Maximum size, in bytes, of the body of a refused request that is read for its ID.
const MAX_REFUSED_BYTES: usize = 64 * 1024;
/// Timeout for reading the body of a refused request.
const REFUSED_TIMEOUT: Duration = Duration::from_secs(1);

/// Reads the body of a refused request, so that the error reply can contain its ID. Returns `None` if the body is
/// larger than 64 KiB or does not arrive within a second.
pub(super) async fn read_refused(body: Body) -> Option<Bytes> {
    let reading = Limited::new(body, MAX_REFUSED_BYTES).collect();
    let mut reading = pin!(reading);
    let read = match poll_immediate(reading.as_mut()).await {
        Some(read) => read,
        None => tokio::time::timeout(REFUSED_TIMEOUT, reading).await.ok()?,
    };
    read.ok().map(Collected::to_bytes)
}

/// Reads a body of at most [`MAX_MESSAGE_BYTES`] within `timeout`.
pub(super) async fn read_body(headers: &HeaderMap, mut body: Body, timeout: Duration) -> Result<Bytes, RpcFault> {
    // A client that expects `100 Continue` has not sent the body yet, so it need not be discarded.
    if headers.contains_key(EXPECT) && body.size_hint().lower() > MAX_MESSAGE_BYTES as u64 {
        return Err(too_large());
    }
    let reading = async {
        match Limited::new(&mut body, MAX_MESSAGE_BYTES).collect().await {
            Ok(whole) => Ok(whole.to_bytes()),
            Err(e) if e.is::<LengthLimitError>() => {
                discard(body).await;
                Err(too_large())
            }
            Err(e) => Err(RpcFault::request(format!("the body ended early: {e}; send all of it"))),
        }
    };
    let mut reading = pin!(reading);
    // Fast path: most bodies have already arrived and need no timer.
    if let Some(read) = poll_immediate(reading.as_mut()).await {
        return read;
    }
    tokio::time::timeout(timeout, reading).await.unwrap_or_else(|_| {
        let detail = format!("the body took longer than {} s; send it at once", timeout.as_secs_f32());
        Err(RpcFault::http(StatusCode::REQUEST_TIMEOUT, detail))
    })
}

async fn discard(body: Body) {
    let mut rest = Limited::new(body, DISCARDED_BYTES);
    while let Some(Ok(_)) = rest.frame().await {}
}

fn too_large() -> RpcFault {
    let detail = format!("the body is larger than {MAX_MESSAGE_BYTES} bytes; send less in one message");
    RpcFault::http(StatusCode::PAYLOAD_TOO_LARGE, detail)
}

/// Rejects content types other than JSON, because browsers send some of them to other origins without a preflight.
pub(super) fn check_type(headers: &HeaderMap) -> Result<(), RpcFault> {
    let sent = headers.get(CONTENT_TYPE).map(|sent| String::from_utf8_lossy(sent.as_bytes()));
    let essence = sent.as_deref().and_then(|sent| sent.split(';').next()).map(str::trim);
    if essence.is_some_and(|essence| essence.eq_ignore_ascii_case("application/json")) {
        return Ok(());
    }
    let got = sent.map_or("nothing".to_owned(), |sent| quoted(&sent));
    let detail = format!("Content-Type must be application/json, got {got}");
    Err(RpcFault::http(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail))
}
