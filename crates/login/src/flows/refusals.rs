//! Our errors in the words of the handler contract.

use signpost_auth::NotVerified;
use signpost_auth::receiver::HandlerRefusal;
use signpost_platform::accounts::Account;
use signpost_platform::limits::{Caller, Limit};

use crate::error::Error;
use crate::service::LoginService;

/// What a wallet is told of a rule that its answer broke; what is ours is logged and not told.
pub(crate) fn to_refusal(error: &Error) -> HandlerRefusal {
    match error {
        Error::TimestampOutOfRange { .. } => HandlerRefusal::NotFresh,
        Error::UserUnknown => HandlerRefusal::UserUnknown,
        Error::UserExists => HandlerRefusal::UserExists,
        Error::CredentialExists => HandlerRefusal::KeyTaken,
        Error::TooManyCredentials => HandlerRefusal::TooManyKeys,
        Error::HostRefused => HandlerRefusal::Host,
        Error::ConfirmCodeRefused => HandlerRefusal::ConfirmCode,
        Error::SignatureRefused { reason } => HandlerRefusal::NotVerified(*reason),
        Error::ChallengeNotFound
        | Error::SessionNotFound
        | Error::SessionAlreadyAuthenticated
        | Error::SessionExpired { .. }
        | Error::SessionCancelled { .. } => HandlerRefusal::NotHeld,
        Error::InvalidPublicKey { .. } => HandlerRefusal::NotVerified(NotVerified::Mismatch),
        other => {
            if let Error::Problem(problem) = other {
                problem.log();
            }
            HandlerRefusal::Failed
        }
    }
}

/// What a wallet is told where something of ours failed, which is logged.
pub(crate) fn log_failure(error: anyhow::Error) -> HandlerRefusal {
    to_refusal(&Error::from(error))
}

/// Counts an answer to a session of an account.
///
/// # Errors
/// Where the account gets too many of them.
pub(crate) async fn count_answer(service: &LoginService, account: &Account) -> Result<(), HandlerRefusal> {
    let caller = Caller::Account(format!("{}/{}", account.environment, account.name));
    let counted = service.limits.check(Limit::Answer, &caller, service.clock.elapsed()).await;
    counted.map_err(|exceeded| HandlerRefusal::Busy {
        retry_after: exceeded.retry_after(),
        headers: exceeded.rate_limit_headers().into(),
    })
}
