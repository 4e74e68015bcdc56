//! `/mcp` and `/sse`.

mod body;
mod cors;
mod gate;
mod hosts;
mod origins;
mod relay;
mod sessions;
mod sse;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::any;
use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, CONTENT_TYPE, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde_json::value::RawValue;

pub use gate::{Bucket, Gate, Permit, RetryAfter};
pub use hosts::Hosts;
pub use origins::{BadOrigin, Origins};
pub use relay::{Relay, Take, Taken};
pub use sessions::{SessionLimits, Sessions};

use crate::fault::Fault;
use crate::message::Message;
use crate::notifications::{Answering, Notifications, Step};
use crate::{Context, Headers, Reply, Revision, Server};
use hosts::Host;
use origins::Origin;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// How the server meets the network.
pub struct Http {
    /// The web origins let in. The server's own are the caller's to add.
    pub origins: Origins,
    /// The `Host` names answered to.
    pub hosts: Hosts,
    /// The rate limit, if there is one.
    pub gate: Option<Arc<dyn Gate>>,
    /// The sessions over SSE; keep a clone to count them and to end them.
    pub sessions: Sessions,
    /// The way to sessions of other servers, if there are any.
    pub relay: Option<Arc<dyn Relay>>,
    /// How long a request's body may take to arrive.
    pub body_timeout: Duration,
}

impl Http {
    /// No origins, any host, no limit on requests, no other servers, 10 s for a body.
    #[must_use]
    pub fn new(sessions: Sessions) -> Self {
        Self {
            origins: Origins::default(),
            hosts: Hosts::default(),
            gate: None,
            sessions,
            relay: None,
            body_timeout: Duration::from_secs(10),
        }
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { origins, hosts, gate, sessions, relay, body_timeout } = self;
        f.debug_struct("Http")
            .field("origins", origins)
            .field("hosts", hosts)
            .field("gate", &gate.is_some())
            .field("sessions", sessions)
            .field("relay", &relay.is_some())
            .field("body_timeout", body_timeout)
            .finish()
    }
}

/// `/mcp` (Streamable HTTP, all revisions, no sessions) and `/sse` (the 2024-11-05 transport).
///
/// Set `TCP_NODELAY` on the listener (`axum::serve::ListenerExt::tap_io`): without it Nagle's algorithm and delayed
/// acknowledgements hold every event on a stream back for about 40 ms. An `x-request-id` header set by an outer layer
/// is what failures are logged and reported under.
pub fn router<S: Send + Sync + 'static>(server: Server<S>, state: S, http: Http) -> Router {
    let endpoint = Arc::new(Endpoint { server, state, http });
    if let Some(relay) = &endpoint.http.relay {
        let here = Arc::downgrade(&endpoint);
        relay.start(Box::new(move |session, message, request_id| {
            here.upgrade().map_or(Taken::Unknown, |here| sse::take(&here, session, message, request_id))
        }));
    }
    Router::new().route("/mcp", any(mcp)).route("/sse", any(sse::sse)).with_state(endpoint)
}

struct Endpoint<S> {
    server: Server<S>,
    state: S,
    http: Http,
}

async fn mcp<S: Send + Sync + 'static>(State(endpoint): State<Arc<Endpoint<S>>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let answer = async || match parts.method {
        Method::POST => post(&endpoint, &parts, body, true).await,
        _ => not_allowed(&parts.method, HeaderValue::from_static("POST, OPTIONS")),
    };
    guarded(&endpoint.http, &parts, answer).await
}

/// What comes before and after every answer: who may ask at all, and what a browser is told.
async fn guarded(http: &Http, parts: &Parts, answer: impl AsyncFnOnce() -> Response) -> Response {
    let origin = http.origins.judge(&parts.headers);
    let mut response = match (http.hosts.judge(parts), origin) {
        (Host::NotOne, _) => {
            let fault = Fault::http(StatusCode::BAD_REQUEST, "a request has exactly one Host header, with a host");
            refusal(&fault, RawValue::NULL)
        }
        (Host::Foreign, _) => forbidden("the Host header names another server; use localhost, 127.0.0.1 or [::1]"),
        (Host::Served, _) if parts.method == Method::OPTIONS => cors::preflight(origin),
        (Host::Served, Origin::Refused) => {
            forbidden("the Origin header names a site that is not allowed to call this server")
        }
        (Host::Served, Origin::Allowed(_) | Origin::Absent) => answer().await,
    };
    cors::share(&mut response, origin);
    response
}

