//! The browser wallet at a host of its own asks from there: that one origin may, without cookies (Fetch standard, CORS).

use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ORIGIN, VARY,
};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::service::LoginService;

/// Lets the wallet's own origin read what is answered here, and nobody else.
pub(crate) async fn let_wallet_ask(State(service): State<LoginService>, request: Request, next: Next) -> Response {
    let Some(wallet) = service.settings.wallet.own_origin() else { return next.run(request).await };
    let mut sent = request.headers().get_all(ORIGIN).iter();
    let named = (sent.next(), sent.next());
    let allowed = named.0.filter(|origin| named.1.is_none() && *origin == wallet.as_str()).cloned();
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
