//! Browser sessions: who is signed in at the login host, by a cookie, for days. A login [session] is another thing, one
//! challenge for minutes. These are the types and rules; pages and single sign-on will keep and read them.
//!
//! [session]: crate::sessions

use jiff::{SignedDuration, Timestamp};
use signpost_auth::PublicKey;
use signpost_platform::accounts::Environment;

use crate::ids::{BrowserSessionId, DomainId};

pub use signpost_platform::pages::cookie::{CookieHash, CookieSecret};

/// How long a browser session lasts without being used.
pub const MAX_IDLE: SignedDuration = SignedDuration::from_hours(24);

/// How long a browser session lasts from the login on, however much it is used.
pub const MAX_AGE: SignedDuration = SignedDuration::from_hours(30 * 24);

/// A user who is signed in at one domain in one browser. One cookie leads to several of them, one for each domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserSession {
    /// Its name for whoever lists or ends it.
    pub id: BrowserSessionId,
    /// Which browser.
    pub cookie: CookieHash,
    /// Where the user is signed in: in this environment, …
    pub environment: Environment,
    /// … at this domain, and nowhere else.
    pub domain_id: DomainId,
    /// Who, by the key's canonical spelling.
    pub user: String,
    /// When the user last proved to have the key.
    pub authenticated_at: Timestamp,
    /// When the browser last came with the cookie.
    pub last_used_at: Timestamp,
}

impl BrowserSession {
    /// The session of a browser in which somebody just logged in.
    #[must_use]
    pub fn open(
        cookie: CookieHash,
        (environment, domain_id): (Environment, DomainId),
        user: &PublicKey,
        now: Timestamp,
        random: [u8; 16],
    ) -> Self {
        let id = BrowserSessionId::new(now, random);
        let user = user.canonical();
        Self { id, cookie, environment, domain_id, user, authenticated_at: now, last_used_at: now }
    }

    /// When it ends, unless it is used again before.
    #[must_use]
    pub fn expires_at(&self) -> Timestamp {
        (self.last_used_at + MAX_IDLE).min(self.authenticated_at + MAX_AGE)
    }

    /// Who is signed in at a domain, by a browser that came with a cookie; `None` where this session says nothing of that.
    #[must_use]
    pub fn user_at(
        &self,
        cookie: &CookieHash,
        environment: Environment,
        domain: &DomainId,
        now: Timestamp,
    ) -> Option<&str> {
        let is_here = self.environment == environment && self.domain_id == *domain;
        (is_here && self.cookie.matches(cookie) && now < self.expires_at()).then_some(&self.user)
    }

    /// The same session after another use; `None` where it is over.
    #[must_use]
    pub fn renew(self, now: Timestamp) -> Option<Self> {
        (now < self.expires_at()).then(|| Self { last_used_at: now.max(self.last_used_at), ..self })
    }
}

#[cfg(test)]
mod tests {
    use signpost_auth::Wallet;

    use super::*;

    const LOGIN: Timestamp = Timestamp::UNIX_EPOCH;

    fn domain(number: u8) -> DomainId {
        DomainId::new(LOGIN, [number; 16])
    }

    fn cookie(number: u8) -> CookieHash {
        CookieSecret::from_bytes([number; 32]).hash()
    }

    fn session() -> BrowserSession {
        let wallet = Wallet::from_bytes([1; 32]).unwrap();
        BrowserSession::open(cookie(1), (Environment::Live, domain(1)), wallet.public_key(), LOGIN, [2; 16])
    }

    fn is_signed_in(session: &BrowserSession, now: Timestamp) -> bool {
        session.user_at(&cookie(1), Environment::Live, &domain(1), now).is_some()
    }

    #[test]
    fn a_day_without_use_ends_it() {
        let a_day = LOGIN + MAX_IDLE;
        let second = SignedDuration::from_secs(1);
        assert!(is_signed_in(&session(), a_day - second) && !is_signed_in(&session(), a_day));
        let used = session().renew(a_day - second).unwrap();
        assert!(is_signed_in(&used, a_day) && !is_signed_in(&used, a_day - second + MAX_IDLE));
        assert_eq!(session().renew(a_day), None);
    }

    #[test]
    fn thirty_days_end_it_however_much_it_is_used() {
        let (mut session, mut now) = (session(), LOGIN);
        while let Some(used) = session.clone().renew(now) {
            session = used;
            now += SignedDuration::from_hours(1);
        }
        assert_eq!((session.expires_at(), now), (LOGIN + MAX_AGE, LOGIN + MAX_AGE));
        assert!(!is_signed_in(&session, now));
    }

    #[test]
    fn a_clock_that_was_set_back_ends_nothing_early() {
        let used = session().renew(LOGIN + SignedDuration::from_hours(2)).unwrap();
        assert_eq!(used.clone().renew(LOGIN), Some(used));
    }

    #[test]
    fn it_says_nothing_of_another_domain_environment_or_browser() {
        let session = session();
        assert_eq!(session.user_at(&cookie(1), Environment::Live, &domain(1), LOGIN), Some(&*session.user));
        for (cookie, environment, domain) in [
            (cookie(2), Environment::Live, domain(1)),
            (cookie(1), Environment::Sandbox, domain(1)),
            (cookie(1), Environment::Live, domain(2)),
        ] {
            assert_eq!(session.user_at(&cookie, environment, &domain, LOGIN), None);
        }
    }
}
