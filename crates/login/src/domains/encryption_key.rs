//! Checks whether this process may write secrets, by the encryption key that the database has
//! recorded.
//!
//! The database records a fingerprint of the key. Every write of a secret checks the fingerprint in its own
//! transaction, so that a process without the key, or with another, stores nothing that the servers cannot read or that
//! is in plain text.

use std::iter;

use anyhow::{Context, Result};
use signpost_store::{Statement, Store, Unavailable, WriteError, WriteOutcome, params};

use crate::domains::seal::Seal;

const FIND: &str = "SELECT fingerprint, old_fingerprint FROM encryption_key";

const ALLOWS_KEY: &str = "SELECT fingerprint FROM encryption_key WHERE fingerprint = $1 OR old_fingerprint = $1";

const ALLOWS_PLAIN_TEXT: &str = "SELECT fingerprint FROM encryption_key WHERE fingerprint IS NULL";

/// The reason why a process may not write secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncryptionKeyError {
    /// The database has recorded a key, and the process has none.
    #[error(
        "this database encrypts its secrets, and no encryption key is set: set SIGNPOST_SEAL_KEY to the key of its \
         servers; nothing was written"
    )]
    Missing,
    /// The database has recorded another key.
    #[error(
        "SIGNPOST_SEAL_KEY is not the key that this database encrypts its secrets with: set the key of its servers, and \
         to replace it that key as SIGNPOST_SEAL_KEY_OLD; nothing was written"
    )]
    Different,
}

/// The fingerprints of the encryption keys that the database has recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedKeys {
    /// The fingerprint of the current key.
    current: Option<String>,
    /// The fingerprint of the previous key, until no secret is encrypted with it any more.
    previous: Option<String>,
}

/// The result of a successful check: how a process may write secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyAdmission {
    /// The process may write secrets: its key is recorded, or neither the process nor the database
    /// has a key.
    Allowed,
    /// The process may record its key, if the key decrypts all secrets.
    MayRecord,
}

impl RecordedKeys {
    /// Returns true if the secrets of the database are encrypted.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.current.is_some()
    }

    /// Returns true if a process with these keys may write secrets.
    ///
    /// # Errors
    /// Returns [`EncryptionKeyError`] if the key in the database differs from the key of the
    /// process.
    pub fn admit(&self, seal: &Seal) -> Result<KeyAdmission, EncryptionKeyError> {
        let Some(current) = &self.current else {
            return Ok(if seal.is_enabled() { KeyAdmission::MayRecord } else { KeyAdmission::Allowed });
        };
        let Some(key) = seal.fingerprint() else { return Err(EncryptionKeyError::Missing) };
        if key.as_str() == current || Some(key.as_str()) == self.previous.as_deref() {
            return Ok(KeyAdmission::Allowed);
        }
        let is_replaced = seal.old_fingerprint().is_some_and(|old| old.as_str() == current);
        if is_replaced { Ok(KeyAdmission::MayRecord) } else { Err(EncryptionKeyError::Different) }
    }
}

/// Returns the keys that the database has recorded.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn find(store: &Store) -> Result<RecordedKeys> {
    let row = store.read_one(FIND, params![]).await?.context("encryption_key is one row")?;
    let current = row.opt_text(0)?.map(str::to_owned);
    let previous = row.opt_text(1)?.map(str::to_owned);
    Ok(RecordedKeys { current, previous })
}

/// Performs a write of secrets if this process may write secrets, which the same transaction checks.
///
/// # Errors
/// Returns [`Unavailable`] if this process may not write secrets or the database is unavailable;
/// [`WriteError::Conflict`] if a required statement changed no row.
pub async fn commit_secrets(
    store: &Store,
    seal: &Seal,
    statements: impl IntoIterator<Item = Statement>,
) -> Result<(), WriteError> {
    let guard = match seal.fingerprint() {
        Some(key) => Statement::expect_row(ALLOWS_KEY, params![key.as_str()]),
        None => Statement::expect_row(ALLOWS_PLAIN_TEXT, params![]),
    };
    let statements: Vec<_> = iter::once(guard).chain(statements).collect();
    match store.write(statements).await? {
        WriteOutcome::Committed(_) => Ok(()),
        WriteOutcome::Refused(0) => {
            let refused = if seal.is_enabled() { EncryptionKeyError::Different } else { EncryptionKeyError::Missing };
            Err(anyhow::Error::from(Unavailable(refused.to_string())).into())
        }
        WriteOutcome::Refused(_) => Err(WriteError::Conflict),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_written_with_a_recorded_key() {
        let seal = |key: Option<u8>, old: Option<u8>| {
            let [key, old] = [key, old].map(|byte| byte.map(|byte| [byte; 32]));
            Seal::new(key.as_ref(), old.as_ref())
        };
        let text = |byte: u8| seal(Some(byte), None).fingerprint().map(|key| key.as_str().to_owned());
        let recorded = |current, previous| RecordedKeys { current, previous };
        let none = recorded(None, None);
        let one = recorded(text(1), None);
        let rotated = recorded(text(2), text(1));
        for (keys, key, old, expected) in [
            (&none, None, None, Ok(KeyAdmission::Allowed)),
            (&none, Some(1), None, Ok(KeyAdmission::MayRecord)),
            (&one, None, None, Err(EncryptionKeyError::Missing)),
            (&one, None, Some(1), Err(EncryptionKeyError::Missing)),
            (&one, Some(1), None, Ok(KeyAdmission::Allowed)),
            (&one, Some(2), None, Err(EncryptionKeyError::Different)),
            (&one, Some(2), Some(3), Err(EncryptionKeyError::Different)),
            (&one, Some(2), Some(1), Ok(KeyAdmission::MayRecord)),
            (&rotated, Some(1), None, Ok(KeyAdmission::Allowed)),
            (&rotated, Some(2), Some(1), Ok(KeyAdmission::Allowed)),
            (&rotated, Some(3), Some(1), Err(EncryptionKeyError::Different)),
        ] {
            assert_eq!(keys.admit(&seal(key, old)), expected, "{keys:?} {key:?} {old:?}");
        }
    }
}
