//! Stores logins at hosted domains. The session, its event and the changes of the user tables are
//! committed in a single write.

use anyhow::{Context, anyhow};
use jiff::Timestamp;
use signpost_auth::{Mode, PasskeyKey};
use signpost_store::{Statement, random};

use crate::browser_sessions;
use crate::domains::LoginMethod;
use crate::error::Error;
use crate::flows::login_events::LoginEvents;
use crate::ids::UserId;
use crate::service::LoginService;
use crate::sessions::{self, Flow, Login, PasskeyOffer, Session, SessionState, SessionWriteError};
use crate::users::credential_sql::{AddCredentialError, not_added_reason};
use crate::users::{
    self, AuthenticatorUser, Credential, CredentialKey, CredentialKind, LinkCondition, LoginSubject, NewCredential,
    NewUser, PasskeyColumns, UserEntropy,
};

/// Maximum attempts at a write that is refused because a username is taken or the user has changed.
const MAX_ATTEMPTS: usize = 16;

/// Returns the credential with this key. Always `None` for domains with a direct handler: their users are not stored
/// here.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub(crate) async fn find_credential(
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

/// Checks that a key with this credential, or without a credential, may answer the session.
///
/// # Errors
/// Returns [`Error::UserUnknown`], [`Error::UserExists`], [`Error::CredentialExists`].
pub(crate) fn check_credential(session: &Session, credential: Option<&Credential>) -> Result<(), Error> {
    match (session.challenge.mode, credential) {
        _ if session.hosted_url.is_none() => Ok(()),
        (Mode::Login, None) => Err(Error::UserUnknown),
        (Mode::Register, Some(_)) => Err(Error::UserExists),
        (Mode::Link, Some(_)) => Err(Error::CredentialExists),
        (Mode::Login, Some(_)) | (Mode::Register | Mode::Link, None) => Ok(()),
    }
}

/// Stores the login of an existing credential, of a new user, or of a key that is added to an account. Of two
/// concurrent registrations of a key, the second is refused while its wallet waits, and logs the user in if its wallet
/// has received the success.
///
/// # Errors
/// Returns [`Error::UserUnknown`], [`Error::UserExists`], [`Error::CredentialExists`] and
/// [`Error::TooManyCredentials`] if the users have changed, or an error if another answer came
/// first.
pub(crate) async fn admit(
    service: &LoginService,
    login: Login,
    events: LoginEvents<'_>,
    credential: Option<Credential>,
) -> Result<Login, Error> {
    let mut credential = credential;
    let session = login.session.clone();
    let SessionState::Authenticated { at, user } = &session.state else {
        return Err(anyhow!("the session is not authenticated").into());
    };
    let key = CredentialKey::parse(&user.public_key).context("a verified key is valid")?;
    for attempt in 0..MAX_ATTEMPTS {
        let was_known = credential.is_some();
        let subject = make_subject(&login, key.clone(), credential, *at, attempt == 0);
        let user = subject.user_id().clone();
        let login = login.clone().with_user(&user, matches!(subject, LoginSubject::New(_)));
        let linked = match &subject {
            LoginSubject::Linked { credential, .. } => Some(credential.clone()),
            LoginSubject::Known(_) | LoginSubject::New(_) => None,
        };
        let mut statements = subject.statements(service.username_key().await?, *at);
        statements.extend(linked.as_deref().and_then(|linked| events.credential_added(linked, *at)));
        statements.extend(settle_offer(&session, &user, events, *at)?);
        statements.extend(sign_in(&login, &user, &key, *at));
        match sessions::sql::store_login(&service.store, &login, events.url, None, statements).await {
            Ok(()) => return Ok(login),
            Err(SessionWriteError::StatementRefused) => {}
            Err(error) => return Err(error.into()),
        }
        if let Some(linked) = linked {
            return Err(explain_not_linked(service, &session, &linked).await?);
        }
        credential = users::sql::find_by_key(&service.store, &session.domain_id, &key).await?;
        if !session.accepts_user(credential.as_ref().map(|own| &own.user_id)) {
            return Err(Error::UserRefused);
        }
        match (was_known, &credential) {
            (true, None) => return Err(Error::UserUnknown),
            (false, Some(_)) if session.options.flow == Flow::CrossDevice => return Err(Error::UserExists),
            (_, None) if is_passkey_taken(service, &login).await? => return Err(Error::UserExists),
            _ => {}
        }
    }
    Err(anyhow!("a user of {} could be neither found nor made", session.domain_id).into())
}

/// Returns true if another user has a passkey with this credential ID since the answer was accepted.
async fn is_passkey_taken(service: &LoginService, login: &Login) -> Result<bool, Error> {
    let Some(passkey) = &login.passkey else { return Ok(false) };
    Ok(users::credential_sql::find_passkey_anywhere(&service.store, &passkey.id).await?.is_some())
}

