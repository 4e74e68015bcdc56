//! Builds the view of a session for its login page, independent of the language. This module is
//! pure.

use std::hash::{DefaultHasher, Hash, Hasher};

use jiff::Timestamp;
use signpost_auth::{Lnurl, Mode};
use signpost_platform::pages::cookie::CookieSecret;

use super::state::PageState;
use crate::domains::{Domain, LoginMethod, LoginMethods};
use crate::sessions::{RequestingApplication, ReturnOutcome, Session};
use crate::user_agent::RequestingBrowser;

/// The data that a session's login page shows. Equal views are rendered as equal pages.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LoginView {
    pub(crate) state: PageState,
    pub(crate) task: PageTask,
    /// Whether the page offers to switch between login and registration.
    pub(crate) can_switch: bool,
    /// Whether the page accepts passkeys.
    pub(crate) has_passkeys: bool,
    pub(crate) site: SiteNames,
    pub(crate) requesting_browser: Option<RequestingBrowser>,
    /// The application that requested the login by OpenID Connect.
    pub(crate) application: Option<RequestingApplication>,
    pub(crate) code: Option<LoginCode>,
    /// The URL to return to, with the completion code or with the reason why there is none.
    pub(crate) return_url: String,
}

/// The task that the user performs on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PageTask {
    /// Logging in.
    LogIn,
    /// Creating an account.
    Register,
    /// Adding a key to an existing account.
    Link,
}

/// The names of the site, and its home page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SiteNames {
    pub(crate) domain: String,
    /// The display name that the integrator chose.
    pub(crate) display_name: Option<String>,
    pub(crate) home: String,
}

/// The code on a page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LoginCode {
    /// The content of the QR code, if the page accepts wallets that scan.
    pub(crate) scan: Option<ScanCode>,
    /// The link to the browser wallet, with the code in the fragment.
    pub(crate) wallet: Option<String>,
    /// The confirmation number, for both of these wallets.
    pub(crate) number: Option<String>,
    /// The LNURL, if the page accepts Lightning wallets.
    pub(crate) lightning: Option<Lnurl>,
    pub(crate) expires_at: Timestamp,
    /// The end of the countdown.
    pub(crate) countdown_ends_at: Timestamp,
    /// The length of the countdown in seconds.
    pub(crate) countdown_secs: i64,
    /// Whether the code is replaced automatically.
    pub(crate) is_renewed_automatically: bool,
}

/// The content of a QR code for wallets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ScanCode {
    pub(crate) qr_data: String,
}

/// The parameters of the service that a view depends on: its public address, the login methods that
/// it supports, and the URL of the browser wallet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoginHost<'a> {
    pub(crate) public_address: &'a str,
    pub(crate) supported_methods: &'a LoginMethods,
    pub(crate) wallet: Option<&'a str>,
}

impl LoginView {
    /// Returns the view for the owner of the page, the browser with this cookie.
    ///
    /// # Errors
    /// Returns an error if the webhook's URL is too long for a code, which the registration
    /// prevents.
    pub(crate) fn new(
        session: &Session,
        domain: &Domain,
        cookie: &CookieSecret,
        host: LoginHost<'_>,
        now: Timestamp,
    ) -> anyhow::Result<Self> {
        let state = PageState::from_session(session, now);
        let task = match session.challenge.mode {
            Mode::Login => PageTask::LogIn,
            Mode::Register => PageTask::Register,
            Mode::Link => PageTask::Link,
        };
        let requester = session.options.requester.as_ref();
        let site = SiteNames::new(session, domain);
        Ok(Self {
            task,
            can_switch: task == PageTask::Register || (task == PageTask::LogIn && session.may_register(domain)),
            has_passkeys: session.offers(domain, host.supported_methods).contains(&LoginMethod::Passkey),
            requesting_browser: requester
                .and_then(|requester| RequestingBrowser::from_user_agent(requester.user_agent.as_deref()?)),
            application: session.page.as_ref().and_then(|page| page.terms.application.clone()),
            code: if state.is_open() { Some(LoginCode::new(session, domain, host)?) } else { None },
            return_url: return_url(session, &state, cookie).unwrap_or_else(|| site.home.clone()),
            site,
            state,
        })
    }

    /// Returns the version, different for every different view.
    pub(crate) fn version(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    /// Returns the remaining seconds of the countdown.
    pub(crate) fn seconds_left(&self, now: Timestamp) -> i64 {
        let Some(code) = &self.code else { return 0 };
        code.countdown_ends_at.duration_since(now).as_secs().clamp(0, code.countdown_secs)
    }
}

impl SiteNames {
    pub(crate) fn new(session: &Session, domain: &Domain) -> Self {
        let home = session.return_url().and_then(|url| url.join("/").ok());
        Self {
            domain: domain.name.to_string(),
            display_name: domain.display_name.as_ref().map(|name| name.as_str().to_owned()),
            home: home.map_or_else(|| format!("https://{}/", domain.name), Into::into),
        }
    }
}

impl LoginCode {
    /// Returns true if no kind of wallet can use the code.
    pub(crate) fn is_empty(&self) -> bool {
        self.scan.is_none() && self.wallet.is_none() && self.lightning.is_none()
    }

    /// Returns the validity of the code after the end of the countdown, in seconds.
    pub(crate) fn grace(&self) -> i64 {
        (self.expires_at.as_second() - self.countdown_ends_at.as_second()).max(0)
    }

    fn new(session: &Session, domain: &Domain, host: LoginHost<'_>) -> anyhow::Result<Self> {
        let LoginHost { public_address, supported_methods, wallet } = host;
        let offered = session.offers(domain, supported_methods);
        let [by_scan, by_browser] = [LoginMethod::Scan, LoginMethod::Browser].map(|method| offered.contains(&method));
        let qr_data = if by_scan || by_browser { Some(session.qr_data()?.to_string()) } else { None };
        let wallet = match (wallet, &qr_data) {
            (Some(url), Some(code)) if by_browser => Some(format!("{url}#{code}")),
            _ => None,
        };
        let number = match &session.confirm_code {
            Some(code) if by_scan || wallet.is_some() => Some(code.reveal().to_owned()),
            _ => None,
        };
        let scan = if by_scan { qr_data.map(|qr_data| ScanCode { qr_data }) } else { None };
        let lightning = if offered.contains(&LoginMethod::Lightning) {
            session.lnurl(public_address).and_then(Lnurl::new)
        } else {
            None
        };
        let is_renewed_automatically = session.renews_until().is_some_and(|until| session.renewal_at() < until);
        let countdown_ends_at = if is_renewed_automatically { session.renewal_at() } else { session.expires_at };
        Ok(Self {
            scan,
            wallet,
            number,
            lightning,
            expires_at: session.expires_at,
            countdown_ends_at,
            countdown_secs: (countdown_ends_at.as_second() - session.challenge.issued_at).max(1),
            is_renewed_automatically,
        })
    }
}

/// Returns the URL of the site to return to from a state of the page, if the site has one.
fn return_url(session: &Session, state: &PageState, cookie: &CookieSecret) -> Option<String> {
    let url = match state {
        PageState::Done { .. } => {
            session.return_with(ReturnOutcome::Code(&Session::page_code_for(cookie, &session.id)))
        }
        PageState::LoggedIn => None,
        PageState::Expired { .. } => session.return_with(ReturnOutcome::Expired),
        _ => session.return_with(ReturnOutcome::AccessDenied),
    };
    url.map(Into::into)
}
