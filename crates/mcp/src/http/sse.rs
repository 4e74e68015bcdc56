//! The transport of 2024-11-05: a stream that says where to post, and brings the replies to what is posted there.

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
use http::{HeaderName, HeaderValue, Method, StatusCode};
use serde_json::value::RawValue;
use tokio::sync::mpsc::OwnedPermit;
use tokio::sync::mpsc::error::TrySendError;

use super::sessions::{Open, Session, SessionId};
use super::{Bucket, Endpoint, Permit, Taken, guarded, not_allowed, post, refusal};
use crate::Context;
use crate::fault::Fault;
use crate::message::Message;
use crate::notifications::{Answering, Step};

/// Half of what clients may expect, so that one late comment does no harm.
const KEEP_ALIVE: Duration = Duration::from_secs(7);

/// Asks nginx and its kin to pass every event on at once.
const UNBUFFERED: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));

/// A place on a stream, kept for a reply.
type Place = OwnedPermit<Vec<u8>>;

pub(super) async fn sse<S: Send + Sync + 'static>(
    State(endpoint): State<Arc<Endpoint<S>>>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let answer = async || match (&parts.method, session_id(&parts)) {
        (&Method::GET, _) => endpoint.open(&parts).await,
        (&Method::POST, None) => post(&endpoint, &parts, body, false).await,
        (&Method::POST, Some(id)) => post_to(&endpoint, id, &parts, body).await,
        (method, _) => not_allowed(method, HeaderValue::from_static("GET, POST, OPTIONS")),
    };
    guarded(&endpoint.http, &parts, answer).await
}

impl<S> Endpoint<S> {
    async fn open(&self, parts: &Parts) -> Response {
        let permit = match self.admit(Bucket::Stream, parts).await {
            Ok(permit) => permit,
            Err(fault) => return refusal(&fault, RawValue::NULL),
        };
        let Some(session) = self.http.sessions.open(self.http.relay.clone()) else {
            let fault = Fault::busy(Duration::from_secs(10), "no stream is free; POST /mcp needs none");
            return refusal(&fault, RawValue::NULL);
        };
        if let Some(relay) = &self.http.relay {
            relay.opened(&session.id.secret()).await;
        }
        let events = Sse::new(events(session, permit)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE));
        ([UNBUFFERED], events).into_response()
    }
}

/// Answers a message on the stream of its session.
async fn post_to<S: Send + Sync + 'static>(
    endpoint: &Arc<Endpoint<S>>,
    id: &str,
    parts: &Parts,
    body: Body,
) -> Response {
    let body = match endpoint.message(parts, body).await {
        Ok(body) => body,
        Err(response) => return response,
    };
    let request_id = super::request_id(&parts.headers);
    let taken = match (take(endpoint, id, body.clone(), request_id), &endpoint.http.relay) {
        (Taken::Unknown, Some(relay)) if SessionId::parse(id).is_some() => {
            relay.forward(id, body.clone(), request_id).await
        }
        (taken, _) => taken,
    };
    match taken {
        Taken::Accepted => StatusCode::ACCEPTED.into_response(),
        Taken::Full => {
            let detail = "earlier replies are still waiting on the stream; read them first";
            refusal(&Fault::too_many(Duration::from_secs(1), detail), Message::id(&body))
        }
        Taken::Unknown => refusal(&gone(), Message::id(&body)),
    }
}

/// Hands a message to a stream that is open here, on which its answer will come.
pub(super) fn take<S: Send + Sync + 'static>(
    endpoint: &Arc<Endpoint<S>>,
    id: &str,
    body: Bytes,
    request_id: Option<&str>,
) -> Taken {
    let Some(session) = SessionId::parse(id).and_then(|id| endpoint.http.sessions.find(id)) else {
        return Taken::Unknown;
    };
    // A place is taken before the work is done, so that no work is done for nothing.
    let place = match session.replies.clone().try_reserve_owned() {
        Ok(place) => place,
        Err(TrySendError::Full(_)) => return Taken::Full,
        Err(TrySendError::Closed(_)) => return Taken::Unknown,
    };
    let (endpoint, agreed) = (Arc::clone(endpoint), session.agreed());
    let request_id = request_id.map(ToOwned::to_owned);
    let mut answering = Answering::new(|notifications| async move {
        let request_id = request_id.as_deref();
        let context = Context { request_id, notifications: Some(&notifications), ..agreed };
        endpoint.server.answer(&endpoint.state, &context, &body).await
    });
    // Most answers are there at once, and what they agree on must hold before the next message.
    match answering.next().now_or_never() {
        Some(Some(Step::Reply(reply))) => session.deliver(reply, place),
        first => drop(tokio::spawn(deliver(first.flatten(), answering, session, place))),
    }
    Taken::Accepted
}

/// Brings the rest of an answer to its stream, as fast as that is read. It ends with the session.
async fn deliver(first: Option<Step>, mut answering: Answering<'static>, session: Arc<Session>, place: Place) {
    let mut step = first;
    loop {
        let goes_on = match step {
            Some(Step::Reply(reply)) => return session.deliver(reply, place),
            Some(Step::Notification(told)) => session.replies.send(told).await.is_ok(),
            None => true,
        };
        if !goes_on {
            return;
        }
        tokio::select! {
            next = answering.next() => step = next,
            () = session.replies.closed() => return,
        }
    }
}

/// What is told before a reply, and the reply, as the events of one response.
pub(super) fn stream(first: Vec<u8>, answering: Answering<'static>) -> Response {
    let rest = stream::unfold(answering, async |mut answering| {
        let message = match answering.next().await? {
            Step::Notification(told) => told,
            Step::Reply(reply) => reply.body?,
        };
        Some((message, answering))
    });
    let events = stream::once(ready(first)).chain(rest).map(|message| Ok::<_, Infallible>(event(&message)));
    ([UNBUFFERED], Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE))).into_response()
}

fn gone() -> Fault {
    Fault::http(StatusCode::NOT_FOUND, "sessionId names no open stream; GET /sse opens one, POST /mcp needs none")
}

fn session_id(parts: &Parts) -> Option<&str> {
    parts.uri.query()?.split('&').find_map(|pair| pair.strip_prefix("sessionId="))
}

/// `endpoint` first, then a `message` for each reply.
fn events(session: Open, permit: Permit) -> impl Stream<Item = Result<Event, Infallible>> {
    let endpoint = Event::default().event("endpoint").data(format!("/sse?sessionId={}", session.id.secret()));
    let replies = stream::unfold((session, permit), async |(mut session, permit)| {
        let reply = session.next().await?;
        Some((event(&reply), (session, permit)))
    });
    stream::once(ready(endpoint)).chain(replies).map(Ok)
}

fn event(message: &[u8]) -> Event {
    Event::default().event("message").data(str::from_utf8(message).expect("JSON is UTF-8"))
}
