//! The view of a session on its login page, in any language. Pure.

use std::hash::{DefaultHasher, Hash, Hasher};

use jiff::Timestamp;
use signpost_auth::{Lnurl, Mode};
use signpost_platform::pages::cookie::CookieSecret;

use super::requesting_browser::RequestingBrowser;
use super::state::PageState;
use crate::domains::{Domain, LoginMethod, LoginMethods};
use crate::sessions::{RequestingApplication, ReturnOutcome, Session};

/// The content of a session's page. Equal views are rendered as equal pages.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LoginView {
    pub(crate) state: PageState,
    pub(crate) task: PageTask,
    /// True if the page offers to switch between login and registration.
    pub(crate) can_switch: bool,
    /// True if the page accepts passkeys.
    pub(crate) has_passkeys: bool,
    pub(crate) site: SiteNames,
    pub(crate) asked_by: Option<RequestingBrowser>,
    /// The application that requested the login by OpenID Connect.
    pub(crate) application: Option<RequestingApplication>,
    pub(crate) code: Option<LoginCode>,
    /// The URL to return to, with the completion code or with the reason why there is none.
    pub(crate) onward: String,
}

/// The purpose of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PageTask {
    /// To log in.
    LogIn,
    /// To create an account.
    Register,
    /// To add a key to their account.
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
    /// For a wallet that scans.
    pub(crate) scan: Option<ScanCode>,
    /// The link to the browser wallet, with the code in the fragment.
    pub(crate) wallet: Option<String>,
    /// The confirmation number, for both of these wallets.
    pub(crate) number: Option<String>,
    /// For a Lightning wallet.
    pub(crate) lightning: Option<Lnurl>,
    pub(crate) expires_at: Timestamp,
    /// The end of the countdown.
    pub(crate) counts_to: Timestamp,
    /// The length of the countdown in seconds.
    pub(crate) life: i64,
    /// True if the code is replaced automatically.
    pub(crate) is_renewed: bool,
}

/// The content of a QR code for wallets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ScanCode {
    pub(crate) qr_data: String,
}

/// The service of a page: its public address, the login methods that it accepts, and the URL of its browser wallet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoginHost<'a> {
    pub(crate) public_address: &'a str,
    pub(crate) can: &'a LoginMethods,
    pub(crate) wallet: Option<&'a str>,
}

impl LoginView {
    /// Returns the view for the owner of the page, the browser with this cookie.
    ///
    /// # Errors
    /// If the webhook's URL is too long for a code, which the registration prevents.
    pub(crate) fn of(
        session: &Session,
        domain: &Domain,
        cookie: &CookieSecret,
        host: LoginHost<'_>,
        now: Timestamp,
    ) -> anyhow::Result<Self> {
        let state = PageState::of(session, now);
        let task = match session.challenge.mode {
            Mode::Login => PageTask::LogIn,
            Mode::Register => PageTask::Register,
            Mode::Link => PageTask::Link,
        };
        let requester = session.options.requester.as_ref();
        let site = SiteNames::of(session, domain);
        Ok(Self {
            task,
            can_switch: task == PageTask::Register || (task == PageTask::LogIn && session.may_register(domain)),
            has_passkeys: session.offers(domain, host.can).contains(&LoginMethod::Passkey),
            asked_by: requester
                .and_then(|requester| RequestingBrowser::from_user_agent(requester.user_agent.as_deref()?)),
            application: session.page.as_ref().and_then(|page| page.terms.application.clone()),
            code: if state.is_open() { Some(LoginCode::of(session, domain, host)?) } else { None },
            onward: onward(session, &state, cookie).unwrap_or_else(|| site.home.clone()),
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
        code.counts_to.duration_since(now).as_secs().clamp(0, code.life)
    }
}

impl SiteNames {
    pub(crate) fn of(session: &Session, domain: &Domain) -> Self {
        let home = session.return_url().and_then(|url| url.join("/").ok());
        Self {
            domain: domain.name.to_string(),
            display_name: domain.display_name.as_ref().map(|name| name.as_str().to_owned()),
            home: home.map_or_else(|| format!("https://{}/", domain.name), Into::into),
        }
    }
}

impl LoginCode {
    /// Returns true if the code is for no wallet.
    pub(crate) fn is_empty(&self) -> bool {
        self.scan.is_none() && self.wallet.is_none() && self.lightning.is_none()
    }

    /// Returns for how many seconds the code is valid after the countdown.
    pub(crate) fn grace(&self) -> i64 {
        (self.expires_at.as_second() - self.counts_to.as_second()).max(0)
    }

    fn of(session: &Session, domain: &Domain, host: LoginHost<'_>) -> anyhow::Result<Self> {
        let LoginHost { public_address, can, wallet } = host;
        let offered = session.offers(domain, can);
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
        let is_renewed = session.renews_until().is_some_and(|until| session.renewal_at() < until);
        let counts_to = if is_renewed { session.renewal_at() } else { session.expires_at };
        Ok(Self {
            scan,
            wallet,
            number,
            lightning,
            expires_at: session.expires_at,
            counts_to,
            life: (counts_to.as_second() - session.challenge.issued_at).max(1),
            is_renewed,
        })
    }
}

/// Returns the URL to return to from a state.
fn onward(session: &Session, state: &PageState, cookie: &CookieSecret) -> Option<String> {
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
