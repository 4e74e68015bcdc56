//! Passkeys on the page: what its script asks the device for, and what follows from the device's answer.

use anyhow::Context;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use signpost_auth::receiver::HandlerRefusal;
use signpost_auth::{
    K1, Mode, PasskeyAssertion, PasskeyHandle, PasskeyId, PasskeyKey, PasskeyRegistration, RelyingParty,
};
use signpost_platform::pages::cookie::CookieSecret;
use signpost_store::random;

use crate::domains::{Domain, LoginMethod};
use crate::error::Error;
use crate::flows::admission::find_holder;
use crate::flows::notices::leave_notice;
use crate::flows::offer::settle_offer;
use crate::flows::page_answers::accept_proof;
use crate::flows::refusals::{count_answer, log_failure, to_refusal};
use crate::ids::{SessionId, UserId};
use crate::service::LoginService;
use crate::sessions::{
    Answerer, NoticeReason, OfferedPasskey, PasskeyAnswerRefusal, PasskeyOffer, ProvenKey, Session, SessionState,
};
use crate::users::{self, AuthenticatorUser, Credential, HostedUser, Petname, credential_sql};

/// What a page asks the person's device for.
#[derive(Clone, Debug)]
pub(crate) struct PasskeyPrompt {
    pub(crate) rp: RelyingParty,
    pub(crate) challenge: K1,
    /// Whom a passkey is made for; `None` where the person logs in with whichever they choose.
    pub(crate) maker: Option<PasskeyMaker>,
}

/// Somebody for whom a passkey is made.
#[derive(Clone, Debug)]
pub(crate) struct PasskeyMaker {
    pub(crate) handle: PasskeyHandle,
    pub(crate) petname: Petname,
    /// Whether there is such a user already.
    is_user: bool,
    /// The user's passkeys: a device that has one of them makes no other.
    pub(crate) has: Vec<PasskeyId>,
}

/// Why a passkey was refused.
#[derive(Debug)]
pub(crate) enum PasskeyDenial {
    /// The page asks for none now.
    NotAsked,
    /// It is no answer to what the page asked, for this reason.
    NotAccepted(PasskeyAnswerRefusal),
    /// No user of this domain has it. One that no domain here has is named, so that the device forgets it.
    Unknown(Option<PasskeyId>),
    /// It is of another domain here.
    OtherSite(String),
    /// As wallets are refused.
    Wallet(HandlerRefusal),
}

/// What the page asks the device for now; `None` where it takes no passkey.
///
/// # Errors
/// As the reads of the user.
pub(crate) async fn prompt_passkey(
    service: &LoginService,
    session: &Session,
    domain: &Domain,
    cookie: &CookieSecret,
) -> Result<Option<PasskeyPrompt>, Error> {
    let Some(rp) = find_relying_party(service, session, domain) else { return Ok(None) };
    let challenge = K1::of(&session.challenge);
    if logs_in(service, session) {
        return Ok(Some(PasskeyPrompt { rp, challenge, maker: None }));
    }
    let maker = find_maker(service, session, cookie).await?;
    Ok(maker.map(|maker| PasskeyPrompt { rp, challenge, maker: Some(maker) }))
}

/// Takes what the device answered, as `PublicKeyCredential.toJSON()` writes it.
///
/// # Errors
/// What the page says of it.
pub(crate) async fn accept_passkey(
    service: &LoginService,
    session: Session,
    domain: &Domain,
    cookie: &CookieSecret,
    credential: &str,
) -> Result<(), PasskeyDenial> {
    let rp = find_relying_party(service, &session, domain).ok_or(PasskeyDenial::NotAsked)?;
    count_answer(service, &session.account).await?;
    if logs_in(service, &session) {
        return log_in(service, session, domain, &rp, credential).await;
    }
    let maker = find_maker(service, &session, cookie).await?.ok_or(PasskeyDenial::NotAsked)?;
    let registration = match PasskeyRegistration::parse(credential) {
        Ok(registration) => registration,
        Err(refusal) => return refuse(service, &session, refusal.into()).await,
    };
    let user = AuthenticatorUser { handle: maker.handle, petname: Some(maker.petname).filter(|_| !maker.is_user) };
    let key = match session.verify_new_passkey(&registration, user, &rp, service.clock.now()) {
        Ok(key) => key,
        Err(refusal) => return refuse(service, &session, refusal).await,
    };
    if session.is_answered() {
        return keep_offered(service, session, &key).await;
    }
    let is_known = find_holder(service, &session, &key.evidence().public_key).await?.is_some();
    // A name that stands for somebody's passkey already is made up, and would take nobody in.
    let name = key.evidence().passkey.as_ref().map(|passkey| &passkey.id);
    if !is_known && is_taken(service, name).await? {
        return refuse(service, &session, PasskeyAnswerRefusal::Taken).await;
    }
    Ok(accept_proof(service, session, domain, key, is_known, Answerer::Owner).await?)
}

