//! Runs short reads on the thread of the request, and detects changes of the database file.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use anyhow::Result;
use rusqlite::Connection;

use super::change_tracker::FILE_VERSION;
use super::rows;
use crate::file_state::FileState;
use crate::row::Row;
use crate::statement::Statement;

/// Time after a check during which the file is assumed to be unchanged by other processes, in
/// microseconds. A check acquires two file locks, which concurrent requests wait for. A command in
/// another process takes longer than this, so that its user sees its effect. Commits of this
/// process are detected immediately.
const CHECK_LIFETIME_MICROS: u64 = 250;

/// Counts the changes of the file that this process made or detected.
#[derive(Clone, Debug, Default)]
pub(super) struct FileChanges(Arc<AtomicU64>);

/// A pool of read-only connections, each for one request at a time. It is empty if the database is
/// in memory.
pub(super) struct InlineReadPool {
    all: Vec<Mutex<InlineConnection>>,
    changes: FileChanges,
    /// Time of the last check of the file, in microseconds since `since`, or 0 before the first
    /// check.
    checked: AtomicU64,
    since: Instant,
}

struct InlineConnection {
    /// `None` once the connection is closed.
    connection: Option<Connection>,
    /// The file version that this connection returned at its last check.
    version: Option<i64>,
}

impl FileChanges {
    /// Records a change. Must be called before a commit is acknowledged, because values that are
    /// cached for the previous state may be older than the commit.
    pub(super) fn record(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }

    fn state(&self) -> FileState {
        FileState::new(self.0.load(Ordering::Acquire))
    }
}

impl InlineReadPool {
    pub(super) fn new(connections: impl IntoIterator<Item = Connection>, changes: FileChanges) -> Self {
        let all = connections
            .into_iter()
            .map(|connection| Mutex::new(InlineConnection { connection: Some(connection), version: None }))
            .collect();
        Self { all, changes, checked: AtomicU64::new(0), since: Instant::now() }
    }

    /// Runs a query on this thread. Returns `None` if no connection is free.
    pub(super) fn read(&self, statement: &Statement) -> Option<Result<Vec<Row>>> {
        Some(rows(self.lock_idle()?.connection.as_ref()?, statement))
    }

    /// Returns the state of the file. Changes by other processes may be missed for
    /// [`CHECK_LIFETIME_MICROS`]. Returns `None` if no connection is free or the file cannot be checked.
    pub(super) fn file_state(&self) -> Option<FileState> {
        let now = u64::try_from(self.since.elapsed().as_micros()).ok()?;
        if is_fresh(self.checked.load(Ordering::Acquire), now) && !self.all.is_empty() {
            return Some(self.changes.state());
        }
        let mut connection = self.lock_idle()?;
        let version = connection.file_version()?;
        if connection.version != Some(version) {
            self.changes.record();
            connection.version = Some(version);
        }
        self.checked.fetch_max(now, Ordering::AcqRel);
        Some(self.changes.state())
    }

    fn lock_idle(&self) -> Option<MutexGuard<'_, InlineConnection>> {
        self.all.iter().find_map(|connection| connection.try_lock().ok())
    }

    /// Closes the connections, so that the last connection of the process can copy the write-ahead
    /// log to the file.
    pub(super) fn close(&self) {
        for connection in &self.all {
            drop(connection.lock().unwrap_or_else(PoisonError::into_inner).connection.take());
        }
    }
}

/// Returns `true` if the result of a check at the time `checked` is still valid.
fn is_fresh(checked: u64, now: u64) -> bool {
    checked > 0 && now.saturating_sub(checked) < CHECK_LIFETIME_MICROS
}

impl InlineConnection {
    fn file_version(&self) -> Option<i64> {
        let mut statement = self.connection.as_ref()?.prepare_cached(FILE_VERSION).ok()?;
        statement.query_row([], |row| row.get(0)).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, Ordering};
    use std::time::{Duration, Instant};

    use super::{CHECK_LIFETIME_MICROS, is_fresh};
    use crate::{FileState, Migration, Schema, Statement, Store};

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
    fn a_check_is_valid_for_a_moment() {
        let times = [(0, 0, false), (0, 1, false), (7, 7, true), (7, 6 + CHECK_LIFETIME_MICROS, true), (9, 8, true)];
        for (asked, now, expected) in times.into_iter().chain([(7, 7 + CHECK_LIFETIME_MICROS, false)]) {
            assert_eq!(is_fresh(asked, now), expected, "{asked} {now}");
        }
    }

    /// Waits until the state differs from `before`.
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
    async fn state_is_valid_until_the_next_commit() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("database");
        let (store, other) = (open(&file), open(&file));
        let first = state(&store);
        store.read(READ, Vec::new()).await.unwrap();
        other.read(READ, Vec::new()).await.unwrap();
        assert_eq!(state(&store), first);
        store.write([Statement::new(COUNT, Vec::new())]).await.unwrap();
        let own = state(&store);
        assert_ne!(own, first);
        other.write([Statement::new(COUNT, Vec::new())]).await.unwrap();
        next_state(&store, own);
        store.close().await;
        assert_eq!(store.file_state(), None);
        assert_eq!(open(Path::new(":memory:")).file_state(), None);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn state_includes_every_acknowledged_commit() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("database");
        let (store, other) = (open(&file), open(&file));
        let acknowledged = Arc::new(AtomicI64::new(0));
        let writers = [(store.clone(), true), (other, false)].map(|(store, is_own)| {
            let acknowledged = Arc::clone(&acknowledged);
            tokio::spawn(async move {
                for _ in 0..100 {
                    let crate::WriteOutcome::Committed(rows) =
                        store.write([Statement::new(COUNT, Vec::new())]).await.unwrap()
                    else {
                        panic!("nothing refuses it");
                    };
                    // The state may miss commits of another process for a moment, which ends here.
                    let committed = Instant::now();
                    while !is_own && committed.elapsed() < Duration::from_micros(CHECK_LIFETIME_MICROS + 1) {
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
                let mut cached: Option<(FileState, i64)> = None;
                while acknowledged.load(Ordering::SeqCst) < 200 {
                    let minimum = acknowledged.load(Ordering::SeqCst);
                    let Some(now) = store.file_state() else { continue };
                    let read = match cached {
                        Some((state, number)) if state == now => number,
                        _ => store.read_by_index(READ, Vec::new()).await.unwrap().unwrap().int(0).unwrap(),
                    };
                    assert!(read >= minimum, "{read} was returned, though {minimum} was acknowledged");
                    cached = Some((now, read));
                    tokio::task::yield_now().await;
                }
            })
        });
        for task in writers.into_iter().chain(readers) {
            task.await.unwrap();
        }
    }
}
