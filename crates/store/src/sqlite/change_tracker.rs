//! Detects changes of the watched tables, both by statements of this process and by commits of
//! other processes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use crate::statement::Statement;
use crate::watched::TableVersionClock;

/// Returns the version of the database file for a connection. It changes with the commits of other
/// connections, but not with those of the connection itself. Only one connection of this process
/// writes.
pub(super) const FILE_VERSION: &str = "PRAGMA data_version";

/// Tracks the version of the watched tables on the connection that writes.
pub(super) struct ChangeTracker {
    clock: TableVersionClock,
    /// Set when SQLite prepares a statement that changes a watched table.
    changes_watched_table: Arc<AtomicBool>,
    /// The version of the file at the last transaction.
    file_version: Option<i64>,
    /// Set if a statement of the current transaction changed a watched table.
    is_changed: bool,
}

impl ChangeTracker {
    /// Registers a callback that SQLite calls for each table that a prepared statement changes,
    /// including changes by triggers.
    pub(super) fn attach(
        connection: &mut Connection,
        tables: &'static [&'static str],
        clock: TableVersionClock,
    ) -> Result<Self> {
        let changes_watched_table = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&changes_watched_table);
        connection.authorizer(Some(move |context: AuthContext<'_>| {
            if changes(&context.action, tables) {
                flag.store(true, Ordering::Relaxed);
            }
            Authorization::Allow
        }))?;
        Ok(Self { clock, changes_watched_table, file_version: None, is_changed: false })
    }

    /// Calls `prepare` and returns its result, and whether the prepared statement changes a watched
    /// table.
    pub(super) fn observe<T>(&self, prepare: impl FnOnce() -> T) -> (T, bool) {
        self.changes_watched_table.store(false, Ordering::Relaxed);
        let prepared = prepare();
        (prepared, self.changes_watched_table.load(Ordering::Relaxed))
    }

    /// Records the start of a transaction that excludes other writers. If `file_version` differs
    /// from the last transaction, or is unknown, another process may have changed the watched
    /// tables.
    pub(super) fn begin(&mut self, file_version: Option<i64>) {
        if file_version.is_none() || file_version != self.file_version {
            self.clock.advance();
        }
        self.file_version = file_version;
        self.is_changed = false;
    }

    /// Records that a statement changed a watched table.
    pub(super) fn record_change(&mut self) {
        self.is_changed = true;
    }

    /// Returns `true` if a statement may run: it requires no version of the watched tables, or the
    /// current version.
    pub(super) fn permits(&self, statement: &Statement) -> bool {
        statement.if_unchanged.is_none_or(|version| !self.is_changed && version == self.clock.now())
    }

    /// Records the end of a transaction. Must be called before the outcome is reported.
    pub(super) fn end(&mut self) {
        if std::mem::take(&mut self.is_changed) {
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

    use crate::{Migration, Schema, Statement, Store, WriteOutcome};

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
        store.write([Statement::new(sql, Vec::new())]).await.unwrap()
    }

    /// Returns whether a write succeeds with the table version before `change`, and with the
    /// version after it.
    async fn is_permitted(store: &Store, change: impl AsyncFnOnce()) -> [bool; 2] {
        // Detects earlier changes first.
        write(store, NOTE).await;
        let before = store.table_version();
        change().await;
        let old = store.write([Statement::expect_row(NOTE, Vec::new()).if_unchanged(before)]).await.unwrap();
        let new =
            store.write([Statement::expect_row(NOTE, Vec::new()).if_unchanged(store.table_version())]).await.unwrap();
        [old, new].map(|outcome| outcome.is_committed())
    }

    #[tokio::test]
    async fn write_conflicts_if_watched_tables_may_have_changed() {
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
                // In the second round, the statement is already prepared.
                for _ in 0..2 {
                    let changed = is_permitted(&store, async || drop(write(&store, sql).await)).await;
                    assert_eq!(changed, [expected, true], "{sql}");
                }
            }
        }
    }

    #[tokio::test]
    async fn foreign_commit_invalidates_every_table() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("database");
        let (store, other) = (open(&file), open(&file));
        assert_eq!(is_permitted(&store, async || drop(write(&other, NOTE).await)).await, [false, true]);
        let other = Connection::open(&file).unwrap();
        let change = async || assert_eq!(other.execute("INSERT INTO names VALUES ('d')", []).unwrap(), 1);
        assert_eq!(is_permitted(&store, change).await, [false, true]);
        let read =
            async || assert_eq!(other.query_row("SELECT name FROM names", [], |row| row.get(0)), Ok("d".to_owned()));
        assert_eq!(is_permitted(&store, read).await, [true, true]);
    }

    #[tokio::test]
    async fn no_statement_runs_if_one_requires_an_old_version() {
        let store = open(Path::new(":memory:"));
        let before = store.table_version();
        let change = "INSERT INTO names VALUES ('a')";
        let statements = [
            Statement::new(NOTE, Vec::new()),
            Statement::new(change, Vec::new()),
            Statement::new(NOTE, Vec::new()).if_unchanged(before),
        ];
        // This holds even if a statement of the same write made the change.
        assert_eq!(store.write(statements).await.unwrap(), WriteOutcome::Refused(2));
        let rows = store.read("SELECT (SELECT COUNT(*) FROM notes) + (SELECT COUNT(*) FROM names)", Vec::new()).await;
        assert_eq!(rows.unwrap()[0].int(0).unwrap(), 0);
    }
}
