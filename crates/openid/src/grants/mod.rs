//! Grants: the access of a client after a login. A grant has an authorization code, and either
//! access and refresh tokens or the session of an application behind a proxy. All of them end with
//! the grant.
//!
//! The rules in this module are pure; [`sql`] has the queries.

mod app_session;
pub mod app_session_sql;
mod rotation;
pub mod sign_in_sql;
pub mod sql;
mod token;
mod validity;

use jiff::{SignedDuration, Timestamp};
use signpost_login::browser_sessions::SignInBrowser;
use signpost_login::domains::LoginMethod;
use signpost_login::ids::{BrowserSessionId, DomainId, UserId};
use signpost_store::rows;

use crate::claims::OpenidScopes;
use crate::ids::{ClientId, GrantId};
use crate::pkce::CodeChallenge;

pub use app_session::{AppSession, MAX_APP_SESSION_AGE, MAX_APP_SESSION_IDLE};
pub use rotation::{RefreshDecision, decide_refresh, open_successor, seal_successor};
pub use token::{OpaqueToken, OpaqueTokenKind, TokenHash, TokenKind};
pub use validity::{GrantFacts, ValidToken, is_grant_valid, is_valid_and_admitted};

/// Lifetime of an authorization code.
pub const AUTHORIZATION_CODE_TTL: SignedDuration = SignedDuration::from_secs(60);
/// Lifetime of an access token.
pub const ACCESS_TOKEN_TTL: SignedDuration = SignedDuration::from_hours(1);
/// Lifetime of an unused refresh token.
pub const REFRESH_TOKEN_TTL: SignedDuration = SignedDuration::from_hours(30 * 24);
/// Time during which a replaced refresh token returns its successor again, for clients that lost the first response.
pub const REFRESH_GRACE: SignedDuration = SignedDuration::from_secs(20);

rows! {
    /// The access of a client that results from a login of a user.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "the names are self-explanatory")]
    pub struct Grant in "openid_grants" by [id] {
        pub id: GrantId,
        pub client_id: ClientId,
        pub domain_id: DomainId,
        pub user_id: UserId,
        /// The key that proved the login. The grant ends when the user loses it.
        pub public_key: String,
        pub method: LoginMethod,
        pub authenticated_at: Timestamp,
        /// The browser session of the login, the claim `sid`.
        pub browser_session_id: BrowserSessionId,
        pub scopes: OpenidScopes,
        pub nonce: Option<String>,
        pub redirect_uri: String,
        pub code_challenge: Option<CodeChallenge>,
        pub code_hash: TokenHash,
        pub created_at: Timestamp,
        /// The browser of the login.
        pub browser: SignInBrowser,
    } mutable {
        /// The time when the code was exchanged.
        pub redeemed_at: Option<Timestamp>,
        /// The time when the grant was revoked, with all of its tokens.
        pub revoked_at: Option<Timestamp>,
    }
}

rows! {
    /// A token of a grant as the database stores it.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "the names are self-explanatory")]
    pub struct StoredToken in "openid_tokens" by [hash] {
        pub hash: TokenHash,
        pub grant_id: GrantId,
        pub kind: TokenKind,
        pub created_at: Timestamp,
        pub expires_at: Timestamp,
        /// The scopes of an access token that a refresh narrowed. `None` for all scopes of the grant.
        pub scopes: Option<OpenidScopes>,
    } mutable {
        /// The time when a refresh token was replaced.
        pub replaced_at: Option<Timestamp>,
        /// The token that replaced it, encrypted with a key that is derived from this token.
        pub successor: Option<String>,
    }
}

rows! {
    /// The consent of a user to the scopes of a client.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "the names are self-explanatory")]
    pub struct Consent in "openid_consents" by [domain_id, user_id, client_id] {
        pub domain_id: DomainId,
        pub user_id: UserId,
        pub client_id: ClientId,
        pub scopes: OpenidScopes,
        pub agreed_at: Timestamp,
    }
}

impl Grant {
    /// Returns true if its authorization code has not expired.
    #[must_use]
    pub fn is_code_fresh(&self, now: Timestamp) -> bool {
        now < self.created_at + AUTHORIZATION_CODE_TTL
    }
}

impl StoredToken {
    /// Returns the row of a new token.
    #[must_use]
    pub fn begin(token: &OpaqueToken, kind: TokenKind, grant: &GrantId, now: Timestamp) -> Self {
        let lifetime = match kind {
            TokenKind::Refresh => REFRESH_TOKEN_TTL,
            TokenKind::Access | TokenKind::Session => ACCESS_TOKEN_TTL,
        };
        Self {
            hash: token.hash(),
            grant_id: grant.clone(),
            kind,
            created_at: now,
            expires_at: now + lifetime,
            scopes: None,
            replaced_at: None,
            successor: None,
        }
    }
}
