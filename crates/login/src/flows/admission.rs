//! Lets in whom a proven key belongs to: the session, its event and what changes among the users, all in one write.

use anyhow::{Context, anyhow};
use signpost_auth::{Mode, PublicKey};
use signpost_store::{Step, WriteOutcome};
use url::Url;

use crate::error::Error;
use crate::flows::lookup::lost_race;
use crate::service::LoginService;
use crate::sessions::{self, Flow, Login, Session, SessionState};
use crate::users::{self, Credential, Entrant, NewUser, UserEntropy};

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
    match PublicKey::parse(public_key) {
        Ok(key) if session.hosted_url.is_some() => {
            Ok(users::sql::find_by_key(&service.store, &session.domain_id, &key).await?)
        }
        _ => Ok(None),
    }
}

/// Ends well where somebody with this credential, or without one, may answer the session.
///
/// # Errors
/// [`Error::UserUnknown`], [`Error::UserExists`].
pub(crate) fn check_holder(session: &Session, holder: Option<&Credential>) -> Result<(), Error> {
    match (session.challenge.mode, holder) {
        _ if session.hosted_url.is_none() => Ok(()),
        (Mode::Login, None) => Err(Error::UserUnknown),
        (Mode::Register, Some(_)) => Err(Error::UserExists),
        (Mode::Login, Some(_)) | (Mode::Register, None) => Ok(()),
    }
}

/// Keeps a login whose key belongs to `holder`, or to a newcomer. Of two registrations of one key that race, the second
/// is refused while its wallet waits; once the wallet was told of its success, it logs the user in.
///
/// # Errors
/// [`Error::UserUnknown`] and [`Error::UserExists`] where the users changed meanwhile, or another answer came first.
pub(crate) async fn admit(
    service: &LoginService,
    login: Login,
    url: &Url,
    mut holder: Option<Credential>,
) -> Result<Login, Error> {
    let asked = &login.session;
    let SessionState::Authenticated { at, user } = &asked.state else { return Err(anyhow!("nobody logs in").into()) };
    let method = user.method.unwrap_or_default();
    let key = PublicKey::parse(&user.public_key).context("a proven key is a key")?;
    for _ in 0..MAX_ATTEMPTS {
        let was_known = holder.is_some();
        let new = || NewUser::register(&asked.domain_id, &key, method.into(), *at, UserEntropy::draw());
        let entrant = holder.map_or_else(|| Entrant::New(Box::new(new())), |own| Entrant::Known(Box::new(own)));
        let login = login.clone().of_user(entrant.user_id());
        match write_login(service, &login, url, entrant.steps(*at)).await? {
            WriteOutcome::Committed(_) => return Ok(login),
            WriteOutcome::Refused(0) => return Err(lost_race(service, asked).await),
            WriteOutcome::Refused(_) => {}
        }
        holder = users::sql::find_by_key(&service.store, &asked.domain_id, &key).await?;
        match (was_known, &holder) {
            (true, None) => return Err(Error::UserUnknown),
            (false, Some(_)) if asked.options.flow == Flow::CrossDevice => return Err(Error::UserExists),
            _ => {}
        }
    }
    Err(anyhow!("a user of {} could be neither found nor made", asked.domain_id).into())
}

/// Writes a login and what `with` says, all or nothing: refused at 0 where another answer came first.
///
/// # Errors
/// As [`signpost_store::Store::write`].
pub(crate) async fn write_login(
    service: &LoginService,
    login: &Login,
    url: &Url,
    with: Vec<Step>,
) -> anyhow::Result<WriteOutcome> {
    match login.session.options.flow {
        Flow::CrossDevice => sessions::sql::authenticate(&service.store, login, url, with).await,
        Flow::SameDevice | Flow::Page => sessions::sql::complete(&service.store, login, url, with).await,
    }
}
