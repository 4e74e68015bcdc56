//! Sessions that the login host creates for itself: to log in at an account page, to add a key there, and to answer an
//! OpenID Connect client. The domain's integrator gets no event for a login at an account page.

use anyhow::{Context, Result, anyhow, ensure};
use jiff::Timestamp;
use signpost_auth::Mode;
use signpost_platform::accounts::Environment;
use signpost_platform::pages::cookie::CookieSecret;
use signpost_store::{Step, Store, random};
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
    AskingApplication, ConfirmCode, Flow, MAX_PAGE_CODE_LIFE, Metadata, NewSession, PageLink, PagePurpose, PageTerms,
    REFRESH_WINDOW, Requester, Session, SessionEntropy, SessionOptions, can_log_in, sql, takes_numbers,
};

/// The purpose of a session of the login host.
#[derive(Clone, Debug)]
pub enum AccountErrand {
    /// A login, with the metadata of the return path, if any.
    LogIn(Option<Metadata>),
    /// This user, who is signed in at the account pages, adds a key.
    AddOwnKey(Box<SignedInUser>),
    /// This user of the domain adds a key by a link from an operator.
    AddKey(UserId),
    /// A login or a registration for an OpenID Connect client.
    AnswerClient(Mode, AskingApplication),
}

/// A page with a link from an operator.
#[derive(Clone, Debug)]
pub struct LinkPage {
    /// The URL with the claim secret in its fragment, which browsers do not send to servers and link previews do not
    /// use.
    pub page_url: String,
    /// The end of the time in which the page can be opened first.
    pub open_before: Timestamp,
}

/// The browser that requests a session of the login host.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct AccountBrowser<'a> {
    pub page_cookie: &'a CookieSecret,
    pub user_agent: Option<&'a str>,
}

/// Creates a session on the login page, in a write with the steps of `with`. The page belongs to the browser from the
/// start, so that another user cannot log in for it or add a key to its account.
///
/// # Errors
/// If the domain has no login method, no session may be created on it, or a step is refused.
pub async fn open_account_session(
    service: &LoginService,
    domain: &Domain,
    errand: AccountErrand,
    browser: AccountBrowser<'_>,
    with: impl FnOnce(&Session) -> Vec<Step>,
) -> Result<Session, Error> {
    if unusable_reason(service, domain).await?.is_some() {
        return Err(Error::DomainNotRegistered(domain.name.to_string()));
    }
    let hosted_url = make_hosted_url(service, &domain.account, errand.mode())?;
    let mut steps = errand.guard();
    let new = errand.into_session(domain, hosted_url, Requester::of_user_agent(browser.user_agent));
    let methods = service.supported_methods(domain.account.environment);
    if new.page.as_ref().is_some_and(|terms| !can_log_in(domain, terms, &methods)) {
        return Err(Error::NoLoginMethod(domain.name.to_string()));
    }
    let entropy = SessionEntropy::draw();
    let session = Session::open(domain, new, service.settings.session_ttl, service.clock.now(), entropy);
    let session = session.owned_by(browser.page_cookie);
    steps.extend(with(&session));
    let inserted = sql::insert(&service.store, session.clone(), None, steps).await;
    inserted.map_err(|error| error.on_conflict(Error::DomainNotRegistered(domain.name.to_string())))?;
    service.metrics.session(domain.account.environment, "created");
    Ok(session)
}

/// Creates a session with a link from an operator, for a server at this public address.
///
/// # Errors
/// If the address is not allowed for a live domain, the domain was deleted, or the database is unavailable.
pub async fn open_by_hand(
    store: &Store,
    domain: &Domain,
    errand: AccountErrand,
    public_address: &str,
    now: Timestamp,
) -> Result<LinkPage> {
    let requires_https = domain.account.environment == Environment::Live && !domain.account.is_server();
    ensure!(
        !requires_https || public_address.starts_with("https:"),
        "live sessions need an https --public-url, and the server runs at {public_address}"
    );
    let hosted_url = hosted_url_at(public_address, domain.account.environment, errand.mode())?;
    let new = errand.into_session(domain, hosted_url, Requester::default());
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
/// [`Error::SessionNotFound`] for any other session, and an error if the code is wrong or the session is not pending.
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

impl AccountErrand {
    fn mode(&self) -> Mode {
        match self {
            Self::LogIn(_) => Mode::Login,
            Self::AddOwnKey(_) | Self::AddKey(_) => Mode::Link,
            Self::AnswerClient(mode, _) => *mode,
        }
    }

    /// Returns the steps that refuse the session if its user signed out in the meantime.
    fn guard(&self) -> Vec<Step> {
        match self {
            Self::AddOwnKey(who) => vec![browser_sessions::sql::require_step(&who.session.id, &who.user.id)],
            Self::LogIn(_) | Self::AddKey(_) | Self::AnswerClient(..) => Vec::new(),
        }
    }

    fn purpose(&self) -> PagePurpose {
        match self {
            Self::LogIn(_) | Self::AddOwnKey(_) | Self::AddKey(_) => PagePurpose::Account,
            Self::AnswerClient(..) => PagePurpose::Client,
        }
    }

    fn into_session(self, domain: &Domain, hosted_url: Url, requester: Requester) -> NewSession {
        let mode = self.mode();
        let purpose = self.purpose();
        let (link, metadata, application) = match self {
            Self::LogIn(back) => (None, back, None),
            Self::AnswerClient(_, application) => (None, None, Some(application)),
            Self::AddOwnKey(who) => (Some(who.link()), None, None),
            Self::AddKey(user) => (Some(PageLink::new(user, None)), None, None),
        };
        NewSession {
            mode,
            webhook_url: domain.webhook_url.clone(),
            hosted_url: Some(hosted_url),
            metadata,
            confirm_code: takes_numbers(domain).then(|| ConfirmCode::new(random())),
            options: SessionOptions { flow: Flow::Page, requester: Some(requester), browser_hash: None },
            page: Some(PageTerms { mode, confirm: false, purpose, application }),
            link,
        }
    }
}
