//! Logs in with passkeys on the login page: creates the options for the device, and accepts the
//! response of the device.

use anyhow::Context;
use signpost_auth::receiver::HandlerRefusal;
use signpost_auth::{
    K1, Mode, PasskeyAssertion, PasskeyHandle, PasskeyId, PasskeyKey, PasskeyRegistration, RelyingParty,
};
use signpost_platform::pages::cookie::CookieSecret;
use signpost_store::random;

use crate::domains::{Domain, LoginMethod};
use crate::error::Error;
use crate::flows::admission::find_credential;
use crate::flows::changes::{record_notice, settle_offer};
use crate::flows::page_answers::{PageAnswer, accept_key, is_offered, refuse_user};
use crate::flows::refusals::{count_answer, internal_error};
use crate::ids::{SessionId, UserId};
use crate::service::LoginService;
use crate::sessions::{
    NoticeReason, OfferedPasskey, PasskeyAnswerRefusal, PasskeyOffer, Responder, Session, SessionState, VerifiedKey,
};
use crate::users::{self, AuthenticatorUser, Credential, HostedUser, Username, credential_sql};

/// The options of the prompt that a page shows for a passkey.
#[derive(Clone, Debug)]
pub(crate) struct PasskeyPrompt {
    pub(crate) rp: RelyingParty,
    pub(crate) challenge: K1,
    /// The user for whom a passkey is created. `None` for a login with any passkey.
    pub(crate) user_entity: Option<PasskeyUserEntity>,
}

/// A user for whom a passkey is created.
#[derive(Clone, Debug)]
pub(crate) struct PasskeyUserEntity {
    pub(crate) handle: PasskeyHandle,
    /// The username that the device shows.
    pub(crate) username: String,
    /// The generated username of a user who registers.
    petname: Option<Username>,
    /// The passkeys of the user. They exclude devices with any of these passkeys.
    pub(crate) exclude_credentials: Vec<PasskeyId>,
}

/// The reason why a passkey was refused.
#[derive(Debug)]
pub(crate) enum PasskeyDenial {
    /// The page does not accept a passkey now.
    NotOffered,
    /// The response of the device is invalid, for this reason.
    Invalid(PasskeyAnswerRefusal),
    /// No user of this domain has the passkey. A passkey that no domain of this server has is named, so that the device
    /// can remove it.
    Unknown(Option<PasskeyId>),
    /// The passkey belongs to this other domain.
    OtherSite(String),
    /// A reason for which answers of wallets are refused too.
    Wallet(HandlerRefusal),
}

/// Returns the options for the device. `None` if the page does not accept a passkey.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub(crate) async fn prompt_passkey(
    service: &LoginService,
    session: &Session,
    domain: &Domain,
    cookie: &CookieSecret,
) -> Result<Option<PasskeyPrompt>, Error> {
    let Some(rp) = find_relying_party(service, session, domain) else { return Ok(None) };
    let challenge = K1::of(&session.challenge);
    if logs_in(service, session) {
        return Ok(Some(PasskeyPrompt { rp, challenge, user_entity: None }));
    }
    let user_entity = find_user_entity(service, session, cookie).await?;
    Ok(user_entity.map(|user_entity| PasskeyPrompt { rp, challenge, user_entity: Some(user_entity) }))
}

/// Accepts the response of the device, in the form of `PublicKeyCredential.toJSON()`.
///
/// # Errors
/// Returns the reason why the passkey was refused.
pub(crate) async fn accept_passkey(
    service: &LoginService,
    session: Session,
    domain: &Domain,
    cookie: &CookieSecret,
    credential: &str,
) -> Result<(), PasskeyDenial> {
    let rp = find_relying_party(service, &session, domain).ok_or(PasskeyDenial::NotOffered)?;
    count_answer(service, &session.account).await?;
    if logs_in(service, &session) {
        return log_in(service, session, domain, &rp, credential).await;
    }
    let user_entity = find_user_entity(service, &session, cookie).await?.ok_or(PasskeyDenial::NotOffered)?;
    let registration = match PasskeyRegistration::parse(credential) {
        Ok(registration) => registration,
        Err(refusal) => return refuse(service, &session, refusal.into()).await,
    };
    let user = AuthenticatorUser { handle: user_entity.handle, username: user_entity.petname };
    let key = match session.verify_new_passkey(&registration, user, &rp, service.clock.now()) {
        Ok(key) => key,
        Err(refusal) => return refuse(service, &session, refusal).await,
    };
    if session.is_answered() {
        return store_offered(service, session, &key).await;
    }
    let user = find_credential(service, &session, &key.proof().public_key).await?.map(|found| found.user_id);
    // The credential ID of an existing passkey is forged.
    if user.is_none()
        && let Some(passkey) = &key.proof().passkey
        && is_taken(service, &passkey.id).await?
    {
        return refuse(service, &session, PasskeyAnswerRefusal::Taken).await;
    }
    let answer = PageAnswer { key, user, responder: Responder::PageOwner, is_counted: false };
    Ok(accept_key(service, session, domain, answer).await?)
}

