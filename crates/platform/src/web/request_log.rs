//! The outermost layer of the router: request IDs, the access log, timeouts and panics of handlers.

use std::convert::Infallible;
use std::hash::{BuildHasher, RandomState};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use axum::routing::Route;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Either};
use jiff::Timestamp;
use signpost_store::random;
use tower::{Layer, Service};
use tracing::{Instrument, Level};

use super::{api_key, host};
use crate::clock::Clock;
use crate::limits::{
    Caller, CallerSlots, MAX_IN_PROGRESS, MAX_KEYED_IN_PROGRESS, RequestPermit, is_in_progress_limit_exceeded,
};
use crate::observe::metrics::{Metrics, RouteCounts};
use crate::observe::{RequestName, measure_turn_wait, telemetry};
use crate::shared::Platform;
use crate::web::problem::Problem;

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Timeout of handlers on routes without a specific timeout. The slowest of them verifies a domain,
/// in up to 10 seconds.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// A layer around all routes of a server. It sets the request ID of the response, counts the
/// request, and logs a line without headers, body and query, because these may contain secrets.
#[derive(Clone, Debug)]
pub struct RequestLog(Arc<LogParts>);

#[derive(Debug)]
struct LogParts {
    metrics: Metrics,
    routes: SpecialRoutes,
    /// The platform with the API keys, or `None` for routes that accept no keys.
    platform: Option<Platform>,
    /// Requests in progress by API key, in addition to the limit of their client address.
    slots_by_key: CallerSlots,
    ids: RequestIds,
}

/// The routes with special rules, by their path in the router.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpecialRoutes {
    /// Routes of another protocol, whose handlers check the `Host` header and the number of
    /// requests in progress themselves.
    pub foreign: &'static [&'static str],
    /// Routes without any limit, which read no body: health checks, discovery documents and forward
    /// authentication.
    pub unlimited: &'static [&'static str],
    /// Routes with a timeout longer than 30 seconds, such as uploads.
    pub slow: &'static [(&'static str, Duration)],
}

/// Generates request IDs from the time, a random number of the server, and a hashed counter. The
/// hash hides the number of requests. Request IDs are not secret.
#[derive(Debug)]
struct RequestIds {
    server: [u8; 8],
    next: AtomicU64,
    mixer: RandomState,
}

impl RequestLog {
    /// Creates the layer for routes that accept no API keys.
    #[must_use]
    pub fn new(metrics: Metrics, routes: SpecialRoutes) -> Self {
        Self::with_parts(metrics, routes, None)
    }

    /// Creates the layer for a server whose API keys allow more requests in progress than a client
    /// address may have.
    #[must_use]
    pub fn for_server(platform: &Platform, routes: SpecialRoutes) -> Self {
        Self::with_parts(platform.metrics.clone(), routes, Some(platform.clone()))
    }

    /// Returns a router that logs and counts its requests.
    ///
    /// The layer is applied in this crate, so that the code of the wrapped routes is compiled with
    /// the optimization level of this crate.
    pub fn wrap(self, router: Router) -> Router {
        router.layer(self)
    }

    fn with_parts(metrics: Metrics, routes: SpecialRoutes, platform: Option<Platform>) -> Self {
        let ids = RequestIds { server: random(), next: AtomicU64::new(0), mixer: RandomState::new() };
        Self(Arc::new(LogParts { metrics, routes, platform, slots_by_key: CallerSlots::default(), ids }))
    }
}

impl RequestIds {
    fn next(&self, now: Timestamp) -> HeaderValue {
        let mut own = [0; 16];
        own[..8].copy_from_slice(&self.server);
        let mixed = self.mixer.hash_one(self.next.fetch_add(1, Ordering::Relaxed));
        own[8..].copy_from_slice(&mixed.to_be_bytes());
        HeaderValue::try_from(signpost_store::id::encode("req", now, own)).expect("an ID has only letters and digits")
    }
}

impl LogParts {
    /// Returns the timeout of a route.
    fn timeout_of(&self, route: &str) -> Duration {
        self.routes.slow.iter().find(|(slow, _)| *slow == route).map_or(REQUEST_TIMEOUT, |(_, limit)| *limit)
    }

    /// Handles a request whose client address already has [`MAX_IN_PROGRESS`] requests in progress.
    /// It reaches its route only with a valid API key, even if the route requires none, and uses a
    /// slot of the key's account. The body is not read before the key is checked.
    async fn handle_over_limit(self: Arc<Self>, mut route: Route, request: Request) -> Response {
        let permit = RequestPermit::from_extensions(request.extensions()).cloned();
        let headers = request.headers().clone();
        match self.admit_by_key(&headers, permit).await {
            Ok(()) => route.call(request).await.unwrap_or_else(|never| match never {}),
            Err(problem) => problem.into_response(),
        }
    }

    async fn admit_by_key(&self, headers: &HeaderMap, permit: Option<RequestPermit>) -> Result<(), Problem> {
        let account = match &self.platform {
            Some(platform) => api_key::find_account(platform, headers).await?,
            None => None,
        };
        let Some(account) = account else {
            return Err(Problem::TooManyAtOnce { limit: "in_progress", max: MAX_IN_PROGRESS });
        };
        let Some(slot) = self.slots_by_key.acquire(Caller::from(&account), MAX_KEYED_IN_PROGRESS) else {
            return Err(Problem::TooManyAtOnce { limit: "in_progress", max: MAX_KEYED_IN_PROGRESS });
        };
        if let Some(permit) = permit {
            permit.hold(slot);
        }
        Ok(())
    }
}

