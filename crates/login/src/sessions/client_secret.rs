//! Client secrets: bearer tokens for pages of a site that poll their session. A client secret
//! grants access only to the session's status.

use std::fmt;

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use hmac::{Hmac, KeyInit, Mac};
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::{Session, SessionState};
use crate::ids::SessionId;

const CLIENT_SECRET_PREFIX: &str = "svc_client_";
/// Lifetime of a client secret after the authentication of its session, so that the page can read
/// the new status.
const READ_WINDOW_AFTER_LOGIN: SignedDuration = SignedDuration::from_mins(5);

/// A `client_secret`. It is derived from the API key and the session ID, so that a repeated request (`Idempotency-Key`)
/// returns an equal secret, and the database does not reveal it.
pub struct ClientSecret(SecretString);

/// The SHA-256 hash of a client secret, for the database.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientSecretHash(String);

impl ClientSecret {
    /// Derives the secret of a session that was created with this API key of 256 random bits.
    ///
    /// # Panics
    /// Never: HMAC accepts keys of any length.
    #[must_use]
    pub fn derive(key: &SecretString, session: &SessionId) -> Self {
        let mac =
            Hmac::<Sha256>::new_from_slice(key.expose_secret().as_bytes()).expect("HMAC takes keys of any length");
        let mac = mac.chain_update("client_secret:").chain_update(session.as_str());
        Self(format!("{CLIENT_SECRET_PREFIX}{}", BASE64URL_NOPAD.encode(&mac.finalize().into_bytes())).into())
    }

    /// Parses the bearer token of a request. `None` if it does not have the form of a client secret.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let encoded = text.strip_prefix(CLIENT_SECRET_PREFIX)?;
        (encoded.len() == 43).then(|| Self(text.into()))
    }

    /// Returns the secret itself, for the page.
    #[must_use]
    pub fn reveal(&self) -> &str {
        self.0.expose_secret()
    }

    /// Returns the hash for the database.
    #[must_use]
    pub fn hash(&self) -> ClientSecretHash {
        ClientSecretHash(HEXLOWER.encode(&Sha256::digest(self.reveal())))
    }

    /// Returns true if this secret may read the session now.
    #[must_use]
    pub fn grants_access_to(&self, session: &Session, now: Timestamp) -> bool {
        let is_alive = match &session.state {
            SessionState::Authenticated { at, .. } => now.duration_since(*at) < READ_WINDOW_AFTER_LOGIN,
            _ => true,
        };
        let hash = session.client_secret.as_ref();
        is_alive && hash.is_some_and(|hash| hash.0.as_bytes().ct_eq(self.hash().0.as_bytes()).into())
    }
}

impl ClientSecretHash {
    pub(crate) fn from_stored(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ClientSecretHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientSecretHash")
    }
}
