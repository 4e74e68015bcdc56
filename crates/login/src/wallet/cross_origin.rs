//! Cross-origin requests (CORS) of a browser wallet on a separate host. Only the wallet's origin is
//! allowed, without cookies (Fetch standard).

use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ORIGIN, VARY,
};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use signpost_platform::web::single_header;

use crate::service::LoginService;

/// Allows the wallet's own origin to read the responses.
pub(crate) async fn allow_wallet_origin(State(service): State<LoginService>, request: Request, next: Next) -> Response {
    let Some(wallet) = service.settings.wallet.own_origin() else { return next.run(request).await };
    let allowed = match single_header(request.headers(), &ORIGIN) {
        Ok(Some(origin)) if origin == wallet.as_str() => Some(origin.clone()),
        _ => None,
    };
    let is_preflight = request.method() == Method::OPTIONS && allowed.is_some();
    let mut response = if is_preflight { answer_preflight() } else { next.run(request).await };
    let headers = response.headers_mut();
    headers.append(VARY, HeaderValue::from_static("origin"));
    if let Some(origin) = allowed {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("date, retry-after"));
    }
    response
}

fn answer_preflight() -> Response {
    let allowed = [
        (ACCESS_CONTROL_ALLOW_METHODS, "GET, POST"),
        (ACCESS_CONTROL_ALLOW_HEADERS, "content-type"),
        (ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    (StatusCode::NO_CONTENT, allowed).into_response()
}
