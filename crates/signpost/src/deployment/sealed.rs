//! Encrypts secrets of the deployment with the operator's key: the webhook secrets of domains and
//! the signing keys of ID tokens.

use anyhow::{Context, Result, anyhow, bail};
use jiff::Timestamp;
use serde::Serialize;
use signpost_login::domains;
use signpost_login::domains::encryption_key::{self, EncryptionKeyError, KeyAdmission};
use signpost_login::domains::seal::{KeyFingerprint, Seal};
use signpost_openid::signing_keys;
use signpost_store::{Statement, Store, WriteError, params};

use super::servers::{self, RunningServers};
use crate::config::Config;

/// Records the first key, or the next key of a rotation. Servers may use the old key until they are restarted, so it
/// stays valid. Conflicts while a server with another key runs that announced itself after $3.
const RECORD_NEXT: &str = "
    UPDATE encryption_key
    SET old_fingerprint = CASE WHEN fingerprint IS NULL THEN NULLIF($2, '') ELSE fingerprint END,
        fingerprint = $1
    WHERE (fingerprint IS NULL OR fingerprint = $2)
      AND NOT EXISTS (SELECT 1 FROM servers WHERE key_fingerprint <> $1 AND seen_at > $3)";

/// Records the keys of a process, or their absence, if no secret is encrypted. Conflicts while a server with another
/// key runs.
const REPLACE_UNUSED: &str = "
    UPDATE encryption_key SET fingerprint = NULLIF($1, ''), old_fingerprint = NULLIF($2, '')
    WHERE NOT EXISTS (SELECT 1 FROM domains
                      WHERE webhook_secret LIKE 'sealed1:%' OR next_webhook_secret LIKE 'sealed1:%')
      AND NOT EXISTS (SELECT 1 FROM deleted_domains
                      WHERE webhook_secret LIKE 'sealed1:%' OR next_webhook_secret LIKE 'sealed1:%')
      AND NOT EXISTS (SELECT 1 FROM signing_keys WHERE private_key LIKE 'sealed1:%')
      AND NOT EXISTS (SELECT 1 FROM servers WHERE key_fingerprint <> $1 AND seen_at > $3)";

/// Records a key regardless of the recorded key: it decrypts every secret. Conflicts while a server with another key
/// runs.
const REPLACE_RECORDED: &str = "
    UPDATE encryption_key
    SET old_fingerprint = CASE WHEN fingerprint = $1 THEN old_fingerprint ELSE fingerprint END,
        fingerprint = $1
    WHERE NOT EXISTS (SELECT 1 FROM servers WHERE key_fingerprint <> $1 AND seen_at > $2)";

/// Ends a rotation, when no secret is encrypted with the old key.
const END_ROTATION: &str = "
    UPDATE encryption_key SET old_fingerprint = NULL
    WHERE fingerprint = $1 AND NOT EXISTS (SELECT 1 FROM servers WHERE key_fingerprint <> $1 AND seen_at > $2)";

/// The reason why a key cannot be recorded while a server with another key runs.
const OTHER_KEY_RUNS: &str = "a server without this encryption key is running on this database: restart it with this SIGNPOST_SEAL_KEY, and with \
     the previous one, if there is one, as SIGNPOST_SEAL_KEY_OLD; nothing was written";

/// Numbers of domains and signing keys with newly encrypted secrets.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct SealedCounts {
    #[serde(rename = "sealed")]
    pub(crate) domains: usize,
    pub(crate) signing_keys: usize,
}

/// Numbers of secrets in plain text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlainTextSecrets {
    /// Number of domains with such a secret.
    pub domains: i64,
    /// Number of signing keys of ID tokens in plain text.
    pub signing_keys: i64,
}

/// Checks that every secret can be decrypted.
///
/// # Errors
/// Returns an error if a secret cannot be decrypted, and the errors of [`Store::read`].
pub(crate) async fn check(store: &Store, seal: &Seal) -> Result<()> {
    domains::reseal::check(store, seal).await?;
    signing_keys::reseal::check(store, seal).await
}

