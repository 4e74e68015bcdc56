//! `/health` for people and load balancers; `/health/ready` for those who send traffic.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::IntoResponse;
use serde_json::{Value, json};

use crate::app::App;
use crate::mcp::Mode;

/// Every page may ask for public documents.
pub(super) const ANY_ORIGIN: [(HeaderName, &str); 1] = [(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*")];

/// The health document (ATM locator specification, §2).
pub(super) async fn show(State(app): State<App>) -> impl IntoResponse {
    (ANY_ORIGIN, Json(document(&app)))
}

/// 200 while requests are welcome: the store answers, the catalogue is loaded, and the server is not stopping.
pub(super) async fn ready(State(app): State<App>) -> impl IntoResponse {
    let draining = app.stopping.is_cancelled();
    let store = app.store.read("SELECT version FROM catalogue", Vec::new()).await.is_ok();
    let is_ready = store && !draining;
    let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let word = |ok| if ok { "ok" } else { "failing" };
    let body = json!({
        "status": if is_ready { "ok" } else { "unavailable" },
        "checks": { "store": word(store), "accepting": word(!draining) },
    });
    (status, ANY_ORIGIN, Json(body))
}

fn document(app: &App) -> Value {
    json!({
        "status": "ok",
        "version": env!("CARGO_PKG_VERSION"),
        "mode": Mode::Remote,
        "timestamp": app.clock.now(),
    })
}
