//! API keys: `svc_live_…` or `svc_test_…`, then an ID, 256 random bits and a checksum. Only a hash is stored, so that a
//! copy of the database contains no valid key.

pub mod cache;
pub mod sql;
pub mod used;

use std::fmt;

use data_encoding::{BASE32_NOPAD, HEXLOWER};
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use sha2::{Digest, Sha256};
use signpost_store::rows;

use crate::accounts::key_id::{KEY_ID_LEN, KeyId};
use crate::accounts::{Account, Environment, Scope};

/// Number of characters of the secret.
const KEY_SECRET_LEN: usize = 52;
/// Number of characters of the checksum.
const CHECKSUM_LEN: usize = 7;

/// The SHA-256 hash of a key, in hex, stored instead of the key. Long random keys need no slow hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash([u8; 64]);

/// A new key, shown only once.
#[derive(Debug)]
pub struct NewKey {
    /// The ID.
    pub id: KeyId,
    /// The key itself.
    pub key: SecretString,
    /// The scope.
    pub scope: Scope,
}

/// The access rights of a valid key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyGrant {
    /// The account.
    pub account: Account,
    /// The scope.
    pub scope: Scope,
    /// The ID of the key.
    pub key: KeyId,
}

rows! {
    /// A stored key, without the key itself.
    #[derive(Clone, Debug, Serialize)]
    pub struct StoredKey in "api_keys" by [id] {
        /// The ID.
        pub id: KeyId,
        /// The name of the account.
        pub account: String,
        /// The environment.
        pub environment: Environment,
        /// The scope.
        pub scope: Scope,
        /// The name that the operator chose.
        pub name: String,
        /// The hash of the key.
        #[serde(skip)]
        pub hash: KeyHash,
        /// The time of creation.
        pub created_at: Timestamp,
    } mutable {
        /// The time of revocation.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub revoked_at: Option<Timestamp>,
        /// The time of the last use, to the minute.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub last_used_at: Option<Timestamp>,
        /// The end of validity, if the key was replaced.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub expires_at: Option<Timestamp>,
    }
}

impl StoredKey {
    /// Creates the row of a new key of an account.
    #[must_use]
    pub fn new(account: Account, name: String, key: &NewKey, now: Timestamp) -> Self {
        Self {
            id: key.id.clone(),
            account: account.name,
            environment: account.environment,
            scope: key.scope,
            name,
            hash: key.hash(),
            created_at: now,
            revoked_at: None,
            last_used_at: None,
            expires_at: None,
        }
    }

    /// Returns the access rights of the key.
    #[must_use]
    pub fn into_grant(self) -> KeyGrant {
        let account = Account { name: self.account, environment: self.environment };
        KeyGrant { account, scope: self.scope, key: self.id }
    }
}

impl NewKey {
    /// Creates a key from 80 random bits for its ID and 256 for its secret.
    #[must_use]
    pub fn new(environment: Environment, id: [u8; 10], secret: [u8; 32]) -> Self {
        let id = BASE32_NOPAD.encode(&id).to_lowercase();
        let body = format!("{}{id}{}", prefix(environment), BASE32_NOPAD.encode(&secret).to_lowercase());
        let key = format!("{body}{}", checksum(&body));
        Self { id: KeyId::from_characters(&id), key: key.into(), scope: Scope::default() }
    }

    /// Creates a key that replaces `old`, with its scope.
    #[must_use]
    pub fn replacing(old: &StoredKey, id: [u8; 10], secret: [u8; 32]) -> Self {
        Self::new(old.environment, id, secret).for_scope(old.scope)
    }

    /// Sets the scope.
    #[must_use]
    pub fn for_scope(self, scope: Scope) -> Self {
        Self { scope, ..self }
    }

    /// Returns the hash for the database.
    #[must_use]
    pub fn hash(&self) -> KeyHash {
        KeyHash::from_key(self.key.expose_secret())
    }
}

impl KeyHash {
    fn from_key(key: &str) -> Self {
        Self::from_digest(&Sha256::digest(key))
    }

    fn from_digest(digest: &[u8]) -> Self {
        let mut hex = [0; 64];
        HEXLOWER.encode_mut(digest, &mut hex);
        Self(hex)
    }

    /// Returns the shard of this hash, of `count` shards.
    fn shard(&self, count: usize) -> usize {
        self.0[..8].iter().fold(0, |sum: usize, digit| sum * 31 + usize::from(*digit)) % count
    }

    /// Returns the hash in hex.
    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Parses a stored hash.
    fn from_stored(text: &str) -> Option<Self> {
        text.as_bytes().try_into().ok().map(Self)
    }

    /// Returns the environment and the hash of a key. `None` if the checksum is wrong or the text is not a key, without
    /// a query.
    #[must_use]
    pub fn parse(key: &str) -> Option<(Environment, Self)> {
        let environment = Environment::ALL.into_iter().find(|environment| key.starts_with(prefix(*environment)))?;
        let body = key.len().checked_sub(CHECKSUM_LEN).filter(|at| key.is_char_boundary(*at))?;
        let (body, sum) = key.split_at(body);
        if body.len() != prefix(environment).len() + KEY_ID_LEN + KEY_SECRET_LEN {
            return None;
        }
        // The checksum is over the body, so the hash of the key continues from there.
        let mut hash = Sha256::new_with_prefix(body);
        if spell_checksum(&hash.clone().finalize()) != sum.as_bytes() {
            return None;
        }
        hash.update(sum);
        Some((environment, Self::from_digest(&hash.finalize())))
    }
}

fn prefix(environment: Environment) -> &'static str {
    match environment {
        Environment::Live => "svc_live_",
        Environment::Sandbox => "svc_test_",
    }
}

/// Returns the checksum of a key. Scanners for leaked secrets and the server recognize keys by it.
fn checksum(body: &str) -> String {
    spell_checksum(&Sha256::digest(body)).map(char::from).iter().collect()
}

fn spell_checksum(digest: &[u8]) -> [u8; CHECKSUM_LEN] {
    let mut text = [0; CHECKSUM_LEN];
    BASE32_NOPAD.encode_mut(&digest[..4], &mut text);
    text.make_ascii_lowercase();
    text
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash")
    }
}

impl From<&KeyHash> for signpost_store::Value {
    fn from(hash: &KeyHash) -> Self {
        Self::Text(hash.as_str().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_is_parsed_to_environment_and_hash() {
        for environment in Environment::ALL {
            let key = NewKey::new(environment, [1; 10], [2; 32]);
            assert_eq!(KeyHash::parse(key.key.expose_secret()), Some((environment, key.hash())));
            assert_eq!(KeyId::parse(&key.id.to_string()), Some(key.id));
        }
    }

    #[test]
    fn key_with_a_changed_character_is_invalid() {
        let key = NewKey::new(Environment::Live, [1; 10], [2; 32]).key;
        let key = key.expose_secret();
        assert_eq!(key.len(), 84);
        for at in 0..key.len() {
            let mut other = key.to_owned().into_bytes();
            other[at] = if other[at] == b'a' { b'b' } else { b'a' };
            assert_eq!(KeyHash::parse(std::str::from_utf8(&other).unwrap()), None, "{at}");
        }
        for text in ["", "svc_live_", &format!("{key}a"), &key[..83], "svc_live_é"] {
            assert_eq!(KeyHash::parse(text), None, "{text}");
        }
    }

    #[test]
    fn debug_output_omits_the_key() {
        let key = NewKey::new(Environment::Live, [1; 10], [2; 32]);
        assert!(!format!("{key:?} {:?}", key.hash()).contains(key.key.expose_secret()));
    }
}
