//! `POST /mcp`: a message, and its response as JSON or as a stream of events.

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
    let respond = async || match parts.method {
        Method::POST => post(&endpoint, &parts, body, true).await,
        _ => open_page(&endpoint.http, &parts),
    };
    guarded(&endpoint.http, &parts, respond).await
}

/// The page for people, or what programs are told in its place.
fn open_page(http: &Http, parts: &Parts) -> Response {
    let page = http.page.as_ref().filter(|_| matches!(parts.method, Method::GET | Method::HEAD));
    page.and_then(|page| page(parts)).unwrap_or_else(|| {
        let mut refused = not_allowed(&parts.method, HeaderValue::from_static("POST, OPTIONS"));
        if page.is_some() {
            refused.headers_mut().insert(VARY, HeaderValue::from_static("Accept"));
        }
        refused
    })
}

/// Handles a message in the response to it: JSON, or a stream of events if notifications come first.
pub(super) async fn post<S: Send + Sync + 'static>(
    endpoint: &Arc<Endpoint<S>>,
    parts: &Parts,
    body: Body,
    headers_required: bool,
) -> Response {
    let body = match endpoint.message(parts, body).await {
        Ok(body) => body,
        Err(response) => return response,
    };
    let posted = PostedMessage { body, headers_required, takes_events: takes_events(parts) };
    if !endpoint.server.waits() {
        let sent = Notifications::default();
        let done = posted.handle(endpoint, &parts.headers, &sent).await;
        return match sent.take() {
            None => response(done),
            Some(first) => event_stream(first, PendingResponse::done(sent, done)),
        };
    }
    let (endpoint, headers) = (Arc::clone(endpoint), parts.headers.clone());
    let respond = |sent: Arc<Notifications>| async move { posted.handle(&endpoint, &headers, &sent).await };
    let mut pending = PendingResponse::new(respond);
    match pending.next().await {
        Some(ResponseStep::Response(done)) => response(done),
        Some(ResponseStep::Notification(first)) => event_stream(first, pending),
        None => Response::default(),
    }
}

/// A message that was posted.
struct PostedMessage {
    body: Bytes,
    headers_required: bool,
    takes_events: bool,
}

impl PostedMessage {
    async fn handle<S: Sync>(&self, endpoint: &Endpoint<S>, headers: &HeaderMap, sent: &Notifications) -> RpcResponse {
        let context = Context {
            headers: Headers(Some(headers)),
            headers_required: self.headers_required,
            request_id: request_id(headers),
            notifications: self.takes_events.then_some(sent),
            ..Context::session(Revision::ASSUMED)
        };
        endpoint.server.handle(&endpoint.state, &context, &self.body).await
    }
}

/// Whether the client names events among what it accepts. Nothing else depends on `Accept`.
fn takes_events(parts: &Parts) -> bool {
    let accepted = parts.headers.get_all(ACCEPT).iter().filter_map(|accept| accept.to_str().ok());
    accepted.flat_map(|accept| accept.split(',')).any(|one| {
        one.split(';').next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case("text/event-stream"))
    })
}
