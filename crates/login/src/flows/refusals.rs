//! Our errors in the words of the handler contract.

use signpost_auth::NotVerified;
use signpost_auth::receiver::HandlerRefusal;

use crate::error::Error;

/// What a wallet is told of a rule that its answer broke; what is ours is logged and not told.
pub(crate) fn to_refusal(error: &Error) -> HandlerRefusal {
    match error {
        Error::TimestampOutOfRange { .. } => HandlerRefusal::NotFresh,
        Error::UserUnknown => HandlerRefusal::UserUnknown,
        Error::UserExists => HandlerRefusal::UserExists,
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
