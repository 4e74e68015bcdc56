//! Lets in whom a proven key belongs to: the session, its event and what changes among the users, all in one write.

use anyhow::{Context, anyhow};
use jiff::Timestamp;
use signpost_auth::{Mode, PasskeyKey};
use signpost_store::{Step, WatchedVersion, WriteOutcome, random};
use url::Url;

use crate::browser_sessions;
use crate::domains::LoginMethod;
use crate::error::Error;
use crate::flows::lookup::lost_race;
use crate::ids::UserId;
use crate::service::LoginService;
use crate::sessions::{self, Flow, Login, PasskeyOffer, Session, SessionState};
use crate::users::credential_sql::AddCredentialError;
use crate::users::{
    self, AuthenticatorUser, Credential, CredentialKey, CredentialKind, Entrant, NewCredential, NewUser,
    PasskeyColumns, UserEntropy,
};

/// How often a write is tried again whose petname somebody had, or whose user changed meanwhile.
const MAX_ATTEMPTS: usize = 16;

/// Who has the key, among the users of the session's domain; of a direct domain, nobody whom we know.
///
/// # Errors
/// As [`users::sql::find_by_key`].
pub(crate) async fn find_holder(
    service: &LoginService,
    session: &Session,
    public_key: &str,
) -> Result<Option<Credential>, Error> {
    if session.hosted_url.is_none() {
        return Ok(None);
    }
    match CredentialKey::parse(public_key) {
        Ok(key) => Ok(users::sql::find_by_key(&service.store, &session.domain_id, &key).await?),
        Err(_) => Ok(None),
    }
}

/// Ends well where somebody with this credential, or without one, may answer the session.
///
/// # Errors
/// [`Error::UserUnknown`], [`Error::UserExists`], [`Error::CredentialExists`].
pub(crate) fn check_holder(session: &Session, holder: Option<&Credential>) -> Result<(), Error> {
    match (session.challenge.mode, holder) {
        _ if session.hosted_url.is_none() => Ok(()),
        (Mode::Login, None) => Err(Error::UserUnknown),
        (Mode::Register, Some(_)) => Err(Error::UserExists),
        (Mode::Link, Some(_)) => Err(Error::CredentialExists),
        (Mode::Login, Some(_)) | (Mode::Register | Mode::Link, None) => Ok(()),
    }
}

/// Keeps a login whose key belongs to `holder`, to a newcomer, or from now on to the user of a link. Of two registrations
/// of one key that race, the second is refused while its wallet waits; once the wallet was told of its success, it logs
/// the user in.
///
/// # Errors
/// [`Error::UserUnknown`], [`Error::UserExists`], [`Error::CredentialExists`] and [`Error::TooManyCredentials`] where the
/// users changed meanwhile, or another answer came first.
pub(crate) async fn admit(
    service: &LoginService,
    login: Login,
    url: Option<&Url>,
    mut holder: Option<Credential>,
) -> Result<Login, Error> {
    let asked = login.session.clone();
    let SessionState::Authenticated { at, user } = &asked.state else { return Err(anyhow!("nobody logs in").into()) };
    let key = CredentialKey::parse(&user.public_key).context("a proven key is a key")?;
    for attempt in 0..MAX_ATTEMPTS {
        let was_known = holder.is_some();
        let entrant = make_entrant(&login, key.clone(), holder, *at, attempt == 0);
        let (linked, login) = (linked(&entrant), login.clone().of_user(entrant.user_id()));
        let offered = settle_offer(&asked, entrant.user_id(), *at)?;
        let signed_in = sign_in(&login, entrant.user_id(), &key, *at);
        let steps = entrant.steps(*at).into_iter().chain(offered).chain(signed_in).collect();
        match write_login(service, &login, url, None, steps).await? {
            WriteOutcome::Committed(_) => return Ok(login),
            WriteOutcome::Refused(0) => return Err(lost_race(service, &asked).await),
            WriteOutcome::Refused(_) => {}
        }
        if let Some(credential) = linked {
            return Err(explain_not_linked(service, &asked, &credential).await?);
        }
        holder = users::sql::find_by_key(&service.store, &asked.domain_id, &key).await?;
        match (was_known, &holder) {
            (true, None) => return Err(Error::UserUnknown),
            (false, Some(_)) if asked.options.flow == Flow::CrossDevice => return Err(Error::UserExists),
            (_, None) if is_passkey_taken(service, &login).await? => return Err(Error::UserExists),
            _ => {}
        }
    }
    Err(anyhow!("a user of {} could be neither found nor made", asked.domain_id).into())
}

/// Whether somebody got a passkey of the same name since this one was accepted.
async fn is_passkey_taken(service: &LoginService, login: &Login) -> Result<bool, Error> {
    let Some(passkey) = &login.passkey else { return Ok(false) };
    Ok(users::credential_sql::find_passkey_anywhere(&service.store, &passkey.id).await?.is_some())
}