impl Layer<Route> for RequestLog {
    type Service = LoggedRoute;

    fn layer(&self, route: Route) -> LoggedRoute {
        LoggedRoute { log: Arc::clone(&self.0), counts: Arc::default(), route }
    }
}

/// A route with its layer and its counters.
#[derive(Clone, Debug)]
pub struct LoggedRoute {
    log: Arc<LogParts>,
    /// Set by the first response.
    counts: Arc<OnceLock<RouteCounts>>,
    route: Route,
}

impl Service<Request> for LoggedRoute {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        let id = self.log.ids.next(Clock::System.now());
        // Replaces a request ID that the client sent.
        request.headers_mut().insert(X_REQUEST_ID, id.clone());
        let route = request.extensions().get::<MatchedPath>().cloned();
        let name = RequestName { id, method: request.method().clone(), route, status: None };
        let span = telemetry::request_span(&name, request.headers());
        let path = tracing::enabled!(Level::DEBUG).then(|| request.uri().path().to_owned());
        // Routes of another protocol return errors of that protocol.
        let routes = &self.log.routes;
        let is_foreign = routes.foreign.contains(&name.route());
        let host = if is_foreign { Ok(()) } else { host::check(request.headers()) };
        let is_over_limit = !is_foreign
            && is_in_progress_limit_exceeded(request.extensions())
            && !routes.unlimited.contains(&name.route());
        let handling = host.map(|()| {
            if is_over_limit {
                return Either::Right(Arc::clone(&self.log).handle_over_limit(self.route.clone(), request));
            }
            Either::Left(self.route.call(request).map(|response| response.unwrap_or_else(|never| match never {})))
        });
        let handled = async move {
            match handling {
                Ok(handling) => handling.await,
                Err(problem) => problem.into_response(),
            }
        };
        let log = Arc::clone(&self.log);
        let counts = Arc::clone(&self.counts);
        async move {
            let start = Instant::now();
            let running = tokio::time::timeout(log.timeout_of(name.route()), measure_turn_wait(handled));
            let running = name.clone().scope(running).instrument(span.clone());
            // A panic ends only this request, whose state is dropped with it.
            let (mut response, turn_wait) = match AssertUnwindSafe(running).catch_unwind().await {
                Ok(Ok(answered)) => answered,
                Ok(Err(_)) => {
                    let problem = Problem::Unavailable("the request took too long".to_owned());
                    (problem.into_response(), Duration::ZERO)
                }
                Err(_) => {
                    let problem = Problem::Internal(anyhow::anyhow!("a handler panicked"));
                    (name.clone().in_scope(|| problem.into_response()), Duration::ZERO)
                }
            };
            let status = response.status().as_u16();
            let elapsed = start.elapsed();
            span.record("status", status);
            log.metrics.count_response(&counts, &name, status, elapsed.saturating_sub(turn_wait));
            response.headers_mut().insert(X_REQUEST_ID, name.id.clone());
            if let Some(path) = path {
                let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
                let name = RequestName { status: Some(status), ..name };
                name.in_scope(|| tracing::debug!(path, elapsed_ms, "answered"));
            }
            Ok(response)
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::future::pending;

    use axum::routing::get;
    use tower::ServiceExt;

    use super::*;

    #[test]
    fn request_ids_are_unique() {
        let now = Timestamp::from_second(1_700_000_000).unwrap();
        let logs = [(); 2].map(|()| RequestLog::new(Metrics::default(), SpecialRoutes::default()));
        let ids = |log: &RequestLog| (0..1000).map(|_| log.0.ids.next(now)).collect::<Vec<_>>();
        let all: HashSet<_> = logs.iter().flat_map(ids).collect();
        assert_eq!(all.len(), 2000);
        assert!(all.iter().all(|id| signpost_store::id::is_valid("req", id.to_str().unwrap())));
    }

    #[tokio::test(start_paused = true)]
    async fn a_route_may_have_a_longer_timeout() {
        const SLOW: [(&str, Duration); 1] = [("/upload", Duration::from_mins(2))];
        let minute = async || {
            drop(tokio::time::timeout(Duration::from_mins(1), pending::<()>()).await);
            "done"
        };
        let log = RequestLog::new(Metrics::default(), SpecialRoutes { slow: &SLOW, ..SpecialRoutes::default() });
        let router = axum::Router::new().route("/upload", get(minute)).route("/any", get(minute)).layer(log);
        for (path, status) in [("/upload", 200), ("/any", 503)] {
            let request = Request::get(path).header("host", "a.test").body(axum::body::Body::empty()).unwrap();
            let answered = router.clone().oneshot(request).await.unwrap();
            assert_eq!(answered.status(), status, "{path}");
        }
    }

    #[test]
    fn request_ids_hide_the_request_count() {
        let log = RequestLog::new(Metrics::default(), SpecialRoutes::default());
        let ids: Vec<_> = (0..100).map(|_| log.0.ids.next(Timestamp::UNIX_EPOCH)).collect();
        assert!(!ids.is_sorted(), "{ids:?}");
    }
}
