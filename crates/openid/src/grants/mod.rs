//! Grants: what a client has of one login. A code redeems it once; access and refresh tokens, and the session of an
//! application behind a proxy, live by it and end with it.
//!
//! This file and its neighbours are the rules, and pure; [`sql`] remembers.

mod app_session;
pub mod app_session_sql;
mod bearer;
mod rotation;
pub mod sql;
mod standing;

use jiff::{SignedDuration, Timestamp};
use signpost_login::domains::LoginMethod;
use signpost_login::ids::{BrowserSessionId, DomainId, UserId};
use signpost_store::rows;

use crate::claims::OpenidScopes;
use crate::ids::{ClientId, GrantId};
use crate::pkce::CodeChallenge;

pub use app_session::{AppSession, MAX_APP_SESSION_AGE, MAX_APP_SESSION_IDLE};
pub use bearer::{Bearer, BearerHash, BearerKind, TokenKind};
pub use rotation::{RefreshVerdict, judge_refresh, open_successor, seal_successor};
pub use standing::{GrantFacts, TokenStanding, check_standing, is_standing};

/// How long a code is good.
pub const CODE_LASTS: SignedDuration = SignedDuration::from_secs(60);
/// How long an access token is good.
pub const ACCESS_LASTS: SignedDuration = SignedDuration::from_hours(1);
/// How long a refresh token is good that nobody uses.
pub const REFRESH_LASTS: SignedDuration = SignedDuration::from_hours(30 * 24);
/// How long a refresh token that was just replaced is answered with the one that replaced it: whoever lost the first answer
/// asks again.
pub const REFRESH_GRACE: SignedDuration = SignedDuration::from_secs(20);

rows! {
    /// A grant.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "the names say it")]
    pub struct Grant in "openid_grants" by [id] {
        pub id: GrantId,
        pub client_id: ClientId,
        pub domain_id: DomainId,
        pub user_id: UserId,
        /// The key that proved it, which the user must still have.
        pub public_key: String,
        pub method: LoginMethod,
        pub authenticated_at: Timestamp,
        /// The session of the browser: `sid`.
        pub browser_session_id: BrowserSessionId,
        pub scopes: OpenidScopes,
        pub nonce: Option<String>,
        pub redirect_uri: String,
        pub code_challenge: Option<CodeChallenge>,
        pub code_hash: BearerHash,
        pub created_at: Timestamp,
    } later {
        /// When the code was redeemed.
        pub redeemed_at: Option<Timestamp>,
        /// When all that came of it ended before its time.
        pub revoked_at: Option<Timestamp>,
    }
}

rows! {
    /// A token of a grant.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "the names say it")]
    pub struct StoredToken in "openid_tokens" by [hash] {
        pub hash: BearerHash,
        pub grant_id: GrantId,
        pub kind: TokenKind,
        pub created_at: Timestamp,
        pub expires_at: Timestamp,
        /// The scopes of an access token that a refresh narrowed; all others have those of the grant.
        pub scopes: Option<OpenidScopes>,
    } later {
        /// When a refresh token was replaced.
        pub replaced_at: Option<Timestamp>,
        /// The one that replaced it, encrypted with a key that follows from the token itself.
        pub successor: Option<String>,
    }
}

rows! {
    /// That a user agreed to what a client learns.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "the names say it")]
    pub struct Consent in "openid_consents" by [domain_id, user_id, client_id] {
        pub domain_id: DomainId,
        pub user_id: UserId,
        pub client_id: ClientId,
        pub scopes: OpenidScopes,
        pub agreed_at: Timestamp,
    }
}

impl Grant {
    /// Whether its code may be redeemed at this time, as far as time goes.
    #[must_use]
    pub fn is_code_fresh(&self, now: Timestamp) -> bool {
        now < self.created_at + CODE_LASTS
    }
}

impl StoredToken {
    /// A token that begins now.
    #[must_use]
    pub fn begin(token: &Bearer, kind: TokenKind, grant: &GrantId, now: Timestamp) -> Self {
        let lasts = match kind {
            TokenKind::Refresh => REFRESH_LASTS,
            TokenKind::Access | TokenKind::Session => ACCESS_LASTS,
        };
        Self {
            hash: token.hash(),
            grant_id: grant.clone(),
            kind,
            created_at: now,
            expires_at: now + lasts,
            scopes: None,
            replaced_at: None,
            successor: None,
        }
    }
}
