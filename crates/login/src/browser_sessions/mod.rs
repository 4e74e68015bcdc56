//! Browser sessions. They keep a user signed in at the login host for days, while a login [session]
//! is a challenge that is valid for minutes. A browser's cookie has one row per domain, and a row
//! is valid only at its domain.
//!
//! This module has the pure rules; [`sql`] stores the rows.
//!
//! [session]: crate::sessions

mod browser;
pub mod sql;

use anyhow::{Result, bail};
use jiff::{SignedDuration, Timestamp};
use signpost_platform::accounts::Environment;
use signpost_store::{Column, ColumnKind, rows};
use signpost_store::{ReadColumns, Values};

use crate::domains::LoginMethod;
use crate::ids::{BrowserSessionId, DomainId, SessionId, UserId};

pub use browser::{SignInBrowser, USER_AGENT_RETENTION};
pub use signpost_platform::pages::cookie::{CookieHash, CookieSecret};

/// Lifetime of a browser session since its last use.
pub const MAX_IDLE: SignedDuration = SignedDuration::from_hours(24);

/// Maximum lifetime of a browser session since the login.
pub const MAX_AGE: SignedDuration = SignedDuration::from_hours(30 * 24);

/// Lifetime of a login that the site has not completed.
pub const MAX_WAIT: SignedDuration = SignedDuration::from_hours(24);

/// Time after a login in which the user may change keys.
pub const MAX_PROOF_AGE: SignedDuration = SignedDuration::from_mins(5);

/// Maximum rows of a cookie; the oldest are deleted.
pub const MAX_DOMAINS_PER_COOKIE: u32 = 50;

/// Maximum pending logins of a cookie at a domain.
pub const MAX_LOGINS: u32 = 5;

/// Minimum interval between recorded uses.
const USE_RECORDING_INTERVAL: SignedDuration = SignedDuration::from_mins(5);

rows! {
    /// A login of a browser at a domain.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct BrowserSession in "browser_sessions" by [id] {
        /// The ID of the browser session.
        pub id: BrowserSessionId,
        /// The hash of the browser's cookie.
        pub cookie: CookieHash,
        /// The environment of the domain.
        pub environment: Environment,
        /// The domain at which the login is valid.
        pub domain_id: DomainId,
        /// The session of the login.
        pub session_id: SessionId,
        /// The time when the browser could return to the site.
        pub created_at: Timestamp,
        /// The time when the browser last sent the cookie.
        pub last_used_at: Timestamp,
        /// The browser that logged in.
        pub browser: SignInBrowser,
    } mutable {
        /// Time of the browser's last request to the console, which has a shorter idle limit than other pages.
        pub console_used_at: Option<Timestamp>,
        /// Whether the site has completed the login, and its proof.
        pub state: BrowserSessionState,
    }
}

/// The state of a login in a browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrowserSessionState {
    /// The browser can return to the site, but the site has not completed the login. No user is
    /// signed in.
    Pending,
    /// The site completed the login.
    SignedIn(LoginProof),
}

/// The signed-in user, and the key that proved it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginProof {
    /// The user who is signed in.
    pub user_id: UserId,
    /// The public key in its canonical form.
    pub public_key: String,
    /// The login method.
    pub method: LoginMethod,
    /// The time when the user logged in.
    pub authenticated_at: Timestamp,
}

impl BrowserSession {
    /// Creates a pending browser session, for an unknown browser that can return to the site.
    #[must_use]
    pub fn begin(
        cookie: CookieHash,
        (environment, domain_id): (Environment, DomainId),
        session_id: SessionId,
        now: Timestamp,
        random: [u8; 16],
    ) -> Self {
        Self {
            id: BrowserSessionId::new(now, random),
            cookie,
            environment,
            domain_id,
            session_id,
            created_at: now,
            last_used_at: now,
            browser: SignInBrowser::default(),
            console_used_at: None,
            state: BrowserSessionState::Pending,
        }
    }

    /// Returns the proof of the signed-in user; `None` if the browser session has expired.
    #[must_use]
    pub fn proof(&self, now: Timestamp) -> Option<&LoginProof> {
        match &self.state {
            BrowserSessionState::SignedIn(proof) if now < self.expires_at() => Some(proof),
            _ => None,
        }
    }

    /// Returns when the browser session expires if it is not used again.
    #[must_use]
    pub fn expires_at(&self) -> Timestamp {
        match &self.state {
            BrowserSessionState::Pending => self.created_at + MAX_WAIT,
            BrowserSessionState::SignedIn(proof) => {
                (self.last_used_at + MAX_IDLE).min(proof.authenticated_at + MAX_AGE)
            }
        }
    }

    /// Returns true if the browser session has this cookie and domain. Compares cookies in constant time.
    #[must_use]
    pub fn is_for(&self, cookie: &CookieHash, environment: Environment, domain: &DomainId) -> bool {
        self.environment == environment && self.domain_id == *domain && self.cookie.matches(cookie)
    }

    /// Returns true if a use of the console must be recorded, because the recorded use is too old.
    #[must_use]
    pub fn is_console_use_due(&self, now: Timestamp) -> bool {
        self.console_used_at.is_none_or(|used_at| now.duration_since(used_at) >= USE_RECORDING_INTERVAL)
    }

