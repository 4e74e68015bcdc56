//! Accepts answers to sessions without a page, and completes logins.

use signpost_auth::{Answer, Mode, VerifiedAnswer};
use signpost_store::random;
use url::Url;

use crate::domains::LoginMethod;
use crate::error::Error;
use crate::flows::admission::{admit, check_credential, find_credential};
use crate::flows::changes::cancel_session;
use crate::flows::login_events::LoginEvents;
use crate::flows::lookup::{cached_domain, domain_for_session, refusal_error};
use crate::service::LoginService;
use crate::sessions::{Accepted, AnswerRefusal, Login, Session, SessionState, SessionWriteError, VerifiedKey, sql};
use crate::users::Credential;

/// An accepted answer of a wallet.
#[derive(Debug)]
pub(crate) struct AcceptedAnswer {
    /// The session after the answer.
    pub(crate) session: Session,
    /// The URL that the wallet opens, in the same-device flow.
    pub(crate) redirect: Option<Url>,
}

/// Verifies an answer that the integrator received, and stores the login. `credential` is the credential with its key,
/// for hosted domains.
///
/// # Errors
/// Returns the first failed check, or an error if another answer came first.
pub(crate) async fn accept_answer(
    service: &LoginService,
    session: Session,
    answer: &Answer,
    credential: Option<Credential>,
) -> Result<AcceptedAnswer, Error> {
    // Sessions with a page have other rules for answers; only they count wrong numbers.
    if session.page.is_some() {
        return Err(Error::ChallengeNotFound);
    }
    let key = session.verify(answer, service.clock.now());
    let key = key.map_err(|refusal| refusal_error(refusal, &session, service))?;
    store_accepted(service, session, key, answer, credential).await
}

/// Accepts an answer that the service received itself and has verified, and stores the login. `method` is the login
/// method of the user, `credential` the credential with the key.
///
/// # Errors
/// Returns the first failed check, or an error if another answer came first.
pub(crate) async fn accept_verified_answer(
    service: &LoginService,
    session: Session,
    method: LoginMethod,
    answer: &VerifiedAnswer,
    credential: Option<Credential>,
) -> Result<AcceptedAnswer, Error> {
    let key = session.match_answer(answer, service.clock.now());
    let key = key.map_err(|refusal| refusal_error(refusal, &session, service))?.by(method);
    store_accepted(service, session, key, answer.answer(), credential).await
}

async fn store_accepted(
    service: &LoginService,
    session: Session,
    key: VerifiedKey,
    answer: &Answer,
    credential: Option<Credential>,
) -> Result<AcceptedAnswer, Error> {
    if session.confirm_code.is_some() {
        check_confirm_code(service, &session, answer).await?;
    }
    check_credential(&session, credential.as_ref())?;
    let accepted = session.clone().accept(key, service.clock.now(), random());
    match accepted.map_err(|refusal| refusal_error(refusal, &session, service))? {
        Accepted::Login(login) => {
            let login = store_login(service, &session, *login, credential).await?;
            Ok(AcceptedAnswer { session: publish_login(service, login), redirect: None })
        }
        Accepted::Answered(answered, code) => {
            sql::store_answer(&service.store, &answered).await?;
            service.session_changed(&answered.id);
            Ok(AcceptedAnswer { redirect: code.redirect(&answered), session: *answered })
        }
        Accepted::AnsweredOnPage(_) => Err(Error::ChallengeNotFound),
    }
}

