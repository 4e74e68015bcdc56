//! What lets a page follow its own session: a bearer that reads a status and nothing else.

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
/// How long after authentication it still reads: as long as a page needs to learn of it.
const READ_WINDOW_AFTER_LOGIN: SignedDuration = SignedDuration::from_mins(5);

/// A `client_secret`. It follows from the API key and the session, so that asking again under an `Idempotency-Key`
/// gives the same one and nothing in the database can be turned into it.
pub struct ClientSecret(SecretString);

/// What the database knows one by.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientSecretHash(String);

impl ClientSecret {
    /// The secret of a session that was opened with this key. The key's 256 random bits make it one.
    ///
    /// # Panics
    /// Never: HMAC takes keys of any length.
    #[must_use]
    pub fn derive(key: &SecretString, session: &SessionId) -> Self {
        let mac =
            Hmac::<Sha256>::new_from_slice(key.expose_secret().as_bytes()).expect("HMAC takes keys of any length");
        let mac = mac.chain_update("client_secret:").chain_update(session.as_str());
        Self(format!("{CLIENT_SECRET_PREFIX}{}", BASE64URL_NOPAD.encode(&mac.finalize().into_bytes())).into())
    }

    /// What a request carries, if it is spelled like one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_one = text.strip_prefix(CLIENT_SECRET_PREFIX).is_some_and(|rest| rest.len() == 43);
        is_one.then(|| Self(text.into()))
    }

    /// For the page.
    #[must_use]
    pub fn reveal(&self) -> &str {
        self.0.expose_secret()
    }

    /// What the database keeps.
    #[must_use]
    pub fn hash(&self) -> ClientSecretHash {
        ClientSecretHash(HEXLOWER.encode(&Sha256::digest(self.reveal())))
    }

    /// Whether it reads this session now.
    #[must_use]
    pub fn reads(&self, session: &Session, now: Timestamp) -> bool {
        let is_alive = match &session.state {
            SessionState::Authenticated { at, .. } => now.duration_since(*at) < READ_WINDOW_AFTER_LOGIN,
            _ => true,
        };
        let hash = session.client_secret.as_ref();
        is_alive && hash.is_some_and(|hash| hash.0.as_bytes().ct_eq(self.hash().0.as_bytes()).into())
    }
}

impl ClientSecretHash {
    /// One that was kept.
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
