//! The offer of a passkey after a login by wallet, which a person takes or declines once.

use crate::error::Error;
use crate::service::LoginService;
use crate::sessions::{PasskeyOffer, Session, page_sql};

/// Remembers that the person of a page wants no passkey. The user learns of it when the login is completed.
///
/// # Errors
/// As [`page_sql::settle_offer`].
pub(crate) async fn decline_passkey(service: &LoginService, session: &Session) -> Result<(), Error> {
    settle_offer(service, session, PasskeyOffer::Declined).await?;
    Ok(())
}

/// Keeps what became of an open offer. False where there is none any more.
///
/// # Errors
/// As [`page_sql::settle_offer`].
pub(crate) async fn settle_offer(
    service: &LoginService,
    session: &Session,
    outcome: PasskeyOffer,
) -> Result<bool, Error> {
    let is_settled = page_sql::settle_offer(&service.store, &session.id, outcome).await?;
    if is_settled {
        service.session_changed(&session.id);
    }
    Ok(is_settled)
}
