//! Finds a session or a domain, or says why not.

use signpost_platform::accounts::Account;

use crate::domains::{self, Domain, KnownDomain};
use crate::error::Error;
use crate::ids::{DomainId, SessionId};
use crate::service::LoginService;
use crate::sessions::{self, AnswerRefusal, Session, SessionState};

pub(crate) async fn find_session(service: &LoginService, account: &Account, id: &str) -> Result<Session, Error> {
    let id = SessionId::parse(id).ok_or(Error::SessionNotFound)?;
    let session = sessions::sql::find(&service.store, account, &id).await?;
    session.filter(|session| session.is_readable(service.clock.now())).ok_or(Error::SessionNotFound)
}

pub(crate) fn refused(refusal: AnswerRefusal, session: &Session, service: &LoginService) -> Error {
    match refusal {
        AnswerRefusal::Stale => Error::TimestampOutOfRange { server_time: service.clock.now() },
        AnswerRefusal::UnknownChallenge => Error::ChallengeNotFound,
        AnswerRefusal::Authenticated => Error::SessionAlreadyAuthenticated,
        AnswerRefusal::Cancelled => Error::SessionCancelled { id: session.id.to_string() },
        AnswerRefusal::Expired => Error::SessionExpired { id: session.id.to_string(), expired_at: session.expires_at },
        AnswerRefusal::Signature(reason) => Error::SignatureRefused { reason },
        AnswerRefusal::Host => Error::HostRefused,
        AnswerRefusal::ConfirmCode => Error::ConfirmCodeRefused,
        AnswerRefusal::CompletionCode => Error::CompletionCodeRefused,
        AnswerRefusal::Browser => Error::BrowserRefused,
    }
}

/// The row changed between reading and writing: what it is now says who was first.
pub(crate) async fn lost_race(service: &LoginService, session: &Session) -> Error {
    match sessions::sql::find(&service.store, &session.account, &session.id).await {
        Ok(Some(session)) if session.is_answered() => Error::SessionAlreadyAuthenticated,
        Ok(Some(Session { state: SessionState::Cancelled { .. }, .. })) => {
            Error::SessionCancelled { id: session.id.to_string() }
        }
        Ok(Some(_)) => Error::ChallengeNotFound,
        Ok(None) => Error::SessionNotFound,
        Err(error) => error.into(),
    }
}

/// The domain of a session, as it was a moment ago where changes since would have been heard of; `None` where it is gone.
pub(crate) async fn find_domain_of(service: &LoginService, session: &Session) -> anyhow::Result<Option<Domain>> {
    match find_kept(service, session).filter(|kept| kept.as_of.is_none()) {
        Some(kept) => Ok(Some((*kept.domain).clone())),
        None => domains::sql::find(&service.store, &session.account, &session.domain_id).await,
    }
}

/// The domain of a session as it is kept in memory, for a write that names its state. None is no reason to refuse.
pub(crate) fn find_known_domain(service: &LoginService, session: &Session) -> Option<KnownDomain> {
    let version = service.store.watched_version()?;
    find_kept(service, session).filter(|kept| kept.as_of == Some(version))
}

fn find_kept(service: &LoginService, session: &Session) -> Option<KnownDomain> {
    let key = (session.account.clone(), session.challenge.domain.clone());
    service.domains.get(&key).filter(|kept| kept.domain.id == session.domain_id)
}

pub(crate) async fn find_domain(service: &LoginService, account: &Account, id: &str) -> Result<Domain, Error> {
    let id = DomainId::parse(id).ok_or(Error::DomainNotFound)?;
    domains::sql::find(&service.store, account, &id).await?.ok_or(Error::DomainNotFound)
}