/// Whether somebody at a domain of this server has a passkey of this name.
async fn is_taken(service: &LoginService, name: Option<&PasskeyId>) -> Result<bool, Error> {
    let Some(name) = name else { return Ok(false) };
    Ok(credential_sql::find_passkey_anywhere(&service.store, name).await?.is_some())
}

/// Whom passkeys are made for, where the page takes any.
fn find_relying_party(service: &LoginService, session: &Session, domain: &Domain) -> Option<RelyingParty> {
    let can = service.supported_methods(session.account.environment);
    let is_offered = session.offers(domain, &can).contains(&LoginMethod::Passkey);
    service.relying_party.clone().filter(|_| is_offered)
}

fn logs_in(service: &LoginService, session: &Session) -> bool {
    session.challenge.mode == Mode::Login && session.check_open(service.clock.now()).is_ok()
}

/// Whom the page makes a passkey for: a newcomer, the user to whom a key is added, or whoever logged in by wallet.
async fn find_maker(
    service: &LoginService,
    session: &Session,
    cookie: &CookieSecret,
) -> Result<Option<PasskeyMaker>, Error> {
    let now = service.clock.now();
    let user = match (&session.state, session.link()) {
        (SessionState::AnsweredOnPage { evidence }, None)
            if *session.offer() == PasskeyOffer::Open && session.check_pending(now).is_ok() =>
        {
            find_holder(service, session, &evidence.public_key).await?.map(|holder| holder.user_id)
        }
        _ if session.check_open(now).is_err() => return Ok(None),
        (_, Some(link)) => Some(link.user.clone()),
        (_, None) => None,
    };
    match user {
        Some(user) => find_user(service, session, &user).await,
        None => Ok(Some(PasskeyMaker::newcomer(cookie, &session.id))),
    }
}

async fn find_user(service: &LoginService, session: &Session, user: &UserId) -> Result<Option<PasskeyMaker>, Error> {
    let (store, domain) = (&service.store, &session.domain_id);
    let handle = PasskeyHandle::from_bytes(random());
    let Some(handle) = credential_sql::ensure_passkey_handle(store, domain, user, handle).await? else {
        return Ok(None);
    };
    let Some((user, credentials)) = users::sql::find(store, domain, user).await? else { return Ok(None) };
    let has = credentials.into_iter().filter_map(|credential| Some(credential.passkey?.id)).collect();
    Ok(Some(PasskeyMaker { handle, petname: user.petname, is_user: true, has }))
}

impl PasskeyMaker {
    /// Somebody who becomes a user by this session. What the device is told follows from the cookie, so that a second
    /// attempt names the same user and nothing has to be kept meanwhile.
    fn newcomer(cookie: &CookieSecret, session: &SessionId) -> Self {
        let derive = |purpose: &str| -> [u8; 32] {
            let mac =
                Hmac::<Sha256>::new_from_slice(cookie.reveal().as_bytes()).expect("HMAC takes keys of any length");
            mac.chain_update(purpose).chain_update(session.as_str()).finalize().into_bytes().into()
        };
        let handle = PasskeyHandle::from_bytes(derive("signpost passkey handle "));
        let mut drawn = [0; 8];
        drawn.copy_from_slice(&derive("signpost petname ")[..8]);
        Self { handle, petname: Petname::draw(drawn), is_user: false, has: Vec::new() }
    }
}

