//! Links: what the integrator must have done before one is opened, and what the owner of its page says of the key that
//! answered.

use signpost_store::{WriteError, random};

use crate::domains::Domain;
use crate::error::Error;
use crate::flows::lookup::{lost_race, refused};
use crate::ids::UserId;
use crate::service::LoginService;
use crate::sessions::{PageLink, RECENT_LOGIN, Session, link_sql};
use crate::users::{self, MAX_CREDENTIALS};

/// Returns the link by which another key may join a user's account, opened by the credential that the user logged in with
/// last. The user must have logged in, or registered, within [`RECENT_LOGIN`] and since the last sign-out in all browsers.
///
/// # Errors
/// [`Error::UserNotFound`], [`Error::RecentLoginRequired`], [`Error::TooManyCredentials`].
pub async fn check_linkable(service: &LoginService, domain: &Domain, user: &UserId) -> Result<PageLink, Error> {
    let found = users::sql::find(&service.store, &domain.id, user).await?;
    let (user, credentials) = found.ok_or(Error::UserNotFound)?;
    let logged_in_since = service.clock.now() - RECENT_LOGIN;
    let logged_in_at = user.last_login_at.unwrap_or(user.created_at);
    if logged_in_at < logged_in_since || user.signed_out_at.is_some_and(|at| logged_in_at <= at) {
        return Err(Error::RecentLoginRequired);
    }
    if credentials.len() >= MAX_CREDENTIALS as usize {
        return Err(Error::TooManyCredentials);
    }
    let used_last = credentials.into_iter().max_by_key(|own| own.last_used_at.unwrap_or(own.added_at));
    Ok(PageLink::new(user.id, used_last.map(|own| own.id)))
}

/// Confirms that the key which answered a link is the page owner's. Returns the session as it is then.
///
/// # Errors
/// Where no answer waits for that any more.
pub async fn confirm_link(service: &LoginService, session: Session) -> Result<Session, Error> {
    let now = service.clock.now();
    session.check_pending(now).map_err(|refusal| refused(refusal, &session, service))?;
    match link_sql::confirm(&service.store, &session, now).await {
        Ok(()) => service.session_changed(&session.id),
        Err(WriteError::Conflict) => return Err(lost_race(service, &session).await),
        Err(WriteError::Internal(error)) => return Err(error.into()),
    }
    read_again(service, &session).await
}

/// Drops the answer of a key that is not the page owner's, with a new code. Returns the session as it is then.
///
/// # Errors
/// Where no answer waits for that any more.
pub async fn decline_link(service: &LoginService, session: Session) -> Result<Session, Error> {
    let declined = session.clone().decline_answer(service.settings.session_ttl, service.clock.now(), random());
    let declined = declined.map_err(|refusal| refused(refusal, &session, service))?;
    match link_sql::decline(&service.store, &declined, &session.challenge).await {
        Ok(()) => service.session_changed(&session.id),
        Err(WriteError::Conflict) => return Err(lost_race(service, &session).await),
        Err(WriteError::Internal(error)) => return Err(error.into()),
    }
    read_again(service, &session).await
}

async fn read_again(service: &LoginService, session: &Session) -> Result<Session, Error> {
    let found = crate::sessions::sql::find(&service.store, &session.account, &session.id).await?;
    found.ok_or(Error::SessionNotFound)
}
