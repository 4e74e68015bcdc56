//! Copies all rows from one database to another, empty database in batches. The position is written
//! in the transaction of each batch, so that an interrupted copy can be continued.

use anyhow::{Context, Result, bail, ensure};
use jiff::Timestamp;
use serde::Serialize;

use crate::row::{Row, Value};
use crate::schema::{ColumnKind, StoredTable};
use crate::statement::{Statement, params};
use crate::store::Store;

/// Number of rows per batch.
const BATCH: i64 = 500;

const FIND: &str = "SELECT source, ended_at, reached FROM moves";
const BEGIN: &str = "INSERT INTO moves (source, begun_at) VALUES ($1, $2)";
const SET_POSITION: &str = "UPDATE moves SET reached = $1 WHERE ended_at IS NULL";
const END: &str = "UPDATE moves SET ended_at = $1 WHERE ended_at IS NULL";

/// The number of rows of a copied table.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct MovedTable {
    pub table: &'static str,
    pub rows: i64,
}

/// The position of a copy: the index of the current table, and the primary key of the last copied
/// row.
type MovePosition = (usize, Vec<serde_json::Value>);

impl StoredTable {
    /// Returns the `SELECT` statement that reads a batch. The text is leaked, because statements
    /// are `'static`; there are only a few per table.
    fn read(&self) -> &'static str {
        let key = self.key.join(", ");
        let columns = self.key_first();
        let placeholders = placeholders(self.key.len());
        let name = self.name;
        format!("SELECT {columns} FROM {name} WHERE ({key}) > ({placeholders}) ORDER BY {key} LIMIT {BATCH}").leak()
    }

    fn write(&self) -> &'static str {
        let columns = self.key_first();
        let placeholders = placeholders(self.columns.len());
        format!("INSERT INTO {} ({columns}) VALUES ({placeholders})", self.name).leak()
    }

    fn count(&self) -> &'static str {
        format!("SELECT COUNT(*) FROM {}", self.name).leak()
    }

    fn key_first(&self) -> String {
        let names = self.columns.iter().map(|column| column.name);
        let others = names.filter(|name| !self.key.contains(name));
        self.key.iter().copied().chain(others).collect::<Vec<_>>().join(", ")
    }

    /// Returns a key that sorts before all keys of the table.
    fn minimum_key(&self) -> Vec<Value> {
        let mut minimum_key = Vec::with_capacity(self.key.len());
        for key in self.key {
            let is_number = self.columns.iter().any(|column| column.name == *key && column.kind == ColumnKind::Integer);
            minimum_key.push(if is_number { Value::Int(i64::MIN) } else { Value::Text(String::new()) });
        }
        minimum_key
    }
}

/// Returns the statement that copies the value of a single-row table.
async fn single_row(from: &Store, table: &str, column: &str) -> Result<Statement> {
    let row = from.read_one(format!("SELECT {column} FROM {table}").leak(), params![]).await?;
    let value = row.with_context(|| format!("{table} is one row"))?.0.remove(0);
    Ok(Statement::new(format!("UPDATE {table} SET {column} = $1").leak(), vec![value]))
}

fn placeholders(count: usize) -> String {
    (1..=count).map(|number| format!("${number}")).collect::<Vec<_>>().join(", ")
}

impl Store {
    /// Copies all rows from the database `from`, recorded under the name `source`. Calls `progress`
    /// with the number of copied rows and the total. Continues an interrupted copy.
    ///
    /// # Errors
    /// Returns an error if this database is neither empty nor the target of an interrupted copy
    /// from this source, if the row counts differ at the end, or if a read or write fails.
    pub async fn copy_from(
        &self,
        from: &Self,
        source: &str,
        now: Timestamp,
        mut progress: impl FnMut(i64, i64),
    ) -> Result<Vec<MovedTable>> {
        let (at, mut key) = self.begin_move(source, now).await?;
        let expected = from.counts().await?;
        let total = expected.iter().map(|moved| moved.rows).sum();
        let mut copied: i64 = self.counts().await?.iter().map(|moved| moved.rows).sum();
        // Single-row tables are copied first as well, because their values may control what
        // triggers do with the rows of other tables.
        self.write(self.single_rows(from).await?).await?;
        for (position, table) in self.schema.tables.iter().enumerate().skip(at) {
            let mut after = key.take().unwrap_or_else(|| table.minimum_key());
            let read = table.read();
            let write = table.write();
            loop {
                let rows = from.read(read, after).await?;
                let Some(last) = rows.last() else { break };
                after = last.0[..table.key.len()].to_vec();
                copied += i64::try_from(rows.len())?;
                self.write(batch(rows, write, position, &after)?).await?;
                progress(copied, total);
            }
        }
        let mut ends = self.single_rows(from).await?;
        let counted = self.counts().await?;
        for (expected, counted) in expected.iter().zip(&counted) {
            ensure!(
                expected.rows == counted.rows,
                "{} has {} rows, but {} arrived: stop whatever writes to the source, and start again with an empty \
                 database",
                expected.table,
                expected.rows,
                counted.rows
            );
        }
        ends.push(Statement::expect_row(END, params![now]));
        self.write(ends).await?;
        Ok(counted)
    }

