//! What a login page shows of its session, beside the language. Pure.

use std::hash::{DefaultHasher, Hash, Hasher};

use jiff::Timestamp;
use signpost_auth::{Lnurl, Mode};
use signpost_platform::pages::cookie::CookieSecret;

use super::asking::AskingBrowser;
use super::state::PageState;
use crate::domains::{Domain, LoginMethod, LoginMethods};
use crate::sessions::{AskingApplication, ReturnOutcome, Session};

/// All that a page shows of its session. Two that are equal are the same page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LoginView {
    pub(crate) state: PageState,
    pub(crate) task: PageTask,
    /// Whether the page offers to create an account in the place of logging in, or the other way round.
    pub(crate) can_switch: bool,
    /// Whether the page takes passkeys.
    pub(crate) has_passkeys: bool,
    pub(crate) site: SiteNames,
    pub(crate) asked_by: Option<AskingBrowser>,
    /// Where the person goes on, if that is an application that asked by the standard protocol.
    pub(crate) application: Option<AskingApplication>,
    pub(crate) code: Option<LoginCode>,
    /// Where the browser goes on: with the completion code, or with the reason why there is none.
    pub(crate) onward: String,
}

/// What the person came for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PageTask {
    /// To log in.
    LogIn,
    /// To create an account.
    Register,
    /// To add a key to their account.
    Link,
}

/// What the site is called, and where it begins.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SiteNames {
    pub(crate) domain: String,
    /// What the integrator calls it.
    pub(crate) display_name: Option<String>,
    pub(crate) home: String,
}

/// The code on a page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LoginCode {
    /// For a wallet that scans.
    pub(crate) scan: Option<ScanCode>,
    /// For the browser wallet: a link to it, with the code behind the `#`.
    pub(crate) wallet: Option<String>,
    /// What these two ask for.
    pub(crate) number: Option<String>,
    /// For a Lightning wallet.
    pub(crate) lightning: Option<Lnurl>,
    pub(crate) expires_at: Timestamp,
    /// When the countdown is at zero.
    pub(crate) counts_to: Timestamp,
    /// How many seconds the countdown has in all.
    pub(crate) life: i64,
    /// Whether another code follows by itself.
    pub(crate) is_renewed: bool,
}

/// What a wallet scans.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ScanCode {
    pub(crate) qr_data: String,
}

/// What a page depends on beside its session: where the service is, what it accepts, and where its browser wallet is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoginHost<'a> {
    pub(crate) public_address: &'a str,
    pub(crate) can: &'a LoginMethods,
    pub(crate) wallet: Option<&'a str>,
}

impl LoginView {
    /// What the browser with this cookie sees, which owns the page.
    ///
    /// # Errors
    /// Where the webhook's URL is too long for a code, which its registration checks.
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
            asked_by: requester.and_then(|asked| AskingBrowser::from_user_agent(asked.user_agent.as_deref()?)),
            application: session.page.as_ref().and_then(|page| page.terms.application.clone()),
            code: if state.is_open() { Some(LoginCode::of(session, domain, host)?) } else { None },
            onward: onward(session, &state, cookie).unwrap_or_else(|| site.home.clone()),
            site,
            state,
        })
    }

    /// Another text wherever the page would be another.
    pub(crate) fn version(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    /// What the countdown shows.
    pub(crate) fn seconds_left(&self, now: Timestamp) -> i64 {
        self.code.as_ref().map_or(0, |code| {
            let left = code.counts_to.duration_since(now);
            left.as_secs().clamp(0, code.life)
        })
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
    /// Whether there is nothing for any wallet.
    pub(crate) fn is_empty(&self) -> bool {
        self.scan.is_none() && self.wallet.is_none() && self.lightning.is_none()
    }

    /// For how many seconds the code is good when the countdown is at zero.
    pub(crate) fn grace(&self) -> i64 {
        (self.expires_at.as_second() - self.counts_to.as_second()).max(0)
    }

    fn of(session: &Session, domain: &Domain, host: LoginHost<'_>) -> anyhow::Result<Self> {
        let LoginHost { public_address, can, wallet } = host;
        let offered = session.offers(domain, can);
        let [by_scan, by_browser] = [LoginMethod::Scan, LoginMethod::Browser].map(|method| offered.contains(&method));
        let qr_data = if by_scan || by_browser { Some(session.qr_data()?.to_string()) } else { None };
        let wallet = wallet.zip(qr_data.as_ref()).filter(|_| by_browser).map(|(url, code)| format!("{url}#{code}"));
        let number = session.confirm_code.as_ref().filter(|_| by_scan || wallet.is_some());
        let number = number.map(|code| code.reveal().to_owned());
        let scan = qr_data.filter(|_| by_scan).map(|qr_data| ScanCode { qr_data });
        let lnurl = offered.contains(&LoginMethod::Lightning).then(|| session.lnurl(public_address)).flatten();
        let lightning = lnurl.and_then(Lnurl::new);
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

/// Where the browser goes from a state.
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
