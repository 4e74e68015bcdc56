//! Checkpoints of an embedded database that do not delay commits.
//!
//! Commits stay in the write-ahead log until a checkpoint copies them into the file. SQLite runs it within a commit
//! when the log is long, and a write then waits for thousands of pages. Here another thread copies them while the
//! writer continues. The writer copies the few pages written since, so that the log restarts.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::Result;
use rusqlite::Connection;

/// Minimum length of the log for a checkpoint, in pages.
const LONG: i64 = 4_000;
/// Minimum length of the log for the writer to wait for the other thread, in pages. Only one connection copies at a
/// time, so the log would grow without bound if the writer continued.
const TOO_LONG: i64 = 4 * LONG;
/// Timeout of the writer waiting for a running copy.
const COPY_TIMEOUT: Duration = Duration::from_secs(10);

/// Returns whether the log is busy, its pages, and the number of copied pages.
pub(super) const MEASURE: &str = "PRAGMA wal_checkpoint(NOOP)";
/// Copies the pages that no reader needs, without waiting.
pub(super) const COPY: &str = "PRAGMA wal_checkpoint(PASSIVE)";

/// The log, in pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WalLength {
    pub(super) pages: i64,
    pub(super) copied: i64,
}

/// The action of the writer before its next batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CheckpointAction {
    None,
    /// Requests a copy by the other thread.
    Request,
    /// Copies the remaining pages.
    Copy,
}

/// The state of the other thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CheckpointState {
    Idle,
    Running,
    /// It copied the pages that were there when the copy was requested.
    Done,
    /// It has ended.
    Ended,
}

/// The checkpoint thread and its connection.
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
                // A failed copy is repeated with the next copy; the writer reports the errors of its own copies.
                drop(connection.query_row(COPY, [], |_| Ok(())));
                if report.send(()).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self { requests, done, is_requested: false, thread })
    }

    /// Returns the action for a log of this length, and requests a copy if necessary. If the log is too long, waits for
    /// the other thread.
    pub(super) fn next_action(&mut self, log: WalLength) -> CheckpointAction {
        let wait = if log.pages < TOO_LONG { Duration::ZERO } else { COPY_TIMEOUT };
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

    /// Ends the thread. Its connection must be closed before the writer's.
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
        CheckpointState::Running if log.pages < TOO_LONG => CheckpointAction::None,
        CheckpointState::Idle if left >= LONG => CheckpointAction::Request,
        CheckpointState::Running | CheckpointState::Ended if left >= LONG => CheckpointAction::Copy,
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
        let bound = u64::try_from(TOO_LONG).unwrap() + 200;
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
            (of(LONG - 1, 0), CheckpointState::Idle, CheckpointAction::None),
            (of(LONG, 0), CheckpointState::Idle, CheckpointAction::Request),
            (of(TOO_LONG, TOO_LONG - 1), CheckpointState::Idle, CheckpointAction::None),
            (of(2 * LONG, 0), CheckpointState::Running, CheckpointAction::None),
            (of(TOO_LONG, 0), CheckpointState::Running, CheckpointAction::Copy),
            (of(2 * LONG, LONG), CheckpointState::Done, CheckpointAction::Copy),
            (of(LONG, LONG), CheckpointState::Done, CheckpointAction::None),
            (of(LONG, 0), CheckpointState::Ended, CheckpointAction::Copy),
            (of(LONG - 1, 0), CheckpointState::Ended, CheckpointAction::None),
        ] {
            assert_eq!(decide(log, state), expected, "{log:?} {state:?}");
        }
    }
}
