//! Server-sent events that carry JSON-RPC messages.

use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::future::ready;
use futures_util::stream::{self, StreamExt};
use http::{HeaderName, HeaderValue};

use crate::pending::{PendingResponse, ResponseStep};

/// Interval of keep-alive comments. It is half of the interval that clients expect, so that a late comment is
/// tolerated.
pub(super) const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(7);

/// The header that disables response buffering in nginx and similar proxies.
pub(super) const UNBUFFERED: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));

/// Returns an event stream with the notifications of a message and finally its response.
pub(super) fn event_stream(first: Vec<u8>, pending: PendingResponse<'static>) -> Response {
    let rest = stream::unfold(pending, async |mut pending| {
        let message = match pending.next().await? {
            ResponseStep::Notification(sent) => sent,
            ResponseStep::Response(response) => response.body?,
        };
        Some((message, pending))
    });
    let events = stream::once(ready(first)).chain(rest).map(|message| Ok::<_, Infallible>(event(&message)));
    ([UNBUFFERED], Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE_INTERVAL))).into_response()
}

pub(super) fn event(message: &[u8]) -> Event {
    Event::default().event("message").data(str::from_utf8(message).expect("JSON is UTF-8"))
}