/// Checks that a starting server may write secrets. Records its key if it is the first server with a key, or the next
/// key of a rotation. During a rotation, the running servers are restarted in turn. A recorded key that encrypts no
/// secret is replaced by the server's key, or by none.
///
/// # Errors
/// Returns [`EncryptionKeyError`] if the key is missing or differs, and the errors of [`check`] and [`Store::write`].
pub(crate) async fn admit_server(store: &Store, seal: &Seal, running: RunningServers, now: Timestamp) -> Result<()> {
    match find_admission(store, seal).await {
        Ok(KeyAdmission::Allowed) => Ok(()),
        Ok(KeyAdmission::MayRecord) => record_next(store, seal, RunningServers::None, now).await,
        Err(error) if error.is::<EncryptionKeyError>() => {
            replace_unused(store, seal, running.seen_after(now)).await.map_err(|failure| failure.on_conflict(error))
        }
        Err(error) => Err(error),
    }
}

/// Checks that a command may write secrets. Records its key if it is the first process with a key, or with the next key
/// of a rotation, and no server with another key or without a key runs.
///
/// # Errors
/// Returns [`EncryptionKeyError`] if the key is missing or differs, or if a server with another key or without a key
/// runs, and the errors of [`check`] and [`Store::write`].
pub(crate) async fn admit_command(store: &Store, config: &Config, now: Timestamp) -> Result<()> {
    let seal = config.login.seal();
    if find_admission(store, &seal).await? == KeyAdmission::Allowed {
        return Ok(());
    }
    // The lock of an embedded database is held until the key is recorded, so that no server starts before.
    let (running, _lock) = RunningServers::find(config)?;
    record_next(store, &seal, running, now).await
}

/// Returns the admission of this process. If it may record its key, the key decrypts every secret.
async fn find_admission(store: &Store, seal: &Seal) -> Result<KeyAdmission> {
    let recorded = encryption_key::find(store).await?;
    let admission = recorded.admit(seal)?;
    // Fails closed: if no key is recorded, no secret may be encrypted.
    if admission == KeyAdmission::MayRecord || !recorded.is_encrypted() {
        check(store, seal).await?;
    }
    Ok(admission)
}

/// Records the key of this process. It must decrypt every secret.
async fn record_next(store: &Store, seal: &Seal, running: RunningServers, now: Timestamp) -> Result<()> {
    let (key, old) = fingerprints(seal);
    let is_known = running != RunningServers::One || servers::has_any(store).await?;
    let record = Statement::expect_row(RECORD_NEXT, params![key, old, running.seen_after(now)]);
    if is_known {
        match store.commit([record]).await {
            Ok(()) => return Ok(()),
            // Another process may have recorded a key concurrently.
            Err(WriteError::Conflict) => {}
            Err(WriteError::Internal(error)) => return Err(error),
        }
    }
    match encryption_key::find(store).await?.admit(seal)? {
        KeyAdmission::Allowed => Ok(()),
        KeyAdmission::MayRecord if is_known => bail!(OTHER_KEY_RUNS),
        KeyAdmission::MayRecord => bail!(
            "another command is using this database, or a server is starting: run this again when it is done; nothing \
             was written"
        ),
    }
}

/// Replaces the recorded key if it encrypts no secret.
async fn replace_unused(store: &Store, seal: &Seal, seen_after: i64) -> Result<(), WriteError> {
    let (key, old) = fingerprints(seal);
    store.commit([Statement::expect_row(REPLACE_UNUSED, params![key, old, seen_after])]).await
}

/// Returns the fingerprints of a process's current and old key, empty without a key.
fn fingerprints(seal: &Seal) -> (&str, &str) {
    let key = seal.fingerprint().map(KeyFingerprint::as_str);
    // An old key without a current key decrypts and encrypts nothing new.
    let old = key.and(seal.old_fingerprint()).map(KeyFingerprint::as_str);
    (key.unwrap_or_default(), old.unwrap_or_default())
}

