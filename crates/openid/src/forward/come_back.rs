//! Where a login at an application ends: the browser that began it comes back with a code, and has a session from then on.

use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use signpost_login::domains::Domain;
use signpost_platform::pages::cookie::CookieSecret;
use signpost_store::random;

use super::app_visit::{APP_COOKIE, AppVisit, internal, only_parameter};
use super::login_state::{AppLogin, PresentedLogin};
use crate::clients::Client;
use crate::flows::FlowError;
use crate::flows::app_sessions::{end_app_session, open_app_session};
use crate::flows::{Redemption, issuer};
use crate::grants::MAX_APP_SESSION_AGE;

/// Ends a login that began in this browser.
pub(super) async fn come_back(visit: AppVisit, uri: &Uri) -> Result<Response, Response> {
    let parameter = |name| only_parameter(uri, name);
    let Some(presented) = parameter("state").and_then(|text| PresentedLogin::parse(&text)) else {
        return Err(visit.page.stale(None).into_response());
    };
    let claimed = presented.claimed.clone();
    let (client, domain) = visit.find_client(Some(&claimed.client)).await?;
    let stale = || visit.page.stale(Some((&claimed.client, &claimed.path))).into_response();
    let browser = visit.state_cookie.as_ref().ok_or_else(stale)?;
    let begun = presented.check(browser).ok_or_else(stale)?;
    // The answer is of the realm that was asked (RFC 9207).
    if parameter("iss").is_none_or(|iss| iss != issuer(&visit.service, &domain)) {
        return Err(stale());
    }
    match (parameter("code"), parameter("error")) {
        (Some(code), None) => {
            let reply = log_in(&visit, &client, &domain, &begun, browser, &code).await.map_err(internal)?;
            reply.ok_or_else(stale)
        }
        (None, Some(_)) => {
            let account = format!("{}/account/{}", visit.service.public_address, domain.id);
            Err(visit.page.denied(&begun.client, &begun.path, &account).into_response())
        }
        _ => Err(stale()),
    }
}

/// Redeems the code, and sends the browser on with its new cookie. `None` where the code is none, or was redeemed before.
async fn log_in(
    visit: &AppVisit,
    client: &Client,
    domain: &Domain,
    begun: &AppLogin,
    browser: &CookieSecret,
    code: &str,
) -> anyhow::Result<Option<Response>> {
    let (cookie, service) = (CookieSecret::from_bytes(random()), &visit.service);
    let (callback, verifier) = (visit.app.callback(), begun.verifier(browser));
    let redemption = Redemption { code, redirect_uri: &callback, code_verifier: Some(&verifier) };
    match open_app_session(service, (client, domain), redemption, &cookie).await {
        Ok(()) => {}
        Err(FlowError::Refused(_)) => return Ok(None),
        Err(FlowError::Internal(error)) => return Err(error),
    }
    if let Some(before) = &visit.session_cookie {
        end_app_session(service, before).await?;
    }
    let lasts = Duration::try_from(MAX_APP_SESSION_AGE)?;
    let set = APP_COOKIE.set(&visit.app.public_origin(), &cookie, lasts);
    let mut reply = (StatusCode::SEE_OTHER, [(header::LOCATION, begun.path.as_str())]).into_response();
    reply.headers_mut().insert(header::SET_COOKIE, set);
    reply.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // The code stood in the address.
    reply.headers_mut().insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Ok(Some(reply))
}
