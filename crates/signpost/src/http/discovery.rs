//! `/.well-known/mcp-server`: where the tools are (ATM locator specification, §2).

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use serde_json::json;

use super::health::ANY_ORIGIN;
use crate::app::App;
use crate::tools;

pub(super) async fn show(State(app): State<App>) -> impl IntoResponse {
    let (base, server) = (&app.base_url, tools::server());
    let document = json!({
        "name": server.info().name,
        "version": server.info().version,
        "endpoints": { "sse": format!("{base}/sse"), "http": format!("{base}/mcp") },
        "capabilities": ["tools"],
        "tools": server.tool_names().collect::<Vec<_>>(),
    });
    (ANY_ORIGIN, Json(document))
}
