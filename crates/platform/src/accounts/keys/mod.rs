//! API keys. A key consists of the prefix `svc_live_` or `svc_test_`, an ID, 256 random bits and a
//! checksum. Only its hash is stored, so that a copy of the database contains no valid keys.

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
use crate::accounts::{Account, Environment, KeyScopes};

/// Number of characters that encode the secret of a key.
const KEY_SECRET_LEN: usize = 52;
/// Number of characters of the checksum of a key.
const CHECKSUM_LEN: usize = 7;

/// The SHA-256 hash of an API key in hex, stored instead of the key. A slow hash is not
/// needed, because keys are long and random.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash([u8; 64]);

/// A new API key. It is shown to the operator only once.
#[derive(Debug)]
pub struct NewKey {
    /// The ID of the key.
    pub id: KeyId,
    /// The secret text of the key.
    pub key: SecretString,
    /// The scopes that the key is created with.
    pub scope: KeyScopes,
}

/// The access rights of a valid API key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyGrant {
    /// The account that owns the key.
    pub account: Account,
    /// The scopes of the key.
    pub scope: KeyScopes,
    /// The ID of the key.
    pub key: KeyId,
}

rows! {
    /// A stored API key, with its hash instead of the key.
    #[derive(Clone, Debug, Serialize)]
    pub struct StoredKey in "api_keys" by [id] {
        /// The ID of the key.
        pub id: KeyId,
        /// The name of the account that owns the key.
        pub account: String,
        /// The environment that the key is valid in.
        pub environment: Environment,
        /// The scopes of the key.
        pub scope: KeyScopes,
        /// The name of the key, chosen by the operator.
        pub name: String,
        /// The hash of the key.
        #[serde(skip)]
        pub hash: KeyHash,
        /// When the key was created.
        pub created_at: Timestamp,
    } mutable {
        /// When the key was revoked, if it was.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub revoked_at: Option<Timestamp>,
        /// The time of the last use, rounded to the minute.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub last_used_at: Option<Timestamp>,
        /// When the key expires, if it was rotated.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub expires_at: Option<Timestamp>,
    }
}

impl StoredKey {
    /// Creates the row of a new key.
    #[must_use]
    pub fn new(account: Account, name: String, key: &NewKey, now: Timestamp) -> Self {
        Self {
            id: key.id.clone(),
            account: account.name,
            environment: account.environment,
            scope: key.scope.clone(),
            name,
            hash: key.hash(),
            created_at: now,
            revoked_at: None,
            last_used_at: None,
            expires_at: None,
        }
    }

    /// Returns the access rights of this key.
    #[must_use]
    pub fn into_grant(self) -> KeyGrant {
        let account = Account { name: self.account, environment: self.environment };
        KeyGrant { account, scope: self.scope, key: self.id }
    }
}

impl NewKey {
    /// Creates a key from 80 random bits for its ID and 256 random bits for its secret.
    #[must_use]
    pub fn new(environment: Environment, id: [u8; 10], secret: [u8; 32]) -> Self {
        let id = BASE32_NOPAD.encode(&id).to_lowercase();
        let body = format!("{}{id}{}", prefix(environment), BASE32_NOPAD.encode(&secret).to_lowercase());
        let key = format!("{body}{}", checksum(&body));
        Self { id: KeyId::from_characters(&id), key: key.into(), scope: KeyScopes::default() }
    }

    /// Creates a key that replaces `old` in its environment, with its scopes.
    #[must_use]
    pub fn replacing(old: &StoredKey, id: [u8; 10], secret: [u8; 32]) -> Self {
        Self::new(old.environment, id, secret).with_scope(old.scope.clone())
    }

    /// Sets the scopes of the key.
    #[must_use]
    pub fn with_scope(self, scope: impl Into<KeyScopes>) -> Self {
        Self { scope: scope.into(), ..self }
    }

    /// Returns the hash that is stored.
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

    /// Returns the index of the shard for this hash, out of `count` shards.
    fn shard(&self, count: usize) -> usize {
        self.0[..8].iter().fold(0, |sum: usize, digit| sum * 31 + usize::from(*digit)) % count
    }

    /// Returns the hash in hex.
    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Parses a hash from the database.
    fn from_stored(text: &str) -> Option<Self> {
        text.as_bytes().try_into().ok().map(Self)
    }

    /// Returns the environment and the hash of a key. Returns `None`, without a database query, if
    /// the text is not a key or its checksum is wrong.
    #[must_use]
    pub fn parse(key: &str) -> Option<(Environment, Self)> {
        let environment = Environment::ALL.into_iter().find(|environment| key.starts_with(prefix(*environment)))?;
        let body = key.len().checked_sub(CHECKSUM_LEN).filter(|at| key.is_char_boundary(*at))?;
        let (body, sum) = key.split_at(body);
        if body.len() != prefix(environment).len() + KEY_ID_LEN + KEY_SECRET_LEN {
            return None;
        }
        // The checksum covers the body of the key, so the hash of the whole key is computed by
        // continuing this digest.
        let mut hash = Sha256::new_with_prefix(body);
        if encode_checksum(&hash.clone().finalize()) != sum.as_bytes() {
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

/// Returns the checksum of a key, by which the server and scanners for leaked secrets recognize
/// keys.
fn checksum(body: &str) -> String {
    encode_checksum(&Sha256::digest(body)).map(char::from).iter().collect()
}

fn encode_checksum(digest: &[u8]) -> [u8; CHECKSUM_LEN] {
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
