//! What the service's own page asks of a session: to own it, to renew its code, to change what it is for, to end it.

use std::sync::Arc;

use signpost_auth::Mode;
use signpost_platform::accounts::Environment;
use signpost_platform::web::problem::Problem;
use signpost_store::{WriteError, random};

use crate::domains::Domain;
use crate::error::Error;
use crate::flows::lookup::{find_domain_of, refused};
use crate::flows::notices::leave_notice;
use crate::flows::page_answers::switch;
use crate::ids::SessionId;
use crate::service::LoginService;
use crate::sessions::{NoticeReason, PageOwner, Renewal, Session, SessionState, page_sql, sql};
use signpost_platform::pages::cookie::CookieSecret;

/// How often who lost to another looks again.
const MAX_ATTEMPTS: usize = 100;

/// A session that has a page, and its domain; `None` where the id is nobody's, or the session is over for long.
///
/// # Errors
/// As [`sql::find_in_any_account`].
pub async fn find_page(
    service: &LoginService,
    environment: Environment,
    id: &str,
) -> Result<Option<(Session, Domain)>, Error> {
    let Some(id) = SessionId::parse(id) else { return Ok(None) };
    let session = service.find_session_in_any_account(environment, &id).await?.map(Arc::unwrap_or_clone);
    let has_page = |session: &Session| session.page.is_some() && session.is_readable(service.clock.now());
    let Some(session) = session.filter(has_page) else { return Ok(None) };
    Ok(find_domain_of(service, &session).await?.map(|domain| (session, domain)))
}

/// Makes the browser with this cookie the owner of a page that has none, and returns the session as it is then, whoever
/// owns it.
///
/// # Errors
/// As [`page_sql::claim`].
pub async fn claim_page(service: &LoginService, session: Session, cookie: &CookieSecret) -> Result<Session, Error> {
    if session.page_owner().is_some() {
        return Ok(session);
    }
    let owner = PageOwner::new(cookie, &session.id);
    match page_sql::claim(&service.store, &session.id, &owner).await {
        Ok(()) => service.session_changed(&session.id),
        Err(WriteError::Conflict) => {}
        Err(WriteError::Internal(error)) => return Err(error.into()),
    }
    read_again(service, &session).await
}

/// Replaces a page's code: by itself where that is due, or because the person asked for it. Returns the session as it is
/// then, which another renewal may have made it.
///
/// # Errors
/// Where the person asks for a code of a session that was answered, cancelled, or is over for too long.
pub async fn renew_page(service: &LoginService, session: Session, renewal: Renewal) -> Result<Session, Error> {
    let mut session = session;
    for _ in 0..MAX_ATTEMPTS {
        let now = service.clock.now();
        if renewal == Renewal::Automatic && !session.is_renewal_due(now) {
            return Ok(session);
        }
        let renewed = session.clone().renew(renewal, service.settings.session_ttl, now, random());
        let renewed = renewed.map_err(|refusal| refused(refusal, &session, service))?;
        match sql::refresh(&service.store, &renewed, &session.challenge).await {
            Ok(()) => {
                service.session_changed(&renewed.id);
                return Ok(renewed);
            }
            Err(WriteError::Conflict) => session = read_again(service, &session).await?,
            Err(WriteError::Internal(error)) => return Err(error.into()),
        }
    }
    Err(Problem::Unavailable("too many concurrent renewals of this session".to_owned()).into())
}

/// Changes what a page is for, because its person said so. Where no account may be created, the page says so and goes on
/// as it was.
///
/// # Errors
/// Where the session was answered, cancelled, or is over for too long.
pub async fn switch_mode(service: &LoginService, session: Session, mode: Mode) -> Result<Session, Error> {
    let mut session = session;
    for _ in 0..MAX_ATTEMPTS {
        // A link stays one: whoever leaves it out could have an account with the key that was to join theirs.
        if session.challenge.mode == mode || [session.challenge.mode, mode].contains(&Mode::Link) {
            return Ok(session);
        }
        let domain = find_domain_of(service, &session).await?.ok_or(Error::SessionNotFound)?;
        if mode == Mode::Register && !session.may_register(&domain) {
            leave_notice(service, &session, NoticeReason::Closed).await?;
            return read_again(service, &session).await;
        }
        match switch(service, session.clone(), mode, None).await {
            // Another code came first: this one is changed then.
            Err(Error::ChallengeNotFound) => session = read_again(service, &session).await?,
            other => return other,
        }
    }
    Err(Problem::Unavailable("too many concurrent changes of this session".to_owned()).into())
}

/// Cancels a login, because its person said so. Returns the session as it is then: one that was completed or cancelled
/// before stays what it is.
///
/// # Errors
/// As [`sql::cancel`].
pub async fn cancel_page(service: &LoginService, session: Session) -> Result<Session, Error> {
    let now = service.clock.now();
    let is_over = matches!(session.state, SessionState::Authenticated { .. } | SessionState::Cancelled { .. });
    if is_over {
        return read_again(service, &session).await;
    }
    match sql::cancel(&service.store, &session.id, now).await {
        Ok(()) => {
            service.metrics.session(session.account.environment, "cancelled");
            service.session_changed(&session.id);
        }
        Err(WriteError::Conflict) => {}
        Err(WriteError::Internal(error)) => return Err(error.into()),
    }
    read_again(service, &session).await
}

/// The session as the database has it now.
async fn read_again(service: &LoginService, session: &Session) -> Result<Session, Error> {
    sql::find(&service.store, &session.account, &session.id).await?.ok_or(Error::SessionNotFound)
}
