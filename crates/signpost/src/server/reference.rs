//! Serves the documentation of the HTTP API: `openapi.yaml`, and the reference as a page without
//! external resources.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use axum::Router;
use axum::http::header::{self, ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use axum::routing::get;
use maud::{PreEscaped, html};
use signpost_platform::accounts::Environment;
use signpost_platform::origin::PublicOrigin;
use signpost_platform::pages::compressed::Compressed;
use signpost_platform::pages::{Asset, Frame, HtmlPage, Language, Layout};
use signpost_platform::web::problem::Problem;

use super::App;

const DOCUMENT: &str = include_str!("../../../../openapi.yaml");
/// The `<main>` element of the reference page, which `make reference` generates from
/// `openapi.yaml`. A test checks that it is up to date.
const MAIN: &str = include_str!("../../assets/reference.html");
/// The stylesheet of the page, loaded after the common stylesheet.
pub(crate) const REFERENCE_STYLES: Asset =
    Asset::new("reference", "css", "text/css; charset=utf-8", include_bytes!("../../assets/reference.css"));
const CACHE_MAX_AGE: Duration = Duration::from_mins(5);

/// Returns the routes of an environment's documents. The page contains its addresses.
pub(crate) fn router<S: Clone + Send + Sync + 'static>(app: &App, environment: Environment) -> Router<S> {
    let prefix = environment.path();
    let cached = (CACHE_CONTROL, "max-age=300");
    let document = ([(CONTENT_TYPE, "application/yaml"), (ACCESS_CONTROL_ALLOW_ORIGIN, "*"), cached], DOCUMENT);
    let origin = app.origin.clone();
    let address = app.public_address.clone();
    // The page is rendered at the first request.
    let page = Arc::new(LazyLock::new(move || Compressed::new(render(&origin, &address, environment))));
    Router::new()
        .route(&format!("{prefix}/openapi.yaml"), get(async || document).fallback(async || Problem::MethodNotAllowed))
        .route(
            &format!("{prefix}/reference"),
            get(async move |headers: HeaderMap| respond(&page, &headers)).fallback(async || Problem::MethodNotAllowed),
        )
}

fn respond(page: &Compressed, headers: &HeaderMap) -> HtmlPage {
    let (body, is_gzip) = page.choose(headers);
    let response =
        HtmlPage::public(body, CACHE_MAX_AGE).with_header(header::VARY, HeaderValue::from_static("accept-encoding"));
    if !is_gzip {
        return response;
    }
    response.with_header(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"))
}

fn render(origin: &PublicOrigin, address: &str, environment: Environment) -> String {
    let shown = html! { (address) }.into_string();
    let main = MAIN
        .replace("{{origin}}", &shown)
        .replace("{{api}}", &format!("{shown}{}", environment.path()))
        .replace("{{sandbox}}", &format!("{shown}{}", Environment::Sandbox.path()));
    let head = html! { link rel="stylesheet" href=(REFERENCE_STYLES.link(origin)); };
    let frame = Frame::new(Language::English, "API reference", origin, Layout::Column, PreEscaped(main));
    Frame { is_translated: false, head, ..frame }.render()
}
