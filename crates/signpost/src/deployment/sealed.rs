//! Encryption with the operator's key: of the secrets of domains, and of the keys that sign ID tokens.

use anyhow::{Context, Result, anyhow, bail};
use jiff::Timestamp;
use serde::Serialize;
use signpost_login::domains;
use signpost_login::domains::encryption_key::{self, KeyAdmission, KeyRefused};
use signpost_login::domains::seal::{KeyFingerprint, Seal};
use signpost_openid::signing_keys;
use signpost_store::{Store, WriteError, must, params};

use super::servers::{self, RunningServers};
use crate::config::Config;

/// Records the first key, or the next key of a rotation. The old key, which servers may have until they are restarted, stays
/// valid. Refused while a server runs that announced itself after $3 and has another key.
const RECORD_NEXT: &str = "
    UPDATE encryption_key
    SET old_fingerprint = CASE WHEN fingerprint IS NULL THEN NULLIF($2, '') ELSE fingerprint END,
        fingerprint = $1
    WHERE (fingerprint IS NULL OR fingerprint = $2)
      AND NOT EXISTS (SELECT 1 FROM servers WHERE key_fingerprint <> $1 AND seen_at > $3)";

/// Records the keys of a process, or that it has none, if no secret is encrypted. Refused while a server with another key
/// runs.
const REPLACE_UNUSED: &str = "
    UPDATE encryption_key SET fingerprint = NULLIF($1, ''), old_fingerprint = NULLIF($2, '')
    WHERE NOT EXISTS (SELECT 1 FROM domains
                      WHERE webhook_secret LIKE 'sealed1:%' OR next_webhook_secret LIKE 'sealed1:%')
      AND NOT EXISTS (SELECT 1 FROM deleted_domains
                      WHERE webhook_secret LIKE 'sealed1:%' OR next_webhook_secret LIKE 'sealed1:%')
      AND NOT EXISTS (SELECT 1 FROM signing_keys WHERE private_key LIKE 'sealed1:%')
      AND NOT EXISTS (SELECT 1 FROM servers WHERE key_fingerprint <> $1 AND seen_at > $3)";

/// Records a key whatever was recorded before: it decrypts every secret. Refused while a server with another key runs.
const RECORD: &str = "
    UPDATE encryption_key
    SET old_fingerprint = CASE WHEN fingerprint = $1 THEN old_fingerprint ELSE fingerprint END,
        fingerprint = $1
    WHERE NOT EXISTS (SELECT 1 FROM servers WHERE key_fingerprint <> $1 AND seen_at > $2)";

/// No secret is encrypted with the key before any more.
const END_ROTATION: &str = "
    UPDATE encryption_key SET old_fingerprint = NULL
    WHERE fingerprint = $1 AND NOT EXISTS (SELECT 1 FROM servers WHERE key_fingerprint <> $1 AND seen_at > $2)";

/// The reason why a key is not recorded while a server with another key runs.
const OTHER_KEY_RUNS: &str = "a server without this encryption key is running on this database: restart it with this SIGNPOST_SEAL_KEY, and with \
     the previous one, if there is one, as SIGNPOST_SEAL_KEY_OLD; nothing was written";

/// Numbers of domains and signing keys whose secrets were encrypted.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct NewlySealed {
    #[serde(rename = "sealed")]
    pub(crate) domains: usize,
    pub(crate) signing_keys: usize,
}

/// Numbers of secrets in plain text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlainTextSecrets {
    /// Number of domains with such a secret.
    pub domains: i64,
    /// Number of such keys that sign ID tokens.
    pub signing_keys: i64,
}

/// Checks that every secret can be decrypted.
///
/// # Errors
/// If one cannot, or as [`Store::read`].
pub(crate) async fn check(store: &Store, seal: &Seal) -> Result<()> {
    domains::reseal::check(store, seal).await?;
    signing_keys::reseal::check(store, seal).await
}

/// Checks that a server that starts may write secrets, and records its key if it is the first with one or the next of a
/// rotation: then the servers that run are restarted one after the other. A recorded key that no secret is encrypted with is
/// replaced by the server's own, or by none.
///
/// # Errors
/// [`KeyRefused`] if the key is missing or another, as [`check`], or as [`Store::write`].
pub(crate) async fn admit_server(store: &Store, seal: &Seal, running: RunningServers, now: Timestamp) -> Result<()> {
    match find_admission(store, seal).await {
        Ok(KeyAdmission::Allowed) => Ok(()),
        Ok(KeyAdmission::MayRecord) => record_next(store, seal, RunningServers::None, now).await,
        Err(error) if error.is::<KeyRefused>() => {
            replace_unused(store, seal, running.seen_after(now)).await.map_err(|failure| failure.on_conflict(error))
        }
        Err(error) => Err(error),
    }
}

/// Checks that a command may write secrets, and records its key if it is the first process with one, or with the next one of
/// a rotation, and no server with another key or without one runs.
///
/// # Errors
/// [`KeyRefused`] if the key is missing or another, as [`check`], if a server with another key or without one runs, or as
/// [`Store::write`].
pub(crate) async fn admit_command(store: &Store, config: &Config, now: Timestamp) -> Result<()> {
    let seal = config.login.seal();
    if find_admission(store, &seal).await? == KeyAdmission::Allowed {
        return Ok(());
    }
    // The lock of an embedded database is held until the key is recorded: until then no server starts.
    let (running, _lock) = RunningServers::find(config)?;
    record_next(store, &seal, running, now).await
}

