//! Starts and reads browser sessions at the login host. A login on the login page starts a browser
//! session, and the user is signed in when the site completes the login.

use std::time::Duration;

use jiff::Timestamp;
use signpost_auth::Mode;
use signpost_platform::pages::cookie::{CookieName, CookieSecret};
use signpost_store::{Statement, random};

use crate::browser_sessions::{self, BrowserSession, LoginProof, SignInBrowser, sql};
use crate::domains::Domain;
use crate::error::Error;
use crate::events::{SignOutExtent, UserEvent, queue_user_event};
use crate::service::LoginService;
use crate::sessions::{PageLink, Session, link_sql};
use crate::users::{self, Credential, HostedUser};

/// Name of the cookie that identifies the browser sessions of a browser. It gets a new value at
/// each login.
pub const LOGIN_COOKIE: CookieName = CookieName::new("signpost_login");

/// Lifetime of the login cookie after the login: the maximum lifetime of a browser session.
pub const LOGIN_COOKIE_MAX_AGE: Duration = Duration::from_hours(30 * 24);

/// A user who is signed in at a domain, in a browser.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct SignedInUser {
    pub session: BrowserSession,
    pub proof: LoginProof,
    pub user: HostedUser,
    pub credentials: Vec<Credential>,
}

impl SignedInUser {
    /// Returns the link for adding a key to this user, opened by the credential that signed them in.
    pub(crate) fn link(&self) -> PageLink {
        let opener = self.credentials.iter().find(|own| own.public_key == self.proof.public_key);
        PageLink::new(self.user.id.clone(), opener.map(|own| own.id.clone()))
    }
}

/// Starts a browser session for the browser that returns to the site with the completion code of
/// this session. `page` is the cookie that makes the browser the owner of the page, `before` is the
/// login cookie that the browser sent, and `user_agent` is its `User-Agent` header. Returns the new
/// login cookie, or `None` if the browser already has it. The user is signed in when the site
/// completes the login. Links start no browser session.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub(crate) async fn begin_browser_session(
    service: &LoginService,
    session: &Session,
    page: &CookieSecret,
    before: Option<&CookieSecret>,
    user_agent: Option<&str>,
) -> Result<Option<CookieSecret>, Error> {
    if session.challenge.mode == Mode::Link {
        return Ok(None);
    }
    let before = before.map(CookieSecret::hash);
    if let Some(before) = &before
        && let Some(existing) = sql::find_by_session(&service.store, &session.id).await?
        && existing.cookie.matches(before)
    {
        return Ok(None);
    }
    let cookie = CookieSecret::from_bytes(page.derive("signpost login ", session.id.as_str()));
    let place = (session.account.environment, session.domain_id.clone());
    let new = BrowserSession::begin(cookie.hash(), place, session.id.clone(), service.clock.now(), random());
    let new = BrowserSession { browser: SignInBrowser::from_user_agent(user_agent), ..new };
    sql::begin(&service.store, new, before.as_ref()).await?;
    Ok(Some(cookie))
}

/// Returns the user who is signed in at a domain in the browser with this cookie, and records the use of the browser
/// session. The browser session has ended if the user was deleted or has lost the key that proved the login.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn find_signed_in(
    service: &LoginService,
    cookie: &CookieSecret,
    domain: &Domain,
) -> Result<Option<SignedInUser>, Error> {
    let Some(found) = watch_signed_in(service, cookie, domain).await? else { return Ok(None) };
    record_use(service, &found).await?;
    Ok(Some(found))
}

/// Returns the signed-in user as [`find_signed_in`] does, but does not record the use: for automatic requests of a
/// page.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn watch_signed_in(
    service: &LoginService,
    cookie: &CookieSecret,
    domain: &Domain,
) -> Result<Option<SignedInUser>, Error> {
    let cookie = cookie.hash();
    let now = service.clock.now();
    for session in sql::list(&service.store, &cookie).await? {
        if session.is_for(&cookie, domain.account.environment, &domain.id) && session.proof(now).is_some() {
            return load_user(service, session).await;
        }
    }
    Ok(None)
}

/// Returns the user of a browser session, unless it has ended, and records its use.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub(crate) async fn read_signed_in(
    service: &LoginService,
    session: BrowserSession,
) -> Result<Option<SignedInUser>, Error> {
    let Some(found) = load_user(service, session).await? else { return Ok(None) };
    record_use(service, &found).await?;
    Ok(Some(found))
}

/// Returns the statements of a sign-out in a browser, with its event: the browser session ends, and every pending link
/// of the user is cancelled, because it may have been opened in that browser. `domain` is the domain of the browser
/// session, or `None` for the system domain, which has no events.
#[must_use]
pub fn sign_out_statements(signed_in: &SignedInUser, domain: Option<&Domain>, now: Timestamp) -> Vec<Statement> {
    let BrowserSession { id, cookie, environment, domain_id, session_id, .. } = &signed_in.session;
    let user = &signed_in.user.id;
    let extent = SignOutExtent::Browser { id, session: session_id };
    let event = domain.and_then(|domain| queue_user_event(domain, user, UserEvent::SignedOut(extent), now));
    let mut statements = Vec::from_iter(event);
    statements.push(sql::sign_out_statement(cookie, *environment, domain_id));
    statements.push(link_sql::cancel_user_links_statement(domain_id, user, now));
    statements
}

async fn load_user(service: &LoginService, session: BrowserSession) -> Result<Option<SignedInUser>, Error> {
    let Some(proof) = session.proof(service.clock.now()).cloned() else { return Ok(None) };
    match users::sql::find(&service.store, &session.domain_id, &proof.user_id).await? {
        Some((user, credentials)) if credentials.iter().any(|own| own.public_key == proof.public_key) => {
            Ok(Some(SignedInUser { session, proof, user, credentials }))
        }
        _ => Ok(None),
    }
}

async fn record_use(service: &LoginService, found: &SignedInUser) -> Result<(), Error> {
    let now = service.clock.now();
    if found.session.is_use_due(now) {
        browser_sessions::sql::record_use(&service.store, &found.session.id, now).await?;
    }
    Ok(())
}
