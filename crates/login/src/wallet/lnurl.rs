//! The callback of Lightning wallets (LUD-04). They ignore the body of any status but 200, so every response has that
//! status. Some wallets are web pages, so every origin may read the responses.

use axum::Router;
use axum::extract::{RawQuery, Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL,
    CONTENT_TYPE,
};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use signpost_auth::{AuthCallback, LnurlReply};
use signpost_platform::web::peer::client_address;
use signpost_platform::web::problem::method_not_allowed;

use super::count_request;
use crate::flows::lnurl::accept_lightning;
use crate::service::LoginService;

/// Returns the routes of both environments: the path contains a session of either. Wallets that append a slash or use
/// POST get an error in the form that they read.
pub fn router() -> Router<LoginService> {
    // HEAD requests preview a link and are not answers.
    let routes = get(handle_callback)
        .head(async || method_not_allowed("GET, OPTIONS"))
        .options(preflight)
        .fallback(async |state: State<LoginService>, request: Request| refuse_request(state, request, NOT_GET).await);
    let elsewhere =
        any(async |state: State<LoginService>, request: Request| refuse_request(state, request, NOT_HERE).await);
    Router::new()
        .route("/lnurl/{suffix}", routes)
        .route("/lnurl", elsewhere.clone())
        .route("/lnurl/", elsewhere.clone())
        .route("/lnurl/{suffix}/", elsewhere.clone())
        .route("/lnurl/{suffix}/{*rest}", elsewhere)
}

const NOT_GET: &str = "this URL takes the answer by GET; send k1, sig and key in the query";
const NOT_HERE: &str = "no login has this URL; scan the code again and use its URL unchanged";

async fn handle_callback(State(service): State<LoginService>, RawQuery(query): RawQuery, request: Request) -> Response {
    let suffix = request.uri().path().rsplit('/').next().unwrap_or_default();
    let address = client_address(&service, &request);
    respond(&match count_request(&service, address).await {
        Ok(()) => reply_to(&service, suffix, query.as_deref().unwrap_or_default()).await,
        Err(problem) => LnurlReply::error(&problem.to_string()),
    })
}

/// Refuses a request that is not an answer, with this reason.
async fn refuse_request(State(service): State<LoginService>, request: Request, reason: &'static str) -> Response {
    respond(&match count_request(&service, client_address(&service, &request)).await {
        Ok(()) => LnurlReply::error(reason),
        Err(problem) => LnurlReply::error(&problem.to_string()),
    })
}

fn respond(reply: &LnurlReply) -> Response {
    ([(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store"), OPEN], reply.to_json()).into_response()
}

async fn reply_to(service: &LoginService, suffix: &str, query: &str) -> LnurlReply {
    let callback = match AuthCallback::parse(query) {
        Ok(callback) => callback,
        Err(error) => return LnurlReply::error(&error.to_string()),
    };
    match accept_lightning(service, suffix, &callback).await {
        Ok(()) => LnurlReply::Ok,
        Err(refusal) => LnurlReply::error(&refusal.to_string()),
    }
}

const OPEN: (HeaderName, &str) = (ACCESS_CONTROL_ALLOW_ORIGIN, "*");

/// Answers the CORS preflight of a wallet in a browser.
async fn preflight() -> impl IntoResponse {
    let headers = [OPEN, (ACCESS_CONTROL_ALLOW_METHODS, "GET"), (ACCESS_CONTROL_ALLOW_HEADERS, "*")];
    (StatusCode::NO_CONTENT, headers)
}