/// Returns the admission of this process, whose key decrypts every secret if it may record it.
async fn find_admission(store: &Store, seal: &Seal) -> Result<KeyAdmission> {
    let recorded = encryption_key::find(store).await?;
    let admission = recorded.admit(seal)?;
    // Fails closed: if no key is recorded, no secret may be encrypted.
    if admission == KeyAdmission::MayRecord || !recorded.is_encrypted() {
        check(store, seal).await?;
    }
    Ok(admission)
}

/// Records the key of this process, which decrypts every secret.
async fn record_next(store: &Store, seal: &Seal, running: RunningServers, now: Timestamp) -> Result<()> {
    let (key, old) = fingerprints(seal);
    let is_known = running != RunningServers::One || servers::has_any(store).await?;
    let record = must(RECORD_NEXT, params![key, old, running.seen_after(now)]);
    if is_known {
        match store.commit([record]).await {
            Ok(()) => return Ok(()),
            // Another process may have recorded a key meanwhile.
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

/// Replaces the recorded key if no secret is encrypted with it.
async fn replace_unused(store: &Store, seal: &Seal, seen_after: i64) -> Result<(), WriteError> {
    let (key, old) = fingerprints(seal);
    store.commit([must(REPLACE_UNUSED, params![key, old, seen_after])]).await
}

/// Returns the fingerprints of a process's key and of its old key, empty without one.
fn fingerprints(seal: &Seal) -> (&str, &str) {
    let key = seal.fingerprint().map(KeyFingerprint::as_str);
    // An old key alone decrypts and encrypts nothing new.
    let old = key.and(seal.old_fingerprint()).map(KeyFingerprint::as_str);
    (key.unwrap_or_default(), old.unwrap_or_default())
}

/// Checks that this process may write signing keys in place of all that there are: also if their key was lost and no domain
/// has a secret that is encrypted with it.
///
/// # Errors
/// As [`admit_command`].
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
/// As [`Store::read`].
pub(crate) async fn count_plain_text(store: &Store) -> Result<PlainTextSecrets> {
    Ok(PlainTextSecrets {
        domains: domains::reseal::count_plain_text(store).await?,
        signing_keys: signing_keys::sql::count_plain_text(store).await?,
    })
}

async fn replace_recorded(store: &Store, key: &str, seen_after: i64) -> Result<()> {
    let recorded = store.commit([must(RECORD, params![key, seen_after])]).await;
    recorded.map_err(|error| error.on_conflict(anyhow!(OTHER_KEY_RUNS)))
}

/// Encrypts all secrets that are not encrypted with the operator's key. The key is recorded first: from then on no process
/// without it writes a secret.
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
        bail!(
            "another command is using this database, or a server is starting: run this again when it is done; nothing \
             was encrypted"
        );
    }
    check(store, seal).await?;
    let key = seal.fingerprint().context("no encryption key is set")?.as_str();
    let seen_after = running.seen_after(now);
    replace_recorded(store, key, seen_after).await?;
    let sealed = NewlySealed {
        domains: domains::reseal::seal_all(store, seal, now).await?,
        signing_keys: signing_keys::reseal::seal_all(store, seal, now).await?,
    };
    let ended = store.commit([must(END_ROTATION, params![key, seen_after])]).await;
    ended.map_err(|error| {
        error.on_conflict(anyhow!(
            "a server with another encryption key was started meanwhile: restart it with this one, and run this again"
        ))
    })?;
    Ok(sealed)
}

#[cfg(test)]
mod tests {
    use signpost_store::step;

    use super::*;
    use crate::server::schema::SCHEMA;

    fn seal(key: Option<u8>, old: Option<u8>) -> Seal {
        let [key, old] = [key, old].map(|byte| byte.map(|byte| [byte; 32]));
        Seal::new(key.as_ref(), old.as_ref())
    }

    async fn write(store: &Store, sql: &'static str, values: Vec<signpost_store::Value>) {
        assert!(store.write([step(sql, values)]).await.unwrap().is_committed());
    }

    #[tokio::test]
    async fn the_old_key_stays_valid_when_the_first_recorded_key_is_the_new_one_of_a_rotation() {
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
    async fn an_unused_key_is_replaced_only_if_no_server_with_another_key_runs() {
        const ANNOUNCE: &str = "INSERT INTO servers (id, key_fingerprint, seen_at) VALUES ('one', $1, $2)";
        let (store, now) = (Store::open("sqlite::memory:", &SCHEMA).unwrap(), Timestamp::UNIX_EPOCH);
        let [first, second] = [seal(Some(1), None), seal(Some(2), None)];
        let announced = RunningServers::Announced;
        admit_server(&store, &first, announced, now).await.unwrap();
        write(&store, ANNOUNCE, params![fingerprints(&first).0, now]).await;
        for other in [&second, &seal(None, None)] {
            assert!(admit_server(&store, other, announced, now).await.unwrap_err().is::<KeyRefused>());
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
