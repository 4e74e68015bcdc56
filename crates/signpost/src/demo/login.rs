//! How this shop logs people in. This is all of it, as it runs: it asks the login service for a page, and once the
//! browser is back, who that was. The shop itself has no password to keep, and no signature to check.

use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use data_encoding::BASE64URL_NOPAD;
use serde_json::json;
use sha2::{Digest, Sha256};
use signpost_platform::pages::cookie::CookieSecret;
use signpost_store::random;

use super::shop::{Back, DAY, HALF_AN_HOUR, LOGIN_COOKIE, Shop, ShopError, VISITOR_COOKIE, go, user_agent};

/// Somebody wants to log in: open a session, and send the browser to its page.
pub(super) async fn begin(State(shop): State<Shop>, headers: HeaderMap) -> Result<Response, ShopError> {
    // The login is that of the browser with this cookie: nobody else can complete it.
    let secret = LOGIN_COOKIE.read(&shop.origin, &headers).unwrap_or_else(|| CookieSecret::from_bytes(random()));
    let asked = json!({
        "domain": "localhost",
        "flow": "page",
        "browser_hash": BASE64URL_NOPAD.encode(&Sha256::digest(secret.reveal())),
        "metadata": { "return_url": shop.address("/return") },
        "requester": { "user_agent": user_agent(&headers) },
    });
    let session = shop.api.post("/sessions", &asked).await?;
    Ok(go(&session.page_url, [LOGIN_COOKIE.set(&shop.origin, &secret, HALF_AN_HOUR)]))
}

/// The browser is back, with a code that works once: complete the session, and learn who that was.
pub(super) async fn complete(
    State(shop): State<Shop>,
    headers: HeaderMap,
    Query(Back { session_id, code, error }): Query<Back>,
) -> Result<Response, ShopError> {
    let Some(code) = code else { return Err(ShopError::Ended(error)) };
    let secret = LOGIN_COOKIE.read(&shop.origin, &headers);
    let brought = json!({ "code": code, "browser_secret": secret.as_ref().map_or("", CookieSecret::reveal) });
    let session = shop.api.post(&format!("/sessions/{session_id}/complete"), &brought).await?;
    // A new value for every login: one that was there before may be known to others.
    let visitor = CookieSecret::from_bytes(random());
    let page = shop.welcome(&visitor, session).await;
    let cookies = [VISITOR_COOKIE.set(&shop.origin, &visitor, DAY), LOGIN_COOKIE.clear(&shop.origin)];
    Ok(go(page, cookies))
}
