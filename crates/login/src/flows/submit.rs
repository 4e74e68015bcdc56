//! Accepts a wallet's answer: checks it and keeps what follows from it in one write.

use anyhow::Context;
use signpost_auth::{Answer, Mode, PublicKey};
use signpost_platform::accounts::Account;
use signpost_store::{Step, WriteOutcome, random};
use url::Url;

use crate::error::Error;
use crate::flows::lookup::{find_domain_of, lost_race, refused};
use crate::flows::notices::leave_notice;
use crate::service::LoginService;
use crate::sessions::{self, Accepted, AnswerRefusal, Login, NoticeReason, Session, SessionState, sql};
use crate::users;

/// An answer that was accepted.
#[derive(Debug)]
pub(crate) struct AcceptedAnswer {
    /// The session as it is now.
    pub(crate) session: Session,
    /// Where the wallet sends the person, on one device.
    pub(crate) redirect: Option<Url>,
}

/// Checks an answer and keeps what follows from it, and with it what `with` says. `None` where `with` changes nothing.
///
/// # Errors
/// The first rule that the answer breaks, or that another answer came first.
pub(crate) async fn accept_answer(
    service: &LoginService,
    asked: Session,
    answer: &Answer,
    with: Option<Step>,
) -> Result<Option<AcceptedAnswer>, Error> {
    let now = service.clock.now();
    let refused = |refusal| refused(refusal, &asked, service);
    let key = asked.verify(answer, now).map_err(refused)?;
    if asked.confirm_code.is_some() {
        check_confirm_code(service, &asked, answer).await?;
    }
    match asked.clone().accept(key, now, random()).map_err(refused)? {
        Accepted::Login(login) => {
            let url = event_url(service, &asked).await?;
            match sql::authenticate(&service.store, &login, &url, with).await? {
                WriteOutcome::Committed(_) => {
                    Ok(Some(AcceptedAnswer { session: announce(service, *login), redirect: None }))
                }
                WriteOutcome::Refused(0) => Err(lost_race(service, &asked).await),
                WriteOutcome::Refused(_) => Ok(None),
            }
        }
        Accepted::Answered(session, code) => {
            if !sql::store_answer(&service.store, &session).await? {
                return Err(lost_race(service, &asked).await);
            }
            service.session_changed(&session.id);
            Ok(Some(AcceptedAnswer { redirect: code.redirect(&session), session: *session }))
        }
        // What a page accepts is for the page's own rules to decide.
        Accepted::AnsweredOnPage(_) => Err(Error::ChallengeNotFound),
    }
}

/// Completes a login on one device or on a page with the code that came back in the browser that began it. A code that
/// came back in another one is worth nothing from then on: the session ends.
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
    if matches!(login, Err(AnswerRefusal::Browser)) && sql::cancel(&service.store, &asked.id, now).await? {
        service.metrics.session(asked.account.environment, "cancelled");
        service.session_changed(&asked.id);
    }
    let login = login.map_err(|refusal| refused(refusal, &asked, service))?;
    let (url, user) = (event_url(service, &asked).await?, user_change(&login)?);
    match sessions::sql::complete(&service.store, &login, &url, user).await? {
        WriteOutcome::Committed(_) => Ok(announce(service, login)),
        WriteOutcome::Refused(0) => Err(lost_race(service, &asked).await),
        WriteOutcome::Refused(_) => Err(Error::CompletionCodeRefused),
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
    let Some(tries_left) = sql::use_confirm_try(&service.store, session).await? else {
        return Err(lost_race(service, session).await);
    };
    if session.is_confirmed_by(answer) {
        return Ok(());
    }
    leave_notice(service, session, NoticeReason::ConfirmCode { tries_left }).await?;
    if sql::cancel_if_no_try_is_left(&service.store, &session.id, service.clock.now()).await? {
        service.session_changed(&session.id);
    }
    Err(refused(AnswerRefusal::ConfirmCode, session, service))
}

/// Where the session's event goes: the domain's `event_url` if it has one, else where wallets post.
async fn event_url(service: &LoginService, session: &Session) -> Result<Url, Error> {
    let domain = find_domain_of(service, session).await?;
    Ok(domain.and_then(|domain| domain.event_url).unwrap_or_else(|| session.webhook_url.clone()))
}

/// What a login on one device changes among the users, once its code came back. The answer was checked against them
/// when it came, and who was deleted since logs in no more; of two registrations that race the second finds what it
/// wanted.
///
/// # Errors
/// Where the answer that was kept has no key.
fn user_change(login: &Login) -> anyhow::Result<Option<Step>> {
    let Session { domain_id, challenge, hosted_url: Some(_), state: SessionState::Authenticated { at, user }, .. } =
        &login.session
    else {
        return Ok(None);
    };
    let key = PublicKey::parse(&user.public_key).context("sessions.answer")?;
    Ok(Some(match challenge.mode {
        Mode::Login => users::sql::set_last_login(domain_id, &key, *at),
        Mode::Register => users::sql::upsert(domain_id, &key, *at),
    }))
}
