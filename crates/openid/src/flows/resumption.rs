//! A request goes on that has waited: its person is back from the login page, or answered what they were asked.

use anyhow::Result;
use signpost_login::domains::Domain;
use signpost_login::error::Error;
use signpost_login::flows::account_sessions::complete_account_session;
use signpost_login::flows::sign_in::SignedInUser;
use signpost_login::ids::{SessionId, UserId};
use signpost_login::sessions::PagePurpose;
use signpost_platform::web::problem::Problem;

use super::FlowError;
use super::asked::{AskedAuthorization, read_asked};
use super::authorize::{Progress, RequestOutcome, VisitingBrowser, answer_request, refuse};
use super::logout::sign_out;
use crate::authorizations::{RefusalCode, WaitingAuthorization, sql};
use crate::ids::AuthorizationId;
use crate::service::OpenidService;

/// What a browser brings back from the login page.
#[derive(Clone, Copy, Debug)]
pub enum BroughtBack<'a> {
    /// A completion code.
    Code(&'a str),
    /// Why there is none.
    Nothing(&'a str),
}

/// The browser is back from the login page, by this session.
///
/// # Errors
/// As [`answer_request`].
pub async fn come_back(
    service: &OpenidService,
    realm: &Domain,
    browser: &VisitingBrowser,
    session: &str,
    brought: BroughtBack<'_>,
) -> Result<RequestOutcome, Problem> {
    let waiting = match SessionId::parse(session) {
        Some(id) => sql::find_by_session(&service.store, &id).await?,
        None => None,
    };
    let Some((waiting, asked)) = resume(service, realm, browser, waiting).await? else {
        return Ok(RequestOutcome::Over);
    };
    match brought {
        BroughtBack::Nothing("expired") => {
            let refusal = RefusalCode::AccessDenied.because("nobody logged in in time");
            return refuse(service, &asked, Some(&waiting), refusal).await;
        }
        BroughtBack::Nothing(_) => {
            let refusal = RefusalCode::AccessDenied.because("the user did not want to log in");
            return refuse(service, &asked, Some(&waiting), refusal).await;
        }
        BroughtBack::Code(code) => {
            match complete_account_session(service, realm, PagePurpose::Client, (session, code)).await {
                // Who loads the address again is signed in by the first time, or is not.
                Ok(_) | Err(Error::SessionAlreadyAuthenticated) => {}
                Err(Error::Problem(problem)) => return Err(problem),
                Err(_) => return Ok(RequestOutcome::Over),
            }
        }
    }
    answer_request(service, asked, browser, Progress { waiting: Some(waiting), agrees: None }).await
}

/// The person looks at the question, or answered it: `agrees` is who said yes.
///
/// # Errors
/// As [`answer_request`].
pub async fn go_on(
    service: &OpenidService,
    realm: &Domain,
    browser: &VisitingBrowser,
    id: &str,
    agrees: Option<UserId>,
) -> Result<RequestOutcome, Problem> {
    let Some((waiting, asked)) = find_waiting(service, realm, browser, id).await? else {
        return Ok(RequestOutcome::Over);
    };
    answer_request(service, asked, browser, Progress { waiting: Some(waiting), agrees }).await
}

/// The person said no.
///
/// # Errors
/// As [`refuse`].
pub async fn deny(
    service: &OpenidService,
    realm: &Domain,
    browser: &VisitingBrowser,
    id: &str,
) -> Result<RequestOutcome, Problem> {
    let Some((waiting, asked)) = find_waiting(service, realm, browser, id).await? else {
        return Ok(RequestOutcome::Over);
    };
    refuse(service, &asked, Some(&waiting), RefusalCode::AccessDenied.because("the user did not agree")).await
}

/// The person is somebody else than who is signed in: who is signs out, with what applications were granted by it, and the
/// request begins anew.
///
/// # Errors
/// As [`answer_request`].
pub async fn start_over(
    service: &OpenidService,
    realm: &Domain,
    browser: &VisitingBrowser,
    who: &SignedInUser,
    id: &str,
) -> Result<RequestOutcome, Problem> {
    let Some((waiting, asked)) = find_waiting(service, realm, browser, id).await? else {
        return Ok(RequestOutcome::Over);
    };
    sign_out(service, realm, browser.login_cookie.as_ref(), Some(who)).await?;
    let nobody = VisitingBrowser { login_cookie: None, ..browser.clone() };
    answer_request(service, asked, &nobody, Progress { waiting: Some(waiting), agrees: None }).await
}

async fn find_waiting(
    service: &OpenidService,
    realm: &Domain,
    browser: &VisitingBrowser,
    id: &str,
) -> Result<Option<(WaitingAuthorization, AskedAuthorization)>> {
    let waiting = match AuthorizationId::parse(id) {
        Some(id) => sql::find(&service.store, &id).await?,
        None => None,
    };
    resume(service, realm, browser, waiting).await
}

/// The request that waits for this browser here, read anew: its client may have changed.
async fn resume(
    service: &OpenidService,
    realm: &Domain,
    browser: &VisitingBrowser,
    waiting: Option<WaitingAuthorization>,
) -> Result<Option<(WaitingAuthorization, AskedAuthorization)>> {
    let now = service.clock.now();
    let waiting = waiting.filter(|waiting| waiting.waits_for(&browser.page_cookie.hash(), &realm.id, now));
    let Some(waiting) = waiting else { return Ok(None) };
    match read_asked(service, realm, &waiting.query).await {
        Ok(asked) => Ok(Some((waiting, asked))),
        Err(FlowError::Refused(_)) => Ok(None),
        Err(FlowError::Internal(error)) => Err(error),
    }
}
