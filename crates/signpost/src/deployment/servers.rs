//! The servers that run on the database, and the encryption key of each: the key is not changed under a server that has
//! another.

use std::time::Duration;

use anyhow::Result;
use data_encoding::HEXLOWER;
use jiff::Timestamp;
use signpost_login::domains::encryption_key::commit_secrets;
use signpost_login::domains::seal::{KeyFingerprint, Seal};
use signpost_store::{DatabaseLock, Store, params, random, step, try_lock};

use crate::config::Config;

/// Interval at which a server on a shared database announces itself again.
pub(crate) const ANNOUNCE_INTERVAL: Duration = Duration::from_secs(30);
/// Time after its last announcement for which a server counts as running.
const ANNOUNCEMENT_LIFETIME: Duration = Duration::from_secs(90);

const ANNOUNCE: &str = "
    INSERT INTO servers (id, key_fingerprint, seen_at) VALUES ($1, $2, $3)
    ON CONFLICT (id) DO UPDATE SET seen_at = EXCLUDED.seen_at";

const DELETE: &str = "DELETE FROM servers WHERE id = $1";

const DELETE_BEFORE: &str = "DELETE FROM servers WHERE seen_at < $1";

const HAS_ANY: &str = "SELECT id FROM servers LIMIT 1";

/// The evidence of servers that run on a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunningServers {
    /// None runs: this process has the lock of the embedded database.
    None,
    /// Another process has the lock of the embedded database: the server that announced itself last.
    One,
    /// Those that announced themselves within [`ANNOUNCEMENT_LIFETIME`], on a shared database.
    Announced,
}

impl RunningServers {
    /// Returns how the servers on the configured database are known. If none runs, none can start while the lock is held.
    ///
    /// # Errors
    /// If nothing can be written beside an embedded database.
    pub(crate) fn find(config: &Config) -> Result<(Self, Option<DatabaseLock>)> {
        let Some(file) = config.database_file() else { return Ok((Self::Announced, None)) };
        let lock = try_lock(&file)?;
        let running = if lock.is_some() { Self::None } else { Self::One };
        Ok((running, lock))
    }

    /// Returns the time, in milliseconds, after which running servers have announced themselves.
    pub(crate) fn seen_after(self, now: Timestamp) -> i64 {
        match self {
            Self::None => i64::MAX,
            Self::One => i64::MIN,
            Self::Announced => (now - ANNOUNCEMENT_LIFETIME).as_millisecond(),
        }
    }
}

/// A server that announced itself.
#[derive(Clone, Debug)]
pub(crate) struct AnnouncedServer {
    id: String,
    /// Empty without a key.
    key_fingerprint: String,
}

impl AnnouncedServer {
    /// Announces a server with its encryption key, and deletes the announcements of servers that are gone: on an embedded
    /// database all others.
    ///
    /// # Errors
    /// [`Unavailable`](signpost_store::Unavailable) if the server may not write secrets, or as [`Store::write`].
    pub(crate) async fn announce(store: &Store, seal: &Seal, is_embedded: bool, now: Timestamp) -> Result<Self> {
        let key_fingerprint = seal.fingerprint().map(KeyFingerprint::as_str).unwrap_or_default().to_owned();
        let server = Self { id: HEXLOWER.encode(&random::<16>()), key_fingerprint };
        let gone = if is_embedded { i64::MAX } else { RunningServers::Announced.seen_after(now) };
        let steps =
            [step(DELETE_BEFORE, params![gone]), step(ANNOUNCE, params![&server.id, &server.key_fingerprint, now])];
        commit_secrets(store, seal, steps).await?;
        Ok(server)
    }

    /// Announces the server again.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub(crate) async fn announce_again(&self, store: &Store, now: Timestamp) -> Result<()> {
        store.write([step(ANNOUNCE, params![&self.id, &self.key_fingerprint, now])]).await?;
        Ok(())
    }

    /// Deletes the announcement.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub(crate) async fn withdraw(&self, store: &Store) -> Result<()> {
        store.write([step(DELETE, params![&self.id])]).await?;
        Ok(())
    }
}

/// Returns whether any server has announced itself.
///
/// # Errors
/// As [`Store::read`].
pub(crate) async fn has_any(store: &Store) -> Result<bool> {
    Ok(store.read_one(HAS_ANY, params![]).await?.is_some())
}
