//! Where Lightning wallets answer (LUD-04). They read no body beside another status than 200, so every answer has that one;
//! and any of them may be a page.

use axum::Router;
use axum::extract::{RawQuery, Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL,
    CONTENT_TYPE,
};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use signpost_auth::{AuthCallback, LnurlReply};
use signpost_platform::web::peer::client_address;
use signpost_platform::web::problem::Problem;

use super::count_request;
use crate::flows::lnurl::accept_lightning;
use crate::service::LoginService;

/// The address of both environments: the path names a session of either.
pub fn router() -> Router<LoginService> {
    // Whoever asks for the head alone looks where a link leads, and answers nothing.
    let refuse = async || Problem::MethodNotAllowed;
    let routes = get(handle_callback).head(refuse).options(preflight).fallback(refuse);
    Router::new().route("/lnurl/{suffix}", routes)
}

async fn handle_callback(State(service): State<LoginService>, RawQuery(query): RawQuery, request: Request) -> Response {
    let suffix = request.uri().path().rsplit('/').next().unwrap_or_default();
    let address = client_address(&service, &request);
    let reply = match count_request(&service, address).await {
        Ok(()) => reply_to(&service, suffix, query.as_deref().unwrap_or_default()).await,
        Err(problem) => LnurlReply::error(&problem.to_string()),
    };
    ([(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store"), OPEN], reply.to_json()).into_response()
}

async fn reply_to(service: &LoginService, suffix: &str, query: &str) -> LnurlReply {
    let callback = match AuthCallback::parse(query) {
        Ok(callback) => callback,
        Err(wrong) => return LnurlReply::error(&wrong.to_string()),
    };
    match accept_lightning(service, suffix, &callback).await {
        Ok(()) => LnurlReply::Ok,
        Err(refusal) => LnurlReply::error(&refusal.to_string()),
    }
}

const OPEN: (HeaderName, &str) = (ACCESS_CONTROL_ALLOW_ORIGIN, "*");

/// What a wallet that is a page asks where it sends headers of its own.
async fn preflight() -> impl IntoResponse {
    let headers = [OPEN, (ACCESS_CONTROL_ALLOW_METHODS, "GET"), (ACCESS_CONTROL_ALLOW_HEADERS, "*")];
    (StatusCode::NO_CONTENT, headers)
}