/// Returns the subject of a login. A new user gets the username that the authenticator shows, unless it is taken: then
/// the first attempt was refused.
fn make_subject(
    login: &Login,
    key: CredentialKey,
    credential: Option<Credential>,
    now: Timestamp,
    is_first_attempt: bool,
) -> LoginSubject {
    let Login { session, passkey, .. } = login;
    let columns = passkey.as_ref().map(|proof| PasskeyColumns { id: proof.id.clone(), sign_count: proof.sign_count });
    if let Some(own) = credential {
        warn_about_cloned_passkey(&own, columns.as_ref());
        return LoginSubject::Known(Box::new(Credential { passkey: columns, ..own }));
    }
    let handle = passkey.as_ref().and_then(|proof| proof.handle);
    let key = NewCredential { key, kind: method_of(session).into(), passkey: columns };
    if let Some(link) = session.link() {
        let credential = Box::new(key.into_credential(&session.domain_id, &link.user, now, random()));
        let condition = match &link.credential {
            Some(opener) => LinkCondition::HasCredential(opener.clone()),
            None if session.is_first_key_link() => LinkCondition::NoCredential,
            None => LinkCondition::None,
        };
        return LoginSubject::Linked { credential, handle, condition };
    }
    let known_as = match (handle, session.offer()) {
        (Some(handle), _) => {
            let username = passkey.as_ref().and_then(|proof| proof.petname.clone());
            Some(AuthenticatorUser { handle, username })
        }
        (None, PasskeyOffer::Made(made)) => {
            Some(AuthenticatorUser { handle: made.handle, username: made.petname.clone() })
        }
        (None, _) => None,
    };
    let known_as =
        known_as.map(|user| if is_first_attempt { user } else { AuthenticatorUser { username: None, ..user } });
    LoginSubject::New(Box::new(NewUser::register(&session.domain_id, key, known_as, now, UserEntropy::draw())))
}

/// Returns the statement that signs in the browser that returned with a login. A linked key does not sign in a browser.
fn sign_in(login: &Login, user: &UserId, key: &CredentialKey, now: Timestamp) -> Option<Statement> {
    let Login { session, .. } = login;
    if session.options.flow != Flow::Page || session.challenge.mode == Mode::Link {
        return None;
    }
    Some(browser_sessions::sql::sign_in_statement(&session.id, user, &key.canonical(), method_of(session), now))
}

fn method_of(session: &Session) -> LoginMethod {
    match &session.state {
        SessionState::Authenticated { user, .. } => user.method.unwrap_or_default(),
        _ => LoginMethod::default(),
    }
}

/// Logs a warning if the signature counter of a passkey did not increase, because the passkey may
/// have been copied. There is no other effect: synced passkeys do not count signatures (Web
/// Authentication, 6.1.1).
fn warn_about_cloned_passkey(own: &Credential, proof: Option<&PasskeyColumns>) {
    let (Some(stored), Some(proof)) = (own.passkey.as_ref(), proof) else { return };
    let counts = stored.sign_count != 0 || proof.sign_count != 0;
    if counts && proof.sign_count <= stored.sign_count {
        tracing::warn!(credential = %own.id, domain = %own.domain_id, "passkey counted backwards");
    }
}

/// Returns the statements that store the outcome of the offer of a passkey with the user.
fn settle_offer(
    session: &Session,
    user: &UserId,
    events: LoginEvents<'_>,
    now: Timestamp,
) -> Result<Vec<Statement>, Error> {
    match session.offer() {
        PasskeyOffer::NotMade | PasskeyOffer::Open => Ok(Vec::new()),
        PasskeyOffer::Declined => Ok(vec![users::credential_sql::decline_statement(&session.domain_id, user, now)]),
        PasskeyOffer::Made(made) => {
            let key = PasskeyKey::parse_hex(&made.public_key).context("an offered passkey has a key")?;
            let passkey = Some(PasskeyColumns { id: made.id.clone(), sign_count: made.sign_count });
            let key = NewCredential { key: CredentialKey::Passkey(key), kind: CredentialKind::Passkey, passkey };
            let credential = key.into_credential(&session.domain_id, user, now, random());
            let event = events.credential_added(&credential, now);
            let add = users::sql::add_offered_statement(credential, made.handle);
            Ok([add].into_iter().chain(event).collect())
        }
    }
}

/// Returns the error for a key that was not linked: the link is cancelled if the credential that opened it was removed.
async fn explain_not_linked(
    service: &LoginService,
    session: &Session,
    credential: &Credential,
) -> anyhow::Result<Error> {
    let found = users::sql::find(&service.store, &session.domain_id, &credential.user_id).await?;
    let Some((_, credentials)) = found else { return Ok(Error::UserUnknown) };
    let opener = session.link().and_then(|link| link.credential.as_ref());
    if opener.is_some_and(|opener| !credentials.iter().any(|own| own.id == *opener)) {
        return Ok(Error::SessionCancelled { id: session.id.to_string() });
    }
    if session.is_first_key_link() {
        return Ok(Error::CredentialExists);
    }
    Ok(match not_added_reason(&credentials, credential) {
        AddCredentialError::NoUser => Error::UserUnknown,
        AddCredentialError::Exists => Error::CredentialExists,
        AddCredentialError::TooMany => Error::TooManyCredentials,
        AddCredentialError::Internal(error) => error.into(),
    })
}
