//! The session of an application behind a proxy. It lives by a grant, whose code was redeemed for it, and by the server's
//! clock: a proxy hands no cookie on with its answer, so a use is noted here and not in the browser.

use std::sync::OnceLock;

use axum::http::HeaderMap;
use jiff::{SignedDuration, Timestamp};
use signpost_platform::pages::cookie::CookieHash;

use super::{BearerHash, Grant, GrantFacts, StoredToken, TokenKind, is_standing};

/// How long a session lasts without being used.
pub const MAX_APP_SESSION_IDLE: SignedDuration = SignedDuration::from_hours(24);

/// How long a session lasts from the login on, however much it is used.
pub const MAX_APP_SESSION_AGE: SignedDuration = SignedDuration::from_hours(30 * 24);

/// By how much its end must move before that is written.
const EXTENDED_BY: SignedDuration = SignedDuration::from_mins(5);

/// A session at an application, and what it stands on.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct AppSession {
    pub token: StoredToken,
    pub grant: Grant,
    pub facts: GrantFacts,
    /// Who it is, in headers, once a proxy asked: the same each time as long as the rest is.
    pub identity: OnceLock<HeaderMap>,
}

impl AppSession {
    /// The session that a grant begins in the browser with this cookie.
    #[must_use]
    pub fn begin(cookie: &CookieHash, grant: &Grant, now: Timestamp) -> StoredToken {
        StoredToken {
            hash: BearerHash::of_cookie(cookie),
            grant_id: grant.id.clone(),
            kind: TokenKind::Session,
            created_at: now,
            expires_at: expires_at(grant, now),
            scopes: None,
            replaced_at: None,
            successor: None,
        }
    }

    /// Whether somebody is logged in by it, whom the operator may let in or not.
    #[must_use]
    pub fn is_alive(&self, now: Timestamp) -> bool {
        let Self { token, grant, facts, .. } = self;
        let is_of_grant = token.kind == TokenKind::Session && token.grant_id == grant.id;
        is_of_grant && now < token.expires_at && is_standing(grant, facts)
    }

    /// Whether it began at the application whose browsers come back to this address, and may be used there. A client may
    /// have several hosts; one that has a hole in it has the sessions of its own visitors alone.
    #[must_use]
    pub fn is_at(&self, callback: &str) -> bool {
        self.grant.redirect_uri == callback && self.facts.client.has_redirect_uri(callback)
    }

    /// Whether the operator lets them in. Behind a proxy nobody gets in whom they did not name.
    #[must_use]
    pub fn is_admitted(&self) -> bool {
        let GrantFacts { client, user, credentials, .. } = &self.facts;
        client.settings.allowed.as_ref().is_some_and(|list| list.admits(user, credentials))
    }

    /// Its end if it is used now, where that is to be written down.
    #[must_use]
    pub fn extension(&self, now: Timestamp) -> Option<Timestamp> {
        let end = expires_at(&self.grant, now);
        (end.duration_since(self.token.expires_at) >= EXTENDED_BY).then_some(end)
    }
}

fn expires_at(grant: &Grant, now: Timestamp) -> Timestamp {
    (now + MAX_APP_SESSION_IDLE).min(grant.authenticated_at + MAX_APP_SESSION_AGE)
}
