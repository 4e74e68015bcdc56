//! Handler of an application's redirect URI: completes a login, and starts a session for the
//! browser that began it.

use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use signpost_login::domains::Domain;
use signpost_platform::pages::cookie::CookieSecret;
use signpost_store::random;

use super::app_context::{APP_COOKIE, AppContext, internal, single_parameter};
use super::login_state::{AppLogin, PresentedLogin};
use crate::clients::Client;
use crate::flows::app_sessions::{end_app_session, open_app_session};
use crate::flows::{CodeExchange, FlowError, issuer};
use crate::grants::MAX_APP_SESSION_AGE;

/// `GET /.signpost/callback`: completes a login at the application.
pub(super) async fn handle_callback(context: AppContext, uri: Uri) -> Result<Response, Response> {
    let [state, iss, code, error] = ["state", "iss", "code", "error"].map(|name| single_parameter(&uri, name));
    let Some(presented) = state.and_then(|text| PresentedLogin::parse(&text)) else {
        return Err(context.page.callback_expired(None).into_response());
    };
    let claimed = presented.claimed.clone();
    let (client, domain) = context.find_client(Some(&claimed.client)).await?;
    let Some(browser) = &context.state_cookie else { return Err(callback_expired(&context, &claimed)) };
    let Some(login) = presented.check(browser) else { return Err(callback_expired(&context, &claimed)) };
    // The response must be from the issuer that the request was sent to (RFC 9207).
    if iss.is_none_or(|iss| iss != issuer(&context.service, &domain)) {
        return Err(callback_expired(&context, &login));
    }
    match (code, error) {
        (Some(code), None) => {
            let reply = log_in(&context, &client, &domain, &login, browser, &code).await.map_err(internal)?;
            reply.ok_or_else(|| callback_expired(&context, &login))
        }
        (None, Some(_)) => {
            let account = format!("{}/account/{}", context.service.public_address, domain.id);
            Err(context.page.login_denied(&login.client, &login.path, &account).into_response())
        }
        _ => Err(callback_expired(&context, &login)),
    }
}

/// Returns the page that starts the login again.
fn callback_expired(context: &AppContext, login: &AppLogin) -> Response {
    context.page.callback_expired(Some((&login.client, &login.path))).into_response()
}

/// Exchanges the code for a session, and redirects the browser with its new cookie. Returns `None` if the code is not
/// valid.
async fn log_in(
    context: &AppContext,
    client: &Client,
    domain: &Domain,
    login: &AppLogin,
    browser: &CookieSecret,
    code: &str,
) -> anyhow::Result<Option<Response>> {
    let service = &context.service;
    let cookie = CookieSecret::from_bytes(random());
    let redirect_uri = context.app.callback();
    let verifier = login.verifier(browser);
    let exchange = CodeExchange { code, redirect_uri: &redirect_uri, code_verifier: Some(&verifier) };
    match open_app_session(service, (client, domain), exchange, &cookie).await {
        Ok(()) => {}
        Err(FlowError::Refused(_)) => return Ok(None),
        Err(FlowError::Internal(error)) => return Err(error),
    }
    if let Some(before) = &context.session_cookie {
        end_app_session(service, before).await?;
    }
    let lifetime = Duration::try_from(MAX_APP_SESSION_AGE)?;
    let set = APP_COOKIE.set(&context.app.public_origin(), &cookie, lifetime);
    let mut reply = (StatusCode::SEE_OTHER, [(header::LOCATION, login.path.as_str())]).into_response();
    reply.headers_mut().insert(header::SET_COOKIE, set);
    reply.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // The URL of this response contains the authorization code.
    reply.headers_mut().insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Ok(Some(reply))
}
