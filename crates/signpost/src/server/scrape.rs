//! `/metrics`, at an address of its own.

use std::sync::Arc;

use anyhow::{Context, Result};
use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;
use signpost_login::events;
use signpost_platform::observe::metrics::Gauges;
use signpost_platform::redis::Redis;
use signpost_platform::web::problem::Problem;
use tokio::net::TcpListener;

use super::App;
use super::connections::{self, ConnectionLimits};

/// Connections of those who read the metrics.
const MAX_CONNECTIONS: usize = 64;

/// Listens where the operator wants it, before the server says that it is ready.
///
/// # Errors
/// Where the address is taken.
pub(crate) async fn listen(app: &App) -> Result<Option<TcpListener>> {
    let Some(address) = app.config.metrics_listen else { return Ok(None) };
    let taken = || format!("cannot listen on {address} for metrics: choose another address");
    Ok(Some(TcpListener::bind(address).await.with_context(taken)?))
}

/// Serves `/metrics` until the server stops.
pub(crate) async fn run(app: Arc<App>, listener: TcpListener) {
    let router = Router::new().route("/metrics", get(show)).with_state(Arc::clone(&app));
    let (limits, proxies) = (ConnectionLimits::with_total(MAX_CONNECTIONS), &app.proxies);
    connections::serve(listener, router.into(), limits, proxies, app.draining.clone()).await;
}

async fn show(State(app): State<Arc<App>>) -> Result<impl IntoResponse, Problem> {
    let text = app.metrics.write_text(&measure(&app).await?)?;
    Ok(([(CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text))
}

async fn measure(app: &App) -> Result<Gauges> {
    let (pending_deliveries, oldest) = events::sql::count_waiting(&app.store).await?;
    let now = app.clock.now();
    Ok(Gauges {
        pending_deliveries,
        oldest_delivery_seconds: oldest.map_or(0.0, |at| now.duration_since(at).as_secs_f64().max(0.0)),
        disabled_endpoints: events::endpoints::count_disabled(&app.store).await?,
        redis_answers: app.redis.as_ref().is_none_or(Redis::answers),
        waiting_requests: i64::try_from(app.login.waiting.requests())?,
        machines: i64::try_from(app.atm.catalogue.snapshot().len())?,
    })
}