/// Logs in with a passkey, if it is one of this domain.
async fn log_in(
    service: &LoginService,
    session: Session,
    domain: &Domain,
    rp: &RelyingParty,
    credential: &str,
) -> Result<(), PasskeyDenial> {
    let assertion = match PasskeyAssertion::parse(credential) {
        Ok(assertion) => assertion,
        Err(refusal) => return refuse(service, &session, refusal.into()).await,
    };
    let found = credential_sql::find_passkey_anywhere(&service.store, assertion.id()).await?;
    let Some((holder, site, _)) = found else {
        leave_notice(service, &session, NoticeReason::UnknownPasskey).await?;
        return Err(PasskeyDenial::Unknown(Some(assertion.id().clone())));
    };
    let key = PasskeyKey::parse_hex(&holder.public_key).context("users.public_key")?;
    let proof = match session.verify_passkey(&assertion, &key, rp, service.clock.now()) {
        Ok(proof) => proof,
        Err(refusal) => return refuse(service, &session, refusal).await,
    };
    if holder.domain_id != session.domain_id {
        // Only who can sign with it is told whose it is. A namesake in another account or environment would be no help.
        if site == session.challenge.domain {
            leave_notice(service, &session, NoticeReason::UnknownPasskey).await?;
            return Err(PasskeyDenial::Unknown(None));
        }
        leave_notice(service, &session, NoticeReason::OtherSite { domain: site.clone() }).await?;
        return Err(PasskeyDenial::OtherSite(site.to_string()));
    }
    if !is_of_user(service, &holder, &assertion).await? {
        return refuse(service, &session, PasskeyAnswerRefusal::UserHandle).await;
    }
    Ok(accept_proof(service, session, domain, proof, true, Answerer::Owner).await?)
}

/// Returns whether the authenticator names the user who has the passkey. The page names no credentials, so a passkey must be
/// discoverable, and its authenticator must name the user (Web Authentication, section 7.2, step 6).
async fn is_of_user(service: &LoginService, holder: &Credential, assertion: &PasskeyAssertion) -> Result<bool, Error> {
    let found = users::sql::find(&service.store, &holder.domain_id, &holder.user_id).await?;
    let Some((HostedUser { passkey_handle, .. }, _)) = found else { return Ok(false) };
    Ok(assertion.user_handle().is_some() && assertion.user_handle() == passkey_handle.as_ref())
}

/// Keeps a passkey that was made beside a wallet's answer: it becomes the user's when the login is completed.
async fn keep_offered(service: &LoginService, session: Session, key: &ProvenKey) -> Result<(), PasskeyDenial> {
    let evidence = key.evidence();
    let (Some(passkey), Some(handle)) =
        (&evidence.passkey, evidence.passkey.as_ref().and_then(|passkey| passkey.handle))
    else {
        return Err(PasskeyDenial::NotAccepted(PasskeyAnswerRefusal::UserHandle));
    };
    if is_taken(service, Some(&passkey.id)).await? {
        return Err(PasskeyDenial::NotAccepted(PasskeyAnswerRefusal::Taken));
    }
    let made = OfferedPasskey {
        public_key: evidence.public_key.clone(),
        id: passkey.id.clone(),
        sign_count: passkey.sign_count,
        handle,
        petname: passkey.petname.clone(),
    };
    let settled = settle_offer(service, &session, PasskeyOffer::Made(Box::new(made))).await;
    settled.map_err(|error| error.on_conflict(PasskeyDenial::NotAsked))
}

/// Refuses a passkey. The page does not say why, because its user can do nothing else about one reason than about another; the
/// log does.
async fn refuse(service: &LoginService, session: &Session, refusal: PasskeyAnswerRefusal) -> Result<(), PasskeyDenial> {
    leave_notice(service, session, NoticeReason::PasskeyRefused).await?;
    Err(PasskeyDenial::NotAccepted(refusal))
}

impl PasskeyDenial {
    /// Returns why the passkey was refused; `None` if no passkey was looked at, or if it is refused as a wallet would be.
    pub(crate) fn refusal(&self) -> Option<PasskeyAnswerRefusal> {
        match self {
            Self::NotAccepted(refusal) => Some(*refusal),
            Self::Unknown(_) => Some(PasskeyAnswerRefusal::Unknown),
            Self::OtherSite(_) => Some(PasskeyAnswerRefusal::OtherSite),
            Self::NotAsked | Self::Wallet(_) => None,
        }
    }
}

impl From<HandlerRefusal> for PasskeyDenial {
    fn from(refusal: HandlerRefusal) -> Self {
        Self::Wallet(refusal)
    }
}

impl From<Error> for PasskeyDenial {
    fn from(error: Error) -> Self {
        Self::Wallet(to_refusal(&error))
    }
}

impl From<anyhow::Error> for PasskeyDenial {
    fn from(error: anyhow::Error) -> Self {
        Self::Wallet(log_failure(error))
    }
}
