//! Accepts answers of Lightning wallets (LNURL-auth).

use signpost_auth::AuthCallback;
use signpost_auth::receiver::HandlerRefusal;

use crate::flows::lookup::refusal_error;
use crate::flows::page_answers::{PageAnswer, accept_lightning_key, explain_replaced};
use crate::flows::refusals::{count_answer, internal_error};
use crate::service::LoginService;
use crate::sessions::Responder;
use crate::sessions::page_sql::{self, LnurlSession};

/// Accepts the answer of a Lightning wallet to the session with this ID suffix.
///
/// # Errors
/// Returns the error for the wallet.
pub(crate) async fn accept_lightning(
    service: &LoginService,
    suffix: &str,
    callback: &AuthCallback,
) -> Result<(), HandlerRefusal> {
    let found = page_sql::find_by_suffix(&service.store, suffix, callback.key()).await.map_err(internal_error)?;
    let LnurlSession { session, user } = found.ok_or(HandlerRefusal::NoPendingSession)?;
    count_answer(service, &session.account).await?;
    let now = service.clock.now();
    if session.is_answered_by(callback, now) {
        // The wallet did not receive the success response, and repeats its answer.
        return Ok(());
    }
    match session.verify_lightning(callback, now) {
        Ok(key) => {
            let answer = PageAnswer { key, user, responder: Responder::AnyDevice, is_counted: false };
            accept_lightning_key(service, session, answer).await
        }
        Err(refusal) => {
            if session.check_open(now).is_ok() && session.replaced().is_some_and(|replaced| callback.signs(replaced)) {
                return Err(explain_replaced(service, &session).await);
            }
            Err(refusal_error(refusal, &session, service).into())
        }
    }
}
