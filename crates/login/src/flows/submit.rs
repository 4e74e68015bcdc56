//! Accepts a wallet's answer: checks it and keeps what follows from it in one write.

use signpost_auth::{Answer, Mode, VerifiedAnswer};
use signpost_platform::accounts::Account;
use signpost_store::{WriteError, WriteOutcome, random};
use url::Url;

use crate::domains::{Domain, LoginMethod};
use crate::error::Error;
use crate::flows::admission::{admit, check_holder, find_holder, write_login};
use crate::flows::lookup::{find_domain_of, find_known_domain, lost_race, refused};
use crate::service::LoginService;
use crate::sessions::{Accepted, AnswerRefusal, Login, ProvenKey, Session, SessionState, sql};
use crate::users::Credential;

/// An answer that was accepted.
#[derive(Debug)]
pub(crate) struct AcceptedAnswer {
    /// The session as it is now.
    pub(crate) session: Session,
    /// Where the wallet sends the person, on one device.
    pub(crate) redirect: Option<Url>,
}

/// Verifies an answer that the integrator received, and stores the login. `holder` is the credential with its key, for hosted
/// domains.
///
/// # Errors
/// The first rule that the answer breaks, or that another answer came first.
pub(crate) async fn accept_answer(
    service: &LoginService,
    asked: Session,
    answer: &Answer,
    holder: Option<Credential>,
) -> Result<AcceptedAnswer, Error> {
    // The rules of a page decide about its answers, and no attempt at its number is used up elsewhere.
    if asked.page.is_some() {
        return Err(Error::ChallengeNotFound);
    }
    let key = asked.verify(answer, service.clock.now());
    let key = key.map_err(|refusal| refused(refusal, &asked, service))?;
    store_accepted(service, asked, key, answer, holder).await
}

/// Accepts an answer that the service received itself and has verified, and stores the login. `method` is how the user logs
/// in, `holder` the credential with this key.
///
/// # Errors
/// The first rule that the answer breaks, or that another answer came first.
pub(crate) async fn accept_verified_answer(
    service: &LoginService,
    asked: Session,
    method: LoginMethod,
    answer: &VerifiedAnswer,
    holder: Option<Credential>,
) -> Result<AcceptedAnswer, Error> {
    let key = asked.match_answer(answer, service.clock.now());
    let key = key.map_err(|refusal| refused(refusal, &asked, service))?.by(method);
    store_accepted(service, asked, key, answer.answer(), holder).await
}

async fn store_accepted(
    service: &LoginService,
    asked: Session,
    key: ProvenKey,
    answer: &Answer,
    holder: Option<Credential>,
) -> Result<AcceptedAnswer, Error> {
    if asked.confirm_code.is_some() {
        check_confirm_code(service, &asked, answer).await?;
    }
    check_holder(&asked, holder.as_ref())?;
    let accepted = asked.clone().accept(key, service.clock.now(), random());
    match accepted.map_err(|refusal| refused(refusal, &asked, service))? {
        Accepted::Login(login) => {
            let login = keep_login(service, &asked, *login, holder).await?;
            Ok(AcceptedAnswer { session: announce(service, login), redirect: None })
        }
        Accepted::Answered(session, code) => {
            match sql::store_answer(&service.store, &session).await {
                Ok(()) => service.session_changed(&session.id),
                Err(WriteError::Conflict) => return Err(lost_race(service, &asked).await),
                Err(WriteError::Internal(error)) => return Err(error.into()),
            }
            Ok(AcceptedAnswer { redirect: code.redirect(&session), session: *session })
        }
        Accepted::AnsweredOnPage(_) => Err(Error::ChallengeNotFound),
    }
}

/// Completes a login on one device or on a page with the code that came back in the browser that began it. The answer was
/// checked against the users when it came: who was deleted since logs in no more, and who registered since is logged in.
/// A code that came back in another browser is worth nothing from then on: the session ends. So does that of a page whose
/// person may log in no more.
///
/// # Errors
/// Where the code is not the one that the wallet or the page's browser was told, another browser brought it, or the
/// session is over.
pub(crate) async fn complete_login(
    service: &LoginService,
    asked: Session,
    code: &str,
    secret: Option<&str>,
) -> Result<Session, Error> {
    let now = service.clock.now();
    let login = asked.clone().complete(code, secret, now, random());
    if matches!(login, Err(AnswerRefusal::Browser)) {
        end(service, &asked).await?;
    }
    let login = login.map_err(|refusal| refused(refusal, &asked, service))?;
    let holder = match &login.session.state {
        SessionState::Authenticated { user, .. } => find_holder(service, &asked, &user.public_key).await?,
        _ => None,
    };
    let is_nobody = asked.hosted_url.is_some() && holder.is_none();
    let kept = match asked.challenge.mode {
        Mode::Link if !is_nobody => Err(Error::CredentialExists),
        Mode::Login if is_nobody => Err(Error::UserUnknown),
        Mode::Register if is_nobody && !may_register(service, &asked).await? => Err(Error::UserUnknown),
        _ => keep_login(service, &asked, login, holder).await,
    };
    match kept {
        Ok(login) => Ok(announce(service, login)),
        Err(error) if asked.challenge.mode == Mode::Link => {
            let is_final = matches!(
                error,
                Error::UserUnknown
                    | Error::CredentialExists
                    | Error::TooManyCredentials
                    | Error::SessionCancelled { .. }
            );
            if is_final {
                end(service, &asked).await?;
            }
            Err(error)
        }
        Err(Error::UserUnknown) => {
            if asked.page.is_some() {
                end(service, &asked).await?;
            }
            Err(Error::CompletionCodeRefused)
        }
        Err(error) => Err(error),
    }
}

