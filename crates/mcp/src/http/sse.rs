//! The transport of 2024-11-05: a stream that says where to post, and brings the replies to what is posted there.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::future::ready;
use futures_util::stream::{self, Stream, StreamExt};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use serde_json::value::RawValue;
use tokio::sync::mpsc::error::TrySendError;

use super::sessions::{Open, SessionId};
use super::{Bucket, Endpoint, not_allowed, refusal};
use crate::fault::Fault;
use crate::message::Message;
use crate::{Context, Reply};

/// Half of what clients may expect, so that one late comment does no harm.
const KEEP_ALIVE: Duration = Duration::from_secs(7);

/// Asks nginx and its kin to pass every event on at once.
const UNBUFFERED: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));

pub(super) async fn sse<S: Send + Sync + 'static>(
    State(endpoint): State<Arc<Endpoint<S>>>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    endpoint
        .guarded(&parts, async || match (&parts.method, session_id(&parts)) {
            (&Method::GET, _) => endpoint.open(&parts).await,
            (&Method::POST, None) => endpoint.post(&parts, body, false).await,
            (&Method::POST, Some(id)) => endpoint.post_to(id, &parts, body).await,
            (method, _) => not_allowed(method, HeaderValue::from_static("GET, POST, OPTIONS")),
        })
        .await
}

impl<S> Endpoint<S> {
    async fn open(&self, parts: &Parts) -> Response {
        if let Err(fault) = self.admit(Bucket::Stream, parts).await {
            return refusal(&fault, RawValue::NULL);
        }
        let Some(session) = self.http.sessions.open() else {
            let fault = Fault::busy(Duration::from_secs(10), "no stream is free; POST /mcp needs none");
            return refusal(&fault, RawValue::NULL);
        };
        let events = Sse::new(events(session)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE));
        ([UNBUFFERED], events).into_response()
    }

    /// Answers a message on the stream of its session.
    async fn post_to(&self, id: &str, parts: &Parts, body: Body) -> Response {
        let body = match self.message(parts, body).await {
            Ok(body) => body,
            Err(response) => return response,
        };
        let Some(session) = SessionId::parse(id).and_then(|id| self.http.sessions.find(id)) else {
            return refusal(&gone(), Message::id(&body));
        };
        // A place is taken before the work is done, so that no work is done for nothing.
        let place = match session.replies.try_reserve() {
            Ok(place) => place,
            Err(TrySendError::Full(())) => {
                let detail = "earlier replies are still waiting on the stream; read them first";
                return refusal(&Fault::too_many(Duration::from_secs(1), detail), Message::id(&body));
            }
            Err(TrySendError::Closed(())) => return refusal(&gone(), Message::id(&body)),
        };
        let context = Context { request_id: super::request_id(parts), ..Context::session(session.revision()) };
        let Reply { body, negotiated, .. } = self.server.answer(&self.state, &context, &body);
        if let Some(revision) = negotiated {
            session.agree(revision);
        }
        if let Some(body) = body {
            place.send(body);
        }
        StatusCode::ACCEPTED.into_response()
    }
}

fn gone() -> Fault {
    Fault::http(StatusCode::NOT_FOUND, "sessionId names no open stream; GET /sse opens one, POST /mcp needs none")
}

fn session_id(parts: &Parts) -> Option<&str> {
    parts.uri.query()?.split('&').find_map(|pair| pair.strip_prefix("sessionId="))
}

/// `endpoint` first, then a `message` for each reply.
fn events(session: Open) -> impl Stream<Item = Result<Event, Infallible>> {
    let endpoint = Event::default().event("endpoint").data(format!("/sse?sessionId={}", session.id.secret()));
    let replies = stream::unfold(session, async |mut session| {
        let reply = session.next().await?;
        let text = str::from_utf8(&reply).expect("JSON is UTF-8");
        Some((Event::default().event("message").data(text), session))
    });
    stream::once(ready(endpoint)).chain(replies).map(Ok)
}
