//! Adds another key to the account of the logged-in user, on the service's page.

use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use data_encoding::BASE64URL_NOPAD;
use serde_json::json;
use sha2::{Digest, Sha256};
use signpost_platform::pages::cookie::CookieSecret;
use signpost_platform::pages::form::PostedForm;

use super::pages;
use super::shop::{LoginCallback, Shop, ShopError, page, redirect, user_agent};

/// Begins a link: opens a session for the visitor, and sends the browser to its page.
pub(super) async fn begin(State(shop): State<Shop>, request: Request) -> Result<Response, ShopError> {
    let headers = request.headers().clone();
    let Some((cookie, visitor)) = shop.find_visitor(&headers) else { return Ok(redirect("/", [])) };
    PostedForm::receive(&shop.origin, request).await.map_err(|_| ShopError::Foreign)?;
    let body = json!({
        "domain": "localhost",
        "mode": "link",
        "user": visitor.user.id,
        "flow": "page",
        "browser_hash": BASE64URL_NOPAD.encode(&Sha256::digest(link_secret(&cookie))),
        "metadata": { "return_url": shop.address("/keys/return") },
        "requester": { "user_agent": user_agent(&headers) },
    });
    let session = shop.api.post("/sessions", &body).await?;
    // The reply is a page, because the Content-Security-Policy forbids a form to redirect to another site.
    Ok(page(StatusCode::OK, pages::continue_to(&session.page_url)).into_response())
}

/// Completes a link for the visitor who began it and is still logged in, without a login.
pub(super) async fn complete(
    State(shop): State<Shop>,
    headers: HeaderMap,
    Query(LoginCallback { session_id, code, error }): Query<LoginCallback>,
) -> Result<Response, ShopError> {
    let Some(code) = code else { return Err(ShopError::Ended(error)) };
    let Some((cookie, _)) = shop.find_visitor(&headers) else { return Ok(redirect("/?login=refused", [])) };
    let body = json!({ "code": code, "browser_secret": link_secret(&cookie) });
    shop.api.post(&format!("/sessions/{session_id}/complete"), &body).await?;
    Ok(redirect("/account?added", []))
}

/// Returns the browser secret of a link. It is derived from the visitor's cookie, renewed by every login, so that the
/// service rejects the link of a visitor who has logged out, or of another user.
fn link_secret(visitor: &CookieSecret) -> String {
    BASE64URL_NOPAD.encode(&Sha256::digest(format!("fern link {}", visitor.reveal())))
}
