//! What a page is told of an answer that was refused.

use signpost_store::WriteError;

use crate::error::Error;
use crate::service::LoginService;
use crate::sessions::{NoticeReason, Session, page_sql};

/// Lets the page say why an answer was refused, where there is a page.
pub(crate) async fn leave_notice(service: &LoginService, session: &Session, reason: NoticeReason) -> Result<(), Error> {
    if session.page.is_none() {
        return Ok(());
    }
    let notice = reason.at(service.clock.now());
    match page_sql::note(&service.store, &session.id, &session.challenge, notice).await {
        Ok(()) => service.session_changed(&session.id),
        Err(WriteError::Conflict) => {}
        Err(WriteError::Internal(error)) => return Err(error.into()),
    }
    Ok(())
}
