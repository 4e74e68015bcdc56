//! The callback URL of Lightning wallets (LUD-04). Wallets ignore the body of a response with
//! another status than 200, so every response has that status. Some wallets are web pages, so every
//! origin may read the responses.

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

/// Returns the callback routes. They serve both environments, because the path contains the ID of a
/// session of either environment. Wallets that append a slash or use POST get an error in the
/// format that wallets parse.
pub fn router() -> Router<LoginService> {
    // HEAD requests preview a link and are not answers.
    let routes = get(handle_callback).head(async || method_not_allowed("GET, OPTIONS")).options(preflight).fallback(
        async |state: State<LoginService>, request: Request| refuse_request(state, request, METHOD_ERROR).await,
    );
    let unknown_url = any(async |state: State<LoginService>, request: Request| {
        refuse_request(state, request, UNKNOWN_URL_ERROR).await
    });
    Router::new()
        .route("/lnurl/{suffix}", routes)
        .route("/lnurl", unknown_url.clone())
        .route("/lnurl/", unknown_url.clone())
        .route("/lnurl/{suffix}/", unknown_url.clone())
        .route("/lnurl/{suffix}/{*rest}", unknown_url)
}

const METHOD_ERROR: &str = "this URL takes the answer by GET; send k1, sig and key in the query";
const UNKNOWN_URL_ERROR: &str = "no login has this URL; scan the code again and use its URL unchanged";

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
    ([(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store"), ALLOW_ANY_ORIGIN], reply.to_json())
        .into_response()
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

const ALLOW_ANY_ORIGIN: (HeaderName, &str) = (ACCESS_CONTROL_ALLOW_ORIGIN, "*");

/// Answers the CORS preflight of a wallet in a browser.
async fn preflight() -> impl IntoResponse {
    let headers = [ALLOW_ANY_ORIGIN, (ACCESS_CONTROL_ALLOW_METHODS, "GET"), (ACCESS_CONTROL_ALLOW_HEADERS, "*")];
    (StatusCode::NO_CONTENT, headers)
}
