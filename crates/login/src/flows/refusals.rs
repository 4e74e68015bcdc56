//! Converts errors of this service into errors of the handler contract.

use signpost_auth::VerificationError;
use signpost_auth::receiver::HandlerRefusal;
use signpost_platform::accounts::Account;
use signpost_platform::limits::{Caller, Limit};

use crate::error::Error;
use crate::service::LoginService;
use crate::sessions::SessionWriteError;

/// Internal errors are logged. The wallet gets no details about them.
impl From<Error> for HandlerRefusal {
    fn from(error: Error) -> Self {
        match error {
            Error::TimestampOutOfRange { .. } => Self::StaleTimestamp,
            Error::UserUnknown => Self::UserUnknown,
            Error::UserExists => Self::UserExists,
            Error::CredentialExists => Self::KeyTaken,
            Error::TooManyCredentials => Self::TooManyKeys,
            Error::HostRefused => Self::Host,
            Error::UserRefused => Self::OtherUser,
            Error::ConfirmCodeRefused => Self::ConfirmCode,
            Error::SignatureRefused { reason } => Self::NotVerified(reason),
            Error::ChallengeNotFound
            | Error::SessionNotFound
            | Error::SessionAlreadyAuthenticated
            | Error::SessionExpired { .. }
            | Error::SessionCancelled { .. } => Self::NoPendingSession,
            Error::InvalidPublicKey { .. } => Self::NotVerified(VerificationError::Mismatch),
            Error::Problem(problem) => {
                problem.log();
                Self::Internal
            }
            _ => Self::Internal,
        }
    }
}

impl From<SessionWriteError> for HandlerRefusal {
    fn from(error: SessionWriteError) -> Self {
        Error::from(error).into()
    }
}

/// Logs an internal error. Returns [`HandlerRefusal::Internal`].
pub(crate) fn internal_error(error: anyhow::Error) -> HandlerRefusal {
    Error::from(error).into()
}

/// Counts an answer to a session of an account.
///
/// # Errors
/// Returns [`HandlerRefusal::RateLimited`] if the account gets too many answers.
pub(crate) async fn count_answer(service: &LoginService, account: &Account) -> Result<(), HandlerRefusal> {
    let caller = Caller::Account(format!("{}/{}", account.environment, account.name));
    match service.limits.check(Limit::Answer, &caller, service.clock.elapsed()).await {
        Ok(()) => Ok(()),
        Err(exceeded) => Err(HandlerRefusal::RateLimited {
            retry_after: exceeded.retry_after(),
            headers: exceeded.rate_limit_headers().into(),
        }),
    }
}
