//! `/health` for people and load balancers; `/health/ready` for those who send traffic.

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
use signpost_platform::limits::{ASK_CLIENT, TOLD_CLIENT};
use signpost_platform::web::peer::see_forwarding;
use signpost_platform::web::{ANY_ORIGIN, JsonReply};

use super::App;

/// The health document (ATM locator specification, §2). To who asks for it, and carries an address that nobody has, a header
/// says how the request is counted.
pub(crate) async fn show(State(app): State<Arc<App>>, extensions: Extensions, headers: HeaderMap) -> impl IntoResponse {
    let seen = headers.contains_key(ASK_CLIENT).then(|| see_forwarding(&app, &extensions, &headers).as_str());
    let told = seen.map(|word| [(TOLD_CLIENT, HeaderValue::from_static(word))]);
    (ANY_ORIGIN, told.map(AppendHeaders), JsonReply(document(&app.clock)))
}

/// 200 while requests are welcome: the database can be read and written, and the server is not stopping. Otherwise the
/// reasons, in words.
pub(crate) async fn ready(State(app): State<Arc<App>>) -> impl IntoResponse {
    let store = app.store.check_ready(app.clock.now()).await;
    let accepting = if app.stopping.is_cancelled() { Err("the server is stopping".to_owned()) } else { Ok(()) };
    let word = |check: &Result<(), String>| if check.is_ok() { "ok" } else { "failing" };
    let checks = json!({ "store": word(&store), "accepting": word(&accepting) });
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

/// Returns 503 with the reasons, as [`ready`] does, for a server that has not opened its database yet.
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
    let (status, version) = ("ok", env!("CARGO_PKG_VERSION"));
    Health { mode: Deployment::Remote, status, timestamp: clock.now(), version }
}
