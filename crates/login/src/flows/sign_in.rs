//! Who is signed in at the login host: a login on a page begins it, and the site that completes the login makes it so.

use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use sha2::Sha256;
use signpost_auth::Mode;
use signpost_platform::pages::cookie::{CookieName, CookieSecret};
use signpost_store::{Step, random};

use crate::browser_sessions::{self, BrowserSession, LoginProof, sql};
use crate::domains::Domain;
use crate::error::Error;
use crate::service::LoginService;
use crate::sessions::{PageLink, Session, link_sql};
use crate::users::{self, Credential, HostedUser};

/// Which browser somebody is signed in by. It has a new value after each login.
pub const LOGIN_COOKIE: CookieName = CookieName::new("signpost_login");

/// How long a browser keeps it from the login on: as long as a browser session can last.
pub const LOGIN_COOKIE_LASTS: Duration = Duration::from_hours(30 * 24);

/// Somebody who is signed in at a domain, in one browser.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct SignedInUser {
    pub session: BrowserSession,
    pub proof: LoginProof,
    pub user: HostedUser,
    pub credentials: Vec<Credential>,
}

impl SignedInUser {
    /// Returns the link by which this user adds a key, opened by the credential that signed them in.
    pub(crate) fn link(&self) -> PageLink {
        let opener = self.credentials.iter().find(|own| own.public_key == self.proof.public_key);
        PageLink::new(self.user.id.clone(), opener.map(|own| own.id.clone()))
    }
}

/// Begins to sign the browser in that goes back to the site with the completion code of this session: it owns the session's
/// page by the cookie `page`, and came with `before`. Returns the cookie that it has from now on, unless it has that one
/// already. Nobody is signed in before the site completes the login. A session that adds a key to an account is no login.
///
/// # Errors
/// As [`sql::begin`].
pub(crate) async fn begin_browser_session(
    service: &LoginService,
    session: &Session,
    page: &CookieSecret,
    before: Option<&CookieSecret>,
) -> Result<Option<CookieSecret>, Error> {
    if session.challenge.mode == Mode::Link {
        return Ok(None);
    }
    let before = before.map(CookieSecret::hash);
    let begun = sql::find_by_session(&service.store, &session.id).await?;
    if begun.is_some_and(|begun| before.as_ref().is_some_and(|before| begun.cookie.matches(before))) {
        return Ok(None);
    }
    let (cookie, now) = (derive_cookie(page, session), service.clock.now());
    let place = (session.account.environment, session.domain_id.clone());
    let new = BrowserSession::begin(cookie.hash(), place, session.id.clone(), now, random());
    sql::begin(&service.store, new, before.as_ref()).await?;
    Ok(Some(cookie))
}

/// The cookie after this login. It follows from the page's, so that two tabs and a reload have the same one, and nothing in
/// the database can be turned into it.
fn derive_cookie(page: &CookieSecret, session: &Session) -> CookieSecret {
    let mac = Hmac::<Sha256>::new_from_slice(page.reveal().as_bytes()).expect("HMAC takes keys of any length");
    let mac = mac.chain_update("signpost login ").chain_update(session.id.as_str());
    CookieSecret::from_bytes(mac.finalize().into_bytes().into())
}

/// Who is signed in at a domain in the browser with this cookie, and notes that it came. Whose user is gone, or whose key
/// the user has no more, is signed in no more.
///
/// # Errors
/// As [`sql::list`].
pub async fn find_signed_in(
    service: &LoginService,
    cookie: &CookieSecret,
    domain: &Domain,
) -> Result<Option<SignedInUser>, Error> {
    let Some(found) = watch_signed_in(service, cookie, domain).await? else { return Ok(None) };
    note_use(service, &found).await?;
    Ok(Some(found))
}

/// The same without noting it: for what a page asks by itself, while nobody does anything.
///
/// # Errors
/// As [`sql::list`].
pub async fn watch_signed_in(
    service: &LoginService,
    cookie: &CookieSecret,
    domain: &Domain,
) -> Result<Option<SignedInUser>, Error> {
    let (cookie, now) = (cookie.hash(), service.clock.now());
    let is_here = |session: &BrowserSession| {
        session.is_at(&cookie, domain.account.environment, &domain.id) && session.proof(now).is_some()
    };
    let session = sql::list(&service.store, &cookie).await?.into_iter().find(is_here);
    let Some(session) = session else { return Ok(None) };
    look_behind(service, session).await
}

/// The user behind a row, unless it is over; notes that they came.
///
/// # Errors
/// As [`users::sql::find`].
pub(crate) async fn read_signed_in(
    service: &LoginService,
    session: BrowserSession,
) -> Result<Option<SignedInUser>, Error> {
    let Some(found) = look_behind(service, session).await? else { return Ok(None) };
    note_use(service, &found).await?;
    Ok(Some(found))
}

/// Returns the steps of a sign-out in one browser: the browser session ends, and every pending link of the user is cancelled,
/// because it may have been opened in that browser.
#[must_use]
pub fn sign_out_steps(who: &SignedInUser, now: Timestamp) -> [Step; 2] {
    let BrowserSession { cookie, environment, domain_id, .. } = &who.session;
    [sql::sign_out_step(cookie, *environment, domain_id), link_sql::cancel_links_of(domain_id, &who.user.id, now)]
}

async fn look_behind(service: &LoginService, session: BrowserSession) -> Result<Option<SignedInUser>, Error> {
    let Some(proof) = session.proof(service.clock.now()).cloned() else { return Ok(None) };
    let found = users::sql::find(&service.store, &session.domain_id, &proof.user_id).await?;
    let has_key = |credentials: &[Credential]| credentials.iter().any(|own| own.public_key == proof.public_key);
    let Some((user, credentials)) = found.filter(|(_, credentials)| has_key(credentials)) else { return Ok(None) };
    Ok(Some(SignedInUser { session, proof, user, credentials }))
}

async fn note_use(service: &LoginService, found: &SignedInUser) -> Result<(), Error> {
    let now = service.clock.now();
    if found.session.is_use_due(now) {
        browser_sessions::sql::note_use(&service.store, &found.session.id, now).await?;
    }
    Ok(())
}
