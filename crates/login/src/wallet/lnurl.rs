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
use axum::routing::{any, get};
use signpost_auth::{AuthCallback, LnurlReply};
use signpost_platform::web::peer::client_address;
use signpost_platform::web::problem::method_not_allowed;

use super::count_request;
use crate::flows::lnurl::accept_lightning;
use crate::service::LoginService;

/// The address of both environments: the path names a session of either. Wallets that append a slash or post get the reason in
/// the form that they read, and no page.
pub fn router() -> Router<LoginService> {
    // Whoever asks for the head alone looks where a link leads, and answers nothing.
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

/// Refuses a request that answers no login, for this reason.
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
