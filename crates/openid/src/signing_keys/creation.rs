//! Generates and imports signing keys, and erases and deletes old keys.

use anyhow::{Result, bail, ensure};
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretSlice};
use signpost_login::domains::seal::Seal;
use signpost_platform::accounts::Environment;
use signpost_platform::accounts::audit::Actor;
use signpost_store::{Store, WriteError, random};

use super::key_ring::{decrypt_key, encrypt_key};
use super::rules::{ANNOUNCEMENT_PERIOD, KeyState, SHORT_ANNOUNCEMENT_PERIOD, find_due, find_state};
use super::sql::{self, PreviousKeys};
use super::{StoredPrivateKey, StoredSigningKey, series, times};
use crate::jose::{PrivateKey, SigningAlgorithm, generate_pkcs8};

/// The time when a new key starts to sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// The key signs when relying parties had time to read it. The first key signs immediately.
    Announced,
    /// The key signs as soon as all servers have read it.
    Soon,
    /// The key signs immediately, and all previous keys are deleted.
    Compromised,
}

/// A key to generate or to import.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct NewSigningKey {
    pub environment: Environment,
    pub algorithm: SigningAlgorithm,
    pub activation: Activation,
    /// The key of the operator; `None` to generate a key.
    pub pkcs8: Option<SecretSlice<u8>>,
}

/// Generates a key, or imports the operator's, and inserts it after the keys `existing`. Returns `None` if
/// another key was inserted first.
///
/// # Errors
/// Returns an error if no key can be generated ([`RsaUnsupported`](crate::jose::RsaUnsupported)),
/// the operator's key is invalid or was used before, the existing keys cannot be decrypted, or the
/// database cannot be written.
pub async fn create_key(
    store: &Store,
    seal: &Seal,
    new_key: NewSigningKey,
    existing: &[StoredSigningKey],
    by: &Actor,
    now: Timestamp,
) -> Result<Option<StoredSigningKey>> {
    let NewSigningKey { environment, algorithm, activation, pkcs8 } = new_key;
    let pkcs8 = match pkcs8 {
        Some(pkcs8) => pkcs8,
        // Key generation occupies a core for some time.
        None => tokio::task::spawn_blocking(move || generate_pkcs8(algorithm)).await??,
    };
    let key = PrivateKey::from_pkcs8(algorithm, pkcs8.expose_secret())?;
    // Inconsistent parts of an imported key are detected only by signing.
    let is_consistent = key.public().verifies(b"signpost", &key.sign(b"signpost")?);
    ensure!(is_consistent, "the key does not verify what it signs");
    if existing.iter().any(|old| old.kid == key.kid()) {
        bail!("this key was used before: a rotation requires a new key");
    }
    // If the existing keys cannot be decrypted, this process does not have the server's encryption
    // key, and the new key might be stored in plain text. Keys that will be deleted may be
    // unreadable.
    if activation != Activation::Compromised {
        for old in existing.iter().filter(|old| !old.private_key.is_erased()) {
            decrypt_key(old, seal)?;
        }
    }
    let last = existing.iter().rfind(|old| old.environment == environment && old.algorithm == algorithm);
    let key = StoredSigningKey {
        kid: key.kid().to_owned(),
        environment,
        algorithm,
        number: last.map_or(1, |last| last.number + 1),
        private_key: encrypt_key(pkcs8.expose_secret(), key.kid(), seal, random()),
        public_key: key.public().clone(),
        created_at: now,
        active_from: match activation {
            Activation::Compromised => now,
            _ if last.is_none() => now,
            Activation::Soon => now + SHORT_ANNOUNCEMENT_PERIOD,
            Activation::Announced => now + ANNOUNCEMENT_PERIOD,
        },
    };
    let before = if activation == Activation::Compromised { PreviousKeys::Deleted } else { PreviousKeys::Retained };
    match sql::insert(store, seal, &key, before, by).await {
        Ok(()) => Ok(Some(key)),
        Err(WriteError::Conflict) => Ok(None),
        Err(WriteError::Internal(error)) => Err(error),
    }
}

/// Generates due keys, erases retired keys and deletes expired keys. Returns the number of new keys.
///
/// # Errors
/// Returns the errors of [`create_key`]. An error for an algorithm does not stop the other algorithms.
pub async fn rotate_due_keys(store: &Store, seal: &Seal, now: Timestamp) -> Result<usize> {
    let all = sql::list_all(store).await?;
    let mut created = 0;
    let mut failed = None;
    for series in series(&all) {
        let times = times(series);
        let mut statements = Vec::new();
        for (position, key) in series.iter().enumerate() {
            match find_state(&times, position, now) {
                KeyState::Expired => statements.push(sql::delete(&key.kid)),
                KeyState::Retired if !key.private_key.is_erased() => statements.push(sql::erase(&key.kid)),
                _ => {}
            }
        }
        if !statements.is_empty() {
            store.write(statements).await?;
        }
        let StoredSigningKey { environment, algorithm, .. } = series[0];
        if find_due(&times, now).is_some_and(|due| due <= now) {
            let new_key = NewSigningKey { environment, algorithm, activation: Activation::Announced, pkcs8: None };
            match create_key(store, seal, new_key, &all, &Actor::Server, now).await {
                Ok(key) => created += usize::from(key.is_some()),
                Err(error) => failed = Some(error),
            }
        }
    }
    failed.map_or(Ok(created), Err)
}

/// Encrypts a private key with the current encryption key. `None` if it is already encrypted with
/// that key, or was erased.
///
/// # Errors
/// Returns an error if it cannot be decrypted.
pub(super) fn reseal_key(key: &StoredSigningKey, seal: &Seal) -> Result<Option<StoredPrivateKey>> {
    let StoredSigningKey { kid, private_key: StoredPrivateKey(stored), .. } = key;
    if stored.is_empty() || !seal.is_stale(stored, kid) {
        return Ok(None);
    }
    let plain = seal.decrypt(stored, kid)?;
    Ok(Some(StoredPrivateKey(seal.encrypt(plain.expose_secret(), kid, random()))))
}
