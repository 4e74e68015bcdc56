//! Accepts answers to sessions with a login page, and explains refused answers on the page.

use signpost_auth::receiver::HandlerRefusal;
use signpost_auth::{Answer, Challenge, Mode, VerifiedAnswer};
use signpost_platform::accounts::Environment;
use signpost_store::random;

use crate::domains::{Domain, LoginMethod};
use crate::error::Error;
use crate::flows::addresses::make_hosted_url;
use crate::flows::answer_context::AnswerContext;
use crate::flows::changes::record_notice;
use crate::flows::lookup::{cached_domain, domain_for_session, refusal_error};
use crate::flows::refusals::internal_error;
use crate::flows::submit::check_confirm_code;
use crate::ids::UserId;
use crate::service::LoginService;
use crate::sessions::{
    Accepted, AnswerRefusal, KeyDecision, NoticeReason, Responder, Session, SessionState, SessionWriteError,
    SwitchEntropy, VerifiedKey, page_sql, sql,
};
use crate::users::{self, CredentialKey};

/// A verified key that answers a page.
#[derive(Clone, Debug)]
pub(crate) struct PageAnswer {
    pub(crate) key: VerifiedKey,
    /// The user of the domain who has the key.
    pub(crate) user: Option<UserId>,
    pub(crate) responder: Responder,
    /// Whether the answer was counted as a try before, because it contained the number.
    pub(crate) is_counted: bool,
}

/// Returns the session's domain if the page accepts this login method.
async fn check_method(
    service: &LoginService,
    session: &Session,
    method: LoginMethod,
) -> Result<Domain, HandlerRefusal> {
    let domain =
        domain_for_session(service, session).await.map_err(internal_error)?.ok_or(HandlerRefusal::NoPendingSession)?;
    if is_offered(service, session, &domain, method) { Ok(domain) } else { Err(HandlerRefusal::MethodNotOffered) }
}

/// Returns true if the page offers a login method.
pub(crate) fn is_offered(service: &LoginService, session: &Session, domain: &Domain, method: LoginMethod) -> bool {
    session.offers(domain, &service.supported_methods(session.account.environment)).contains(&method)
}

