//! The actions of a login page on its session: claiming the page, renewing its code, changing its
//! mode, and cancelling the login.

use std::sync::Arc;

use signpost_auth::Mode;
use signpost_platform::accounts::Environment;
use signpost_platform::pages::cookie::CookieSecret;
use signpost_platform::web::problem::Problem;
use signpost_store::random;

use crate::domains::Domain;
use crate::error::Error;
use crate::flows::changes::{cancel_session, record_notice};
use crate::flows::lookup::{domain_for_session, refusal_error};
use crate::flows::page_answers::switch;
use crate::ids::SessionId;
use crate::service::LoginService;
use crate::sessions::{NoticeReason, PageOwner, Renewal, Session, SessionState, SessionWriteError, page_sql, sql};

/// Maximum attempts at a write that loses to concurrent writes.
const MAX_ATTEMPTS: usize = 100;

/// Returns the readable session with this ID and its domain, if it has a page.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn find_page(
    service: &LoginService,
    environment: Environment,
    id: &str,
) -> Result<Option<(Session, Domain)>, Error> {
    let Some(session) = find_page_session(service, environment, id).await? else { return Ok(None) };
    let Some(domain) = domain_for_session(service, &session).await? else { return Ok(None) };
    Ok(Some((session, domain)))
}

/// Returns the readable session with this ID, if it has a page.
pub(super) async fn find_page_session(
    service: &LoginService,
    environment: Environment,
    id: &str,
) -> Result<Option<Session>, Error> {
    let Some(id) = SessionId::parse(id) else { return Ok(None) };
    let Some(session) = service.sessions.find(environment, &id).await? else { return Ok(None) };
    if session.page.is_none() || !session.is_readable(service.clock.now()) {
        return Ok(None);
    }
    Ok(Some(Arc::unwrap_or_clone(session)))
}

/// Makes the browser with this cookie the owner of the page, if it has none. Returns the session with its owner.
///
/// # Errors
/// Returns an error if the session was deleted, or the database cannot be written.
pub async fn claim_page(service: &LoginService, session: Session, cookie: &CookieSecret) -> Result<Session, Error> {
    if session.page_owner().is_some() {
        return Ok(session);
    }
    let owner = PageOwner::new(cookie, &session.id);
    match page_sql::claim(&service.store, &session, &owner).await {
        Ok(claimed) => {
            service.session_changed(&session.id);
            Ok(claimed)
        }
        Err(SessionWriteError::Changed(Some(current))) => Ok(*current),
        Err(error) => Err(error.into()),
    }
}

/// Replaces the code of a page, for an automatic renewal only if that is due. Returns the session, possibly with the
/// code of a concurrent renewal.
///
/// # Errors
/// Returns an error if the session was answered or cancelled, or expired too long ago.
pub async fn renew_page(service: &LoginService, session: Session, renewal: Renewal) -> Result<Session, Error> {
    let mut session = session;
    for _ in 0..MAX_ATTEMPTS {
        let now = service.clock.now();
        if renewal == Renewal::Automatic && !session.is_renewal_due(now) {
            return Ok(session);
        }
        let renewed = session.clone().renew(renewal, service.settings.session_ttl, now, random());
        let renewed = renewed.map_err(|refusal| refusal_error(refusal, &session, service))?;
        match sql::refresh(&service.store, &renewed, &session.challenge).await {
            Ok(()) => {
                service.session_changed(&renewed.id);
                return Ok(renewed);
            }
            Err(SessionWriteError::Changed(Some(current))) => session = *current,
            Err(error) => return Err(error.into()),
        }
    }
    Err(Problem::Unavailable("too many concurrent renewals of this session".to_owned()).into())
}

/// Changes the mode of a page on request of its user. If registration is closed, the page only gets a notice.
///
/// # Errors
/// Returns an error if the session was answered or cancelled, or expired too long ago.
pub async fn switch_mode(service: &LoginService, session: Session, mode: Mode) -> Result<Session, Error> {
    let mut session = session;
    for _ in 0..MAX_ATTEMPTS {
        // The mode of a link, and of a login of one user, cannot change, because otherwise the
        // answering key could get a separate account.
        let is_fixed = session.required_user().is_some() || [session.challenge.mode, mode].contains(&Mode::Link);
        if session.challenge.mode == mode || is_fixed {
            return Ok(session);
        }
        let domain = domain_for_session(service, &session).await?.ok_or(Error::SessionNotFound)?;
        if mode == Mode::Register && !session.may_register(&domain) {
            record_notice(service, &session, NoticeReason::Closed).await?;
            return sql::find(&service.store, &session.account, &session.id).await?.ok_or(Error::SessionNotFound);
        }
        let switched = switch(service, &session, mode, None)?;
        match sql::refresh(&service.store, &switched, &session.challenge).await {
            Ok(()) => {
                service.session_changed(&switched.id);
                return Ok(switched);
            }
            // A concurrent renewal replaced the code.
            Err(SessionWriteError::Changed(Some(current))) if current.state == SessionState::Pending => {
                session = *current;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err(Problem::Unavailable("too many concurrent changes of this session".to_owned()).into())
}

/// Cancels a login on request of its user. Returns the session, unchanged if it was authenticated or cancelled before.
///
/// # Errors
/// Returns an error if the session was deleted, or the database cannot be written.
pub async fn cancel_page(service: &LoginService, session: Session) -> Result<Session, Error> {
    if matches!(session.state, SessionState::Authenticated { .. } | SessionState::Cancelled { .. }) {
        return Ok(session);
    }
    match cancel_session(service, &session).await {
        Ok(cancelled) => Ok(cancelled),
        Err(SessionWriteError::Changed(Some(current))) => Ok(*current),
        Err(error) => Err(error.into()),
    }
}
