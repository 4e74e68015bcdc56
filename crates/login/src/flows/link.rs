//! Adds keys to existing accounts by links: checks the requirements for a link, and applies the
//! decision of the page's owner about the key that answered.

use jiff::Timestamp;
use signpost_store::{Statement, random};

use crate::domains::Domain;
use crate::error::Error;
use crate::flows::lookup::refusal_error;
use crate::ids::{DomainId, UserId};
use crate::service::LoginService;
use crate::sessions::{PageLink, RECENT_LOGIN, Session, link_sql};
use crate::users::sql::{require_login_after_sign_out, require_no_credential};
use crate::users::{self, MAX_CREDENTIALS};

/// The permission to add a key to the account of a user.
pub(crate) struct LinkGrant {
    pub(crate) link: PageLink,
    /// Whether the user has no credential.
    pub(crate) is_first_key: bool,
}

impl LinkGrant {
    /// Returns the statements for the write that creates the session: they refuse it if the user has changed. The link
    /// of a first key cancels the user's earlier links; its first statement locks the user, so of two concurrent
    /// creations the later one cancels the other's session.
    pub(crate) fn statements(&self, domain: &DomainId, now: Timestamp) -> Vec<Statement> {
        let user = &self.link.user;
        if self.is_first_key {
            let cancel = link_sql::cancel_user_links_statement(domain, user, now);
            return vec![require_no_credential(domain, user), cancel];
        }
        vec![require_login_after_sign_out(domain, user)]
    }
}

/// Returns the permission to add a key to a user's account, opened by the credential of the user's last login. The user
/// must have logged in, or registered, within [`RECENT_LOGIN`] and since the last sign-out in all browsers. A user
/// without credentials cannot log in, so the site is responsible for the proof that it is this user.
///
/// # Errors
/// Returns [`Error::UserNotFound`], [`Error::RecentLoginRequired`], [`Error::TooManyCredentials`].
pub(crate) async fn check_linkable(service: &LoginService, domain: &Domain, user: &UserId) -> Result<LinkGrant, Error> {
    let found = users::sql::find(&service.store, &domain.id, user).await?;
    let (user, credentials) = found.ok_or(Error::UserNotFound)?;
    if credentials.is_empty() {
        return Ok(LinkGrant { link: PageLink::new(user.id, None), is_first_key: true });
    }
    let logged_in_since = service.clock.now() - RECENT_LOGIN;
    let logged_in_at = user.last_login_at.unwrap_or(user.created_at);
    if logged_in_at < logged_in_since || user.signed_out_at.is_some_and(|at| logged_in_at <= at) {
        return Err(Error::RecentLoginRequired);
    }
    if credentials.len() >= MAX_CREDENTIALS as usize {
        return Err(Error::TooManyCredentials);
    }
    let used_last = credentials.into_iter().max_by_key(|own| own.last_used_at.unwrap_or(own.added_at));
    Ok(LinkGrant { link: PageLink::new(user.id, used_last.map(|own| own.id)), is_first_key: false })
}

/// Checks that a user of the domain can log in.
///
/// # Errors
/// Returns [`Error::UserNotFound`], or [`Error::NoCredential`] if the user has no credential.
pub(crate) async fn check_has_credential(service: &LoginService, domain: &Domain, user: &UserId) -> Result<(), Error> {
    let found = users::sql::find(&service.store, &domain.id, user).await?;
    let (_, credentials) = found.ok_or(Error::UserNotFound)?;
    if credentials.is_empty() { Err(Error::NoCredential) } else { Ok(()) }
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
