//! Where a login at an application begins: from here to the page of the realm, with what must come back.

use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use signpost_platform::pages::cookie::CookieSecret;
use signpost_store::random;
use url::form_urlencoded;

use super::app_visit::{AppVisit, STATE_COOKIE, STATE_COOKIE_LASTS, client_parameter, only_parameter};
use super::local_path::LocalPath;
use super::login_state::AppLogin;
use crate::flows::issuer;

/// What an application asks for. What it learns does not depend on it; the page that asks for consent says it.
const SCOPES: &str = "openid profile email";

/// Sends the browser to log in.
pub(super) async fn start(visit: AppVisit, uri: &Uri) -> Result<Response, Response> {
    let (client, domain) = visit.find_client(client_parameter(uri).as_ref()).await?;
    let path = only_parameter(uri, "to").map_or_else(|| LocalPath::or_root("/"), |to| LocalPath::or_root(&to));
    // A browser that begins two logins has one secret for both, so that both can come back.
    let browser = visit.state_cookie.clone().unwrap_or_else(|| CookieSecret::from_bytes(random()));
    let state = AppLogin { client: client.id.clone(), path, random: random() };
    let mut query = form_urlencoded::Serializer::new(String::new());
    query
        .append_pair("response_type", "code")
        .append_pair("client_id", client.id.as_str())
        .append_pair("redirect_uri", &visit.app.callback())
        .append_pair("scope", SCOPES)
        .append_pair("state", &state.to_text(&browser))
        .append_pair("code_challenge", &state.challenge(&browser))
        .append_pair("code_challenge_method", "S256");
    if only_parameter(uri, "other").is_some() {
        query.append_pair("prompt", "login");
    }
    let authorize = format!("{}/authorize?{}", issuer(&visit.service, &domain), query.finish());
    let set = STATE_COOKIE.set(&visit.app.public_origin(), &browser, STATE_COOKIE_LASTS);
    let mut reply = (StatusCode::SEE_OTHER, [(header::LOCATION, authorize)]).into_response();
    reply.headers_mut().insert(header::SET_COOKIE, set);
    reply.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(reply)
}
