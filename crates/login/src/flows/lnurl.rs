//! Takes the answers of Lightning wallets.

use signpost_auth::AuthCallback;
use signpost_auth::receiver::HandlerRefusal;

use crate::domains::LoginMethod;
use crate::flows::lookup::{find_known_domain, refused};
use crate::flows::page_answers::{accept_by_known_domain, accept_proof, check_method, explain_replaced};
use crate::flows::refusals::{count_answer, log_failure, to_refusal};
use crate::service::LoginService;
use crate::sessions::page_sql::{self, NamedPage};
use crate::sessions::{Answerer, SessionPage};

/// Takes what a Lightning wallet sent for the session whose id ends so.
///
/// # Errors
/// What the wallet is told.
pub(crate) async fn accept_lightning(
    service: &LoginService,
    suffix: &str,
    callback: &AuthCallback,
) -> Result<(), HandlerRefusal> {
    let found = page_sql::find_by_suffix(&service.store, suffix, callback.key()).await.map_err(log_failure)?;
    let NamedPage { session, is_known } = found.ok_or(HandlerRefusal::NotHeld)?;
    count_answer(service, &session.account).await?;
    let now = service.clock.now();
    if session.is_answered_by(callback, now) {
        // The wallet did not hear that it was accepted, and asks again.
        return Ok(());
    }
    let key = match session.verify_lightning(callback, now) {
        Ok(key) => key,
        Err(refusal) => {
            let replaced = session.page.as_deref().and_then(|SessionPage { replaced, .. }| replaced.as_ref());
            if session.check_open(now).is_ok() && replaced.is_some_and(|replaced| callback.signs(replaced)) {
                return Err(explain_replaced(service, &session).await);
            }
            return Err(to_refusal(&refused(refusal, &session, service)));
        }
    };
    if let Some(known) = find_known_domain(service, &session)
        && accept_by_known_domain(service, &session, &known, &key, is_known).await?
    {
        return Ok(());
    }
    let domain = check_method(service, &session, LoginMethod::Lightning).await?;
    accept_proof(service, session, &domain, key, is_known, Answerer::Anybody).await
}
