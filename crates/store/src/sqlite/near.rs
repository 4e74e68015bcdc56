//! Connections for whoever finds one free: a request that looks a row up itself, or asks whether anything was written since.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use rusqlite::Connection;

use super::rows;
use super::table_watch::FILE_VERSION;
use crate::file_state::FileState;
use crate::row::Row;
use crate::step::Step;

/// Connections that only read, each for one request at a time. None where the database is in memory.
pub(super) struct NearConnections {
    all: Vec<Mutex<NearConnection>>,
    /// How often one of them found the file changed.
    changes: AtomicU64,
}

struct NearConnection {
    /// None once it is closed.
    connection: Option<Connection>,
    /// The file's version as this connection counts it, when it was asked for last.
    seen: Option<i64>,
}

impl NearConnections {
    pub(super) fn new(connections: impl IntoIterator<Item = Connection>) -> Self {
        let near = |connection| Mutex::new(NearConnection { connection: Some(connection), seen: None });
        Self { all: connections.into_iter().map(near).collect(), changes: AtomicU64::new(0) }
    }

    /// Reads at once, on this thread; `None` where no connection is free.
    pub(super) fn read(&self, step: &Step) -> Option<Result<Vec<Row>>> {
        Some(rows(self.take()?.connection.as_ref()?, step))
    }

    /// The state that the file is in; `None` where no connection is free, or the file cannot be asked.
    pub(super) fn file_state(&self) -> Option<FileState> {
        let mut near = self.take()?;
        let version = near.file_version()?;
        if near.seen != Some(version) {
            // Before anybody can name the state: what is kept under the one before may be of the file before the change.
            self.changes.fetch_add(1, Ordering::AcqRel);
            near.seen = Some(version);
        }
        Some(FileState::new(self.changes.load(Ordering::Acquire)))
    }

    fn take(&self) -> Option<MutexGuard<'_, NearConnection>> {
        self.all.iter().find_map(|connection| connection.try_lock().ok())
    }

    /// Ends what they hold of the log, so that the last connection moves it into the file.
    pub(super) fn close(&self) {
        for near in &self.all {
            drop(near.lock().unwrap_or_else(PoisonError::into_inner).connection.take());
        }
    }
}

impl NearConnection {
    fn file_version(&self) -> Option<i64> {
        let mut asked = self.connection.as_ref()?.prepare_cached(FILE_VERSION).ok()?;
        asked.query_row([], |row| row.get(0)).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, Ordering};

    use crate::{FileState, Migration, Schema, Store, step};

    static SCHEMA: Schema = Schema {
        migrations: &[Migration::expands(
            "CREATE TABLE probe (at BIGINT); CREATE TABLE counts (number BIGINT); INSERT INTO counts VALUES (0);",
        )],
        tables: &[],
        single_rows: &[],
        watched: &[],
    };
    const COUNT: &str = "UPDATE counts SET number = number + 1 RETURNING number";
    const READ: &str = "SELECT number FROM counts";

    fn open(file: &Path) -> Store {
        Store::open(&format!("sqlite:{}", file.display()), &SCHEMA).unwrap()
    }

    fn state(store: &Store) -> FileState {
        store.file_state().unwrap()
    }

    #[tokio::test]
    async fn a_state_lasts_until_anybody_commits() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("database");
        let (store, other) = (open(&file), open(&file));
        let first = state(&store);
        store.read(READ, Vec::new()).await.unwrap();
        other.read(READ, Vec::new()).await.unwrap();
        assert_eq!(state(&store), first);
        store.write([step(COUNT, Vec::new())]).await.unwrap();
        let own = state(&store);
        other.write([step(COUNT, Vec::new())]).await.unwrap();
        let others = state(&store);
        assert!(first != own && own != others && others == state(&store));
        store.close().await;
        assert_eq!(store.file_state(), None);
        assert_eq!(open(Path::new(":memory:")).file_state(), None);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn what_is_kept_with_a_state_is_never_older_than_a_commit_that_was_acknowledged() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("database");
        let (store, other) = (open(&file), open(&file));
        let acknowledged = Arc::new(AtomicI64::new(0));
        let writers = [store.clone(), other].map(|store| {
            let acknowledged = Arc::clone(&acknowledged);
            tokio::spawn(async move {
                for _ in 0..100 {
                    let crate::WriteOutcome::Committed(rows) = store.write([step(COUNT, Vec::new())]).await.unwrap()
                    else {
                        panic!("nothing refuses it");
                    };
                    acknowledged.fetch_max(rows[0].int(0).unwrap(), Ordering::SeqCst);
                    tokio::task::yield_now().await;
                }
            })
        });
        let readers = [(); 4].map(|()| {
            let (store, acknowledged) = (store.clone(), Arc::clone(&acknowledged));
            tokio::spawn(async move {
                let mut kept: Option<(FileState, i64)> = None;
                while acknowledged.load(Ordering::SeqCst) < 200 {
                    let least = acknowledged.load(Ordering::SeqCst);
                    let Some(now) = store.file_state() else { continue };
                    let read = match kept {
                        Some((state, number)) if state == now => number,
                        _ => store.read_by_index(READ, Vec::new()).await.unwrap().unwrap().int(0).unwrap(),
                    };
                    assert!(read >= least, "{read} was kept, though {least} was acknowledged");
                    kept = Some((now, read));
                    tokio::task::yield_now().await;
                }
            })
        });
        for task in writers.into_iter().chain(readers) {
            task.await.unwrap();
        }
    }
}
