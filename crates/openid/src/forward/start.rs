//! Handler that starts a login at an application, by a redirect to the authorization endpoint of
//! the issuer.

use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use signpost_platform::pages::cookie::CookieSecret;
use signpost_store::random;
use url::form_urlencoded;

use super::app_context::{AppContext, STATE_COOKIE, STATE_COOKIE_MAX_AGE, client_parameter, single_parameter};
use super::local_path::LocalPath;
use super::login_state::AppLogin;
use crate::flows::issuer;

/// The requested scopes. The consent page shows them; the headers for the application do not depend on them.
const SCOPES: &str = "openid profile email";

/// `GET /.signpost/start`: starts a login.
pub(super) async fn start(context: AppContext, uri: Uri) -> Result<Response, Response> {
    let (client, domain) = context.find_client(client_parameter(&uri).as_ref()).await?;
    let path = LocalPath::or_root(&single_parameter(&uri, "to").unwrap_or_default());
    // All logins of a browser share a secret, so that each login can be completed.
    let browser = context.state_cookie.clone().unwrap_or_else(|| CookieSecret::from_bytes(random()));
    let login = AppLogin { client: client.id.clone(), path, random: random() };
    let mut query = form_urlencoded::Serializer::new(String::new());
    query
        .append_pair("response_type", "code")
        .append_pair("client_id", client.id.as_str())
        .append_pair("redirect_uri", &context.app.callback())
        .append_pair("scope", SCOPES)
        .append_pair("state", &login.to_text(&browser))
        .append_pair("code_challenge", &login.challenge(&browser))
        .append_pair("code_challenge_method", "S256");
    if single_parameter(&uri, "other").is_some() {
        query.append_pair("prompt", "login");
    }
    let authorize = format!("{}/authorize?{}", issuer(&context.service, &domain), query.finish());
    let set = STATE_COOKIE.set(&context.app.public_origin(), &browser, STATE_COOKIE_MAX_AGE);
    let mut reply = (StatusCode::SEE_OTHER, [(header::LOCATION, authorize)]).into_response();
    reply.headers_mut().insert(header::SET_COOKIE, set);
    reply.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(reply)
}
