//! The starting server: its address is open, but the database may not be reachable yet.
//!
//! Servers and databases start together after a power failure, and on Kubernetes. A server that exited because its
//! database needs another minute would be restarted in a loop; a server that did not listen would seem down.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result};
use axum::Router;
use axum::http::header::{CONNECTION, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::json;
use signpost_platform::clock::Clock;
use signpost_platform::limits::Proxies;
use signpost_platform::observe::metrics::Metrics;
use signpost_platform::origin::PublicOrigin;
use signpost_platform::pages::assets;
use signpost_platform::pages::error_page::ErrorPages;
use signpost_platform::setting::format_duration;
use signpost_platform::web::problem::error_body;
use signpost_platform::web::request_log::{RequestLog, SpecialRoutes};
use signpost_server::{self as http, ConnectionLimits, HostRouter};
use signpost_store::{DatabaseLock, DatabaseNotReady, Store, Unavailable, is_postgres};
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::schema::SCHEMA;
use super::{health, routes, scrape};
use crate::config::Config;
use crate::deployment::sealed;
use crate::deployment::servers::RunningServers;

/// Maximum number of connections while the server starts.
const MAX_CONNECTIONS: usize = 1024;
/// Interval between two attempts to open the database.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);
/// Time for requests in progress to end once the server has started.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Answers requests until the server has started.
pub(super) struct StartingServer {
    host_router: HostRouter,
    metrics: Metrics,
    proxies: Proxies,
}

impl StartingServer {
    /// Creates the starting server for these settings.
    pub(super) fn new(config: &Config, clock: &Clock, listen: SocketAddr, metrics: &Metrics) -> Self {
        let router = Router::new()
            .route("/health", get(health::show_starting))
            .route("/health/ready", get(health::ready_starting))
            .merge(assets::router(assets::COMMON_ASSETS))
            .fallback(refuse)
            .with_state(clock.clone())
            .layer(map_response(close))
            .layer(RequestLog::new(metrics.clone(), SpecialRoutes::default()));
        let origin = PublicOrigin::new(&config.public_address(listen));
        let pages = Some(ErrorPages { origin, programs: routes::programs().into() });
        let host_router = HostRouter { pages, ..HostRouter::from(router) };
        Self { host_router, metrics: metrics.clone(), proxies: config.proxies.clone() }
    }

    /// Answers requests while `opening` runs, and returns its result. Connections that are not accepted by then wait in
    /// the listener's queue for the started server.
    pub(super) async fn serve_while<T>(
        self,
        listener: &TcpListener,
        metrics_listener: Option<&TcpListener>,
        opening: impl Future<Output = T>,
    ) -> T {
        let Self { host_router, metrics, proxies } = self;
        let opened = CancellationToken::new();
        let limits = ConnectionLimits::with_total(MAX_CONNECTIONS);
        let serving = http::serve_borrowed(listener, host_router, limits, &proxies, opened.clone());
        let serving_metrics = async {
            if let Some(listener) = metrics_listener {
                scrape::serve_starting(listener, metrics, &proxies, opened.clone()).await;
            }
        };
        let deadline = async {
            opened.cancelled().await;
            sleep(DRAIN_TIMEOUT).await;
        };
        let serving = async {
            tokio::select! {
                _ = async { tokio::join!(serving, serving_metrics) } => {}
                () = deadline => {}
            }
        };
        let opening = async {
            let result = opening.await;
            opened.cancel();
            result
        };
        tokio::join!(serving, opening).1
    }
}

/// Opens the database and checks that this version can use it. If the database server is not ready, retries for
/// `wait_for_database`, while this server answers at `listen`.
///
/// # Errors
/// Returns the first permanent error, or the last error when the time has passed.
pub(super) async fn open_database(
    config: &Config,
    clock: &Clock,
    listen: SocketAddr,
    lock: Option<&DatabaseLock>,
) -> Result<Store> {
    let begun = Instant::now();
    let wait = config.wait_for_database;
    let mut is_waiting = false;
    loop {
        let error = match try_open_database(config, clock, lock).await {
            Ok(store) => {
                if is_waiting {
                    let waited_s = begun.elapsed().as_secs();
                    tracing::info!(waited_s, "the database is ready");
                }
                return Ok(store);
            }
            Err(error) => error,
        };
        let left = wait.saturating_sub(begun.elapsed());
        if wait.is_zero() || !may_pass(config, &error) {
            return Err(error);
        }
        if left.is_zero() {
            return Err(error.context(format!("waited {} for the database", format_duration(wait))));
        }
        if !is_waiting {
            let error = format!("{error:#}");
            tracing::warn!(error, wait = format_duration(wait), %listen, "waiting for the database");
            is_waiting = true;
        }
        sleep(RETRY_INTERVAL.min(left)).await;
    }
}

async fn try_open_database(config: &Config, clock: &Clock, lock: Option<&DatabaseLock>) -> Result<Store> {
    let url = config.database_url();
    let opening = tokio::task::spawn_blocking(move || Store::open(&url, &SCHEMA));
    let store = opening.await.context("opening the database panicked")??;
    if let Some(lock) = lock {
        lock.record_files()?;
    }
    store.check_move().await?;
    let seal = config.login.seal();
    sealed::check(&store, &seal).await?;
    let running = if lock.is_some() { RunningServers::None } else { RunningServers::Announced };
    sealed::admit_server(&store, &seal, running, clock.now()).await?;
    Ok(store)
}

/// Returns true if a later attempt to open the database may succeed. A server that was reached may still restart
/// between two statements.
fn may_pass(config: &Config, error: &anyhow::Error) -> bool {
    is_postgres(&config.database_url()) && (error.is::<DatabaseNotReady>() || error.is::<Unavailable>())
}

async fn refuse() -> impl IntoResponse {
    let message = "the server is starting; try again soon";
    let body = error_body((StatusCode::SERVICE_UNAVAILABLE, "unavailable"), message, &json!({}));
    ([(RETRY_AFTER, HeaderValue::from_static("1"))], body)
}

/// Asks the client for a new connection for its next request.
async fn close(mut response: Response) -> Response {
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;
    use crate::config::RawSettings;

    /// Sends a request and returns the whole response.
    async fn send(to: SocketAddr, request_line: &str, accept: &str) -> String {
        let mut stream = TcpStream::connect(to).await.unwrap();
        let head = format!("{request_line} HTTP/1.1\r\nHost: {to}\r\nAccept: {accept}\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        response
    }

    /// Runs `requests` while a server starts, with the addresses of its two listeners.
    async fn while_starting<T>(requests: impl AsyncFnOnce(SocketAddr, SocketAddr) -> T) -> T {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let metrics_listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let listen = listener.local_addr().unwrap();
        let config = Config::new(&RawSettings::default()).unwrap();
        let starting = StartingServer::new(&config, &Clock::System, listen, &Metrics::default());
        let opening = requests(listen, metrics_listener.local_addr().unwrap());
        let result = starting.serve_while(&listener, Some(&metrics_listener), opening).await;
        // The listener is still open.
        TcpStream::connect(listen).await.unwrap();
        result
    }

    #[tokio::test]
    async fn starting_server_is_alive_and_not_ready() {
        while_starting(async |listen, metrics| {
            let health = send(listen, "GET /health", "*/*").await;
            assert!(health.starts_with("HTTP/1.1 200 ") && health.contains("\"status\":\"ok\""), "{health}");
            let ready = send(listen, "GET /health/ready", "*/*").await;
            assert!(ready.starts_with("HTTP/1.1 503 ") && ready.contains("the database is not open yet"), "{ready}");
            let metrics = send(metrics, "GET /metrics", "*/*").await;
            assert!(metrics.starts_with("HTTP/1.1 200 ") && metrics.contains("signpost_build_info"), "{metrics}");
            assert!(!metrics.contains("signpost_machines") && metrics.contains("status=\"503\"} 1"), "{metrics}");
        })
        .await;
    }

    #[tokio::test]
    async fn starting_server_returns_503() {
        while_starting(async |listen, _| {
            for request_line in ["GET /", "POST /mcp", "POST /sandbox/v1/sessions", "GET /console", "DELETE /x"] {
                let refused = send(listen, request_line, "application/json").await;
                assert!(refused.starts_with("HTTP/1.1 503 ") && refused.contains("retry-after: 1\r\n"), "{refused}");
                assert!(
                    refused.contains("\"code\":\"unavailable\"") && refused.contains("x-request-id: "),
                    "{refused}"
                );
            }
            let page = send(listen, "GET /login/x", "text/html").await;
            assert!(page.starts_with("HTTP/1.1 503 ") && page.contains("<h1 id=\"title\">"), "{page}");
        })
        .await;
    }

    #[tokio::test]
    async fn stalled_client_does_not_delay_the_start() {
        let _stalled = while_starting(async |listen, _| {
            let mut stream = TcpStream::connect(listen).await.unwrap();
            stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n").await.unwrap();
            stream
        })
        .await;
    }
}