/// Returns true if a user of any domain of this server has the passkey with this credential ID.
async fn is_taken(service: &LoginService, id: &PasskeyId) -> Result<bool, Error> {
    Ok(credential_sql::find_passkey_anywhere(&service.store, id).await?.is_some())
}

/// Returns the relying party if the page accepts passkeys.
fn find_relying_party(service: &LoginService, session: &Session, domain: &Domain) -> Option<RelyingParty> {
    if !is_offered(service, session, domain, LoginMethod::Passkey) {
        return None;
    }
    service.relying_party.clone()
}

fn logs_in(service: &LoginService, session: &Session) -> bool {
    session.challenge.mode == Mode::Login && session.check_open(service.clock.now()).is_ok()
}

/// Returns the user for whom the page creates a passkey: a new user, the user to whom a key is added, or the user who
/// logged in by wallet and got an offer.
async fn find_user_entity(
    service: &LoginService,
    session: &Session,
    cookie: &CookieSecret,
) -> Result<Option<PasskeyUserEntity>, Error> {
    let now = service.clock.now();
    let user = match (&session.state, session.link()) {
        (SessionState::AnsweredOnPage { proof }, None)
            if *session.offer() == PasskeyOffer::Open && session.check_pending(now).is_ok() =>
        {
            find_credential(service, session, &proof.public_key).await?.map(|credential| credential.user_id)
        }
        _ if session.check_open(now).is_err() => return Ok(None),
        (_, Some(link)) => Some(link.user.clone()),
        (_, None) => None,
    };
    match user {
        Some(user) => find_user(service, session, &user).await,
        None => Ok(Some(PasskeyUserEntity::new_user(cookie, &session.id))),
    }
}

async fn find_user(
    service: &LoginService,
    session: &Session,
    user: &UserId,
) -> Result<Option<PasskeyUserEntity>, Error> {
    let store = &service.store;
    let domain = &session.domain_id;
    let handle = PasskeyHandle::from_bytes(random());
    let Some(handle) = credential_sql::ensure_passkey_handle(store, domain, user, handle).await? else {
        return Ok(None);
    };
    let Some((user, credentials)) = users::sql::find(store, domain, user).await? else { return Ok(None) };
    let exclude_credentials = credentials.into_iter().filter_map(|credential| Some(credential.passkey?.id)).collect();
    Ok(Some(PasskeyUserEntity { handle, username: user.username().to_owned(), petname: None, exclude_credentials }))
}

impl PasskeyUserEntity {
    /// Creates a user who registers by this session. Handle and username are derived from the cookie, so that they are
    /// equal in a second attempt.
    fn new_user(cookie: &CookieSecret, session: &SessionId) -> Self {
        let handle = PasskeyHandle::from_bytes(cookie.derive("signpost passkey handle ", session.as_str()));
        let mut seed = [0; 8];
        seed.copy_from_slice(&cookie.derive("signpost petname ", session.as_str())[..8]);
        let petname = Username::draw(seed);
        Self { handle, username: petname.as_str().to_owned(), petname: Some(petname), exclude_credentials: Vec::new() }
    }
}

