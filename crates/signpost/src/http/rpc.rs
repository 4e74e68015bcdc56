//! `/mcp` and `/sse`: signpost-mcp's transports around our tools, with our limits and origins.

use std::sync::Arc;

use axum::Router;
use axum::http::request::Parts;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use signpost_mcp::{Bucket, Gate, Hosts, Http, Origins, RetryAfter, SessionLimits, Sessions};

use super::relay::Streams;
use crate::app::App;
use crate::id;
use crate::limits::Limit;
use crate::mcp::{self, Locator, Mode};

pub(super) fn router(app: &App) -> Router<App> {
    let sessions = Sessions::new(SessionLimits::default(), id::random);
    tokio::spawn(close_at_drain(app.clone(), sessions.clone()));
    let mut http = Http::new(sessions);
    http.origins = app.config.allowed_origins.clone().and(own_origins(app));
    http.hosts = hosts(app);
    http.gate = Some(Arc::new(Limiter(app.clone())));
    if let Some(redis) = &app.redis {
        let streams = Arc::new(Streams::new(redis.clone()));
        tokio::spawn(Arc::clone(&streams).run(app.draining.clone()));
        http.relay = Some(streams);
    }
    let locator = Locator { catalogue: app.catalogue.clone(), clock: app.clock.clone(), mode: Mode::Remote };
    let geocodes = locator.catalogue.geocoder.is_some();
    signpost_mcp::router(mcp::server(geocodes), locator, http).with_state(())
}

/// Streams do not end by themselves: without this every stop would wait for the longest of them.
async fn close_at_drain(app: App, sessions: Sessions) {
    app.draining.cancelled().await;
    sessions.close();
}

/// The server's own pages may always call it.
fn own_origins(app: &App) -> Origins {
    let port = app.listen.port();
    let mut own: Vec<String> = app.config.public_url.iter().map(|url| url.origin().ascii_serialization()).collect();
    if app.listen.ip().is_loopback() {
        own.extend(["localhost", "127.0.0.1", "[::1]"].map(|host| format!("http://{host}:{port}")));
    }
    Origins::parse(own.iter().map(String::as_str)).unwrap_or_default()
}

/// A web page can point its own name at loopback; a server there answers to loopback's names only.
fn hosts(app: &App) -> Hosts {
    if !app.listen.ip().is_loopback() {
        return Hosts::Any;
    }
    let public = app.config.public_url.as_ref().and_then(|url| url.host_str()).map(ToOwned::to_owned);
    Hosts::Loopback { also: public.into_iter().collect() }
}

struct Limiter(App);

impl Gate for Limiter {
    fn admit<'a>(&'a self, bucket: Bucket, request: &'a Parts) -> BoxFuture<'a, Result<(), RetryAfter>> {
        let Self(app) = self;
        let limit = match bucket {
            Bucket::Message => Limit::Mcp,
            Bucket::Stream => Limit::Sse,
        };
        async move {
            let caller = super::peer(app, &request.extensions, &request.headers);
            let admitted = app.limits.check(limit, &caller, app.clock.now()).await;
            admitted.map_err(|exceeded| RetryAfter(exceeded.wait))
        }
        .boxed()
    }
}
