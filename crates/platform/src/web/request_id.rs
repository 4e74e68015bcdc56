//! Names every request, times it, and survives what should not happen.

use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use signpost_store::random;
use tracing::Instrument;

use super::host;
use crate::clock::Clock;
use crate::observe::metrics::Metrics;
use crate::observe::telemetry;
use crate::web::problem::Problem;

signpost_store::ids! {
    /// Names a request, in its reply and in the log.
    RequestId = "req";
}

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The longest that any handler may take; a domain check is the slowest (10 s).
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// What the requests of a server are counted in, and which of its routes refuse in words of their own.
#[derive(Clone, Debug)]
pub struct RequestLog {
    /// The counters.
    pub metrics: Metrics,
    /// Routes of another protocol: they check their `Host` themselves.
    pub foreign: &'static [&'static str],
}

/// Gives the request an id that its reply carries, and writes one line about it to the log: never its headers, its
/// body or its query, which may contain secrets.
///
/// # Panics
/// Never: an id is fit for a header.
pub async fn name_and_log(State(log): State<RequestLog>, mut request: Request, next: Next) -> Response {
    let id = RequestId::new(Clock::System.now(), random());
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    let span = tracing::info_span!("request", %id, method = %request.method(), route, status = tracing::field::Empty);
    telemetry::adopt(&span, request.headers());
    let value = HeaderValue::from_str(id.as_str()).expect("an id is letters and digits");
    // Whatever a client called it: the id under which faults are logged is ours.
    request.headers_mut().insert(X_REQUEST_ID, value.clone());
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let begun = Instant::now();
    let answering = async {
        // The protocol of the other two refuses in its own words.
        if !log.foreign.contains(&route)
            && let Err(error) = host::check(request.headers())
        {
            return error.into_response();
        }
        next.run(request).await
    };
    let running = tokio::time::timeout(REQUEST_TIMEOUT, answering).instrument(span.clone());
    // A panic ends this request, not the connection's others. What it held is dropped with it.
    let mut response = match AssertUnwindSafe(running).catch_unwind().await {
        Ok(Ok(response)) => response,
        Ok(Err(_)) => Problem::Unavailable("the request took too long".to_owned()).into_response(),
        Err(_) => span.in_scope(|| Problem::Internal(anyhow::anyhow!("a handler panicked")).into_response()),
    };
    let status = response.status().as_u16();
    let elapsed_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    span.record("status", status);
    span.in_scope(|| tracing::debug!(path, elapsed_ms, "answered"));
    log.metrics.answered(&method, route, status, begun.elapsed());
    response.headers_mut().insert(X_REQUEST_ID, value);
    response
}
