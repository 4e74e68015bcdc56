//! The complete login of the shop: it opens a session at the login service, redirects the browser to its page, and
//! completes the session when the browser returns. The shop stores no passwords and verifies no signatures.

use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use data_encoding::BASE64URL_NOPAD;
use serde_json::json;
use sha2::{Digest, Sha256};
use signpost_platform::pages::cookie::CookieSecret;
use signpost_store::random;

use super::shop::{
    DAY, HALF_AN_HOUR, LOGIN_COOKIE, LoginCallback, Shop, ShopError, VISITOR_COOKIE, redirect, user_agent,
};

/// Begins a login: opens a session, and redirects the browser to its page.
pub(super) async fn begin(State(shop): State<Shop>, headers: HeaderMap) -> Result<Response, ShopError> {
    // Only the browser with this cookie can complete the login.
    let secret = LOGIN_COOKIE.read(&shop.origin, &headers).unwrap_or_else(|| CookieSecret::from_bytes(random()));
    let body = json!({
        "domain": "localhost",
        "flow": "page",
        "browser_hash": BASE64URL_NOPAD.encode(&Sha256::digest(secret.reveal())),
        "metadata": { "return_url": shop.address("/return") },
        "requester": { "user_agent": user_agent(&headers) },
    });
    let session = shop.api.post("/sessions", &body).await?;
    Ok(redirect(&session.page_url, [LOGIN_COOKIE.set(&shop.origin, &secret, HALF_AN_HOUR)]))
}

/// Completes a login with the single-use code, and logs the user in.
pub(super) async fn complete(
    State(shop): State<Shop>,
    headers: HeaderMap,
    Query(LoginCallback { session_id, code, error }): Query<LoginCallback>,
) -> Result<Response, ShopError> {
    let Some(code) = code else { return Err(ShopError::Ended(error)) };
    let secret = LOGIN_COOKIE.read(&shop.origin, &headers);
    let body = json!({ "code": code, "browser_secret": secret.as_ref().map_or("", CookieSecret::reveal) });
    let session = shop.api.post(&format!("/sessions/{session_id}/complete"), &body).await?;
    // Each login sets a new cookie value, because the old value may have leaked.
    let visitor = CookieSecret::from_bytes(random());
    let page = shop.log_in(&visitor, session).await;
    let cookies = [VISITOR_COOKIE.set(&shop.origin, &visitor, DAY), LOGIN_COOKIE.clear(&shop.origin)];
    Ok(redirect(page, cookies))
}
