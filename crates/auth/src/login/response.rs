//! The responses to browsers. None of them may be stored by a cache.

use axum::http::header::{ALLOW, CACHE_CONTROL, LOCATION, RETRY_AFTER, SET_COOKIE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::json;

/// The ASCII characters that URLs must not contain (RFC 3986, section 2). `%` is allowed, because a
/// path may already be escaped.
const NOT_IN_URLS: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'\\').add(b'^').add(b'`').add(b'{').add(b'|').add(b'}');

/// Redirects the browser and sets these cookies.
pub(super) fn redirect(location: &str, set_cookies: &[String]) -> Response {
    // A header can contain only ASCII, but a path of the site may have other characters.
    let location = utf8_percent_encode(location, NOT_IN_URLS).to_string();
    with_cookies((StatusCode::SEE_OTHER, [(LOCATION, location.as_str())]).into_response(), set_cookies)
}

/// Responds to a prefetch. The navigation that follows gets another response.
pub(super) fn no_content() -> Response {
    with_cookies(StatusCode::NO_CONTENT.into_response(), &[])
}

/// Rejects a request with a reason for developers.
pub(super) fn reject(status: StatusCode, reason: &str) -> Response {
    with_cookies((status, axum::Json(json!({ "error": reason }))).into_response(), &[])
}

/// Rejects a method.
pub(super) fn reject_method(allowed: &'static str) -> Response {
    let mut response = reject(StatusCode::METHOD_NOT_ALLOWED, &format!("this path requires {allowed}"));
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    response
}

/// Responds if the service is not available, and asks the browser to retry after some seconds.
pub(super) fn unavailable(retry_after_secs: u32, set_cookies: &[String]) -> Response {
    let text = "The login is not available at the moment. Try again in a few seconds.\n";
    let mut response = (StatusCode::SERVICE_UNAVAILABLE, text).into_response();
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(retry_after_secs));
    with_cookies(response, set_cookies)
}

/// Responds after an error of the site itself.
pub(super) fn internal_error() -> Response {
    let text = "The login did not work. Please try again.";
    with_cookies((StatusCode::INTERNAL_SERVER_ERROR, text).into_response(), &[])
}

fn with_cookies(mut response: Response, set_cookies: &[String]) -> Response {
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let cookies = set_cookies.iter().filter_map(|cookie| HeaderValue::try_from(cookie).ok());
    headers.extend(cookies.map(|cookie| (SET_COOKIE, cookie)));
    response
}
