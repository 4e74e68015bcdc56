//! How somebody who is logged in adds another key to their account: the service's page takes it, as it takes a login.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse, Response};
use data_encoding::BASE64URL_NOPAD;
use serde_json::json;
use sha2::{Digest, Sha256};
use signpost_platform::pages::cookie::CookieSecret;
use signpost_platform::pages::form::PostedForm;
use signpost_store::random;

use super::pages;
use super::shop::{HALF_AN_HOUR, LOGIN_COOKIE, Shop, ShopError, go, page, user_agent};

/// Somebody wants another key: open a session for it, and send the browser to its page. It comes back as from a login.
pub(super) async fn begin(State(shop): State<Shop>, request: Request) -> Result<Response, ShopError> {
    let headers = request.headers().clone();
    let Some(visitor) = shop.visitor(&headers) else { return Ok(go("/", [])) };
    PostedForm::receive(&shop.origin, request).await.map_err(|_| ShopError::Foreign)?;
    let secret = LOGIN_COOKIE.read(&shop.origin, &headers).unwrap_or_else(|| CookieSecret::from_bytes(random()));
    let asked = json!({
        "domain": "localhost",
        "mode": "link",
        "user": visitor.user.id,
        "flow": "page",
        "browser_hash": BASE64URL_NOPAD.encode(&Sha256::digest(secret.reveal())),
        "metadata": { "return_url": shop.address("/return") },
        "requester": { "user_agent": user_agent(&headers) },
    });
    let session = shop.api.post("/sessions", &asked).await?;
    // Not a redirect: a form of this site may lead to no other one.
    let document = pages::going_on(&session.page_url);
    let cookie = LOGIN_COOKIE.set(&shop.origin, &secret, HALF_AN_HOUR);
    Ok(page(StatusCode::OK, document).with_header(SET_COOKIE, cookie).into_response())
}
