//! The offer of a passkey after a login by wallet, which a person takes or declines once.

use signpost_store::WriteError;

use crate::error::Error;
use crate::service::LoginService;
use crate::sessions::{PasskeyOffer, Session, page_sql};

/// Remembers that the person of a page wants no passkey. The user learns of it when the login is completed.
///
/// # Errors
/// As [`page_sql::settle_offer`].
pub(crate) async fn decline_passkey(service: &LoginService, session: &Session) -> Result<(), Error> {
    match settle_offer(service, session, PasskeyOffer::Declined).await {
        Ok(()) | Err(WriteError::Conflict) => Ok(()),
        Err(WriteError::Internal(error)) => Err(error.into()),
    }
}

/// Stores the outcome of an open offer.
///
/// # Errors
/// [`WriteError::Conflict`] if no offer is open any more.
pub(crate) async fn settle_offer(
    service: &LoginService,
    session: &Session,
    outcome: PasskeyOffer,
) -> Result<(), WriteError> {
    page_sql::settle_offer(&service.store, &session.id, outcome).await?;
    service.session_changed(&session.id);
    Ok(())
}
