//! The checks of every request: host, origin, rate limit, limits of the body; and the responses of rejected requests.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde_json::value::RawValue;

use super::hosts::{HostVerdict, Hosts};
use super::initialize::reduced_initialize;
use super::origins::{OriginVerdict, Origins};
use super::rate_limiter::{Bucket, OverLimit, Permit, RateLimiter, RetryAfter};
use super::relay::Relay;
use super::sessions::Sessions;
use super::{body, cors};
use crate::fault::RpcFault;
use crate::message::Message;
use crate::response::RpcResponse;
use crate::server::Server;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Returns the page for a browser that opens the endpoint, or `None` for a program. It is called for every `GET` and
/// `HEAD` of `/mcp`.
pub type OpenPage = Arc<dyn Fn(&Parts) -> Option<Response> + Send + Sync>;

/// The HTTP settings of the server.
pub struct Http {
    /// The allowed web origins. The server's own origin must be added by the caller.
    pub origins: Origins,
    /// The accepted `Host` names.
    pub hosts: Hosts,
    /// The rate limit, if any.
    pub rate_limiter: Option<Arc<dyn RateLimiter>>,
    /// The sessions over SSE. A clone can count and end them.
    pub sessions: Sessions,
    /// The relay to sessions of other servers, if there are any.
    pub relay: Option<Arc<dyn Relay>>,
    /// The page for people, if any; programs get 405 there.
    pub page: Option<OpenPage>,
    /// Timeout of reading the body of a request.
    pub body_timeout: Duration,
}

impl Http {
    /// Creates settings without origins, rate limit, relay and page, for any host, with a body timeout of 10 s.
    #[must_use]
    pub fn new(sessions: Sessions) -> Self {
        Self {
            origins: Origins::default(),
            hosts: Hosts::default(),
            rate_limiter: None,
            sessions,
            relay: None,
            page: None,
            body_timeout: Duration::from_secs(10),
        }
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { origins, hosts, rate_limiter, sessions, relay, page, body_timeout } = self;
        f.debug_struct("Http")
            .field("origins", origins)
            .field("hosts", hosts)
            .field("rate_limiter", &rate_limiter.is_some())
            .field("sessions", sessions)
            .field("relay", &relay.is_some())
            .field("page", &page.is_some())
            .field("body_timeout", body_timeout)
            .finish()
    }
}

pub(super) struct Endpoint<S> {
    pub(super) server: Server<S>,
    pub(super) state: S,
    pub(super) http: Http,
}

/// Checks host and origin, and adds the CORS headers to the response.
pub(super) async fn guarded(http: &Http, parts: &Parts, respond: impl AsyncFnOnce() -> Response) -> Response {
    let origin = http.origins.check(&parts.headers);
    let mut response = match (http.hosts.check(parts), origin) {
        (HostVerdict::Invalid, _) => {
            let fault = RpcFault::http(StatusCode::BAD_REQUEST, "a request has exactly one Host header, with a host");
            refusal(&fault, RawValue::NULL)
        }
        (HostVerdict::Forbidden, _) => {
            forbidden("the Host header names another server; use localhost, 127.0.0.1 or [::1]")
        }
        (HostVerdict::Allowed, _) if parts.method == Method::OPTIONS => cors::preflight(origin),
        (HostVerdict::Allowed, OriginVerdict::Forbidden) => {
            forbidden("the Origin header names a site that is not allowed to call this server")
        }
        (HostVerdict::Allowed, OriginVerdict::Allowed(_) | OriginVerdict::Absent) => respond().await,
    };
    cors::share(&mut response, origin);
    response
}

impl<S> Endpoint<S> {
    /// Applies the rate limit and reads a message. A message over the limit may wait before its body is read.
    ///
    /// # Errors
    /// The reply to a rejected message: too many requests, a body that is too large or too slow, another type than
    /// JSON. It carries the ID of the message if that could be read.
    pub(super) async fn message(&self, parts: &Parts, body: Body, over_limit: OverLimit) -> Result<Bytes, Response> {
        if let Err(fault) = self.admit(Bucket::Message, over_limit, parts).await {
            return self.message_over_limit(parts, body, over_limit, &fault).await;
        }
        let body = body::read_body(&parts.headers, body, self.http.body_timeout).await;
        let body = body.map_err(|fault| refusal(&fault, RawValue::NULL))?;
        match body::check_type(&parts.headers) {
            Ok(()) => Ok(body),
            Err(fault) => Err(refusal(&fault, Message::id(&body))),
        }
    }

    /// Reads the ID of a message over the limit for its refusal. An `initialize` request, whose clients know no revision
    /// to send in a header yet, may still wait; only its reduced form is stored meanwhile.
    async fn message_over_limit(
        &self,
        parts: &Parts,
        body: Body,
        over_limit: OverLimit,
        fault: &RpcFault,
    ) -> Result<Bytes, Response> {
        let Some(body) = body::read_refused(body).await else {
            return Err(self.limit_refusal(Bucket::Message, fault, RawValue::NULL));
        };
        let initialize = match over_limit {
            OverLimit::Reject if body::check_type(&parts.headers).is_ok() => reduced_initialize(&body),
            OverLimit::Reject | OverLimit::Wait => None,
        };
        let Some(initialize) = initialize else {
            return Err(self.limit_refusal(Bucket::Message, fault, Message::id(&body)));
        };
        drop(body);
        match self.admit(Bucket::Message, OverLimit::Wait, parts).await {
            Ok(_) => Ok(initialize),
            Err(fault) => Err(self.limit_refusal(Bucket::Message, &fault, Message::id(&initialize))),
        }
    }

    pub(super) async fn admit(&self, bucket: Bucket, over_limit: OverLimit, parts: &Parts) -> Result<Permit, RpcFault> {
        let Some(rate_limiter) = &self.http.rate_limiter else { return Ok(Permit::default()) };
        rate_limiter
            .admit(bucket, over_limit, parts)
            .await
            .map_err(|RetryAfter(wait)| RpcFault::too_many(wait, format!("try again in {} ms", wait.as_millis())))
    }

    /// Returns the refusal of a request over the limit.
    pub(super) fn limit_refusal(&self, bucket: Bucket, fault: &RpcFault, id: &RawValue) -> Response {
        if let Some(rate_limiter) = &self.http.rate_limiter {
            rate_limiter.rejected(bucket);
        }
        refusal(fault, id)
    }
}

pub(super) fn response(rpc: RpcResponse) -> Response {
    let mut response = Response::default();
    *response.status_mut() = rpc.status;
    if let Some(body) = rpc.body {
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        *response.body_mut() = body.into();
    }
    response
}

pub(super) fn refusal(fault: &RpcFault, id: &RawValue) -> Response {
    let mut response = self::response(RpcResponse::fault(fault, id));
    if let Some(seconds) = fault.retry_after() {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}

fn forbidden(detail: &str) -> Response {
    refusal(&RpcFault::http(StatusCode::FORBIDDEN, detail), RawValue::NULL)
}

pub(super) fn not_allowed(method: &Method, allowed: HeaderValue) -> Response {
    let detail = format!("{method} is not supported here; POST one JSON-RPC message");
    let mut response = refusal(&RpcFault::http(StatusCode::METHOD_NOT_ALLOWED, detail), RawValue::NULL);
    response.headers_mut().insert(ALLOW, allowed);
    response
}

pub(super) fn request_id(headers: &HeaderMap) -> Option<&str> {
    headers.get(REQUEST_ID)?.to_str().ok()
}
