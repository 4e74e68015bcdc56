//! The protocol endpoints below each issuer: pages for users, and endpoints for clients.

mod authorize;
mod client_request;
mod consent;
mod context;
mod document;
mod introspect;
mod logout;
mod oauth_reply;
mod outcomes;
mod response;
mod token;
mod userinfo;
mod words;

use axum::Router;
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};
use signpost_platform::accounts::Environment;
use signpost_platform::web::cors::with_preflight;
use signpost_platform::web::problem::method_not_allowed;

use crate::service::IssuerState;
use client_request::ClientRequest;
use oauth_reply::{OauthRefusal, open};

/// Returns the routes below the issuers of an environment.
pub(crate) fn router(environment: Environment) -> Router<IssuerState> {
    let issuer = format!("{}/{{realm}}", environment.page_path());
    let authorize = get(authorize::authorize).post(authorize::authorize_by_form);
    let callback = get(authorize::handle_login_callback);
    let consent = get(consent::show).post(consent::answer);
    let logout = get(logout::log_out).post(logout::log_out_by_form);
    Router::new()
        .route(&format!("{issuer}/authorize"), refuse_others(authorize, "GET, POST"))
        .route(&format!("{issuer}/authorize/return"), refuse_others(callback, "GET"))
        .route(&format!("{issuer}/authorize/consent/{{request}}"), refuse_others(consent, "GET, POST"))
        .route(&format!("{issuer}/logout"), refuse_others(logout, "GET, POST"))
        .route(&format!("{issuer}/logout/confirm"), post(logout::confirm))
        .route(&format!("{issuer}/token"), with_preflight(post(issue_tokens)))
        .route(&format!("{issuer}/revoke"), with_preflight(post(revoke_token)))
        .route(&format!("{issuer}/introspect"), post(introspect::introspect))
        .route(&format!("{issuer}/userinfo"), with_preflight(get(show_userinfo).post(show_userinfo)))
}

/// Refuses all other methods. This includes `HEAD`, because it could start a login without showing
/// the login page.
fn refuse_others(routes: MethodRouter<IssuerState>, allowed: &'static str) -> MethodRouter<IssuerState> {
    routes.head(async move || method_not_allowed(allowed)).fallback(async move || method_not_allowed(allowed))
}

async fn issue_tokens(request: Result<ClientRequest, OauthRefusal>) -> Response {
    open(async { token::issue(request?).await }.await)
}

async fn revoke_token(request: Result<ClientRequest, OauthRefusal>) -> Response {
    open(async { token::revoke(request?).await }.await)
}

async fn show_userinfo(request: Result<ClientRequest, OauthRefusal>) -> Response {
    open(async { userinfo::show(request?).await }.await)
}