/// Answers a message in the response to it: as JSON, or as a stream of events if there is something to tell before.
async fn post<S: Send + Sync + 'static>(
    endpoint: &Arc<Endpoint<S>>,
    parts: &Parts,
    body: Body,
    headers_required: bool,
) -> Response {
    let body = match endpoint.message(parts, body).await {
        Ok(body) => body,
        Err(response) => return response,
    };
    let posted = Posted { body, headers_required, takes_events: takes_events(parts) };
    if !endpoint.server.waits() {
        let told = Notifications::default();
        let done = posted.answer(endpoint, &parts.headers, &told).await;
        return match told.take() {
            None => reply(done),
            Some(first) => sse::stream(first, Answering::done(told, done)),
        };
    }
    let (endpoint, headers) = (Arc::clone(endpoint), parts.headers.clone());
    let answer = |told: Arc<Notifications>| async move { posted.answer(&endpoint, &headers, &told).await };
    let mut answering = Answering::new(answer);
    match answering.next().await {
        Some(Step::Reply(done)) => reply(done),
        Some(Step::Notification(first)) => sse::stream(first, answering),
        None => Response::default(),
    }
}

/// A message that was posted.
struct Posted {
    body: Bytes,
    headers_required: bool,
    takes_events: bool,
}

impl Posted {
    async fn answer<S: Sync>(&self, endpoint: &Endpoint<S>, headers: &HeaderMap, told: &Notifications) -> Reply {
        let context = Context {
            headers: Headers(Some(headers)),
            headers_required: self.headers_required,
            request_id: request_id(headers),
            notifications: self.takes_events.then_some(told),
            ..Context::session(Revision::ASSUMED)
        };
        endpoint.server.answer(&endpoint.state, &context, &self.body).await
    }
}

/// Whether the client names events among what it accepts. Nothing else depends on `Accept`.
fn takes_events(parts: &Parts) -> bool {
    let accepted = parts.headers.get_all(ACCEPT).iter().filter_map(|accept| accept.to_str().ok());
    accepted.flat_map(|accept| accept.split(',')).any(|one| {
        one.split(';').next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case("text/event-stream"))
    })
}

impl<S> Endpoint<S> {
    /// Counts a message and reads it. It is read even where it is refused, so that the refusal carries its id.
    async fn message(&self, parts: &Parts, body: Body) -> Result<Bytes, Response> {
        let admitted = self.admit(Bucket::Message, parts).await;
        let body = body::read(&parts.headers, body, self.http.body_timeout).await;
        match (admitted, body) {
            (Ok(_), Ok(body)) => match body::check_type(&parts.headers) {
                Ok(()) => Ok(body),
                Err(fault) => Err(refusal(&fault, Message::id(&body))),
            },
            (Err(fault), Ok(body)) => Err(refusal(&fault, Message::id(&body))),
            (Err(fault), Err(_)) | (Ok(_), Err(fault)) => Err(refusal(&fault, RawValue::NULL)),
        }
    }

    async fn admit(&self, bucket: Bucket, parts: &Parts) -> Result<Permit, Fault> {
        let Some(gate) = &self.http.gate else { return Ok(Permit::default()) };
        gate.admit(bucket, parts)
            .await
            .map_err(|RetryAfter(wait)| Fault::too_many(wait, format!("try again in {} ms", wait.as_millis())))
    }
}

fn reply(reply: Reply) -> Response {
    let mut response = Response::default();
    *response.status_mut() = reply.status;
    if let Some(body) = reply.body {
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        *response.body_mut() = body.into();
    }
    response
}

fn refusal(fault: &Fault, id: &RawValue) -> Response {
    let mut response = reply(Reply::fault(fault, id));
    if let Some(seconds) = fault.retry_after() {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}

fn forbidden(detail: &str) -> Response {
    refusal(&Fault::http(StatusCode::FORBIDDEN, detail), RawValue::NULL)
}

fn not_allowed(method: &Method, allowed: HeaderValue) -> Response {
    let detail = format!("{method} is not served here; POST one JSON-RPC message");
    let mut response = refusal(&Fault::http(StatusCode::METHOD_NOT_ALLOWED, detail), RawValue::NULL);
    response.headers_mut().insert(ALLOW, allowed);
    response
}

fn request_id(headers: &HeaderMap) -> Option<&str> {
    headers.get(REQUEST_ID)?.to_str().ok()
}
