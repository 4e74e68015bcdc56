//! Finds sessions and domains, or returns the error that explains why there is none.

use signpost_auth::DomainName;
use signpost_platform::accounts::Account;

use crate::domains::{self, CachedDomain, Domain};
use crate::error::Error;
use crate::ids::{DomainId, SessionId};
use crate::service::LoginService;
use crate::sessions::{self, AnswerRefusal, Session};

/// Returns the readable session of an account.
pub(crate) async fn find_session(service: &LoginService, account: &Account, id: &str) -> Result<Session, Error> {
    let id = SessionId::parse(id).ok_or(Error::SessionNotFound)?;
    match sessions::sql::find(&service.store, account, &id).await? {
        Some(session) if session.is_readable(service.clock.now()) => Ok(session),
        _ => Err(Error::SessionNotFound),
    }
}

/// Returns the error for a refusal by the rules of a session.
pub(crate) fn refusal_error(refusal: AnswerRefusal, session: &Session, service: &LoginService) -> Error {
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

/// Returns the domain of a session, or `None` if it was deleted. Uses the cache if this server is notified of changes.
pub(crate) async fn domain_for_session(service: &LoginService, session: &Session) -> anyhow::Result<Option<Domain>> {
    match cached_domain(service, session) {
        Some(domain) if !domain.may_be_outdated() => Ok(Some((*domain).clone())),
        _ => domains::sql::find(&service.store, &session.account, &session.domain_id).await,
    }
}

/// Returns the domain of a session if it is in the cache. A domain that may be outdated must not be the reason of an
/// error.
pub(crate) fn cached_domain(service: &LoginService, session: &Session) -> Option<CachedDomain> {
    service.domains.get(&session.account, &session.challenge.domain, &session.domain_id)
}

/// Returns the account's domain with this ID or name. No ID is a valid name.
///
/// # Errors
/// Returns [`Error::DomainNotFound`], or an error if the database is unavailable.
pub async fn find_domain(service: &LoginService, account: &Account, id: &str) -> Result<Domain, Error> {
    let found = match (DomainId::parse(id), DomainName::parse(id)) {
        (Some(id), _) => domains::sql::find(&service.store, account, &id).await?,
        (None, Ok(name)) => domains::sql::find_by_name(&service.store, account, &name).await?,
        (None, Err(_)) => None,
    };
    found.ok_or(Error::DomainNotFound)
}

/// Returns the account's domain with this name if sessions may be created on it.
///
/// # Errors
/// Returns [`Error::DomainNotRegistered`] or [`Error::DomainNotVerified`].
pub(crate) async fn find_usable_domain(
    service: &LoginService,
    account: &Account,
    name: &DomainName,
) -> Result<Domain, Error> {
    let Some(domain) = domains::sql::find_by_name(&service.store, account, name).await? else {
        return Err(Error::DomainNotRegistered(name.to_string()));
    };
    match unusable_reason(service, &domain).await? {
        None => Ok(domain),
        Some(reason) => Err(Error::DomainNotVerified { domain: name.to_string(), reason }),
    }
}

/// Returns the reason that forbids sessions on a domain, if any.
pub(crate) async fn unusable_reason(service: &LoginService, domain: &Domain) -> anyhow::Result<Option<&'static str>> {
    if domain.verified_at.is_some() {
        return Ok(None);
    }
    if service.settings.require_verified_domains && !domain.account.is_server() {
        return Ok(Some("this server creates sessions for verified domains only"));
    }
    let is_claimed = domains::sql::is_claimed(&service.store, domain).await?;
    Ok(is_claimed.then_some("another account has verified this name or a related one"))
}
