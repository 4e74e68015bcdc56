//! New keys, and what becomes of old ones.

use anyhow::{Result, bail, ensure};
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretSlice};
use signpost_login::domains::seal::Seal;
use signpost_platform::accounts::Environment;
use signpost_platform::accounts::audit::Actor;
use signpost_store::{Store, WriteError, random};

use super::key_ring::{decrypt_key, encrypt_key};
use super::rules::{KeyState, KeyTimes, NOTICE, SHORT_NOTICE, find_due, find_state};
use super::sql::{self, Before};
use super::{KeptKey, StoredSigningKey};
use crate::jose::{PrivateKey, SigningAlgorithm, generate_pkcs8};

/// When a new key begins to sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// After relying parties had time to read it; the first one at once.
    Announced,
    /// As soon as all servers have read it.
    Soon,
    /// At once, and the keys before it count no more.
    Compromised,
}

/// A key that is wanted.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct WantedKey {
    pub environment: Environment,
    pub algorithm: SigningAlgorithm,
    pub beginning: Beginning,
    /// What the operator brings; without it a key is made.
    pub pkcs8: Option<SecretSlice<u8>>,
}

/// Makes a key, or takes the operator's, and keeps it behind all those that were `there` when it was wanted. `None` where
/// somebody else made one since.
///
/// # Errors
/// Where no key can be made ([`Unable`](crate::jose::Unable)), the operator's is none or was used before, those that are
/// there cannot be decrypted, or as [`Store::write`].
pub async fn make_key(
    store: &Store,
    seal: &Seal,
    wanted: WantedKey,
    there: &[StoredSigningKey],
    by: &Actor,
    now: Timestamp,
) -> Result<Option<StoredSigningKey>> {
    let WantedKey { environment, algorithm, beginning, pkcs8 } = wanted;
    let pkcs8 = match pkcs8 {
        Some(pkcs8) => pkcs8,
        // It keeps a core busy.
        None => tokio::task::spawn_blocking(move || generate_pkcs8(algorithm)).await??,
    };
    let key = PrivateKey::from_pkcs8(algorithm, pkcs8.expose_secret())?;
    // That its parts fit each other shows only here.
    let is_whole = key.public().verifies(b"signpost", &key.sign(b"signpost")?);
    ensure!(is_whole, "the key does not verify what it signs");
    if there.iter().any(|old| old.kid == key.kid()) {
        bail!("this key was used before: a rotation takes a new one");
    }
    // Who adds a key and cannot read those that are there has not the server's encryption key, and would keep it in clear
    // text. Those that are to be deleted may be beyond reading.
    if beginning != Beginning::Compromised {
        for old in there.iter().filter(|old| !old.private_key.is_erased()) {
            decrypt_key(old, seal)?;
        }
    }
    let last = there.iter().rfind(|old| old.environment == environment && old.algorithm == algorithm);
    let key = StoredSigningKey {
        kid: key.kid().to_owned(),
        environment,
        algorithm,
        number: last.map_or(1, |last| last.number + 1),
        private_key: encrypt_key(pkcs8.expose_secret(), key.kid(), seal, random()),
        public_key: key.public().clone(),
        created_at: now,
        active_from: match beginning {
            Beginning::Compromised => now,
            _ if last.is_none() => now,
            Beginning::Soon => now + SHORT_NOTICE,
            Beginning::Announced => now + NOTICE,
        },
    };
    let before = if beginning == Beginning::Compromised { Before::Deleted } else { Before::Kept };
    match sql::insert(store, seal, &key, before, by).await {
        Ok(()) => Ok(Some(key)),
        Err(WriteError::Conflict) => Ok(None),
        Err(WriteError::Internal(error)) => Err(error),
    }
}

/// Makes the keys that are due, erases those that sign no more and deletes those that are over. Returns how many were made.
///
/// # Errors
/// As [`make_key`]. What fails for one algorithm does not keep the others from it.
pub async fn keep_in_order(store: &Store, seal: &Seal, now: Timestamp) -> Result<usize> {
    let all = sql::list_all(store).await?;
    let (mut made, mut failed) = (0, None);
    for series in all.chunk_by(|one, next| (one.environment, one.algorithm) == (next.environment, next.algorithm)) {
        let times: Vec<KeyTimes> = series.iter().map(StoredSigningKey::times).collect();
        let steps: Vec<_> = series
            .iter()
            .enumerate()
            .filter_map(|(position, key)| match find_state(&times, position, now) {
                KeyState::Over => Some(sql::delete(&key.kid)),
                KeyState::Retired if !key.private_key.is_erased() => Some(sql::erase(&key.kid)),
                _ => None,
            })
            .collect();
        if !steps.is_empty() {
            store.write(steps).await?;
        }
        let StoredSigningKey { environment, algorithm, .. } = series[0];
        if find_due(&times, now).is_some_and(|due| due <= now) {
            let wanted = WantedKey { environment, algorithm, beginning: Beginning::Announced, pkcs8: None };
            match make_key(store, seal, wanted, &all, &Actor::Server, now).await {
                Ok(key) => made += usize::from(key.is_some()),
                Err(error) => failed = Some(error),
            }
        }
    }
    failed.map_or(Ok(made), Err)
}

/// Encrypts what is kept of a key as it would be encrypted now. `None` where it is so already, or was erased.
///
/// # Errors
/// Where it cannot be decrypted.
pub(super) fn encrypt_anew(key: &StoredSigningKey, seal: &Seal) -> Result<Option<KeptKey>> {
    let StoredSigningKey { kid, private_key: KeptKey(kept), .. } = key;
    if kept.is_empty() || !seal.is_stale(kept, kid) {
        return Ok(None);
    }
    let plain = seal.decrypt(kept, kid)?;
    Ok(Some(KeptKey(seal.encrypt(plain.expose_secret(), kid, random()))))
}
