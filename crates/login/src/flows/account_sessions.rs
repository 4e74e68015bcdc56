//! Creates and completes sessions of the login host itself: for logins at the account pages, for
//! adding a key there, and for OpenID Connect clients. The domain's integrator gets no event for a
//! login at the account pages.

use anyhow::{Context, Result, anyhow, ensure};
use jiff::Timestamp;
use signpost_auth::Mode;
use signpost_platform::accounts::Environment;
use signpost_platform::pages::cookie::CookieSecret;
use signpost_store::{Statement, Store, random};
use url::Url;

use crate::browser_sessions;
use crate::domains::Domain;
use crate::error::Error;
use crate::flows::addresses::{hosted_url_at, make_hosted_url};
use crate::flows::lookup::unusable_reason;
use crate::flows::page::find_page_session;
use crate::flows::sign_in::SignedInUser;
use crate::flows::submit::complete_login;
use crate::ids::UserId;
use crate::service::LoginService;
use crate::sessions::{
    ConfirmCode, Flow, MAX_PAGE_CODE_LIFE, Metadata, NewSession, PageLink, PagePurpose, PageTerms, REFRESH_WINDOW,
    Requester, RequestingApplication, Session, SessionEntropy, SessionOptions, can_log_in, sql,
    supports_number_matching,
};

/// The purpose of a session of the login host.
#[derive(Clone, Debug)]
pub enum AccountSessionPurpose {
    /// Logs a user in at the account pages. The metadata contains the return path, if any.
    LogIn(Option<Metadata>),
    /// Adds a key to this user, who is signed in at the account pages.
    AddOwnKey(Box<SignedInUser>),
    /// Adds a key to this user of the domain, by a link from an operator.
    AddKey(UserId),
    /// Logs a user in, or registers a user, for an OpenID Connect client.
    AuthorizeClient(Mode, RequestingApplication),
}

/// A login page that is opened by a link from an operator.
#[derive(Clone, Debug)]
pub struct LinkPage {
    /// The URL with the claim secret in its fragment, which browsers do not send to servers and link previews do not
    /// use.
    pub page_url: String,
    /// The deadline for opening the page for the first time.
    pub open_before: Timestamp,
}

/// The browser that requests a session of the login host.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct AccountBrowser<'a> {
    pub page_cookie: &'a CookieSecret,
    pub user_agent: Option<&'a str>,
}

/// Creates a session on the login page, in one write with `extra_statements`. The page belongs to the browser from
/// the start, so that another user cannot log in for it or add a key to its account.
///
/// # Errors
/// Returns an error if the domain has no login method, no session may be created on it, or a
/// statement is refused.
pub async fn open_account_session(
    service: &LoginService,
    domain: &Domain,
    purpose: AccountSessionPurpose,
    browser: AccountBrowser<'_>,
    extra_statements: impl FnOnce(&Session) -> Vec<Statement>,
) -> Result<Session, Error> {
    if unusable_reason(service, domain).await?.is_some() {
        return Err(Error::DomainNotRegistered(domain.name.to_string()));
    }
    let hosted_url = make_hosted_url(service, &domain.account, purpose.mode())?;
    let mut statements = purpose.guard();
    let new = purpose.into_session(domain, hosted_url, Requester::from_user_agent(browser.user_agent));
    let methods = service.supported_methods(domain.account.environment);
    if new.page.as_ref().is_some_and(|terms| !can_log_in(domain, terms, &methods)) {
        return Err(Error::NoLoginMethod(domain.name.to_string()));
    }
    let entropy = SessionEntropy::draw();
    let session = Session::open(domain, new, service.settings.session_ttl, service.clock.now(), entropy);
    let session = session.with_owner(browser.page_cookie);
    statements.extend(extra_statements(&session));
    let inserted = sql::insert(&service.store, session.clone(), None, statements).await;
    inserted.map_err(|error| error.on_conflict(Error::DomainNotRegistered(domain.name.to_string())))?;
    service.metrics.count_session_event(domain.account.environment, "created");
    Ok(session)
}

