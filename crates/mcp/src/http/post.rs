//! `POST /mcp`: handles a message; the response is JSON or a stream of events.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use bytes::Bytes;
use http::header::{ACCEPT, VARY};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method};

use super::endpoint::{Endpoint, Http, guarded, not_allowed, request_id, response};
use super::events::event_stream;
use super::rate_limiter::OverLimit;
use crate::context::{Context, Headers};
use crate::notifications::Notifications;
use crate::pending::{PendingResponse, ResponseStep};
use crate::response::RpcResponse;
use crate::revision::Revision;

pub(super) async fn mcp<S: Send + Sync + 'static>(
    State(endpoint): State<Arc<Endpoint<S>>>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    guarded(&endpoint.http, &parts, async || match parts.method {
        Method::POST => post(&endpoint, &parts, body, true).await,
        _ => open_page(&endpoint.http, &parts),
    })
    .await
}

/// Returns the page for people, or the error for programs.
fn open_page(http: &Http, parts: &Parts) -> Response {
    let mut refused = not_allowed(&parts.method, HeaderValue::from_static("POST, OPTIONS"));
    if let Some(page) = &http.page
        && matches!(parts.method, Method::GET | Method::HEAD)
    {
        if let Some(response) = page(parts) {
            return response;
        }
        refused.headers_mut().insert(VARY, HeaderValue::from_static("Accept"));
    }
    refused
}

/// Handles a message. The response is JSON, or a stream of events if there are notifications.
pub(super) async fn post<S: Send + Sync + 'static>(
    endpoint: &Arc<Endpoint<S>>,
    parts: &Parts,
    body: Body,
    headers_required: bool,
) -> Response {
    let body = match endpoint.message(parts, body, over_limit(parts)).await {
        Ok(body) => body,
        Err(response) => return response,
    };
    let posted = PostedMessage { body, headers_required, accepts_events: accepts_events(parts) };
    if !endpoint.server.has_async_handlers() {
        let sent = Notifications::default();
        let done = posted.handle(endpoint, &parts.headers, &sent).await;
        return match sent.take() {
            None => response(done),
            Some(first) => event_stream(first, PendingResponse::done(sent, done)),
        };
    }
    let endpoint = Arc::clone(endpoint);
    let headers = parts.headers.clone();
    let mut pending = PendingResponse::new(|sent| async move { posted.handle(&endpoint, &headers, &sent).await });
    match pending.next().await {
        Some(ResponseStep::Response(done)) => response(done),
        Some(ResponseStep::Notification(first)) => event_stream(first, pending),
        None => Response::default(),
    }
}

/// Returns the treatment of a message over the limit. Only clients of the protocol send a version, after `initialize`;
/// they call tools in parallel and do not retry.
pub(super) fn over_limit(parts: &Parts) -> OverLimit {
    if parts.headers.contains_key(&Headers::VERSION) { OverLimit::Wait } else { OverLimit::Reject }
}

/// A posted message.
struct PostedMessage {
    body: Bytes,
    headers_required: bool,
    accepts_events: bool,
}

impl PostedMessage {
    async fn handle<S: Sync>(&self, endpoint: &Endpoint<S>, headers: &HeaderMap, sent: &Notifications) -> RpcResponse {
        let context = Context {
            headers: Headers(Some(headers)),
            headers_required: self.headers_required,
            request_id: request_id(headers),
            notifications: self.accepts_events.then_some(sent),
            ..Context::session(Revision::ASSUMED)
        };
        endpoint.server.handle(&endpoint.state, &context, &self.body).await
    }
}

/// Checks whether the client accepts a stream of events.
fn accepts_events(parts: &Parts) -> bool {
    let accepted = parts.headers.get_all(ACCEPT).iter().filter_map(|accept| accept.to_str().ok());
    accepted.flat_map(|accept| accept.split(',')).any(|one| {
        one.split(';').next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case("text/event-stream"))
    })
}
