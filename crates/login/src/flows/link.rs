//! Adds keys to existing accounts by links: checks the requirements for a link, and applies the
//! decision of the page's owner about the key that answered.

use signpost_store::random;

use crate::domains::Domain;
use crate::error::Error;
use crate::flows::lookup::refusal_error;
use crate::ids::UserId;
use crate::service::LoginService;
use crate::sessions::{PageLink, RECENT_LOGIN, Session, link_sql};
use crate::users::{self, MAX_CREDENTIALS};

/// Returns the link that adds a key to a user's account, opened by the credential of the user's last login. The user
/// must have logged in, or registered, within [`RECENT_LOGIN`] and since the last sign-out in all browsers.
///
/// # Errors
/// Returns [`Error::UserNotFound`], [`Error::RecentLoginRequired`], [`Error::TooManyCredentials`].
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

/// Confirms the key of an answered link for the owner of the page. Returns the session after the write.
///
/// # Errors
/// Returns an error if no answer waits for confirmation.
pub async fn confirm_link(service: &LoginService, session: Session) -> Result<Session, Error> {
    let now = service.clock.now();
    session.check_pending(now).map_err(|refusal| refusal_error(refusal, &session, service))?;
    let confirmed = link_sql::confirm(&service.store, &session, now).await?;
    service.session_changed(&session.id);
    Ok(confirmed)
}

/// Drops the answer of a key that does not belong to the owner of the page, and replaces the code. Returns the session
/// after the write.
///
/// # Errors
/// Returns an error if no answer waits for confirmation.
pub async fn decline_link(service: &LoginService, session: Session) -> Result<Session, Error> {
    let declined = session.clone().decline_answer(service.settings.session_ttl, service.clock.now(), random());
    let declined = declined.map_err(|refusal| refusal_error(refusal, &session, service))?;
    let declined = link_sql::decline(&service.store, &declined, &session.challenge).await?;
    service.session_changed(&session.id);
    Ok(declined)
}