/// Whom a login lets in. A newcomer gets the petname that stands beside a passkey already, unless somebody has it: then
/// the first attempt was refused.
fn make_entrant(
    login: &Login,
    key: CredentialKey,
    holder: Option<Credential>,
    now: Timestamp,
    is_first: bool,
) -> Entrant {
    let Login { session, passkey, .. } = login;
    let columns = passkey.as_deref().map(|proof| PasskeyColumns { id: proof.id.clone(), sign_count: proof.sign_count });
    let handle = passkey.as_deref().and_then(|proof| proof.handle);
    if let Some(own) = holder {
        warn_of_copy(&own, columns.as_ref());
        return Entrant::Known(Box::new(Credential { passkey: columns, ..own }));
    }
    let key = NewCredential { key, kind: method_of(session).into(), passkey: columns };
    if let Some(link) = session.link() {
        let credential = Box::new(key.into_credential(&session.domain_id, &link.user, now, random()));
        return Entrant::Linked { credential, handle, opened_by: link.credential.clone() };
    }
    let of_proof = passkey.as_deref().and_then(|proof| Some((proof.handle?, proof.petname.clone())));
    let of_offer = match session.offer() {
        PasskeyOffer::Made(made) => Some((made.handle, made.petname.clone())),
        _ => None,
    };
    let known_as = of_proof.or(of_offer);
    let known_as =
        known_as.map(|(handle, petname)| AuthenticatorUser { handle, petname: petname.filter(|_| is_first) });
    Entrant::New(Box::new(NewUser::register(&session.domain_id, key, known_as, now, UserEntropy::draw())))
}

/// The browser that was sent back with a login is signed in by it. A key that joins an account proves nothing of its browser.
fn sign_in(login: &Login, user: &UserId, key: &CredentialKey, now: Timestamp) -> Option<Step> {
    let Login { session, .. } = login;
    if session.options.flow != Flow::Page || session.challenge.mode == Mode::Link {
        return None;
    }
    Some(browser_sessions::sql::sign_in_step(&session.id, user, &key.canonical(), method_of(session), now))
}

fn method_of(session: &Session) -> LoginMethod {
    match &session.state {
        SessionState::Authenticated { user, .. } => user.method.unwrap_or_default(),
        _ => LoginMethod::default(),
    }
}

/// Logs where a passkey counted backwards: it may have been copied. Passkeys that are kept in several devices do not
/// count, so that nothing else follows from it (Web Authentication, 6.1.1).
fn warn_of_copy(own: &Credential, now: Option<&PasskeyColumns>) {
    let counts = own.passkey.as_ref().zip(now).map(|(before, now)| (before.sign_count, now.sign_count));
    if counts.is_some_and(|(before, now)| (before, now) != (0, 0) && now <= before) {
        let (credential, domain) = (&own.id, &own.domain_id);
        tracing::warn!(%credential, %domain, "passkey counted backwards");
    }
}

fn linked(entrant: &Entrant) -> Option<Credential> {
    match entrant {
        Entrant::Linked { credential, .. } => Some((**credential).clone()),
        Entrant::Known(_) | Entrant::New(_) => None,
    }
}

/// What an offer of a passkey changes among the users, once it is known which user that is.
fn settle_offer(session: &Session, user: &UserId, now: Timestamp) -> Result<Option<Step>, Error> {
    match session.offer() {
        PasskeyOffer::NotMade | PasskeyOffer::Open => Ok(None),
        PasskeyOffer::Declined => Ok(Some(users::credential_sql::decline_step(&session.domain_id, user, now))),
        PasskeyOffer::Made(made) => {
            let key = PasskeyKey::parse_hex(&made.public_key).context("an offered passkey has a key")?;
            let passkey = Some(PasskeyColumns { id: made.id.clone(), sign_count: made.sign_count });
            let key = NewCredential { key: CredentialKey::Passkey(key), kind: CredentialKind::Passkey, passkey };
            let credential = key.into_credential(&session.domain_id, user, now, random());
            Ok(Some(users::sql::add_offered_step(credential, made.handle)))
        }
    }
}

/// Returns the error for a key that was not linked: the link is cancelled if the credential that opened it was removed.
async fn explain_not_linked(
    service: &LoginService,
    session: &Session,
    credential: &Credential,
) -> anyhow::Result<Error> {
    if !has_opener(service, session).await? {
        return Ok(Error::SessionCancelled { id: session.id.to_string() });
    }
    Ok(match users::credential_sql::explain_not_added(&service.store, credential).await? {
        AddCredentialError::NoUser => Error::UserUnknown,
        AddCredentialError::Exists => Error::CredentialExists,
        AddCredentialError::TooMany => Error::TooManyCredentials,
        AddCredentialError::Internal(error) => error.into(),
    })
}

/// Returns whether the user of a link still has the credential that opened it. True if the user is gone, which is another
/// error, and for links that an operator created.
async fn has_opener(service: &LoginService, session: &Session) -> anyhow::Result<bool> {
    let Some(link) = session.link() else { return Ok(true) };
    let Some(opener) = &link.credential else { return Ok(true) };
    let found = users::sql::find(&service.store, &session.domain_id, &link.user).await?;
    Ok(found.is_none_or(|(_, credentials)| credentials.iter().any(|own| own.id == *opener)))
}

/// Writes a login and what `with` says, all or nothing: refused at 0 where another answer came first, or the watched tables
/// may have changed since `as_of`.
///
/// # Errors
/// As [`signpost_store::Store::write`].
pub(crate) async fn write_login(
    service: &LoginService,
    login: &Login,
    url: Option<&Url>,
    as_of: Option<WatchedVersion>,
    with: Vec<Step>,
) -> anyhow::Result<WriteOutcome> {
    match login.session.options.flow {
        Flow::CrossDevice => sessions::sql::authenticate(&service.store, login, url, as_of, with).await,
        Flow::SameDevice | Flow::Page => sessions::sql::complete(&service.store, login, url, as_of, with).await,
    }
}
