//! What a wallet's answer leads to on a page, and what the page is told of one that was refused.

use signpost_auth::receiver::{HandlerRefusal, HandlerResponse};
use signpost_auth::{Answer, Challenge, Mode, VerifiedAnswer};
use signpost_platform::accounts::Environment;
use signpost_store::{WriteError, random};

use crate::domains::{Domain, KnownDomain, LoginMethod};
use crate::error::Error;
use crate::flows::addresses::make_hosted_url;
use crate::flows::asker::Asker;
use crate::flows::lookup::{find_domain_of, lost_race, refused};
use crate::flows::notices::leave_notice;
use crate::flows::refusals::{log_failure, to_refusal};
use crate::flows::submit::check_confirm_code;
use crate::service::LoginService;
use crate::sessions::{
    Accepted, AnswerRefusal, Answerer, KeyEvidence, KeyVerdict, NoticeReason, ProvenKey, Session, SessionStatus,
    SwitchEntropy, page_sql, sql,
};
use crate::users::{self, CredentialKey};

/// Ends well where a page's session takes answers of this kind.
pub(crate) async fn check_method(
    service: &LoginService,
    session: &Session,
    method: LoginMethod,
) -> Result<Domain, HandlerRefusal> {
    let domain = find_domain_of(service, session).await.map_err(log_failure)?.ok_or(HandlerRefusal::NotHeld)?;
    if is_offered(service, session, &domain, method) { Ok(domain) } else { Err(HandlerRefusal::MethodNotOffered) }
}

fn is_offered(service: &LoginService, session: &Session, domain: &Domain, method: LoginMethod) -> bool {
    session.offers(domain, &service.supported_methods(session.account.environment)).contains(&method)
}

/// Takes a key that was proven on any device by what is kept of the session's domain, where that lets it in. False where it
/// does not, or may be out of date: then the domain itself must be asked.
///
/// # Errors
/// As [`accept_proof`].
pub(crate) async fn accept_by_known_domain(
    service: &LoginService,
    asked: &Session,
    known: &KnownDomain,
    key: &ProvenKey,
    is_known: bool,
) -> Result<bool, HandlerRefusal> {
    let lets_in = is_offered(service, asked, &known.domain, key.evidence().method)
        && asked.link().is_none()
        && asked.judge_key(&known.domain, is_known) == KeyVerdict::Accept;
    if !lets_in {
        return Ok(false);
    }
    let stored = answer(service, asked, known, key.clone(), is_known, Answerer::Anybody).await;
    stored.map_err(|error| to_refusal(&error))
}

/// Accepts the verified answer of a wallet to the code of a page: first its text, then the confirmation number, then its key.
/// In the browser that owns the page no number is needed, because the user sees the page.
pub(crate) async fn accept_scan(
    service: &LoginService,
    session: Session,
    asker: &Asker,
    verified: &VerifiedAnswer,
) -> Result<(), HandlerRefusal> {
    let domain = check_method(service, &session, asker.method()).await?;
    let answer = verified.answer();
    let key = match session.match_answer(verified, service.clock.now()) {
        Ok(key) => key.by(asker.method()),
        Err(refusal) => {
            if refusal == AnswerRefusal::Host {
                leave_notice(service, &session, NoticeReason::Host).await.map_err(|error| to_refusal(&error))?;
            }
            return Err(to_refusal(&refused(refusal, &session, service)));
        }
    };
    let takes_try = session.confirm_code.is_some() && !(asker.owns(&session) && session.is_without_number(answer));
    if takes_try {
        check_confirm_code(service, &session, answer).await.map_err(|error| to_refusal(&error))?;
    }
    let credential_key = verified.key().clone().into();
    let known =
        users::sql::find_by_key(&service.store, &session.domain_id, &credential_key).await.map_err(log_failure)?;
    let answerer = if asker.owns(&session) { Answerer::Owner } else { Answerer::Anybody };
    let id = session.id.clone();
    let accepted = accept_proof(service, session, &domain, key, known.is_some(), answerer).await;
    if accepted.is_err() && takes_try {
        // The number was right: who scans once more, to create the account, has not used up a try by that.
        sql::give_back_confirm_try(&service.store, &id).await.map_err(log_failure)?;
    }
    accepted
}

