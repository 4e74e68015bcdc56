//! Tracks the servers that run on the database, with the encryption key of each. The key is not
//! changed while a server with another key runs.

use std::time::Duration;

use anyhow::Result;
use data_encoding::HEXLOWER;
use jiff::Timestamp;
use signpost_login::domains::encryption_key::commit_secrets;
use signpost_login::domains::seal::{KeyFingerprint, Seal};
use signpost_store::{DatabaseLock, Statement, Store, params, random, try_lock};

use crate::config::Config;

/// Interval of the announcements of a server on a shared database.
pub(crate) const ANNOUNCE_INTERVAL: Duration = Duration::from_secs(30);
/// Lifetime of an announcement: afterwards the server is not considered running.
const ANNOUNCEMENT_LIFETIME: Duration = Duration::from_secs(90);

const ANNOUNCE: &str = "
    INSERT INTO servers (id, key_fingerprint, seen_at) VALUES ($1, $2, $3)
    ON CONFLICT (id) DO UPDATE SET seen_at = EXCLUDED.seen_at";

const DELETE: &str = "DELETE FROM servers WHERE id = $1";

const DELETE_BEFORE: &str = "DELETE FROM servers WHERE seen_at < $1";

const HAS_ANY: &str = "SELECT id FROM servers LIMIT 1";

/// The method of detecting running servers on a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunningServers {
    /// No server runs: this process has the lock of the embedded database.
    None,
    /// Another process has the lock of the embedded database: the server that announced itself last.
    One,
    /// The servers that announced themselves within [`ANNOUNCEMENT_LIFETIME`], on a shared database.
    Announced,
}

impl RunningServers {
    /// Determines how running servers on the configured database are detected. If none runs, none can start while the
    /// lock is held.
    ///
    /// # Errors
    /// Returns an error if the lock file of an embedded database cannot be written.
    pub(crate) fn find(config: &Config) -> Result<(Self, Option<DatabaseLock>)> {
        let Some(file) = config.database_file() else { return Ok((Self::Announced, None)) };
        let lock = try_lock(&file)?;
        let running = if lock.is_some() { Self::None } else { Self::One };
        Ok((running, lock))
    }

    /// Returns the minimum time of a running server's last announcement, in milliseconds.
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
    /// The fingerprint of its key; empty without a key.
    key_fingerprint: String,
}

impl AnnouncedServer {
    /// Announces a server with its encryption key, and deletes the announcements of ended servers: on an embedded
    /// database, all other announcements.
    ///
    /// # Errors
    /// Returns [`Unavailable`](signpost_store::Unavailable) if the server may not write secrets, and the errors of
    /// [`Store::write`].
    pub(crate) async fn announce(store: &Store, seal: &Seal, is_embedded: bool, now: Timestamp) -> Result<Self> {
        let key_fingerprint = seal.fingerprint().map(KeyFingerprint::as_str).unwrap_or_default().to_owned();
        let server = Self { id: HEXLOWER.encode(&random::<16>()), key_fingerprint };
        let expired_before = if is_embedded { i64::MAX } else { RunningServers::Announced.seen_after(now) };
        let statements = [
            Statement::new(DELETE_BEFORE, params![expired_before]),
            Statement::new(ANNOUNCE, params![&server.id, &server.key_fingerprint, now]),
        ];
        commit_secrets(store, seal, statements).await?;
        Ok(server)
    }

    /// Announces the server again.
    ///
    /// # Errors
    /// Returns the errors of [`Store::write`].
    pub(crate) async fn announce_again(&self, store: &Store, now: Timestamp) -> Result<()> {
        store.write([Statement::new(ANNOUNCE, params![&self.id, &self.key_fingerprint, now])]).await?;
        Ok(())
    }

    /// Deletes the announcement.
    ///
    /// # Errors
    /// Returns the errors of [`Store::write`].
    pub(crate) async fn withdraw(&self, store: &Store) -> Result<()> {
        store.write([Statement::new(DELETE, params![&self.id])]).await?;
        Ok(())
    }
}

/// Returns true if any server has announced itself.
///
/// # Errors
/// Returns the errors of [`Store::read`].
pub(crate) async fn has_any(store: &Store) -> Result<bool> {
    Ok(store.read_one(HAS_ANY, params![]).await?.is_some())
}
