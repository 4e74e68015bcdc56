//! Serves the documents for crawlers and assistants: `robots.txt`, `sitemap.xml` and `llms.txt`.

use std::fmt::Write;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use maud::{PreEscaped, html};
use signpost_atm::mcp;
use signpost_atm::pages::sitemap;

use super::App;
use crate::config::Service;

const TEXT: &str = "text/plain; charset=utf-8";
const CRAWLER_CACHE_CONTROL: &str = "public, max-age=3600";

/// Serves `/robots.txt`, with access to all pages except personal pages.
pub(super) async fn robots(State(app): State<Arc<App>>) -> impl IntoResponse {
    let mut text = "User-agent: *\n".to_owned();
    for path in ["/account", "/login/", "/near", "/sandbox/", "/lnurl/"] {
        writeln!(text, "Disallow: {}", app.origin.link(path)).expect("a text");
    }
    writeln!(text, "\nSitemap: {}/sitemap.xml", app.public_address).expect("a text");
    ([(CONTENT_TYPE, TEXT), (CACHE_CONTROL, CRAWLER_CACHE_CONTROL)], text)
}

/// Serves `/sitemap.xml` with the public pages.
pub(super) async fn sitemap(State(app): State<Arc<App>>, request: Request) -> Response {
    if app.config.services.contains(&Service::Atm) {
        return sitemap::show(&mut request.into_parts().0, &app.atm).await.into_response();
    }
    let pages = [format!("{}/", app.public_address)];
    let document = html! {
        (PreEscaped("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"))
        urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" {
            @for page in pages { url { loc { (page) } } }
        }
    };
    ([(CONTENT_TYPE, "application/xml"), (CACHE_CONTROL, CRAWLER_CACHE_CONTROL)], document.into_string())
        .into_response()
}

/// Serves `/llms.txt`, a description of the services for assistants (llmstxt.org).
pub(super) async fn guide(State(app): State<Arc<App>>) -> impl IntoResponse {
    let host = app.origin.host();
    let address = &app.public_address;
    let mut text = format!(
        "# Signpost at {host}\n\n> A Signpost server: login with wallets for sites, and Bitcoin ATMs for assistants.\n"
    );
    if app.config.services.contains(&Service::Auth) {
        write!(
            text,
            "\n## Login\n\n\
             - [OpenAPI document]({address}/v1/openapi.yaml): the HTTP API, for an integrator's server with an API key\n\
             - [API reference]({address}/v1/reference): the same as a page\n\
             - [Sandbox]({address}/sandbox/v1/openapi.yaml): the same API with data of its own, for trying things out\n"
        )
        .expect("a text");
    }
    if app.config.services.contains(&Service::Atm) {
        text.push_str(&locator_guide(address));
    }
    ([(CONTENT_TYPE, TEXT), (CACHE_CONTROL, CRAWLER_CACHE_CONTROL)], text)
}

/// Returns the section on the locator: its tools, the rules for its answers, and links.
fn locator_guide(address: &str) -> String {
    let server = mcp::server(false, None);
    let tools = server.tools().map(|tool| format!("- `{}`: {}\n", tool.name, tool.title));
    let tools: String = tools.collect();
    format!(
        "\n## Bitcoin ATMs\n\n\
         The address of the MCP server is {address}/mcp. It needs no account and no key. Its tools:\n\n{tools}\n\
         A status says since when it is known, and `unknown` means unknown, not open. `advisories` in an answer are laws and \
         frauds at the place, each with its source: say them before the machines. Answers name the sources of their data; \
         whoever shows the data names them too, as their licences ask. None of it is advice about law or money.\n\n\
         - [MCP server]({address}/mcp): Model Context Protocol over streamable HTTP; a page in a browser\n\
         - [How to add it to an assistant]({address}/mcp.md): each client, with its command\n\
         - [Description]({address}/.well-known/mcp-server): its endpoints and tools\n\
         - [About the data]({address}/about/data): sources with their licences, and how a status is decided\n\n\
         ## Optional\n\n\
         - [Server card]({address}/mcp/server-card): its name, revisions and addresses\n\
         - [Event stream]({address}/sse): the same tools for clients of the first revision of the protocol\n"
    )
}
