//! Sends the browser from an account page to the login page and back, to log in again or to add a
//! key.

use axum::extract::{Query, Request};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response, Result};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use signpost_auth::Mode;
use signpost_platform::pages::HtmlPage;

use super::context::{AccountContext, AccountNotice, is_local_path};
use super::outcomes;
use crate::domains::Domain;
use crate::error::Error;
use crate::flows::account_sessions::{
    AccountBrowser, AccountSessionPurpose, complete_account_session, open_account_session,
};
use crate::sessions::{Metadata, PagePurpose};

/// The query parameters of the login page's redirect back to the account page.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct LoginReturn {
    session_id: String,
    code: String,
}

/// `POST /account/{domain}/login`: starts a login at the domain.
pub(super) async fn log_in(context: AccountContext, request: Request) -> Result<Response> {
    context.count_opened().await?;
    let form = context.receive(request, "login").await?;
    let Some(domain) = context.find_domain(&context.id).await? else { return Err(no_login(&context).into()) };
    let back = form.text("next").and_then(|path| return_to(path, &domain));
    let stored = back.as_ref().map_or(0, |back| back.as_str().len());
    context.count_stored(stored).await?;
    open(&context, &domain, AccountSessionPurpose::LogIn(back)).await
}

/// `POST /account/{domain}/add`: starts a session that adds a key to the account.
pub(super) async fn add_key(context: AccountContext, request: Request) -> Result<Response> {
    context.count_opened().await?;
    context.receive(request, "add").await?;
    let account = context.require_recent_login().await?;
    open(&context, &account.domain, AccountSessionPurpose::AddOwnKey(Box::new(account.sign_in))).await
}

/// Opens a login session and redirects the browser to its login page.
async fn open(context: &AccountContext, domain: &Domain, purpose: AccountSessionPurpose) -> Result<Response> {
    let (owner, set_cookie) = context.page_owner();
    let browser = AccountBrowser { page_cookie: &owner, user_agent: context.user_agent.as_deref() };
    let session = match open_account_session(&context.service, domain, purpose, browser, |_| Vec::new()).await {
        Ok(session) => session,
        Err(error @ Error::Problem(_)) => return Err(error.into()),
        Err(_) => return Err(no_login(context).into()),
    };
    let url = session.page_url(&context.service.public_address).unwrap_or_default();
    let to = Redirect::to(&format!("{url}?lang={}", context.language.tag()));
    Ok(([(header::SET_COOKIE, set_cookie)], to).into_response())
}

/// `GET /account/{domain}/return`: completes a login or a link when the browser returns from the
/// login page. The completion code can be used once.
pub(super) async fn handle_return(context: AccountContext, Query(back): Query<LoginReturn>) -> Result<Response> {
    context.count(&context.address).await?;
    let Some(domain) = context.find_domain(&context.id).await? else {
        return Ok(context.page(outcomes::render_not_signed_in(&context)).into_response());
    };
    if back.code.is_empty() {
        return Ok(context.redirect_to_account(Some(AccountNotice::Unchanged)));
    }
    let presented = (&*back.session_id, &*back.code);
    let session = match complete_account_session(&context.service, &domain, PagePurpose::Account, presented).await {
        Ok(session) => session,
        Err(error @ Error::Problem(_)) => return Err(error.into()),
        Err(_) => return Ok(context.redirect_to_account(Some(AccountNotice::Unchanged))),
    };
    if session.challenge.mode == Mode::Link {
        return Ok(context.redirect_to_account(Some(AccountNotice::KeyAdded)));
    }
    match session.metadata.as_ref().and_then(Metadata::return_url) {
        Some(path) => Ok(Redirect::to(&context.service.origin.link(&path)).into_response()),
        None => Ok(context.redirect_to_account(None)),
    }
}

/// Returns the metadata of a login that returns to this path of the login host. Only for system domains: a login at
/// another domain may create an account, and its integrator would need a notification.
fn return_to(path: &str, domain: &Domain) -> Option<Metadata> {
    if !is_local_path(path) || !domain.account.is_server() {
        return None;
    }
    let object = RawValue::from_string(json!({ "return_url": path }).to_string()).ok()?;
    Metadata::new(object, &domain.name).ok()
}

fn no_login(context: &AccountContext) -> HtmlPage {
    context.page(outcomes::render_no_login(context)).with_status(StatusCode::FORBIDDEN)
}
