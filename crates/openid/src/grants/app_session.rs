//! Sessions of applications behind a proxy. A session is created by the code exchange of a grant.
//! Its expiry is stored on the server and not in the browser, because a proxy does not forward
//! cookies of the subrequest's response.

use std::sync::OnceLock;

use axum::http::HeaderMap;
use jiff::{SignedDuration, Timestamp};
use signpost_platform::pages::cookie::CookieHash;

use super::{Grant, GrantFacts, StoredToken, TokenHash, TokenKind, is_grant_valid};

/// Lifetime of an unused session.
pub const MAX_APP_SESSION_IDLE: SignedDuration = SignedDuration::from_hours(24);

/// Maximum lifetime of a session after the login.
pub const MAX_APP_SESSION_AGE: SignedDuration = SignedDuration::from_hours(30 * 24);

/// Minimum extension of a session that is worth a write.
const EXTENDED_BY: SignedDuration = SignedDuration::from_mins(5);

/// A session at an application, with the rows that it depends on.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct AppSession {
    pub token: StoredToken,
    pub grant: Grant,
    pub facts: GrantFacts,
    /// The headers for the proxy, rendered at the first use.
    pub identity: OnceLock<HeaderMap>,
}

impl AppSession {
    /// Returns the row of a new session of a grant, in the browser with this cookie.
    #[must_use]
    pub fn begin(cookie: &CookieHash, grant: &Grant, now: Timestamp) -> StoredToken {
        StoredToken {
            hash: TokenHash::from_cookie(cookie),
            grant_id: grant.id.clone(),
            kind: TokenKind::Session,
            created_at: now,
            expires_at: expires_at(grant, now),
            scopes: None,
            replaced_at: None,
            successor: None,
        }
    }

    /// Returns true if the session is valid, even if its user is not admitted.
    #[must_use]
    pub fn is_alive(&self, now: Timestamp) -> bool {
        let Self { token, grant, facts, .. } = self;
        let is_of_grant = token.kind == TokenKind::Session && token.grant_id == grant.id;
        is_of_grant && now < token.expires_at && is_grant_valid(grant, facts)
    }

    /// Returns true if it was started at the application with this redirect URI, and is valid there. A client may have
    /// several hosts; a compromised host can use only the sessions of its visitors.
    #[must_use]
    pub fn is_for_callback(&self, callback: &str) -> bool {
        self.grant.redirect_uri == callback && self.facts.client.has_redirect_uri(callback)
    }

    /// Returns true if the operator admits the user. Without an allow list, no user is admitted behind a proxy.
    #[must_use]
    pub fn is_admitted(&self) -> bool {
        let GrantFacts { client, user, credentials, .. } = &self.facts;
        client.settings.allowed.as_ref().is_some_and(|list| list.admits(user, credentials))
    }

    /// Returns the new end of the session when it is used now, if the end must be written.
    #[must_use]
    pub fn extension(&self, now: Timestamp) -> Option<Timestamp> {
        let end = expires_at(&self.grant, now);
        (end.duration_since(self.token.expires_at) >= EXTENDED_BY).then_some(end)
    }
}

fn expires_at(grant: &Grant, now: Timestamp) -> Timestamp {
    (now + MAX_APP_SESSION_IDLE).min(grant.authenticated_at + MAX_APP_SESSION_AGE)
}