/// Takes a key that was proven, by the owner of the page there or by anybody on whatever device: the session is answered, or
/// the page says why not.
///
/// # Errors
/// What the wallet is told: the key has no account, or one already, or another answer came first.
pub(crate) async fn accept_proof(
    service: &LoginService,
    asked: Session,
    domain: &Domain,
    key: ProvenKey,
    is_known: bool,
    answerer: Answerer,
) -> Result<(), HandlerRefusal> {
    let told = |error: Error| to_refusal(&error);
    match asked.judge_key(domain, is_known) {
        KeyVerdict::Accept => {
            check_link(service, &asked).await?;
            let domain = KnownDomain::read_now(domain.clone());
            if answer(service, &asked, &domain, key, is_known, answerer).await.map_err(told)? {
                return Ok(());
            }
            Err(told(lost_race(service, &asked).await))
        }
        KeyVerdict::AskToRegister => {
            switch(service, asked, Mode::Register, Some(NoticeReason::UnknownKey)).await.map_err(told)?;
            Err(HandlerRefusal::AccountNeeded)
        }
        KeyVerdict::Refuse(reason) => {
            let refusal = match reason {
                NoticeReason::KeyKnown => HandlerRefusal::UserExists,
                NoticeReason::KeyTaken => HandlerRefusal::KeyTaken,
                _ => HandlerRefusal::RegistrationClosed,
            };
            leave_notice(service, &asked, reason).await.map_err(told)?;
            Err(refusal)
        }
    }
}

/// Ends well where the user of a link, if it is one, may have another key.
async fn check_link(service: &LoginService, asked: &Session) -> Result<(), HandlerRefusal> {
    let Some(link) = asked.link() else { return Ok(()) };
    let found = users::sql::find(&service.store, &asked.domain_id, &link.user).await.map_err(log_failure)?;
    let (_, credentials) = found.ok_or(HandlerRefusal::NotHeld)?;
    if credentials.len() < users::MAX_CREDENTIALS as usize {
        return Ok(());
    }
    leave_notice(service, asked, NoticeReason::TooManyKeys).await.map_err(|error| to_refusal(&error))?;
    Err(HandlerRefusal::TooManyKeys)
}

/// False where another answer came first, or the domain may be another one meanwhile.
async fn answer(
    service: &LoginService,
    asked: &Session,
    KnownDomain { domain, as_of }: &KnownDomain,
    key: ProvenKey,
    is_known: bool,
    answerer: Answerer,
) -> Result<bool, Error> {
    let (evidence, now) = (key.evidence().clone(), service.clock.now());
    let accepted = asked.clone().accept(key, now, random());
    let accepted = accepted.map_err(|refusal| refused(refusal, asked, service))?;
    let Accepted::AnsweredOnPage(session) = accepted else { return Err(Error::ChallengeNotFound) };
    let session = if session.link().is_some() {
        session.await_confirmation(answerer, now)
    } else if is_passkey_wanted(service, &session, domain, &evidence, is_known).await? {
        session.offer_passkey(now)
    } else {
        *session
    };
    match page_sql::store_answer(&service.store, &session, *as_of).await {
        Ok(()) => {
            service.session_changed(&session.id);
            Ok(true)
        }
        Err(WriteError::Conflict) => Ok(false),
        Err(WriteError::Internal(error)) => Err(error.into()),
    }
}

