//! Discovery documents for programs that know only the address of the server: the document that the specification of
//! the locator defines, an MCP server card, and an AI catalogue that refers to the card. All are generated from the
//! [`Server`].

use axum::Router;
use axum::http::HeaderMap;
use axum::routing::get;
use serde_json::{Value, json};
use signpost_mcp::{Revision, Server};
use signpost_platform::web::PublicDocument;
use signpost_platform::web::cors::with_preflight;
use url::Url;

use super::server::server;
use crate::locator::Locator;
use crate::service::AtmService;

/// Paths of the discovery documents. They have no rate limit.
pub const PATHS: [&str; 3] = ["/.well-known/mcp-server", "/mcp/server-card", "/.well-known/ai-catalog.json"];

const JSON: &str = "application/json";
const CARD: &str = "application/mcp-server-card+json";
const CATALOGUE: &str = "application/ai-catalog+json";

pub(crate) fn router(service: &AtmService) -> Router<AtmService> {
    let server = server(false, None);
    let base = &service.base_url;
    let [of_server, of_card, of_catalogue] = PATHS;
    Router::new()
        .route(of_server, serve(JSON, &document(&server, base)))
        .route(of_card, serve(CARD, &card(&server, base)))
        .route(of_catalogue, serve(CATALOGUE, &catalogue(&server, base)))
}

/// Creates the handler for a document that does not change while the process runs.
fn serve(media_type: &'static str, document: &Value) -> axum::routing::MethodRouter<AtmService> {
    let document = PublicDocument::new(media_type, document);
    with_preflight(get(async move |headers: HeaderMap| document.reply(&headers)))
}

/// Returns the discovery document that the specification of the locator defines.
fn document(server: &Server<Locator>, base: &str) -> Value {
    let capabilities = server.capabilities();
    json!({
        "name": server.info().name,
        "version": server.info().version,
        "endpoints": { "sse": format!("{base}/sse"), "http": format!("{base}/mcp") },
        "capabilities": capabilities.as_object().into_iter().flatten().map(|(name, _)| name).collect::<Vec<_>>(),
        "tools": server.tools().map(|tool| tool.name).collect::<Vec<_>>(),
    })
}

/// Returns the server card (SEP-2127).
fn card(server: &Server<Locator>, base: &str) -> Value {
    let info = server.info();
    let all: Vec<_> = Revision::ALL.iter().map(|revision| revision.as_str()).collect();
    let with_sessions = Revision::ALL.iter().filter(|revision| !revision.is_stateless());
    let with_sessions: Vec<_> = with_sessions.map(|revision| revision.as_str()).collect();
    json!({
        "$schema": "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
        "name": format!("{}/{}", namespace(base), info.name),
        "title": info.title,
        "version": info.version,
        "description": info.description,
        "icons": info.icons,
        "remotes": [
            { "type": "streamable-http", "url": format!("{base}/mcp"), "supportedProtocolVersions": all },
            { "type": "sse", "url": format!("{base}/sse"), "supportedProtocolVersions": with_sessions },
        ],
    })
}

/// Returns the AI catalogue of this host. It contains only this server.
fn catalogue(server: &Server<Locator>, base: &str) -> Value {
    json!({
        "specVersion": "1.0",
        "entries": [{
            "identifier": format!("urn:air:{}:mcp:{}", host(base), server.info().name),
            "type": CARD,
            "url": format!("{base}/mcp/server-card"),
        }],
    })
}

/// Returns the host name in reverse-DNS order, the prefix of the server name, such as `com.example.atm`.
fn namespace(base: &str) -> String {
    host(base).split('.').rev().collect::<Vec<_>>().join(".")
}

/// Returns the host name, or `localhost` for an IP address.
fn host(base: &str) -> String {
    let url = Url::parse(base).ok();
    url.as_ref().and_then(Url::domain).unwrap_or("localhost").to_owned()
}
