//! The interface's own documents: `openapi.yaml` as it was written, and the same as a page that needs no network.

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
/// The page's `<main>`, made of the document by `make reference`; a test says where it is old.
const MAIN: &str = include_str!("../../assets/reference.html");
/// What this page has beside the stylesheet of all.
pub(crate) const REFERENCE_STYLES: Asset =
    Asset::new("reference", "css", "text/css; charset=utf-8", include_bytes!("../../assets/reference.css"));
const FRESH: Duration = Duration::from_mins(5);

/// The two documents of an environment; the page names its addresses.
pub(crate) fn router<S: Clone + Send + Sync + 'static>(app: &App, environment: Environment) -> Router<S> {
    let cached = (CACHE_CONTROL, "max-age=300");
    let document = ([(CONTENT_TYPE, "application/yaml"), (ACCESS_CONTROL_ALLOW_ORIGIN, "*"), cached], DOCUMENT);
    let (origin, address) = (app.origin.clone(), app.public_address.clone());
    // Made for the first who reads it.
    let page = Arc::new(LazyLock::new(move || Compressed::new(render(&origin, &address, environment))));
    let show = async move |headers: HeaderMap| {
        let (body, is_gzip) = page.choose(&headers);
        let shown =
            HtmlPage::public(body, FRESH).with_header(header::VARY, HeaderValue::from_static("accept-encoding"));
        if !is_gzip {
            return shown;
        }
        shown.with_header(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"))
    };
    let at = |path: &str| format!("{}{path}", environment.path());
    Router::new()
        .route(&at("/openapi.yaml"), get(async || document).fallback(async || Problem::MethodNotAllowed))
        .route(&at("/reference"), get(show).fallback(async || Problem::MethodNotAllowed))
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