/// Logs in with a passkey of this domain.
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
    let Some((stored, site, _)) = found else {
        if session.required_user().is_some() {
            return Err(refuse_user(service, &session, false).await.into());
        }
        record_notice(service, &session, NoticeReason::UnknownPasskey).await?;
        return Err(PasskeyDenial::Unknown(Some(assertion.id().clone())));
    };
    let key = PasskeyKey::parse_hex(&stored.public_key).context("users.public_key")?;
    let key = match session.verify_passkey(&assertion, &key, rp, service.clock.now()) {
        Ok(key) => key,
        Err(refusal) => return refuse(service, &session, refusal).await,
    };
    if stored.domain_id != session.domain_id {
        if session.required_user().is_some() {
            return Err(refuse_user(service, &session, false).await.into());
        }
        // The domain is named only after the signature was checked, and only if its name differs from this domain's.
        if site == session.challenge.domain {
            record_notice(service, &session, NoticeReason::UnknownPasskey).await?;
            return Err(PasskeyDenial::Unknown(None));
        }
        record_notice(service, &session, NoticeReason::OtherSite { domain: site.clone() }).await?;
        return Err(PasskeyDenial::OtherSite(site.to_string()));
    }
    if !is_of_user(service, &stored, &assertion).await? {
        return refuse(service, &session, PasskeyAnswerRefusal::UserHandle).await;
    }
    let user = Some(stored.user_id);
    let answer = PageAnswer { key, user, responder: Responder::PageOwner, is_counted: false };
    Ok(accept_key(service, session, domain, answer).await?)
}

/// Returns true if the authenticator names the user of the passkey. The page lists no credentials, so a passkey must be
/// discoverable, and its authenticator must name the user (Web Authentication, section 7.2, step 6).
async fn is_of_user(service: &LoginService, stored: &Credential, assertion: &PasskeyAssertion) -> Result<bool, Error> {
    let found = users::sql::find(&service.store, &stored.domain_id, &stored.user_id).await?;
    let Some((HostedUser { passkey_handle, .. }, _)) = found else { return Ok(false) };
    Ok(assertion.user_handle().is_some() && assertion.user_handle() == passkey_handle.as_ref())
}

/// Stores a passkey that was created after the answer of a wallet. It is added to the user when the login is completed.
async fn store_offered(service: &LoginService, session: Session, key: &VerifiedKey) -> Result<(), PasskeyDenial> {
    let proof = key.proof();
    let Some(passkey) = &proof.passkey else {
        return Err(PasskeyDenial::Invalid(PasskeyAnswerRefusal::UserHandle));
    };
    let Some(handle) = passkey.handle else {
        return Err(PasskeyDenial::Invalid(PasskeyAnswerRefusal::UserHandle));
    };
    if is_taken(service, &passkey.id).await? {
        return Err(PasskeyDenial::Invalid(PasskeyAnswerRefusal::Taken));
    }
    let passkey = OfferedPasskey {
        public_key: proof.public_key.clone(),
        id: passkey.id.clone(),
        sign_count: passkey.sign_count,
        handle,
        petname: passkey.petname.clone(),
    };
    let settled = settle_offer(service, &session, PasskeyOffer::Made(Box::new(passkey))).await;
    settled.map_err(|error| error.on_conflict(PasskeyDenial::NotOffered))
}

/// Refuses a passkey. The page does not show the reason, because it makes no difference to the user; the log contains
/// it.
async fn refuse(service: &LoginService, session: &Session, refusal: PasskeyAnswerRefusal) -> Result<(), PasskeyDenial> {
    record_notice(service, session, NoticeReason::PasskeyRefused).await?;
    Err(PasskeyDenial::Invalid(refusal))
}

impl PasskeyDenial {
    /// Returns the reason for the log. `None` if no passkey was checked, or if wallets have the reason too.
    pub(crate) fn refusal(&self) -> Option<PasskeyAnswerRefusal> {
        match self {
            Self::Invalid(refusal) => Some(*refusal),
            Self::Unknown(_) => Some(PasskeyAnswerRefusal::Unknown),
            Self::OtherSite(_) => Some(PasskeyAnswerRefusal::OtherSite),
            Self::NotOffered | Self::Wallet(_) => None,
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
        Self::Wallet(error.into())
    }
}

impl From<anyhow::Error> for PasskeyDenial {
    fn from(error: anyhow::Error) -> Self {
        Self::Wallet(internal_error(error))
    }
}
