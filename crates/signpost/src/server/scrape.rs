//! Serves `/metrics` on a separate listen address.

use std::sync::Arc;

use anyhow::{Context, Result};
use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use jiff::Timestamp;
use signpost_atm::feeds::sql::{FeedState, list_states};
use signpost_login::events;
use signpost_platform::limits::Proxies;
use signpost_platform::observe::metrics::{DatabaseGauges, FeedGauges, Metrics, ServiceGauges};
use signpost_platform::redis::Redis;
use signpost_platform::web::problem::Problem;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::App;
use crate::config::Config;
use signpost_server::{self as http, ConnectionLimits};

/// Maximum number of connections of monitors.
const MAX_CONNECTIONS: usize = 64;

/// Maximum number of feeds with metrics, the most failures first.
const MAX_FEEDS: u32 = 200;

/// Listens at the configured address, if any.
///
/// # Errors
/// Returns an error if the address is in use.
pub(crate) async fn listen(config: &Config) -> Result<Option<TcpListener>> {
    let Some(address) = config.metrics_listen else { return Ok(None) };
    let listener = TcpListener::bind(address).await;
    let listener =
        listener.with_context(|| format!("cannot listen on {address} for metrics: choose another address"))?;
    Ok(Some(listener))
}

/// Serves `/metrics` until the server stops.
pub(crate) async fn run(app: Arc<App>, listener: TcpListener) {
    let router = Router::new().route("/metrics", get(show)).with_state(Arc::clone(&app));
    let limits = ConnectionLimits::with_total(MAX_CONNECTIONS);
    http::serve(listener, router.into(), limits, &app.proxies, app.draining.clone()).await;
}

/// Serves only the counters at `/metrics`, until the server has started.
pub(super) async fn serve_starting(
    listener: &TcpListener,
    metrics: Metrics,
    proxies: &Proxies,
    opened: CancellationToken,
) {
    let router = Router::new().route("/metrics", get(show_counters)).with_state(metrics);
    let limits = ConnectionLimits::with_total(MAX_CONNECTIONS);
    http::serve_borrowed(listener, router.into(), limits, proxies, opened).await;
}

async fn show_counters(State(metrics): State<Metrics>) -> Result<Response, Problem> {
    Ok(reply(metrics.write_text(None, None)?))
}

/// Returns all metrics. While the database cannot be read, its gauges are omitted: without any metrics, a monitor would
/// consider the server down.
async fn show(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let services = ServiceGauges {
        is_redis_reachable: app.redis.as_ref().is_none_or(Redis::is_reachable),
        waiting_requests: i64::try_from(app.login.waiting.requests()).unwrap_or(i64::MAX),
        atms: i64::try_from(app.atm.catalogue.snapshot().len()).unwrap_or(i64::MAX),
    };
    let database = match measure_database(&app).await {
        Ok(gauges) => Some(gauges),
        Err(error) => {
            tracing::warn!(error = format!("{error:#}"), "could not measure the database for the metrics");
            None
        }
    };
    Ok(reply(app.metrics.write_text(Some(services), database)?))
}

async fn measure_database(app: &App) -> Result<DatabaseGauges> {
    let (pending_deliveries, oldest) = events::sql::count_waiting(&app.store).await?;
    let now = app.clock.now();
    let feeds = list_states(&app.store, MAX_FEEDS).await?;
    Ok(DatabaseGauges {
        pending_deliveries,
        oldest_delivery_seconds: oldest.map_or(0.0, |at| now.duration_since(at).as_secs_f64().max(0.0)),
        disabled_endpoints: events::endpoints::count_disabled(&app.store).await?,
        feeds: feeds.into_iter().map(feed_gauges).collect(),
    })
}

fn feed_gauges(state: FeedState) -> FeedGauges {
    let FeedState { name, failures, fetched_at } = state;
    let last_success_seconds = fetched_at.map(|at| at.duration_since(Timestamp::UNIX_EPOCH).as_secs_f64());
    FeedGauges { name, failures, last_success_seconds }
}

fn reply(text: String) -> Response {
    ([(CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text).into_response()
}