/// Completes a login of the same-device or the page flow with its completion code. The users are checked again, because
/// they may have changed since the answer: a deleted user is refused, and a user who has registered since is logged in.
/// The session is cancelled if the code was returned in another browser, or if the user of a page may no longer log in.
///
/// # Errors
/// Returns an error if the code is wrong, was returned in another browser, or the session is not
/// pending.
pub(crate) async fn complete_login(
    service: &LoginService,
    session: Session,
    code: &str,
    secret: Option<&str>,
) -> Result<Session, Error> {
    let login = match session.clone().complete(code, secret, service.clock.now(), random()) {
        Ok(login) => login,
        Err(refusal) => {
            if refusal == AnswerRefusal::Browser {
                cancel_if_pending(service, &session).await?;
            }
            return Err(refusal_error(refusal, &session, service));
        }
    };
    let error = match store_completed(service, &session, login).await {
        Ok(login) => return Ok(publish_login(service, login)),
        Err(error) => error,
    };
    let is_link = session.challenge.mode == Mode::Link;
    let is_final = match error {
        Error::UserUnknown => session.page.is_some(),
        Error::UserRefused => true,
        Error::CredentialExists | Error::TooManyCredentials | Error::SessionCancelled { .. } => is_link,
        _ => false,
    };
    if is_final {
        cancel_if_pending(service, &session).await?;
    }
    Err(if !is_link && matches!(error, Error::UserUnknown) { Error::CompletionCodeRefused } else { error })
}

/// Stores a completed login, if the user with the key may still log in, register or be linked.
async fn store_completed(service: &LoginService, session: &Session, login: Login) -> Result<Login, Error> {
    let credential = match &login.session.state {
        SessionState::Authenticated { user, .. } => find_credential(service, session, &user.public_key).await?,
        _ => None,
    };
    if !session.accepts_user(credential.as_ref().map(|own| &own.user_id)) {
        return Err(Error::UserRefused);
    }
    let is_unknown = session.hosted_url.is_some() && credential.is_none();
    match session.challenge.mode {
        Mode::Link if !is_unknown => Err(Error::CredentialExists),
        Mode::Login if is_unknown => Err(Error::UserUnknown),
        Mode::Register if is_unknown => match domain_for_session(service, session).await? {
            Some(domain) if session.may_register(&domain) => {
                Box::pin(admit(service, login, LoginEvents::new(Some(&domain), session), None)).await
            }
            _ => Err(Error::UserUnknown),
        },
        _ => store_login(service, session, login, credential).await,
    }
}

/// Cancels a session if it is pending. Its completion code can no longer succeed, and its page must
/// not redirect the browser to the site again.
async fn cancel_if_pending(service: &LoginService, session: &Session) -> Result<(), Error> {
    match cancel_session(service, session).await {
        Ok(_) | Err(SessionWriteError::Changed(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Stores a login, for hosted domains together with the changes of the users.
async fn store_login(
    service: &LoginService,
    session: &Session,
    login: Login,
    credential: Option<Credential>,
) -> Result<Login, Error> {
    if session.hosted_url.is_none()
        && let Some(domain) = cached_domain(service, session)
    {
        let LoginEvents { url, .. } = LoginEvents::new(Some(&*domain), session);
        match sql::store_login(&service.store, &login, url, Some(&domain), Vec::new()).await {
            Ok(()) => return Ok(login),
            // The domain may have changed.
            Err(SessionWriteError::Changed(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let domain = if session.account.is_server() { None } else { domain_for_session(service, session).await? };
    let events = LoginEvents::new(domain.as_ref(), session);
    if session.hosted_url.is_some() {
        return Box::pin(admit(service, login, events, credential)).await;
    }
    sql::store_login(&service.store, &login, events.url, None, Vec::new()).await?;
    Ok(login)
}

/// Logs a stored login, and notifies the delivery of events and the requests that wait for the session.
fn publish_login(service: &LoginService, login: Login) -> Session {
    let session = login.session;
    let environment = session.account.environment;
    tracing::info!(
        session = %session.id,
        domain = %session.challenge.domain,
        account = session.account.name,
        %environment,
        mode = session.challenge.mode.as_str(),
        "login succeeded"
    );
    service.metrics.count_session_event(environment, "authenticated");
    service.outbox.notify_one();
    service.session_changed(&session.id);
    session
}

/// Checks the confirmation number. The third wrong number cancels the session.
pub(crate) async fn check_confirm_code(
    service: &LoginService,
    session: &Session,
    answer: &Answer,
) -> Result<(), Error> {
    if session.is_confirmed_by(answer) {
        sql::use_confirm_try(&service.store, session).await?;
        return Ok(());
    }
    sql::record_wrong_confirm_code(&service.store, session, service.clock.now()).await?;
    service.session_changed(&session.id);
    Err(Error::ConfirmCodeRefused)
}
