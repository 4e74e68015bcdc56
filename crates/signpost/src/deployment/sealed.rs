//! What is encrypted with the operator's key: the secrets of domains, and the keys that sign ID tokens.

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use serde::Serialize;
use signpost_login::domains;
use signpost_login::domains::encryption_key::{self, KeyAdmission};
use signpost_login::domains::seal::Seal;
use signpost_openid::signing_keys;
use signpost_store::{Store, must, params};

use super::servers::{self, RunningServers};

/// Records a key whatever was recorded before: it decrypts every secret. Refused while a server with another key runs.
const RECORD: &str = "
    UPDATE encryption_key
    SET old_fingerprint = CASE WHEN fingerprint = $1 THEN old_fingerprint
                               WHEN fingerprint = 'unknown' THEN NULL
                               ELSE fingerprint END,
        fingerprint = $1
    WHERE NOT EXISTS (SELECT 1 FROM servers WHERE key_fingerprint <> $1 AND seen_at > $2)";

/// No secret is encrypted with the key before any more.
const END_ROTATION: &str = "
    UPDATE encryption_key SET old_fingerprint = NULL
    WHERE fingerprint = $1 AND NOT EXISTS (SELECT 1 FROM servers WHERE key_fingerprint <> $1 AND seen_at > $2)";

/// Of how many domains secrets were encrypted, and how many signing keys.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct NewlySealed {
    #[serde(rename = "sealed")]
    pub(crate) domains: usize,
    pub(crate) signing_keys: usize,
}

/// The secrets in plain text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlainTextSecrets {
    /// Number of domains with such a secret.
    pub domains: i64,
    /// Number of such keys that sign ID tokens.
    pub signing_keys: i64,
}

/// Says at the start what cannot be decrypted, and not when it is needed.
///
/// # Errors
/// Where something cannot, or as [`Store::read`].
pub(crate) async fn check(store: &Store, seal: &Seal) -> Result<()> {
    domains::reseal::check(store, seal).await?;
    signing_keys::reseal::check(store, seal).await
}

/// Checks that this process may write secrets, and records its key if it is the first with one.
///
/// # Errors
/// [`KeyRefused`](encryption_key::KeyRefused) if the key is missing or another, as [`check`], or as [`Store::write`].
pub(crate) async fn admit(store: &Store, seal: &Seal) -> Result<()> {
    let recorded = encryption_key::find(store).await?;
    let admission = recorded.admit(seal)?;
    // A server of an older version encrypts without recording its key.
    if admission == KeyAdmission::MayRecord || !recorded.is_encrypted() {
        check(store, seal).await?;
    }
    if admission == KeyAdmission::MayRecord {
        encryption_key::record(store, seal).await?;
    }
    Ok(())
}

/// Checks that this process may write signing keys in place of all that there are: also if their key was lost and no domain
/// has a secret that is encrypted with it.
///
/// # Errors
/// As [`admit`], or if a server runs that has another key or none.
pub(crate) async fn admit_replacement(
    store: &Store,
    seal: &Seal,
    running: RunningServers,
    now: Timestamp,
) -> Result<()> {
    let refused = match admit(store, seal).await {
        Ok(()) => return Ok(()),
        Err(refused) => refused,
    };
    let Some(key) = seal.fingerprint() else { return Err(refused) };
    if domains::reseal::check(store, seal).await.is_err() {
        return Err(refused);
    }
    replace_recorded(store, key.as_str(), running.seen_after(now)).await
}

/// Counts the secrets in plain text.
///
/// # Errors
/// As [`Store::read`].
pub(crate) async fn count_plain_text(store: &Store) -> Result<PlainTextSecrets> {
    Ok(PlainTextSecrets {
        domains: domains::reseal::count_plain_text(store).await?,
        signing_keys: signing_keys::sql::count_plain_text(store).await?,
    })
}

async fn replace_recorded(store: &Store, key: &str, seen_after: i64) -> Result<()> {
    if store.write([must(RECORD, params![key, seen_after])]).await?.is_committed() {
        return Ok(());
    }
    bail!(
        "a server without this encryption key is running on this database: restart it with this SIGNPOST_SEAL_KEY, and \
         with the previous one, if there is one, as SIGNPOST_SEAL_KEY_OLD; nothing was written"
    )
}

/// Encrypts all that is not encrypted with the operator's key. The key is recorded first: from then on no process without
/// it writes a secret.
///
/// # Errors
/// If a server runs that has another key or none, something cannot be decrypted, or as [`Store::read`] and
/// [`Store::write`].
pub(crate) async fn seal_all(
    store: &Store,
    seal: &Seal,
    running: RunningServers,
    now: Timestamp,
) -> Result<NewlySealed> {
    if running == RunningServers::One && !servers::has_any(store).await? {
        bail!("a server of an older version is running on this database: restart it first; nothing was encrypted");
    }
    check(store, seal).await?;
    let key = seal.fingerprint().context("no encryption key is set")?.as_str();
    let seen_after = running.seen_after(now);
    replace_recorded(store, key, seen_after).await?;
    let sealed = NewlySealed {
        domains: domains::reseal::seal_all(store, seal, now).await?,
        signing_keys: signing_keys::reseal::seal_all(store, seal, now).await?,
    };
    if !store.write([must(END_ROTATION, params![key, seen_after])]).await?.is_committed() {
        bail!(
            "a server with another encryption key was started meanwhile: restart it with this one, and run this again"
        );
    }
    Ok(sealed)
}
