//! Handlers of the health endpoints: `/health` reports that the server is alive, and
//! `/health/ready` reports whether it can serve requests.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{Extensions, HeaderMap, HeaderValue, StatusCode};
use axum::response::{AppendHeaders, IntoResponse};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;
use signpost_atm::locator::Deployment;
use signpost_platform::clock::Clock;
use signpost_platform::limits::{FORWARDING_REQUEST, FORWARDING_RESPONSE};
use signpost_platform::web::peer::forwarding_result;
use signpost_platform::web::{ANY_ORIGIN, JsonReply};

use super::App;

/// Returns the health document (ATM locator specification, §2). On request, a header contains the client address that
/// rate limits use.
pub(crate) async fn show(State(app): State<Arc<App>>, extensions: Extensions, headers: HeaderMap) -> impl IntoResponse {
    let client = headers.contains_key(FORWARDING_REQUEST).then(|| {
        let seen = forwarding_result(&app, &extensions, &headers).as_str();
        AppendHeaders([(FORWARDING_RESPONSE, HeaderValue::from_static(seen))])
    });
    (ANY_ORIGIN, client, JsonReply(document(&app.clock)))
}

/// Returns 200 if the database can be read and written and the server is not stopping; otherwise 503 with the reasons.
pub(crate) async fn ready(State(app): State<Arc<App>>) -> impl IntoResponse {
    let store = app.store.check_ready(app.clock.now()).await;
    let accepting = if app.stopping.is_cancelled() { Err("the server is stopping".to_owned()) } else { Ok(()) };
    let [store_state, accepting_state] = [&store, &accepting].map(|check| if check.is_ok() { "ok" } else { "failing" });
    let checks = json!({ "store": store_state, "accepting": accepting_state });
    let reasons: Vec<String> = [store, accepting].into_iter().filter_map(Result::err).collect();
    if reasons.is_empty() {
        return (StatusCode::OK, ANY_ORIGIN, Json(json!({ "status": "ok", "checks": checks })));
    }
    tracing::warn!(reasons = reasons.join(", "), "not ready");
    let body = json!({ "status": "unavailable", "checks": checks, "reasons": reasons });
    (StatusCode::SERVICE_UNAVAILABLE, ANY_ORIGIN, Json(body))
}

/// Returns the health document of a server that has not opened its database yet.
pub(super) async fn show_starting(State(clock): State<Clock>) -> impl IntoResponse {
    (ANY_ORIGIN, JsonReply(document(&clock)))
}

/// Returns 503 with the reasons, like [`ready`], for a server that has not opened its database yet.
pub(super) async fn ready_starting() -> impl IntoResponse {
    let checks = json!({ "store": "failing", "accepting": "failing" });
    let reasons = ["the database is not open yet", "the server is starting"];
    let body = json!({ "status": "unavailable", "checks": checks, "reasons": reasons });
    (StatusCode::SERVICE_UNAVAILABLE, ANY_ORIGIN, Json(body))
}

#[derive(Serialize)]
struct Health {
    mode: Deployment,
    status: &'static str,
    timestamp: Timestamp,
    version: &'static str,
}

fn document(clock: &Clock) -> Health {
    Health { mode: Deployment::Remote, status: "ok", timestamp: clock.now(), version: env!("CARGO_PKG_VERSION") }
}
