//! Checkpoints the write-ahead log of an embedded database without delaying commits.
//!
//! Commits stay in the write-ahead log until a checkpoint copies them to the database file. By
//! default, SQLite runs a checkpoint within a commit when the log is long, and that write waits for
//! thousands of pages. Here, a separate thread copies the pages while the writer continues, and the
//! writer copies only the few pages that were written in the meantime, so that the log can restart
//! from its beginning.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::Result;
use rusqlite::Connection;

/// Minimum number of pages in the log for requesting a checkpoint.
const MIN_CHECKPOINT_PAGES: i64 = 4_000;
/// Number of pages in the log from which the writer waits for the checkpoint thread. Only one
/// connection can run a checkpoint at a time, so the log would grow without bound if the writer
/// continued.
const MAX_CHECKPOINT_PAGES: i64 = 4 * MIN_CHECKPOINT_PAGES;
/// How long the writer waits for a running checkpoint.
const COPY_TIMEOUT: Duration = Duration::from_secs(10);

/// Returns whether the log is busy, the number of its pages, and the number of copied pages.
pub(super) const MEASURE: &str = "PRAGMA wal_checkpoint(NOOP)";
/// Copies the pages that no reader needs, without waiting for readers.
pub(super) const COPY: &str = "PRAGMA wal_checkpoint(PASSIVE)";

/// The length of the write-ahead log, in pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WalLength {
    pub(super) pages: i64,
    pub(super) copied: i64,
}

/// The action of the writer before its next batch of writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CheckpointAction {
    None,
    /// Request a checkpoint by the checkpoint thread.
    Request,
    /// Copy the remaining pages on the writer's thread.
    Copy,
}

/// The state of the checkpoint thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CheckpointState {
    Idle,
    Running,
    /// The thread copied the pages that were in the log at the time of the request.
    Done,
    /// The thread has terminated.
    Ended,
}

/// The checkpoint thread, with its separate connection.
pub(super) struct WalCheckpointer {
    requests: SyncSender<()>,
    done: Receiver<()>,
    is_requested: bool,
    thread: JoinHandle<()>,
}

impl WalCheckpointer {
    pub(super) fn start(connection: Connection) -> Result<Self> {
        let (requests, requested) = sync_channel(1);
        let (report, done) = sync_channel(1);
        let thread = thread::Builder::new().name("store-log".to_owned()).spawn(move || {
            while requested.recv().is_ok() {
                // A failed checkpoint is repeated with the next request. The writer reports errors
                // of its own checkpoints.
                drop(connection.query_row(COPY, [], |_| Ok(())));
                if report.send(()).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self { requests, done, is_requested: false, thread })
    }

    /// Returns the next action for a log of this length, and sends a request to the checkpoint
    /// thread if necessary. Waits for the checkpoint thread if the log is too long.
    pub(super) fn next_action(&mut self, log: WalLength) -> CheckpointAction {
        let wait = if log.pages < MAX_CHECKPOINT_PAGES { Duration::ZERO } else { COPY_TIMEOUT };
        let state = match self.is_requested.then(|| self.done.recv_timeout(wait)) {
            None => CheckpointState::Idle,
            Some(Ok(())) => CheckpointState::Done,
            Some(Err(RecvTimeoutError::Timeout)) => CheckpointState::Running,
            Some(Err(RecvTimeoutError::Disconnected)) => CheckpointState::Ended,
        };
        let action = decide(log, state);
        self.is_requested = match state {
            CheckpointState::Idle if action == CheckpointAction::Request => self.requests.try_send(()).is_ok(),
            CheckpointState::Running | CheckpointState::Ended => true,
            CheckpointState::Idle | CheckpointState::Done => false,
        };
        action
    }

    /// Stops the thread. Its connection must be closed before the connection of the writer.
    pub(super) fn end(self) {
        drop(self.requests);
        if self.is_requested && matches!(self.done.recv_timeout(COPY_TIMEOUT), Err(RecvTimeoutError::Timeout)) {
            tracing::warn!("the log of the database is still being copied");
        }
        drop(self.done);
        drop(self.thread.join());
    }
}

fn decide(log: WalLength, state: CheckpointState) -> CheckpointAction {
    let left = log.pages - log.copied;
    match state {
        CheckpointState::Done if left > 0 => CheckpointAction::Copy,
        CheckpointState::Running if log.pages < MAX_CHECKPOINT_PAGES => CheckpointAction::None,
        CheckpointState::Idle if left >= MIN_CHECKPOINT_PAGES => CheckpointAction::Request,
        CheckpointState::Running | CheckpointState::Ended if left >= MIN_CHECKPOINT_PAGES => CheckpointAction::Copy,
        _ => CheckpointAction::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Migration, Schema, Statement, Store, params};

    #[tokio::test]
    async fn wal_length_is_bounded() {
        static SCHEMA: Schema = Schema {
            migrations: &[Migration::expands("CREATE TABLE probe (name TEXT)")],
            tables: &[],
            single_rows: &[],
            watched: &[],
        };
        const PAGE: u64 = 4_096 + 24;
        const WRITES: u64 = 400;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("database");
        let store = Store::open(&format!("sqlite:{}", file.display()), &SCHEMA).unwrap();
        let name = "x".repeat(50 * 4_096);
        for _ in 0..WRITES {
            store.write([Statement::new("INSERT INTO probe (name) VALUES ($1)", params![&name])]).await.unwrap();
        }
        let length = std::fs::metadata(folder.path().join("database-wal")).unwrap().len();
        let bound = u64::try_from(MAX_CHECKPOINT_PAGES).unwrap() + 200;
        assert!(length < bound * PAGE && bound < WRITES * 50, "{} pages", length / PAGE);
        let rows = store.read("SELECT COUNT(*) FROM probe WHERE length(name) = 204800", params![]).await.unwrap();
        assert_eq!(rows[0].int(0).unwrap(), i64::try_from(WRITES).unwrap());
        store.close().await;
    }

    #[test]
    fn long_wal_is_checkpointed_by_both_threads() {
        let of = |pages, copied| WalLength { pages, copied };
        for (log, state, expected) in [
            (of(-1, -1), CheckpointState::Idle, CheckpointAction::None),
            (of(MIN_CHECKPOINT_PAGES - 1, 0), CheckpointState::Idle, CheckpointAction::None),
            (of(MIN_CHECKPOINT_PAGES, 0), CheckpointState::Idle, CheckpointAction::Request),
            (of(MAX_CHECKPOINT_PAGES, MAX_CHECKPOINT_PAGES - 1), CheckpointState::Idle, CheckpointAction::None),
            (of(2 * MIN_CHECKPOINT_PAGES, 0), CheckpointState::Running, CheckpointAction::None),
            (of(MAX_CHECKPOINT_PAGES, 0), CheckpointState::Running, CheckpointAction::Copy),
            (of(2 * MIN_CHECKPOINT_PAGES, MIN_CHECKPOINT_PAGES), CheckpointState::Done, CheckpointAction::Copy),
            (of(MIN_CHECKPOINT_PAGES, MIN_CHECKPOINT_PAGES), CheckpointState::Done, CheckpointAction::None),
            (of(MIN_CHECKPOINT_PAGES, 0), CheckpointState::Ended, CheckpointAction::Copy),
            (of(MIN_CHECKPOINT_PAGES - 1, 0), CheckpointState::Ended, CheckpointAction::None),
        ] {
            assert_eq!(decide(log, state), expected, "{log:?} {state:?}");
        }
    }
}
