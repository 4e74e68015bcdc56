//! Changes sessions and wakes the requests that wait for them: notices, the offer of a passkey, and
//! cancellation.

use signpost_store::WriteError;

use crate::error::Error;
use crate::service::LoginService;
use crate::sessions::{NoticeReason, PasskeyOffer, Session, SessionWriteError, page_sql, sql};

/// Records why an answer was refused, if the session has a page.
pub(crate) async fn record_notice(
    service: &LoginService,
    session: &Session,
    reason: NoticeReason,
) -> Result<(), Error> {
    if session.page.is_none() {
        return Ok(());
    }
    let notice = reason.at(service.clock.now());
    match page_sql::set_notice(&service.store, &session.id, &session.challenge, notice).await {
        Ok(()) => service.session_changed(&session.id),
        Err(WriteError::Conflict) => {}
        Err(WriteError::Internal(error)) => return Err(error.into()),
    }
    Ok(())
}

/// Records that the user of a page wants no passkey. It is stored with the user when the login is completed.
pub(crate) async fn decline_passkey(service: &LoginService, session: &Session) -> Result<(), Error> {
    match settle_offer(service, session, PasskeyOffer::Declined).await {
        Ok(()) | Err(WriteError::Conflict) => Ok(()),
        Err(WriteError::Internal(error)) => Err(error.into()),
    }
}

/// Stores the outcome of an open offer.
///
/// # Errors
/// Returns [`WriteError::Conflict`] if no offer is open.
pub(crate) async fn settle_offer(
    service: &LoginService,
    session: &Session,
    outcome: PasskeyOffer,
) -> Result<(), WriteError> {
    page_sql::settle_offer(&service.store, &session.id, outcome).await?;
    service.session_changed(&session.id);
    Ok(())
}

/// Cancels a session. Returns the session after the write.
///
/// # Errors
/// Returns [`SessionWriteError::Changed`] if it was authenticated or cancelled before.
pub(crate) async fn cancel_session(service: &LoginService, session: &Session) -> Result<Session, SessionWriteError> {
    let cancelled = sql::cancel(&service.store, session, service.clock.now()).await?;
    service.metrics.count_session_event(session.account.environment, "cancelled");
    service.session_changed(&session.id);
    Ok(cancelled)
}