    /// Returns the statements that copy all single-row tables.
    async fn single_rows(&self, from: &Self) -> Result<Vec<Statement>> {
        let mut statements = Vec::with_capacity(self.schema.single_rows.len() + 1);
        for (table, column) in self.schema.single_rows {
            statements.push(single_row(from, table, column).await?);
        }
        Ok(statements)
    }

    /// Returns the position where the copy continues: the index of a table, and the last copied key in
    /// it.
    async fn begin_move(&self, source: &str, now: Timestamp) -> Result<(usize, Option<Vec<Value>>)> {
        let Some(row) = self.read_one(FIND, params![]).await? else {
            let there = self.counts().await?.into_iter().find(|moved| moved.rows > 0);
            if let Some(MovedTable { table, rows }) = there {
                bail!("the new database is not empty ({table} has {rows} rows): choose another, or another schema");
            }
            self.write([Statement::expect_row(BEGIN, params![source, now])]).await?;
            return Ok((0, None));
        };
        ensure!(row.opt_time(1)?.is_none(), "the new database has already received a move; nothing was changed");
        let begun = row.text(0)?;
        ensure!(begun == source, "a move from {begun} into the new database was interrupted: finish that one first");
        let Some(text) = row.opt_text(2)? else { return Ok((0, None)) };
        let (position, key): MovePosition = serde_json::from_str(text).context("moves.reached")?;
        let key = key.into_iter().map(|value| match value {
            serde_json::Value::String(text) => Ok(Value::Text(text)),
            other => other.as_i64().map(Value::Int).context("moves.reached"),
        });
        Ok((position, Some(key.collect::<Result<_>>()?)))
    }

    /// Checks that no copy into this database was interrupted, because the database would be
    /// incomplete.
    ///
    /// # Errors
    /// Returns an error if a copy was interrupted, or the errors of [`Store::read`].
    pub async fn check_move(&self) -> Result<()> {
        match self.read_one(FIND, params![]).await? {
            Some(row) if row.opt_time(1)?.is_none() => {
                bail!("a move from {} into this database is not finished: run 'signpost move' again", row.text(0)?)
            }
            _ => Ok(()),
        }
    }

    async fn counts(&self) -> Result<Vec<MovedTable>> {
        let mut counts = Vec::with_capacity(self.schema.tables.len());
        for table in self.schema.tables {
            let row = self.read_one(table.count(), params![]).await?.context("COUNT is one row")?;
            counts.push(MovedTable { table: table.name, rows: row.int(0)? });
        }
        Ok(counts)
    }
}

/// Returns the statements that insert a batch of rows and store the new position.
fn batch(rows: Vec<Row>, write: &'static str, position: usize, key: &[Value]) -> Result<Vec<Statement>> {
    let key = key.iter().map(|value| match value {
        Value::Int(int) => Ok((*int).into()),
        Value::Text(text) => Ok(text.as_str().into()),
        Value::Null | Value::Blob(_) => bail!("a key is a number or a text"),
    });
    let reached: MovePosition = (position, key.collect::<Result<_>>()?);
    let reached = Statement::expect_row(SET_POSITION, params![serde_json::to_string(&reached)?]);
    Ok(rows.into_iter().map(|Row(values)| Statement::expect_row(write, values)).chain([reached]).collect())
}
