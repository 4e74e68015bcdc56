//! The interface's own documents: `openapi.yaml` as it was written, and the same as a page that needs no network.

use axum::Router;
use axum::http::HeaderName;
use axum::http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::routing::get;
use signpost_platform::web::problem::Problem;

const DOCUMENT: &str = include_str!("../../../../openapi.yaml");
/// Made from the document by `make reference`; a test says where it is not.
const PAGE: &str = include_str!("../../../../docs/reference.html");
/// Nothing but the page itself, and the style inside of it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";
const CACHED: (HeaderName, &str) = (CACHE_CONTROL, "max-age=300");

pub(crate) fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let document = ([(CONTENT_TYPE, "application/yaml"), (ACCESS_CONTROL_ALLOW_ORIGIN, "*"), CACHED], DOCUMENT);
    let page = ([(CONTENT_TYPE, "text/html; charset=utf-8"), (CONTENT_SECURITY_POLICY, POLICY), CACHED], PAGE);
    Router::new()
        .route("/openapi.yaml", get(async || document).fallback(async || Problem::MethodNotAllowed))
        .route("/reference", get(async || page).fallback(async || Problem::MethodNotAllowed))
}
