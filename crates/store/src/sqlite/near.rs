//! Connections for whoever finds one free: a request that looks a row up itself, or asks whether anything was written since.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use anyhow::Result;
use rusqlite::Connection;

use super::rows;
use super::table_watch::FILE_VERSION;
use crate::file_state::FileState;
use crate::row::Row;
use crate::step::Step;

/// How long it counts, in microseconds, that no other process had committed anything. To ask is two locks of the system, for which requests
/// wait that ask at once; whoever ran a command sees what it did, for the command ends later than this. Commits of this
/// process count at once.
const UNCHANGED_FOR: u64 = 250;

/// How often a file was found changed, or was changed by this process.
#[derive(Clone, Debug, Default)]
pub(super) struct FileChanges(Arc<AtomicU64>);

/// Connections that only read, each for one request at a time. None where the database is in memory.
pub(super) struct NearConnections {
    all: Vec<Mutex<NearConnection>>,
    changes: FileChanges,
    /// When the file was asked last, in microseconds after `since`; 0 where it is to be asked.
    asked: AtomicU64,
    since: Instant,
}

struct NearConnection {
    /// None once it is closed.
    connection: Option<Connection>,
    /// The file's version as this connection counts it, when it was asked for last.
    seen: Option<i64>,
}

impl FileChanges {
    /// Makes the state another one. Before anybody is told of a commit: what is kept under the state before may be of the
    /// file before the change.
    pub(super) fn note(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }

    fn state(&self) -> FileState {
        FileState::new(self.0.load(Ordering::Acquire))
    }
}

impl NearConnections {
    pub(super) fn new(connections: impl IntoIterator<Item = Connection>, changes: FileChanges) -> Self {
        let near = |connection| Mutex::new(NearConnection { connection: Some(connection), seen: None });
        let all = connections.into_iter().map(near).collect();
        Self { all, changes, asked: AtomicU64::new(0), since: Instant::now() }
    }

    /// Reads at once, on this thread; `None` where no connection is free.
    pub(super) fn read(&self, step: &Step) -> Option<Result<Vec<Row>>> {
        Some(rows(self.take()?.connection.as_ref()?, step))
    }

    /// The state that the file is in, or was in a moment ago as far as other processes change it; `None` where no connection
    /// is free, or the file cannot be asked.
    pub(super) fn file_state(&self) -> Option<FileState> {
        let now = u64::try_from(self.since.elapsed().as_micros()).ok()?;
        if is_fresh(self.asked.load(Ordering::Acquire), now) && !self.all.is_empty() {
            return Some(self.changes.state());
        }
        let mut near = self.take()?;
        let version = near.file_version()?;
        if near.seen != Some(version) {
            self.changes.note();
            near.seen = Some(version);
        }
        self.asked.fetch_max(now, Ordering::AcqRel);
        Some(self.changes.state())
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

/// Whether what the file said then still counts.
fn is_fresh(asked: u64, now: u64) -> bool {
    asked > 0 && now.saturating_sub(asked) < UNCHANGED_FOR
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
    use std::time::{Duration, Instant};

    use super::{UNCHANGED_FOR, is_fresh};
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

    #[test]
    fn what_the_file_said_counts_for_a_moment() {
        let times = [(0, 0, false), (0, 1, false), (7, 7, true), (7, 6 + UNCHANGED_FOR, true), (9, 8, true)];
        for (asked, now, expected) in times.into_iter().chain([(7, 7 + UNCHANGED_FOR, false)]) {
            assert_eq!(is_fresh(asked, now), expected, "{asked} {now}");
        }
    }

    /// Asks until the state is another one, which it is in a moment.
    fn next_state(store: &Store, before: FileState) -> FileState {
        let begun = Instant::now();
        loop {
            let now = state(store);
            if now != before {
                return now;
            }
            assert!(begun.elapsed() < Duration::from_secs(30), "nothing was seen of a commit");
            std::thread::yield_now();
        }
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
        assert_ne!(own, first);
        other.write([step(COUNT, Vec::new())]).await.unwrap();
        next_state(&store, own);
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
        let writers = [(store.clone(), true), (other, false)].map(|(store, is_own)| {
            let acknowledged = Arc::clone(&acknowledged);
            tokio::spawn(async move {
                for _ in 0..100 {
                    let crate::WriteOutcome::Committed(rows) = store.write([step(COUNT, Vec::new())]).await.unwrap()
                    else {
                        panic!("nothing refuses it");
                    };
                    // Of what another process committed a state may know nothing for a moment, which passes here.
                    let committed = Instant::now();
                    while !is_own && committed.elapsed() < Duration::from_micros(UNCHANGED_FOR + 1) {
                        tokio::task::yield_now().await;
                    }
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
