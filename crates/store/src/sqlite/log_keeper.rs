//! Keeps the log of an embedded database short without a commit that waits for it.
//!
//! What is committed stands in the log until it is copied into the file. SQLite does that within a commit when the log is
//! long, and a write then waits for thousands of pages. Here another thread copies them while the writer goes on; what was
//! written meanwhile, which is little, the writer copies itself, so that the log begins anew.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::Result;
use rusqlite::Connection;

/// From how many pages on they are copied.
const LONG: i64 = 4_000;
/// From how many pages on the writer waits for the other thread. Only one connection copies at a time, so the log would grow
/// without bound if the writer went on.
const TOO_LONG: i64 = 4 * LONG;
/// How long the writer waits for a copy that is under way.
const COPY_TIMEOUT: Duration = Duration::from_secs(10);

/// Says how long the log is: whether anybody was in the way, its pages, and how many of them are copied.
pub(super) const MEASURE: &str = "PRAGMA wal_checkpoint(NOOP)";
/// Copies what nobody reads, and waits for nobody.
pub(super) const COPY: &str = "PRAGMA wal_checkpoint(PASSIVE)";

/// The log, in pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LogLength {
    pub(super) pages: i64,
    pub(super) copied: i64,
}

/// What the writer does about the log before its next batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogCare {
    Nothing,
    /// Asks the other thread to copy.
    Ask,
    /// Copies what is left.
    Copy,
}

/// What the other thread is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Copying {
    Idle,
    UnderWay,
    /// It copied what there was when it was asked.
    Done,
    /// There is none.
    Away,
}

/// The other thread, with a connection of its own.
pub(super) struct LogKeeper {
    ask: SyncSender<()>,
    done: Receiver<()>,
    is_asked: bool,
    thread: JoinHandle<()>,
}

impl LogKeeper {
    pub(super) fn start(connection: Connection) -> Result<Self> {
        let ((ask, asked), (tell, done)) = (sync_channel(1), sync_channel(1));
        let thread = thread::Builder::new().name("store-log".to_owned()).spawn(move || {
            while asked.recv().is_ok() {
                // A copy that fails is tried again with the next one, and the writer's own says why.
                drop(connection.query_row(COPY, [], |_| Ok(())));
                if tell.send(()).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self { ask, done, is_asked: false, thread })
    }

    /// Returns what the writer does about a log of this length. If it is too long, waits until the other thread has copied.
    pub(super) fn care(&mut self, log: LogLength) -> LogCare {
        let wait = if log.pages < TOO_LONG { Duration::ZERO } else { COPY_TIMEOUT };
        let copying = match self.is_asked.then(|| self.done.recv_timeout(wait)) {
            None => Copying::Idle,
            Some(Ok(())) => Copying::Done,
            Some(Err(RecvTimeoutError::Timeout)) => Copying::UnderWay,
            Some(Err(RecvTimeoutError::Disconnected)) => Copying::Away,
        };
        let care = decide(log, copying);
        self.is_asked = match copying {
            Copying::Idle if care == LogCare::Ask => self.ask.try_send(()).is_ok(),
            Copying::UnderWay | Copying::Away => true,
            Copying::Idle | Copying::Done => false,
        };
        care
    }

    /// Ends the other thread, whose connection must be closed before the writer's.
    pub(super) fn end(self) {
        drop(self.ask);
        if self.is_asked && matches!(self.done.recv_timeout(COPY_TIMEOUT), Err(RecvTimeoutError::Timeout)) {
            tracing::warn!("the log of the database is still being copied");
        }
        drop(self.done);
        drop(self.thread.join());
    }
}

fn decide(log: LogLength, copying: Copying) -> LogCare {
    let left = log.pages - log.copied;
    match copying {
        Copying::Done if left > 0 => LogCare::Copy,
        Copying::UnderWay if log.pages < TOO_LONG => LogCare::Nothing,
        Copying::Idle if left >= LONG => LogCare::Ask,
        Copying::UnderWay | Copying::Away if left >= LONG => LogCare::Copy,
        _ => LogCare::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Migration, Schema, Store, params, step};

    #[tokio::test]
    async fn the_log_begins_anew_however_much_is_written() {
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
            store.write([step("INSERT INTO probe (name) VALUES ($1)", params![&name])]).await.unwrap();
        }
        let length = std::fs::metadata(folder.path().join("database-wal")).unwrap().len();
        let bound = u64::try_from(TOO_LONG).unwrap() + 200;
        assert!(length < bound * PAGE && bound < WRITES * 50, "{} pages", length / PAGE);
        let rows = store.read("SELECT COUNT(*) FROM probe WHERE length(name) = 204800", params![]).await.unwrap();
        assert_eq!(rows[0].int(0).unwrap(), i64::try_from(WRITES).unwrap());
        store.close().await;
    }

    #[test]
    fn a_long_log_is_copied_by_the_other_thread_and_its_rest_by_the_writer() {
        let of = |pages, copied| LogLength { pages, copied };
        for (log, copying, expected) in [
            (of(-1, -1), Copying::Idle, LogCare::Nothing),
            (of(LONG - 1, 0), Copying::Idle, LogCare::Nothing),
            (of(LONG, 0), Copying::Idle, LogCare::Ask),
            (of(TOO_LONG, TOO_LONG - 1), Copying::Idle, LogCare::Nothing),
            (of(2 * LONG, 0), Copying::UnderWay, LogCare::Nothing),
            (of(TOO_LONG, 0), Copying::UnderWay, LogCare::Copy),
            (of(2 * LONG, LONG), Copying::Done, LogCare::Copy),
            (of(LONG, LONG), Copying::Done, LogCare::Nothing),
            (of(LONG, 0), Copying::Away, LogCare::Copy),
            (of(LONG - 1, 0), Copying::Away, LogCare::Nothing),
        ] {
            assert_eq!(decide(log, copying), expected, "{log:?} {copying:?}");
        }
    }
}