/// Checks that this process may replace all signing keys: allowed even if their encryption key was lost, unless it also
/// encrypts the secret of a domain.
///
/// # Errors
/// Returns the errors of [`admit_command`].
pub(crate) async fn admit_replacement(store: &Store, config: &Config, now: Timestamp) -> Result<()> {
    let seal = &config.login.seal();
    let (running, _lock) = RunningServers::find(config)?;
    let refused = match find_admission(store, seal).await {
        Ok(KeyAdmission::Allowed) => return Ok(()),
        Ok(KeyAdmission::MayRecord) => return record_next(store, seal, running, now).await,
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
/// Returns the errors of [`Store::read`].
pub(crate) async fn count_plain_text(store: &Store) -> Result<PlainTextSecrets> {
    Ok(PlainTextSecrets {
        domains: domains::reseal::count_plain_text(store).await?,
        signing_keys: signing_keys::sql::count_plain_text(store).await?,
    })
}

async fn replace_recorded(store: &Store, key: &str, seen_after: i64) -> Result<()> {
    let recorded = store.commit([Statement::expect_row(REPLACE_RECORDED, params![key, seen_after])]).await;
    recorded.map_err(|error| error.on_conflict(anyhow!(OTHER_KEY_RUNS)))
}

/// Encrypts all secrets that are not encrypted with the operator's key. The key is recorded first: afterwards no
/// process without it writes a secret.
///
/// # Errors
/// Returns an error if a server with another key or without a key runs, or a secret cannot be decrypted, and the errors
/// of [`Store::read`] and [`Store::write`].
pub(crate) async fn seal_all(
    store: &Store,
    seal: &Seal,
    running: RunningServers,
    now: Timestamp,
) -> Result<SealedCounts> {
    if running == RunningServers::One && !servers::has_any(store).await? {
        bail!(
            "another command is using this database, or a server is starting: run this again when it is done; nothing \
             was encrypted"
        );
    }
    check(store, seal).await?;
    let key = seal.fingerprint().context("no encryption key is set")?.as_str();
    let seen_after = running.seen_after(now);
    replace_recorded(store, key, seen_after).await?;
    let sealed = SealedCounts {
        domains: domains::reseal::seal_all(store, seal, now).await?,
        signing_keys: signing_keys::reseal::seal_all(store, seal, now).await?,
    };
    let ended = store.commit([Statement::expect_row(END_ROTATION, params![key, seen_after])]).await;
    ended.map_err(|error| {
        error.on_conflict(anyhow!(
            "a server with another encryption key was started during this command: restart it with this key and retry"
        ))
    })?;
    Ok(sealed)
}

#[cfg(test)]
mod tests {
    use signpost_store::Statement;

    use super::*;
    use crate::server::schema::SCHEMA;

    fn seal(key: Option<u8>, old: Option<u8>) -> Seal {
        let [key, old] = [key, old].map(|byte| byte.map(|byte| [byte; 32]));
        Seal::new(key.as_ref(), old.as_ref())
    }

    async fn write(store: &Store, sql: &'static str, values: Vec<signpost_store::Value>) {
        assert!(store.write([Statement::new(sql, values)]).await.unwrap().is_committed());
    }

    #[tokio::test]
    async fn old_key_stays_valid_after_a_rotation() {
        let now = Timestamp::UNIX_EPOCH;
        let store = Store::open("sqlite::memory:", &SCHEMA).unwrap();
        admit_server(&store, &seal(Some(2), Some(1)), RunningServers::Announced, now).await.unwrap();
        let recorded = encryption_key::find(&store).await.unwrap();
        for key in [1, 2] {
            assert_eq!(recorded.admit(&seal(Some(key), None)), Ok(KeyAdmission::Allowed), "{key}");
        }
        assert!(recorded.admit(&seal(Some(3), None)).is_err() && recorded.admit(&seal(None, None)).is_err());
    }

    #[tokio::test]
    async fn unused_key_is_replaced_if_no_server_runs() {
        const ANNOUNCE: &str = "INSERT INTO servers (id, key_fingerprint, seen_at) VALUES ('one', $1, $2)";
        let (store, now) = (Store::open("sqlite::memory:", &SCHEMA).unwrap(), Timestamp::UNIX_EPOCH);
        let [first, second] = [seal(Some(1), None), seal(Some(2), None)];
        let announced = RunningServers::Announced;
        admit_server(&store, &first, announced, now).await.unwrap();
        write(&store, ANNOUNCE, params![fingerprints(&first).0, now]).await;
        for other in [&second, &seal(None, None)] {
            assert!(admit_server(&store, other, announced, now).await.unwrap_err().is::<EncryptionKeyError>());
        }
        // The server was killed.
        let later = now + jiff::SignedDuration::from_secs(91);
        for other in [&seal(None, None), &second, &first] {
            admit_server(&store, other, announced, later).await.unwrap();
            encryption_key::commit_secrets(&store, other, []).await.unwrap();
        }
        assert!(encryption_key::find(&store).await.unwrap().admit(&second).is_err());
    }
}
