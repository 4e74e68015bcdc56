//! Reads the accounts of the users who completed sessions, for replies to the integrator.

use super::replies::{SessionView, UserAccount, Viewer};
use crate::error::Error;
use crate::service::LoginService;
use crate::sessions::{Session, SessionState, SessionStatus};
use crate::users;

/// Returns the view of a session. For the integrator, a completed session of a hosted domain has the account of its
/// user, unless the user was deleted.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub(super) async fn view_session(
    service: &LoginService,
    session: &Session,
    status: SessionStatus,
    viewer: Viewer,
) -> Result<SessionView, Error> {
    let view = SessionView::new(session, status, viewer);
    if viewer == Viewer::Page {
        return Ok(view);
    }
    Ok(view.with_account(find_account(service, session).await?))
}

/// Returns the view of a session that was changed just now. It lacks the account of its user if that cannot be read: the
/// change is stored, so an error would make the integrator lose the login.
pub(super) async fn view_changed(service: &LoginService, session: &Session) -> SessionView {
    let view = SessionView::new(session, session.status(service.clock.now()), Viewer::Owner);
    match find_account(service, session).await {
        Ok(account) => view.with_account(account),
        Err(error) => {
            tracing::warn!(session = %session.id, error = format!("{error:#}"), "user of a completed session not read");
            view
        }
    }
}

async fn find_account(service: &LoginService, session: &Session) -> anyhow::Result<Option<UserAccount>> {
    let SessionState::Authenticated { user, .. } = &session.state else { return Ok(None) };
    let Some(id) = &user.id else { return Ok(None) };
    let found = users::sql::find(&service.store, &session.domain_id, id).await?;
    Ok(found.map(|(user, credentials)| UserAccount::new(user, &credentials)))
}
