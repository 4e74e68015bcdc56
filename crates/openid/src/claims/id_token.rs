//! Builds the claims of ID tokens (OpenID Connect Core, 2).

use data_encoding::BASE64URL_NOPAD;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use sha2::{Digest, Sha256};
use signpost_login::domains::LoginMethod;
use signpost_login::ids::BrowserSessionId;

use super::authentication_context::{acr, amr};
use super::user_claims::UserClaims;
use crate::ids::ClientId;

/// Lifetime of an ID token.
pub const ID_TOKEN_TTL: SignedDuration = SignedDuration::from_mins(5);

/// The claims of an ID token.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names are those of OpenID Connect Core, 2")]
pub struct IdToken {
    pub iss: String,
    pub aud: ClientId,
    /// The expiry. All times of the claims are in seconds since 1970.
    pub exp: i64,
    pub iat: i64,
    pub auth_time: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nonce: Option<String>,
    pub sid: BrowserSessionId,
    pub acr: &'static str,
    pub amr: &'static [&'static str],
    pub at_hash: String,
    #[serde(flatten)]
    pub user: UserClaims,
}

/// The login that an ID token describes.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct LoginFacts {
    pub client_id: ClientId,
    pub authenticated_at: Timestamp,
    pub method: LoginMethod,
    pub browser_session_id: BrowserSessionId,
    /// The nonce of the authorization request, in the first ID token only.
    pub nonce: Option<String>,
}

impl IdToken {
    /// Returns the claims of the ID token that is issued with an access token.
    #[must_use]
    pub fn new(login: LoginFacts, issuer: String, user: UserClaims, access_token: &str, now: Timestamp) -> Self {
        Self {
            iss: issuer,
            aud: login.client_id,
            exp: (now + ID_TOKEN_TTL).as_second(),
            iat: now.as_second(),
            auth_time: login.authenticated_at.as_second(),
            nonce: login.nonce,
            sid: login.browser_session_id,
            acr: acr(login.method),
            amr: amr(login.method),
            at_hash: hash_access_token(access_token),
            user,
        }
    }
}

/// Returns `at_hash` (OpenID Connect Core, 3.1.3.6), which uses SHA-256 for both signing algorithms.
#[must_use]
pub fn hash_access_token(access_token: &str) -> String {
    BASE64URL_NOPAD.encode(&Sha256::digest(access_token)[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_hash_matches_the_specification() {
        // The example of OpenID Connect Core, A.3.
        assert_eq!(hash_access_token("jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y"), "77QmUPtjPfzWtF2AnpK9RQ");
    }
}
