//! Sessions that the login host opens for itself: to log in at an account page, to add a key there, and to answer a client.
//! Of a login at an account page nobody else is told; that a key was added, the domain's integrator is told.

use anyhow::{Context, Result, anyhow};
use jiff::Timestamp;
use signpost_auth::Mode;
use signpost_platform::accounts::Environment;
use signpost_platform::pages::cookie::CookieSecret;
use signpost_store::{Step, Store, random};
use url::Url;

use crate::browser_sessions;
use crate::domains::{self, Domain, Usable};
use crate::error::Error;
use crate::flows::addresses::{hosted_url_at, make_hosted_url};
use crate::flows::page::find_page;
use crate::flows::sign_in::SignedInUser;
use crate::flows::submit::complete_login;
use crate::ids::UserId;
use crate::service::LoginService;
use crate::sessions::{
    AskingApplication, ConfirmCode, Flow, MAX_PAGE_CODE_LIFE, Metadata, NewSession, PageLink, PagePurpose, PageTerms,
    REFRESH_WINDOW, Requester, Session, SessionEntropy, SessionOptions, can_log_in, sql, takes_numbers,
};

/// What a session of the login host is for.
#[derive(Clone, Debug)]
pub enum AccountErrand {
    /// Somebody logs in, and goes back to where these say, if they say so.
    LogIn(Option<Metadata>),
    /// This user, who is signed in at the account pages, adds a key.
    AddOwnKey(Box<SignedInUser>),
    /// This user of the domain adds a key by a link from an operator.
    AddKey(UserId),
    /// Somebody logs in, or creates an account, for an application that asked by the standard protocol.
    AnswerClient(Mode, AskingApplication),
}

/// A page that an operator hands to a person.
#[derive(Clone, Debug)]
pub struct LinkPage {
    /// The address with the secret that opens the page in its fragment, which browsers send to no server and which no preview
    /// of the link brings.
    pub page_url: String,
    /// The last moment at which it can be opened for the first time.
    pub open_before: Timestamp,
}

/// Opens a session on the login page, for the browser of the account page that asks: the page is that browser's from the
/// start. Somebody else who is sent there must neither log in for it nor add a key to its account.
///
/// # Errors
/// Where nobody can log in at the domain, or no session may be opened there.
pub async fn open_account_session(
    service: &LoginService,
    domain: &Domain,
    errand: AccountErrand,
    requester: Requester,
    page: &CookieSecret,
) -> Result<Session, Error> {
    let name = || domain.name.to_string();
    let must_be_verified = service.settings.require_verified_domains && !domain.account.is_server();
    let usable = domains::sql::find_usable(&service.store, &domain.account, &domain.name, must_be_verified).await?;
    if !matches!(usable, Usable::Yes(_)) {
        return Err(Error::DomainNotRegistered(name()));
    }
    let hosted_url = make_hosted_url(service, &domain.account, errand.mode())?;
    let guard = errand.guard();
    let new = errand.into_session(domain, hosted_url, requester);
    let methods = service.supported_methods(domain.account.environment);
    if new.page.as_ref().is_some_and(|terms| !can_log_in(domain, terms, &methods)) {
        return Err(Error::NoLoginMethod(name()));
    }
    let entropy = SessionEntropy::draw();
    let session = Session::open(domain, new, service.settings.session_ttl, service.clock.now(), entropy).owned_by(page);
    let inserted = sql::insert(&service.store, session.clone(), None, guard).await;
    inserted.map_err(|error| error.on_conflict(Error::DomainNotRegistered(name())))?;
    service.metrics.session(domain.account.environment, "created");
    Ok(session)
}

/// Opens one whose page an operator hands to somebody, at a server that people reach by this address.
///
/// # Errors
/// Where the address is none for a live domain, or as [`Store::write`].
pub async fn open_by_hand(
    store: &Store,
    domain: &Domain,
    errand: AccountErrand,
    public_address: &str,
    now: Timestamp,
) -> Result<LinkPage> {
    let is_plain = domain.account.environment == Environment::Live && !domain.account.is_server();
    anyhow::ensure!(
        !is_plain || public_address.starts_with("https:"),
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

/// Completes one with what the browser brought back. The session must be of this domain, and one that the login host opened
/// for this purpose.
///
/// # Errors
/// Where it is not, the code is wrong, or the session is over.
pub async fn complete_account_session(
    service: &LoginService,
    domain: &Domain,
    purpose: PagePurpose,
    (id, code): (&str, &str),
) -> Result<Session, Error> {
    let found = find_page(service, domain.account.environment, id).await?;
    let is_ours = |session: &Session| {
        session.domain_id == domain.id && session.page.as_ref().is_some_and(|page| page.terms.purpose == purpose)
    };
    let (session, _) = found.filter(|(session, _)| is_ours(session)).ok_or(Error::SessionNotFound)?;
    complete_login(service, session, code, None).await
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
        let (mode, purpose) = (self.mode(), self.purpose());
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
