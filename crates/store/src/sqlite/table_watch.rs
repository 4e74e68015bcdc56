//! Whether the watched tables may have changed: by a statement of this process, or by another one's commit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use crate::step::Step;
use crate::watched::WatchedClock;

/// What SQLite calls a state of the file: for one connection it is another one when any other committed, and the same after
/// its own commits. No connection of this process writes but the one.
pub(super) const FILE_VERSION: &str = "PRAGMA data_version";

/// Counts the states of the watched tables, on the connection that writes.
pub(super) struct TableWatch {
    clock: WatchedClock,
    /// Set while a statement is prepared that changes a watched table.
    is_named: Arc<AtomicBool>,
    /// None before it was asked for.
    file_version: Option<i64>,
    /// Whether the transaction that is open ran a statement that changes a watched table.
    is_touched: bool,
}

impl TableWatch {
    /// Has SQLite say of each statement that is prepared from now on which tables it changes, triggers included.
    pub(super) fn on(
        connection: &mut Connection,
        tables: &'static [&'static str],
        clock: WatchedClock,
    ) -> Result<Self> {
        let is_named = Arc::new(AtomicBool::new(false));
        let names = Arc::clone(&is_named);
        connection.authorizer(Some(move |context: AuthContext<'_>| {
            if changes(&context.action, tables) {
                names.store(true, Ordering::Relaxed);
            }
            Authorization::Allow
        }))?;
        Ok(Self { clock, is_named, file_version: None, is_touched: false })
    }

    /// Whether what `prepare` prepares changes a watched table.
    pub(super) fn watch<T>(&self, prepare: impl FnOnce() -> T) -> (T, bool) {
        self.is_named.store(false, Ordering::Relaxed);
        let prepared = prepare();
        (prepared, self.is_named.load(Ordering::Relaxed))
    }

    /// A transaction that keeps others from writing has begun: whether another process wrote before it shows in the file's
    /// version. Where that cannot be read, one may have.
    pub(super) fn begin(&mut self, file_version: Option<i64>) {
        if file_version.is_none() || file_version != self.file_version {
            self.clock.advance();
        }
        (self.file_version, self.is_touched) = (file_version, false);
    }

    /// A statement is run that changes a watched table.
    pub(super) fn touch(&mut self) {
        self.is_touched = true;
    }

    /// Whether a step may be run: nothing that it was made of has changed.
    pub(super) fn lets(&self, step: &Step) -> bool {
        step.as_of.is_none_or(|version| !self.is_touched && version == self.clock.now())
    }

    /// The transaction is over, however it ended, and nobody has been told.
    pub(super) fn end(&mut self) {
        if std::mem::take(&mut self.is_touched) {
            self.clock.advance();
        }
    }
}

fn changes(action: &AuthAction<'_>, tables: &[&str]) -> bool {
    match action {
        AuthAction::Insert { table_name }
        | AuthAction::Delete { table_name }
        | AuthAction::Update { table_name, .. } => tables.contains(table_name),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rusqlite::Connection;

    use crate::{Migration, Schema, Store, WriteOutcome, must, step};

    static SCHEMA: Schema = Schema {
        migrations: &[Migration::expands(
            "CREATE TABLE names (name TEXT); CREATE TABLE notes (note TEXT); CREATE TABLE probe (at BIGINT);
             CREATE TABLE aliases (name TEXT);
             CREATE TRIGGER alias AFTER INSERT ON aliases BEGIN INSERT INTO names VALUES (new.name); END;",
        )],
        tables: &[],
        single_rows: &[],
        watched: &["names"],
    };
    const NOTE: &str = "INSERT INTO notes VALUES ('a')";

    fn open(file: &Path) -> Store {
        Store::open(&format!("sqlite:{}", file.display()), &SCHEMA).unwrap()
    }

    async fn write(store: &Store, sql: &'static str) -> WriteOutcome {
        store.write([step(sql, Vec::new())]).await.unwrap()
    }

    /// Whether a write is let that was made of the state before `change`, and one of the state behind it.
    async fn is_let(store: &Store, change: impl AsyncFnOnce()) -> [bool; 2] {
        // Whatever came before has been seen.
        write(store, NOTE).await;
        let before = store.watched_version();
        change().await;
        let old = store.write([must(NOTE, Vec::new()).as_of(before)]).await.unwrap();
        let new = store.write([must(NOTE, Vec::new()).as_of(store.watched_version())]).await.unwrap();
        [old, new].map(|outcome| outcome.is_committed())
    }

    #[tokio::test]
    async fn a_write_is_refused_that_was_made_of_watched_rows_which_may_have_changed() {
        let folder = tempfile::tempdir().unwrap();
        for file in [Path::new(":memory:"), &folder.path().join("database")] {
            let store = open(file);
            for (sql, expected) in [
                (NOTE, true),
                ("UPDATE notes SET note = 'b' WHERE EXISTS (SELECT 1 FROM names)", true),
                ("INSERT INTO names VALUES ('a')", false),
                ("UPDATE names SET name = 'b'", false),
                ("DELETE FROM names", false),
                ("INSERT INTO aliases VALUES ('c')", false),
            ] {
                // The second time the statement is prepared already.
                for _ in 0..2 {
                    let changed = is_let(&store, async || drop(write(&store, sql).await)).await;
                    assert_eq!(changed, [expected, true], "{sql}");
                }
            }
        }
    }

    #[tokio::test]
    async fn what_another_process_commits_may_be_anything() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("database");
        let (store, other) = (open(&file), open(&file));
        assert_eq!(is_let(&store, async || drop(write(&other, NOTE).await)).await, [false, true]);
        let other = Connection::open(&file).unwrap();
        let change = async || assert_eq!(other.execute("INSERT INTO names VALUES ('d')", []).unwrap(), 1);
        assert_eq!(is_let(&store, change).await, [false, true]);
        let read =
            async || assert_eq!(other.query_row("SELECT name FROM names", [], |row| row.get(0)), Ok("d".to_owned()));
        assert_eq!(is_let(&store, read).await, [true, true]);
    }

    #[tokio::test]
    async fn of_several_steps_none_happens_where_one_is_out_of_date() {
        let store = open(Path::new(":memory:"));
        let before = store.watched_version();
        let change = "INSERT INTO names VALUES ('a')";
        let steps = [step(NOTE, Vec::new()), step(change, Vec::new()), step(NOTE, Vec::new()).as_of(before)];
        // Nor where the change is the write's own.
        assert_eq!(store.write(steps).await.unwrap(), WriteOutcome::Refused(2));
        let kept = store.read("SELECT (SELECT COUNT(*) FROM notes) + (SELECT COUNT(*) FROM names)", Vec::new()).await;
        assert_eq!(kept.unwrap()[0].int(0).unwrap(), 0);
    }
}
