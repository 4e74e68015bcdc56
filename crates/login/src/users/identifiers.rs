//! The identifiers of users that are unique in a domain: usernames, external IDs and e-mail addresses.

use std::fmt;

use anyhow::{Context, Result};
use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;
use signpost_store::{rows, text_columns};

use crate::ids::{DomainId, UserId};

rows! {
    /// An identifier that is unique in a domain, with its user. A username is an [`UsernameHash`]. It stays without a user
    /// after the user was removed, so that nobody else ever gets it.
    #[derive(Clone, Debug)]
    pub struct UserIdentifier in "user_identifiers" by [domain_id, kind, value] {
        pub(super) domain_id: DomainId,
        pub(super) kind: IdentifierKind,
        pub(super) value: String,
        pub(super) user_id: Option<UserId>,
    }
}

/// The kind of an identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentifierKind {
    /// A username, generated or set.
    Username,
    /// The ID of the user in the integrator's database.
    ExternalId,
    /// The e-mail address.
    Email,
}

/// The key of the hashes of usernames. Each database has its own, so that equal usernames of two servers have different
/// hashes.
#[derive(Clone)]
pub struct UsernameKey(SecretString);

/// The HMAC-SHA-256 of a username and its domain in hex.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsernameHash(String);

impl IdentifierKind {
    /// Returns the word in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Username => "username",
            Self::ExternalId => "external_id",
            Self::Email => "email",
        }
    }

    fn from_stored(text: &str) -> Result<Self> {
        let kinds = [Self::Username, Self::ExternalId, Self::Email];
        kinds.into_iter().find(|kind| kind.as_str() == text).context("is no kind of identifier")
    }
}

impl UsernameKey {
    /// Creates a key from random bytes.
    #[must_use]
    pub fn new(random: [u8; 32]) -> Self {
        Self(HEXLOWER.encode(&random).into())
    }

    pub(super) fn from_stored(text: String) -> Self {
        Self(text.into())
    }

    /// Returns the text that is stored.
    pub(super) fn reveal(&self) -> &str {
        self.0.expose_secret()
    }

    /// Returns the hash of a username in a domain.
    ///
    /// # Panics
    /// Never panics: HMAC accepts keys of any length.
    #[must_use]
    pub fn hash(&self, domain: &DomainId, username: &str) -> UsernameHash {
        let mac = Hmac::<Sha256>::new_from_slice(self.reveal().as_bytes()).expect("HMAC takes keys of any length");
        // No ID and no username has a space.
        let mac = mac.chain_update(domain.as_str()).chain_update(" ").chain_update(username);
        UsernameHash(HEXLOWER.encode(&mac.finalize().into_bytes()))
    }
}

impl UsernameHash {
    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for UsernameKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UsernameKey")
    }
}

text_columns! {
    IdentifierKind: |kind| kind.as_str(), IdentifierKind::from_stored;
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn username_hash_depends_on_key_and_domain() {
        let [one, two] = [1, 2].map(|byte| DomainId::new(Timestamp::UNIX_EPOCH, [byte; 16]));
        let key = UsernameKey::new([7; 32]);
        let hash = key.hash(&one, "ann");
        assert_eq!((hash.as_str().len(), key.hash(&one, "ann")), (64, hash.clone()));
        for other in [key.hash(&two, "ann"), key.hash(&one, "ann2"), UsernameKey::new([8; 32]).hash(&one, "ann")] {
            assert_ne!(other, hash);
        }
        assert!(!format!("{key:?}").contains("07"));
    }
}
