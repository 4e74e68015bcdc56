//! API keys: `svc_live_…` or `svc_test_…`, then an id, 256 random bits and a checksum. Only a hash is stored, so that
//! a copy of the database opens nothing.

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

/// Characters of the secret and the checksum behind the prefix and the id.
const KEY_SECRET_LEN: usize = 52;
const CHECKSUM_LEN: usize = 7;

/// The SHA-256 of a whole key, in hex: what the database knows it by. Long random keys need no slow hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash([u8; 64]);

/// A key as it is shown once, when it is made.
#[derive(Debug)]
pub struct NewKey {
    /// Its name for the operator.
    pub id: KeyId,
    /// What requests carry.
    pub key: SecretString,
    /// What it opens.
    pub scope: Scope,
}

/// What a key opened: whose data, and which of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyGrant {
    /// Whose data.
    pub account: Account,
    /// Which of it.
    pub scope: Scope,
    /// Which key it was.
    pub key: KeyId,
}

rows! {
    /// A key as the database keeps it: without what requests carry.
    #[derive(Clone, Debug, Serialize)]
    pub struct StoredKey in "api_keys" by [id] {
        /// Its name for the operator.
        pub id: KeyId,
        /// Whose it is.
        pub account: String,
        /// Where it opens.
        pub environment: Environment,
        /// What it opens.
        pub scope: Scope,
        /// What the operator called it.
        pub name: String,
        /// What a request's key is found by.
        #[serde(skip)]
        pub hash: KeyHash,
        /// When it was made.
        pub created_at: Timestamp,
    } later {
        /// Since when it opens nothing.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub revoked_at: Option<Timestamp>,
        /// When it opened something last, to the minute.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub last_used_at: Option<Timestamp>,
        /// When it ends, once it was replaced.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub expires_at: Option<Timestamp>,
    }
}

impl StoredKey {
    /// A new key of an account.
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

    /// What it opens.
    #[must_use]
    pub fn into_grant(self) -> KeyGrant {
        let account = Account { name: self.account, environment: self.environment };
        KeyGrant { account, scope: self.scope, key: self.id }
    }
}

impl NewKey {
    /// A key from 80 bits for its name and 256 for its secret.
    #[must_use]
    pub fn new(environment: Environment, id: [u8; 10], secret: [u8; 32]) -> Self {
        let id = BASE32_NOPAD.encode(&id).to_lowercase();
        let body = format!("{}{id}{}", prefix(environment), BASE32_NOPAD.encode(&secret).to_lowercase());
        let key = format!("{body}{}", checksum(&body));
        Self { id: KeyId::from_characters(&id), key: key.into(), scope: Scope::default() }
    }

    /// One that takes the place of `old`: for the same account and scope.
    #[must_use]
    pub fn in_place_of(old: &StoredKey, id: [u8; 10], secret: [u8; 32]) -> Self {
        Self::new(old.environment, id, secret).for_scope(old.scope)
    }

    /// The same key for something else than the authentication API.
    #[must_use]
    pub fn for_scope(self, scope: Scope) -> Self {
        Self { scope, ..self }
    }

    /// What the database keeps.
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

    /// One of so many shards.
    fn shard(&self, of: usize) -> usize {
        self.0[..8].iter().fold(0, |sum: usize, digit| sum * 31 + usize::from(*digit)) % of
    }

    /// Its text.
    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Reads one that was kept.
    fn from_stored(text: &str) -> Option<Self> {
        text.as_bytes().try_into().ok().map(Self)
    }

    /// The environment and the hash of what a request carries; `None` where it cannot be a key of ours, which its
    /// checksum tells without asking the database.
    #[must_use]
    pub fn parse(key: &str) -> Option<(Environment, Self)> {
        let environment = Environment::ALL.into_iter().find(|environment| key.starts_with(prefix(*environment)))?;
        let body = key.len().checked_sub(CHECKSUM_LEN).filter(|at| key.is_char_boundary(*at))?;
        let (body, sum) = key.split_at(body);
        let is_whole = body.len() == prefix(environment).len() + KEY_ID_LEN + KEY_SECRET_LEN;
        if !is_whole {
            return None;
        }
        // The checksum is of all that stands before it, so the hash of the whole goes on from there.
        let mut hash = Sha256::new_with_prefix(body);
        let is_ours = spell_checksum(&hash.clone().finalize()) == sum.as_bytes();
        hash.update(sum);
        is_ours.then(|| (environment, Self::from_digest(&hash.finalize())))
    }
}

fn prefix(environment: Environment) -> &'static str {
    match environment {
        Environment::Live => "svc_live_",
        Environment::Sandbox => "svc_test_",
    }
}

/// Lets a scanner for leaked secrets, and us, tell a key from a text that looks like one.
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
    fn a_key_reads_back_as_its_environment_and_hash() {
        for environment in Environment::ALL {
            let key = NewKey::new(environment, [1; 10], [2; 32]);
            assert_eq!(KeyHash::parse(key.key.expose_secret()), Some((environment, key.hash())));
            assert_eq!(KeyId::parse(&key.id.to_string()), Some(key.id));
        }
    }

    #[test]
    fn a_key_with_any_character_changed_is_no_key() {
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
    fn nothing_prints_a_key() {
        let key = NewKey::new(Environment::Live, [1; 10], [2; 32]);
        assert!(!format!("{key:?} {:?}", key.hash()).contains(key.key.expose_secret()));
    }
}