/// Creates a session with a link from an operator, for a server at this public address.
///
/// # Errors
/// Returns an error if the address is not allowed for a live domain, the domain was deleted, or the
/// database is unavailable.
pub async fn create_key_link(
    store: &Store,
    domain: &Domain,
    purpose: AccountSessionPurpose,
    public_address: &str,
    now: Timestamp,
) -> Result<LinkPage> {
    let requires_https = domain.account.environment == Environment::Live && !domain.account.is_server();
    ensure!(
        !requires_https || public_address.starts_with("https:"),
        "live sessions need an https --public-url, and the server runs at {public_address}"
    );
    let hosted_url = hosted_url_at(public_address, domain.account.environment, purpose.mode())?;
    let new = purpose.into_session(domain, hosted_url, Requester::default());
    let entropy = SessionEntropy::draw();
    let secret = CookieSecret::from_bytes(random());
    let session = Session::open(domain, new, MAX_PAGE_CODE_LIFE, now, entropy).with_claim_secret(&secret);
    let page_url = session.page_url(public_address).context("a session without a page")?;
    let page_url = format!("{page_url}#{}", secret.reveal());
    let open_before = session.expires_at + REFRESH_WINDOW;
    let inserted = sql::insert(store, session, None, None).await;
    inserted.map_err(|error| error.on_conflict(anyhow!("{} was deleted just now", domain.name)))?;
    Ok(LinkPage { page_url, open_before })
}

/// Completes a session that the login host created on this domain for this purpose.
///
/// # Errors
/// Returns [`Error::SessionNotFound`] for any other session, and an error if the code is wrong or
/// the session is not pending.
pub async fn complete_account_session(
    service: &LoginService,
    domain: &Domain,
    purpose: PagePurpose,
    (id, code): (&str, &str),
) -> Result<Session, Error> {
    match find_page_session(service, domain.account.environment, id).await? {
        Some(session)
            if session.domain_id == domain.id
                && session.page.as_ref().is_some_and(|page| page.terms.purpose == purpose) =>
        {
            complete_login(service, session, code, None).await
        }
        _ => Err(Error::SessionNotFound),
    }
}

impl AccountSessionPurpose {
    fn mode(&self) -> Mode {
        match self {
            Self::LogIn(_) => Mode::Login,
            Self::AddOwnKey(_) | Self::AddKey(_) => Mode::Link,
            Self::AuthorizeClient(mode, _) => *mode,
        }
    }

    /// Returns the statements that refuse the session if its user signed out in the meantime.
    fn guard(&self) -> Vec<Statement> {
        match self {
            Self::AddOwnKey(signed_in) => {
                vec![browser_sessions::sql::require_statement(&signed_in.session.id, &signed_in.user.id)]
            }
            Self::LogIn(_) | Self::AddKey(_) | Self::AuthorizeClient(..) => Vec::new(),
        }
    }

    fn purpose(&self) -> PagePurpose {
        match self {
            Self::LogIn(_) | Self::AddOwnKey(_) | Self::AddKey(_) => PagePurpose::Account,
            Self::AuthorizeClient(..) => PagePurpose::Client,
        }
    }

    fn into_session(self, domain: &Domain, hosted_url: Url, requester: Requester) -> NewSession {
        let mode = self.mode();
        let purpose = self.purpose();
        let (link, metadata, application) = match self {
            Self::LogIn(back) => (None, back, None),
            Self::AuthorizeClient(_, application) => (None, None, Some(application)),
            Self::AddOwnKey(signed_in) => (Some(signed_in.link()), None, None),
            Self::AddKey(user) => (Some(PageLink::new(user, None)), None, None),
        };
        NewSession {
            mode,
            webhook_url: domain.webhook_url.clone(),
            hosted_url: Some(hosted_url),
            metadata,
            confirm_code: supports_number_matching(domain).then(|| ConfirmCode::new(random())),
            options: SessionOptions { flow: Flow::Page, requester: Some(requester), browser_hash: None },
            page: Some(PageTerms { mode, confirm: false, purpose, application, user: None, first_key: false }),
            link,
        }
    }
}