    /// Returns true if a use must be recorded, because the recorded use is too old.
    #[must_use]
    pub fn is_use_due(&self, now: Timestamp) -> bool {
        now.duration_since(self.last_used_at) >= USE_RECORDING_INTERVAL
    }
}

impl LoginProof {
    /// Returns true if the login is recent enough to change keys.
    #[must_use]
    pub fn is_fresh(&self, now: Timestamp) -> bool {
        now.duration_since(self.authenticated_at) < MAX_PROOF_AGE
    }
}

impl ReadColumns for BrowserSessionState {
    const COLUMNS: &'static [Column] = &[
        Column { name: "user_id", kind: ColumnKind::Text },
        Column { name: "public_key", kind: ColumnKind::Text },
        Column { name: "method", kind: ColumnKind::Text },
        Column { name: "authenticated_at", kind: ColumnKind::Integer },
    ];

    fn read(values: &mut Values) -> Result<Self> {
        let user = values.next_column()?;
        let key = values.next_column()?;
        let method = values.next_column()?;
        let at = values.next_column()?;
        Ok(match (user, key, method, at) {
            (None, None, None, None) => Self::Pending,
            (Some(user_id), Some(public_key), Some(method), Some(authenticated_at)) => {
                Self::SignedIn(LoginProof { user_id, public_key, method, authenticated_at })
            }
            _ => bail!("browser_sessions: user_id, public_key, method and authenticated_at contradict each other"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGIN: Timestamp = Timestamp::UNIX_EPOCH;
    const SECOND: SignedDuration = SignedDuration::from_secs(1);

    fn domain(number: u8) -> DomainId {
        DomainId::new(LOGIN, [number; 16])
    }

    fn cookie(number: u8) -> CookieHash {
        CookieSecret::from_bytes([number; 32]).hash()
    }

    fn pending_session() -> BrowserSession {
        let session = SessionId::new(LOGIN, [3; 16]);
        BrowserSession::begin(cookie(1), (Environment::Live, domain(1)), session, LOGIN, [2; 16])
    }

    fn signed_in_session() -> BrowserSession {
        let proof = LoginProof {
            user_id: UserId::new(LOGIN, [4; 16]),
            public_key: "02".to_owned(),
            method: LoginMethod::Scan,
            authenticated_at: LOGIN,
        };
        BrowserSession { state: BrowserSessionState::SignedIn(proof), ..pending_session() }
    }

    fn with_use_at(session: BrowserSession, now: Timestamp) -> BrowserSession {
        BrowserSession { last_used_at: now, ..session }
    }

    #[test]
    fn incomplete_login_creates_no_session() {
        assert_eq!(pending_session().proof(LOGIN), None);
        assert_eq!(pending_session().expires_at(), LOGIN + MAX_WAIT);
        assert!(signed_in_session().proof(LOGIN).is_some());
    }

    #[test]
    fn session_expires_after_an_idle_day() {
        let a_day = LOGIN + MAX_IDLE;
        assert!(signed_in_session().proof(a_day - SECOND).is_some() && signed_in_session().proof(a_day).is_none());
        let used = with_use_at(signed_in_session(), a_day - SECOND);
        assert!(used.proof(a_day).is_some() && used.proof(a_day - SECOND + MAX_IDLE).is_none());
    }

    #[test]
    fn session_expires_after_thirty_days() {
        let (mut session, mut now) = (signed_in_session(), LOGIN);
        while session.proof(now).is_some() {
            session = with_use_at(session, now);
            now += SignedDuration::from_hours(1);
        }
        assert_eq!((session.expires_at(), now), (LOGIN + MAX_AGE, LOGIN + MAX_AGE));
    }

    #[test]
    fn proof_is_stale_after_five_minutes() {
        let session = with_use_at(signed_in_session(), LOGIN + MAX_PROOF_AGE);
        let is_fresh = |now| session.proof(now).is_some_and(|proof| proof.is_fresh(now));
        assert!(is_fresh(LOGIN) && is_fresh(LOGIN + MAX_PROOF_AGE - SECOND) && !is_fresh(LOGIN + MAX_PROOF_AGE));
    }

    #[test]
    fn use_is_recorded_at_intervals() {
        assert!(
            !signed_in_session().is_use_due(LOGIN + USE_RECORDING_INTERVAL - SECOND)
                && signed_in_session().is_use_due(LOGIN + USE_RECORDING_INTERVAL)
        );
        assert!(!signed_in_session().is_use_due(LOGIN - MAX_IDLE));
    }

    #[test]
    fn first_console_use_is_recorded() {
        let used = BrowserSession { console_used_at: Some(LOGIN), ..signed_in_session() };
        assert!(signed_in_session().is_console_use_due(LOGIN));
        assert!(
            !used.is_console_use_due(LOGIN + USE_RECORDING_INTERVAL - SECOND)
                && used.is_console_use_due(LOGIN + USE_RECORDING_INTERVAL)
        );
    }

    #[test]
    fn session_belongs_to_one_domain_and_browser() {
        let session = signed_in_session();
        assert!(session.is_for(&cookie(1), Environment::Live, &domain(1)));
        for (cookie, environment, domain) in [
            (cookie(2), Environment::Live, domain(1)),
            (cookie(1), Environment::Sandbox, domain(1)),
            (cookie(1), Environment::Live, domain(2)),
        ] {
            assert!(!session.is_for(&cookie, environment, &domain));
        }
    }
}