/// Accepts the verified key of a Lightning wallet. Uses the cached domain if it allows the answer.
///
/// # Errors
/// Returns an error if the page does not accept Lightning wallets, and the errors of
/// [`accept_key`].
pub(crate) async fn accept_lightning_key(
    service: &LoginService,
    session: Session,
    answer: PageAnswer,
) -> Result<(), HandlerRefusal> {
    if let Some(domain) = cached_domain(service, &session)
        && session.link().is_none()
        && is_offered(service, &session, &domain, LoginMethod::Lightning)
        && session.evaluate_key(&domain, answer.user.as_ref()) == KeyDecision::Accept
    {
        let answered = apply_answer(service, &session, &domain, answer.clone()).await?;
        match page_sql::store_answer(&service.store, &answered, Some(&domain)).await {
            Ok(()) => {
                service.session_changed(&session.id);
                return Ok(());
            }
            // The domain may have changed.
            Err(SessionWriteError::Changed(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let domain = check_method(service, &session, LoginMethod::Lightning).await?;
    accept_key(service, session, &domain, answer).await
}

/// Accepts the verified answer of a wallet to the code of a page: first its text, then the confirmation number, then
/// its key. In the browser that owns the page no number is needed, because the user sees the page.
pub(crate) async fn accept_scan(
    service: &LoginService,
    session: Session,
    context: &AnswerContext,
    verified: &VerifiedAnswer,
) -> Result<(), HandlerRefusal> {
    let domain = check_method(service, &session, context.method()).await?;
    let key = match session.match_answer(verified, service.clock.now()) {
        Ok(key) => key.by(context.method()),
        Err(refusal) => {
            if refusal == AnswerRefusal::Host {
                record_notice(service, &session, NoticeReason::Host).await?;
            }
            return Err(refusal_error(refusal, &session, service).into());
        }
    };
    let is_owner = context.owns(&session);
    let uses_try = session.confirm_code.is_some() && !(is_owner && session.is_without_number(verified.answer()));
    if uses_try {
        check_confirm_code(service, &session, verified.answer()).await?;
    }
    let credential_key = verified.key().clone().into();
    let known =
        users::sql::find_by_key(&service.store, &session.domain_id, &credential_key).await.map_err(internal_error)?;
    let responder = if is_owner { Responder::PageOwner } else { Responder::AnyDevice };
    let id = session.id.clone();
    let user = known.map(|credential| credential.user_id);
    let answer = PageAnswer { key, user, responder, is_counted: uses_try };
    let accepted = accept_key(service, session, &domain, answer).await;
    let counts = matches!(accepted, Ok(()) | Err(HandlerRefusal::OtherUser));
    if uses_try && !counts {
        // The number was right, so the user gets the try back for the next scan.
        sql::restore_confirm_try(&service.store, &id).await.map_err(internal_error)?;
    }
    accepted
}

/// Accepts a verified key. If it is refused, the page shows the reason.
///
/// # Errors
/// Returns an error if the key has no account or already has an account, the user has too many
/// keys, or another answer came first.
pub(crate) async fn accept_key(
    service: &LoginService,
    session: Session,
    domain: &Domain,
    answer: PageAnswer,
) -> Result<(), HandlerRefusal> {
    let reason = match session.evaluate_key(domain, answer.user.as_ref()) {
        KeyDecision::Accept => {
            check_link(service, &session).await?;
            let answered = apply_answer(service, &session, domain, answer).await?;
            page_sql::store_answer(&service.store, &answered, None).await?;
            service.session_changed(&session.id);
            return Ok(());
        }
        KeyDecision::OfferRegistration => {
            let switched = switch(service, &session, Mode::Register, Some(NoticeReason::UnknownKey))?;
            sql::refresh(&service.store, &switched, &session.challenge).await?;
            service.session_changed(&session.id);
            return Err(HandlerRefusal::AccountNeeded);
        }
        KeyDecision::RefuseUser => return Err(refuse_user(service, &session, answer.is_counted).await),
        KeyDecision::Refuse(reason) => reason,
    };
    let refusal = match reason {
        NoticeReason::KeyKnown => HandlerRefusal::UserExists,
        NoticeReason::KeyTaken => HandlerRefusal::KeyTaken,
        _ => HandlerRefusal::RegistrationClosed,
    };
    record_notice(service, &session, reason).await?;
    Err(refusal)
}

/// Refuses a key that is not of the session's user, and counts the try unless it was counted before. The error does not
/// depend on whether another user has the key.
pub(crate) async fn refuse_user(service: &LoginService, session: &Session, is_counted: bool) -> HandlerRefusal {
    let now = service.clock.now();
    if let Err(error) = sql::record_other_user(&service.store, session, is_counted, now).await {
        return error.into();
    }
    service.session_changed(&session.id);
    HandlerRefusal::OtherUser
}

/// Checks that the user may have another key, if the session is a link.
async fn check_link(service: &LoginService, session: &Session) -> Result<(), HandlerRefusal> {
    let Some(link) = session.link() else { return Ok(()) };
    let found = users::sql::find(&service.store, &session.domain_id, &link.user).await.map_err(internal_error)?;
    let (_, credentials) = found.ok_or(HandlerRefusal::NoPendingSession)?;
    if credentials.len() < users::MAX_CREDENTIALS as usize {
        return Ok(());
    }
    record_notice(service, session, NoticeReason::TooManyKeys).await?;
    Err(HandlerRefusal::TooManyKeys)
}

/// Returns the session with the answer, with a pending confirmation for a link, and possibly with an offer of a
/// passkey.
async fn apply_answer(
    service: &LoginService,
    session: &Session,
    domain: &Domain,
    answer: PageAnswer,
) -> Result<Session, Error> {
    let PageAnswer { key, user, responder, .. } = answer;
    let now = service.clock.now();
    let answered = match session.clone().accept(key, now, random()) {
        Ok(Accepted::AnsweredOnPage(answered)) => *answered,
        Ok(Accepted::Login(_) | Accepted::Answered(..)) => return Err(Error::ChallengeNotFound),
        Err(refusal) => return Err(refusal_error(refusal, session, service)),
    };
    if answered.link().is_some() {
        return Ok(answered.await_confirmation(responder, now));
    }
    if should_offer_passkey(service, &answered, domain, user.is_some()).await? {
        return Ok(answered.offer_passkey(now));
    }
    Ok(answered)
}

/// Returns true if the page offers a passkey for the next login: after the answer of a wallet, to users without a
/// passkey who have not declined the offer.
async fn should_offer_passkey(
    service: &LoginService,
    session: &Session,
    domain: &Domain,
    is_known: bool,
) -> Result<bool, Error> {
    let SessionState::AnsweredOnPage { proof } = &session.state else { return Ok(false) };
    if session.is_for_account()
        || proof.method == LoginMethod::Passkey
        || !is_offered(service, session, domain, LoginMethod::Passkey)
    {
        return Ok(false);
    }
    if !is_known {
        return Ok(true);
    }
    let Ok(key) = CredentialKey::parse(&proof.public_key) else { return Ok(false) };
    Ok(users::credential_sql::may_offer_passkey(&service.store, &session.domain_id, &key).await?)
}

/// Returns the session in another mode, with a new code.
///
/// # Errors
/// Returns an error if the session was answered or cancelled, or expired too long ago.
pub(crate) fn switch(
    service: &LoginService,
    session: &Session,
    mode: Mode,
    notice: Option<NoticeReason>,
) -> Result<Session, Error> {
    let now = service.clock.now();
    let url = make_hosted_url(service, &session.account, mode)?;
    let notice = notice.map(|reason| reason.at(now));
    let random = SwitchEntropy { nonce: random(), number: random() };
    let switched = session.clone().switch(mode, url, notice, service.settings.session_ttl, now, random);
    switched.map_err(|refusal| refusal_error(refusal, session, service))
}

/// Explains the refusal of a correctly signed answer: the page gets a notice about a wrong clock or a replaced code,
/// and the wallet another error in the latter case. Refusals of answers with a wrong signature are not explained.
pub(crate) async fn explain_refusal(
    service: &LoginService,
    environment: Environment,
    answer: &Answer,
    challenge: &Challenge,
    refusal: HandlerRefusal,
) -> HandlerRefusal {
    if !matches!(refusal, HandlerRefusal::StaleTimestamp | HandlerRefusal::NoPendingSession) || answer.verify().is_err()
    {
        return refusal;
    }
    let found = match refusal {
        HandlerRefusal::StaleTimestamp => sql::find_hosted(&service.store, environment, challenge).await,
        _ => page_sql::find_replaced(&service.store, environment, challenge).await,
    };
    let now = service.clock.now();
    let session = match found {
        Ok(Some(session)) if session.page.is_some() && session.check_open(now).is_ok() => session,
        Ok(_) => return refusal,
        Err(error) => return internal_error(error),
    };
    if refusal == HandlerRefusal::NoPendingSession {
        return explain_replaced(service, &session).await;
    }
    let seconds_off = answer.timestamp.saturating_sub(now.as_second());
    match record_notice(service, &session, NoticeReason::Clock { seconds_off }).await {
        Ok(()) => refusal,
        Err(error) => error.into(),
    }
}

/// Returns the error for an answer to the previous code, and notes it on the page. If the page now offers to create an
/// account, the wallet gets the corresponding error again and the page is unchanged.
pub(crate) async fn explain_replaced(service: &LoginService, session: &Session) -> HandlerRefusal {
    let was_login = session.replaced().is_some_and(|challenge| challenge.mode == Mode::Login);
    if was_login && session.notice().is_some_and(|notice| notice.reason == NoticeReason::UnknownKey) {
        return HandlerRefusal::AccountNeeded;
    }
    match record_notice(service, session, NoticeReason::Replaced).await {
        Ok(()) => HandlerRefusal::Replaced,
        Err(error) => error.into(),
    }
}