/// Calls off a session whose code is worth nothing any more, so that no page sends its browser back with it once more.
async fn end(service: &LoginService, session: &Session) -> Result<(), Error> {
    match sql::cancel(&service.store, &session.id, service.clock.now()).await {
        Ok(()) => {
            service.metrics.session(session.account.environment, "cancelled");
            service.session_changed(&session.id);
            Ok(())
        }
        Err(WriteError::Conflict) => Ok(()),
        Err(WriteError::Internal(error)) => Err(error.into()),
    }
}

/// Whether the session may still create an account: its domain may have closed registration since the answer came.
async fn may_register(service: &LoginService, session: &Session) -> Result<bool, Error> {
    Ok(find_domain_of(service, session).await?.is_some_and(|domain| session.may_register(&domain)))
}

/// Writes a login, of a hosted domain together with what it changes among the users.
async fn keep_login(
    service: &LoginService,
    asked: &Session,
    login: Login,
    holder: Option<Credential>,
) -> Result<Login, Error> {
    if asked.hosted_url.is_none()
        && let Some(known) = find_known_domain(service, asked)
    {
        let url = event_url(Some(&known.domain), asked);
        if write_login(service, &login, url, known.as_of, Vec::new()).await?.is_committed() {
            return Ok(login);
        }
    }
    let domain = if is_nobodys(asked) { None } else { find_domain_of(service, asked).await? };
    let url = event_url(domain.as_ref(), asked);
    if asked.hosted_url.is_some() {
        return admit(service, login, url, holder).await;
    }
    match write_login(service, &login, url, None, Vec::new()).await? {
        WriteOutcome::Committed(_) => Ok(login),
        WriteOutcome::Refused(_) => Err(lost_race(service, asked).await),
    }
}

/// Logs a login that is on disk now, and wakes those who wait for it.
fn announce(service: &LoginService, login: Login) -> Session {
    let Account { name: account, environment } = &login.session.account;
    let (session, domain) = (&login.session.id, &login.session.challenge.domain);
    tracing::info!(%session, %domain, account, %environment, mode = login.session.challenge.mode.as_str(), "login succeeded");
    service.metrics.session(login.session.account.environment, "authenticated");
    service.outbox.notify_one();
    service.session_changed(&login.session.id);
    login.session
}

/// Lets an answer pass that carries the number that the page shows; the third that does not ends the session.
pub(crate) async fn check_confirm_code(
    service: &LoginService,
    session: &Session,
    answer: &Answer,
) -> Result<(), Error> {
    let is_right = session.is_confirmed_by(answer);
    let counted = if is_right {
        sql::use_confirm_try(&service.store, session).await
    } else {
        sql::lose_confirm_try(&service.store, session, service.clock.now()).await
    };
    match counted {
        Ok(()) if is_right => Ok(()),
        Ok(()) => {
            service.session_changed(&session.id);
            Err(refused(AnswerRefusal::ConfirmCode, session, service))
        }
        Err(WriteError::Conflict) => Err(lost_race(service, session).await),
        Err(WriteError::Internal(error)) => Err(error.into()),
    }
}

/// Whether nobody waits for its event: it is of the server's own domain, or a login at the account pages.
fn is_nobodys(session: &Session) -> bool {
    session.account.is_server() || (session.is_for_account() && session.challenge.mode != Mode::Link)
}

/// Where the session's event goes, if it has one: the domain's `event_url` if it has one, else where wallets post; and of a
/// login by the standard protocol, which its application learns of by itself, only to who named an `event_url`.
fn event_url<'a>(domain: Option<&'a Domain>, session: &'a Session) -> Option<&'a Url> {
    if is_nobodys(session) {
        return None;
    }
    let url = domain.and_then(|domain| domain.event_url.as_ref());
    url.or_else(|| (!session.is_for_client()).then_some(&session.webhook_url))
}
