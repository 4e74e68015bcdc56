//! CORS headers for clients in browsers (Fetch Standard, section 3.2).

use axum::response::Response;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, VARY,
};
use http::{HeaderValue, StatusCode};

use super::origins::OriginVerdict;

const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, DELETE, OPTIONS");
const HEADERS: HeaderValue = HeaderValue::from_static(
    "content-type, accept, authorization, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id, last-event-id",
);
const EXPOSED: HeaderValue = HeaderValue::from_static("Retry-After, X-Request-Id");

/// Returns the response to a preflight request. It has no CORS headers if the origin is rejected.
pub(super) fn preflight(origin: OriginVerdict<'_>) -> Response {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::NO_CONTENT;
    if let OriginVerdict::Allowed(_) = origin {
        response.headers_mut().insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
        response.headers_mut().insert(ACCESS_CONTROL_ALLOW_HEADERS, HEADERS);
    }
    response
}

/// Adds the headers that allow scripts of an allowed origin to read `response`.
pub(super) fn share(response: &mut Response, origin: OriginVerdict<'_>) {
    let headers = response.headers_mut();
    headers.append(VARY, HeaderValue::from_static("Origin"));
    if let OriginVerdict::Allowed(origin) = origin {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    }
}
