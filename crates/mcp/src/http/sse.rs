//! The transport of 2024-11-05: a stream that sends the URL for messages, and the replies to them.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::ready;
use futures_util::stream::{self, Stream, StreamExt};
use http::request::Parts;
use http::{HeaderValue, Method, StatusCode};
use serde_json::value::RawValue;
use tokio::sync::mpsc::OwnedPermit;
use tokio::sync::mpsc::error::TrySendError;

use super::endpoint::{Endpoint, guarded, not_allowed, refusal, request_id};
use super::events::{KEEP_ALIVE_INTERVAL, UNBUFFERED, event};
use super::post::{over_limit, post};
use super::rate_limiter::{Bucket, OverLimit, Permit};
use super::relay::PostResult;
use super::sessions::{OpenStream, SseSession, SseSessionId};
use crate::context::Context;
use crate::fault::RpcFault;
use crate::message::Message;
use crate::pending::{PendingResponse, ResponseStep};

/// A place on a stream, reserved for a reply.
type ReplySlot = OwnedPermit<Vec<u8>>;

pub(super) async fn sse<S: Send + Sync + 'static>(
    State(endpoint): State<Arc<Endpoint<S>>>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    guarded(&endpoint.http, &parts, async || match (&parts.method, session_id(&parts)) {
        (&Method::GET, _) => endpoint.open(&parts).await,
        (&Method::POST, None) => post(&endpoint, &parts, body, false).await,
        (&Method::POST, Some(id)) => post_to_session(&endpoint, id, &parts, body).await,
        (method, _) => not_allowed(method, HeaderValue::from_static("GET, POST, OPTIONS")),
    })
    .await
}

impl<S> Endpoint<S> {
    async fn open(&self, parts: &Parts) -> Response {
        let permit = match self.admit(Bucket::Stream, OverLimit::Reject, parts).await {
            Ok(permit) => permit,
            Err(fault) => return self.limit_refusal(Bucket::Stream, &fault, RawValue::NULL),
        };
        let Some(session) = self.http.sessions.open(self.http.relay.clone()) else {
            let fault = RpcFault::busy(Duration::from_secs(10), "no stream is free; POST /mcp needs none");
            return refusal(&fault, RawValue::NULL);
        };
        if let Some(relay) = &self.http.relay {
            relay.opened(&session.id.secret()).await;
        }
        let events = Sse::new(events(session, permit)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE_INTERVAL));
        ([UNBUFFERED], events).into_response()
    }

    /// Returns true if the session is initialized, or may be open at another server, which alone knows.
    fn may_be_initialized(&self, session_id: &str) -> bool {
        let Some(id) = SseSessionId::parse(session_id) else { return false };
        match self.http.sessions.find(id) {
            Some(session) => session.negotiated().is_initialized(),
            None => self.http.relay.is_some(),
        }
    }
}

/// Handles a message on the stream of its session.
async fn post_to_session<S: Send + Sync + 'static>(
    endpoint: &Arc<Endpoint<S>>,
    id: &str,
    parts: &Parts,
    body: Body,
) -> Response {
    let over_limit = if endpoint.may_be_initialized(id) { OverLimit::Wait } else { over_limit(parts) };
    let body = match endpoint.message(parts, body, over_limit).await {
        Ok(body) => body,
        Err(response) => return response,
    };
    let request_id = request_id(&parts.headers);
    let result = match (post_to_stream(endpoint, id, body.clone(), request_id), &endpoint.http.relay) {
        (PostResult::Unknown, Some(relay)) if SseSessionId::parse(id).is_some() => {
            relay.forward(id, body.clone(), request_id).await
        }
        (result, _) => result,
    };
    match result {
        PostResult::Accepted => StatusCode::ACCEPTED.into_response(),
        PostResult::Full => {
            let detail = "earlier replies are still waiting on the stream; read them first";
            refusal(&RpcFault::too_many(Duration::from_secs(1), detail), Message::id(&body))
        }
        PostResult::Unknown => refusal(&gone(), Message::id(&body)),
    }
}

/// Handles a message for a stream on this server. The response is sent on the stream.
pub(super) fn post_to_stream<S: Send + Sync + 'static>(
    endpoint: &Arc<Endpoint<S>>,
    id: &str,
    body: Bytes,
    request_id: Option<&str>,
) -> PostResult {
    let Some(session) = SseSessionId::parse(id).and_then(|id| endpoint.http.sessions.find(id)) else {
        return PostResult::Unknown;
    };
    // The place is reserved before the work starts, so no work is wasted.
    let place = match session.replies.clone().try_reserve_owned() {
        Ok(place) => place,
        Err(TrySendError::Full(_)) => return PostResult::Full,
        Err(TrySendError::Closed(_)) => return PostResult::Unknown,
    };
    let endpoint = Arc::clone(endpoint);
    let negotiated = session.negotiated();
    let request_id = request_id.map(ToOwned::to_owned);
    let mut pending = PendingResponse::new(|notifications| async move {
        let request_id = request_id.as_deref();
        let context = Context { request_id, notifications: Some(&notifications), ..negotiated.context() };
        endpoint.server.handle(&endpoint.state, &context, &body).await
    });
    // Most responses are ready immediately, and a negotiated revision must apply to the next message.
    match pending.next().now_or_never() {
        Some(Some(ResponseStep::Response(response))) => session.deliver(response, place),
        first => drop(tokio::spawn(deliver(first.flatten(), pending, session, place))),
    }
    PostResult::Accepted
}

/// Sends the rest of a response on its stream, as fast as it is read. Ends with the session.
async fn deliver(
    first: Option<ResponseStep>,
    mut pending: PendingResponse<'static>,
    session: Arc<SseSession>,
    place: ReplySlot,
) {
    let mut step = first;
    loop {
        let is_open = match step {
            Some(ResponseStep::Response(response)) => return session.deliver(response, place),
            Some(ResponseStep::Notification(sent)) => session.replies.send(sent).await.is_ok(),
            None => true,
        };
        if !is_open {
            return;
        }
        tokio::select! {
            next = pending.next() => step = next,
            () = session.replies.closed() => return,
        }
    }
}

fn gone() -> RpcFault {
    RpcFault::http(StatusCode::NOT_FOUND, "sessionId names no open stream; GET /sse opens one, POST /mcp needs none")
}

fn session_id(parts: &Parts) -> Option<&str> {
    parts.uri.query()?.split('&').find_map(|pair| pair.strip_prefix("sessionId="))
}

/// Returns the events of a stream: `endpoint`, then a `message` for each reply.
fn events(session: OpenStream, permit: Permit) -> impl Stream<Item = Result<Event, Infallible>> {
    let endpoint = Event::default().event("endpoint").data(format!("/sse?sessionId={}", session.id.secret()));
    let replies = stream::unfold((session, permit), async |(mut session, permit)| {
        let reply = session.next().await?;
        Some((event(&reply), (session, permit)))
    });
    stream::once(ready(endpoint)).chain(replies).map(Ok)
}