/// Whether the page offers a passkey for the next time: after an answer by wallet, to somebody who has none and never said
/// that they want none.
async fn is_passkey_wanted(
    service: &LoginService,
    session: &Session,
    domain: &Domain,
    evidence: &KeyEvidence,
    is_known: bool,
) -> Result<bool, Error> {
    let can = service.supported_methods(session.account.environment);
    let is_offered = session.offers(domain, &can).contains(&LoginMethod::Passkey);
    if !is_offered || session.is_for_account() || evidence.method == LoginMethod::Passkey {
        return Ok(false);
    }
    if !is_known {
        return Ok(true);
    }
    let Ok(key) = CredentialKey::parse(&evidence.public_key) else { return Ok(false) };
    Ok(users::credential_sql::wants_passkey(&service.store, &session.domain_id, &key).await?)
}

/// Turns a login into the creation of an account or back. Who loses to another answer or code is told so.
pub(crate) async fn switch(
    service: &LoginService,
    asked: Session,
    mode: Mode,
    notice: Option<NoticeReason>,
) -> Result<Session, Error> {
    let (now, ttl) = (service.clock.now(), service.settings.session_ttl);
    let url = make_hosted_url(service, &asked.account, mode)?;
    let random = SwitchEntropy { nonce: random(), number: random() };
    let switched = asked.clone().switch(mode, url, notice.map(|reason| reason.at(now)), ttl, now, random);
    let switched = switched.map_err(|refusal| refused(refusal, &asked, service))?;
    match sql::refresh(&service.store, &switched, &asked.challenge).await {
        Ok(()) => service.session_changed(&switched.id),
        Err(WriteError::Conflict) => return Err(lost_race(service, &asked).await),
        Err(WriteError::Internal(error)) => return Err(error.into()),
    }
    Ok(switched)
}

/// Says more of an answer that named no session which waits, or came by a clock that is off: the page learns of it, and
/// whoever signed a code that was replaced meanwhile is told so. Nothing is said of what nobody signed.
pub(crate) async fn explain_refusal(
    service: &LoginService,
    environment: Environment,
    answer: &Answer,
    challenge: &Challenge,
    response: HandlerResponse,
) -> Result<HandlerResponse, HandlerRefusal> {
    let (is_off, is_unknown) =
        (response == HandlerRefusal::NotFresh.into(), response == HandlerRefusal::NotHeld.into());
    if (!is_off && !is_unknown) || answer.verify().is_err() {
        return Ok(response);
    }
    let now = service.clock.now();
    let waits = |session: &Session| {
        session.page.is_some() && session.status(now) == SessionStatus::Pending && !session.is_answered()
    };
    if is_off {
        let session = sql::find_hosted(&service.store, environment, challenge).await.map_err(log_failure)?;
        if let Some(session) = session.filter(waits) {
            let seconds_off = answer.timestamp.saturating_sub(now.as_second());
            let noted = leave_notice(service, &session, NoticeReason::Clock { seconds_off }).await;
            noted.map_err(|error| to_refusal(&error))?;
        }
        return Ok(response);
    }
    let session = page_sql::find_replaced(&service.store, environment, challenge).await.map_err(log_failure)?;
    let Some(session) = session.filter(waits) else { return Ok(response) };
    Err(explain_replaced(service, &session).await)
}

/// What a wallet is told that signed the code before, and the page with it. One that sends the login once more for which
/// the page asks whether to create an account is told that again, and the page goes on asking.
pub(crate) async fn explain_replaced(service: &LoginService, session: &Session) -> HandlerRefusal {
    let replaced = session.page.as_ref().and_then(|page| page.replaced.as_ref());
    let was_login = replaced.is_some_and(|challenge| challenge.mode == Mode::Login);
    if was_login && session.notice().is_some_and(|notice| notice.reason == NoticeReason::UnknownKey) {
        return HandlerRefusal::AccountNeeded;
    }
    match leave_notice(service, session, NoticeReason::Replaced).await {
        Ok(()) => HandlerRefusal::Replaced,
        Err(error) => to_refusal(&error),
    }
}
