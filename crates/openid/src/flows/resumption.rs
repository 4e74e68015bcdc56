//! Continues a pending authorization after the browser has returned from the login page, or the
//! user has answered the consent page.

use std::sync::Arc;

use anyhow::Result;
use signpost_login::domains::Domain;
use signpost_login::error::Error;
use signpost_login::flows::account_sessions::complete_account_session;
use signpost_login::flows::sign_in::SignedInUser;
use signpost_login::ids::{SessionId, UserId};
use signpost_login::sessions::PagePurpose;
use signpost_platform::web::problem::Problem;

use super::FlowError;
use super::authorization_request::{AuthorizationRequest, read_authorization_request};
use super::authorize::{AuthorizeOutcome, BrowserContext, FlowState, answer_request, refuse};
use super::logout::sign_out;
use crate::authorizations::{AuthorizationErrorCode, PendingAuthorization, sql};
use crate::ids::AuthorizationId;
use crate::service::OpenidService;

/// The result of the login page, from the query of the browser's return.
#[derive(Clone, Copy, Debug)]
pub enum LoginPageResult<'a> {
    /// A completion code.
    Code(&'a str),
    /// An error, such as `expired`.
    Error(&'a str),
}

/// Continues the authorization of this login session.
///
/// # Errors
/// Returns the errors of [`answer_request`].
pub async fn handle_login_callback(
    service: &OpenidService,
    domain: &Arc<Domain>,
    browser: &BrowserContext,
    session: &str,
    callback: LoginPageResult<'_>,
) -> Result<AuthorizeOutcome, Problem> {
    let Some(id) = SessionId::parse(session) else { return Ok(AuthorizeOutcome::Expired) };
    let pending = sql::find_by_session(&service.store, &id).await?;
    let Some((pending, request)) = resume(service, domain, browser, pending).await? else {
        return Ok(AuthorizeOutcome::Expired);
    };
    match callback {
        LoginPageResult::Error(error) => {
            let description = match error {
                "expired" => "no login in time",
                _ => "the user did not want to log in",
            };
            let error = AuthorizationErrorCode::AccessDenied.with_description(description);
            return refuse(service, &request, Some(&pending), error).await;
        }
        LoginPageResult::Code(code) => {
            match complete_account_session(service, domain, PagePurpose::Client, (session, code)).await {
                // A reload of the URL does not change the result of the first request.
                Ok(_) | Err(Error::SessionAlreadyAuthenticated) => {}
                Err(Error::Problem(problem)) => return Err(problem),
                Err(_) => return Ok(AuthorizeOutcome::Expired),
            }
        }
    }
    answer_request(service, request, browser, FlowState { pending: Some(pending), consented: None }).await
}

/// Continues a pending authorization. `consented` is the user who consented on the consent page just now.
///
/// # Errors
/// Returns the errors of [`answer_request`].
pub async fn continue_authorization(
    service: &OpenidService,
    domain: &Arc<Domain>,
    browser: &BrowserContext,
    id: &str,
    consented: Option<UserId>,
) -> Result<AuthorizeOutcome, Problem> {
    let Some((pending, request)) = find_pending(service, domain, browser, id).await? else {
        return Ok(AuthorizeOutcome::Expired);
    };
    answer_request(service, request, browser, FlowState { pending: Some(pending), consented }).await
}

/// Ends a pending authorization, because the user denied consent.
///
/// # Errors
/// Returns the errors of [`refuse`].
pub async fn deny(
    service: &OpenidService,
    domain: &Arc<Domain>,
    browser: &BrowserContext,
    id: &str,
) -> Result<AuthorizeOutcome, Problem> {
    let Some((pending, request)) = find_pending(service, domain, browser, id).await? else {
        return Ok(AuthorizeOutcome::Expired);
    };
    let error = AuthorizationErrorCode::AccessDenied.with_description("the user did not agree");
    refuse(service, &request, Some(&pending), error).await
}

/// Signs the user out, revokes the grants of the browser session, and starts the authorization
/// again for another user.
///
/// # Errors
/// Returns the errors of [`answer_request`].
pub async fn restart(
    service: &OpenidService,
    domain: &Arc<Domain>,
    browser: &BrowserContext,
    signed_in: &SignedInUser,
    id: &str,
) -> Result<AuthorizeOutcome, Problem> {
    let Some((pending, request)) = find_pending(service, domain, browser, id).await? else {
        return Ok(AuthorizeOutcome::Expired);
    };
    sign_out(service, domain, browser.login_cookie.as_ref(), Some(signed_in)).await?;
    let signed_out = BrowserContext { login_cookie: None, ..browser.clone() };
    answer_request(service, request, &signed_out, FlowState { pending: Some(pending), consented: None }).await
}

async fn find_pending(
    service: &OpenidService,
    domain: &Arc<Domain>,
    browser: &BrowserContext,
    id: &str,
) -> Result<Option<(PendingAuthorization, AuthorizationRequest)>> {
    let Some(id) = AuthorizationId::parse(id) else { return Ok(None) };
    let pending = sql::find(&service.store, &id).await?;
    resume(service, domain, browser, pending).await
}

/// Reads the request of a pending authorization of this browser again: its client may have changed.
async fn resume(
    service: &OpenidService,
    domain: &Arc<Domain>,
    browser: &BrowserContext,
    pending: Option<PendingAuthorization>,
) -> Result<Option<(PendingAuthorization, AuthorizationRequest)>> {
    let Some(pending) = pending else { return Ok(None) };
    if !pending.belongs_to(&browser.page_cookie.hash(), &domain.id, service.clock.now()) {
        return Ok(None);
    }
    match read_authorization_request(service, domain, &pending.query).await {
        Ok(request) => Ok(Some((pending, request))),
        Err(FlowError::Refused(_)) => Ok(None),
        Err(FlowError::Internal(error)) => Err(error),
    }
}
