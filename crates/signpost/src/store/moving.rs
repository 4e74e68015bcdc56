//! Takes everything from one database to another that is empty, a batch at a time: what was reached is written with each,
//! so that it can be cut off and run again.

use anyhow::{Context, Result, bail, ensure};
use jiff::Timestamp;
use serde::Serialize;

use super::{Row, Step, Store, Value, must, params, step};

/// How many rows are one write.
const BATCH: i64 = 500;

const FIND: &str = "SELECT source, ended_at, reached FROM moves";
const BEGIN: &str = "INSERT INTO moves (source, begun_at) VALUES ($1, $2)";
const REACH: &str = "UPDATE moves SET reached = $1 WHERE ended_at IS NULL";
const END: &str = "UPDATE moves SET ended_at = $1 WHERE ended_at IS NULL";
const VERSION: &str = "SELECT version FROM catalogue";
const SET_VERSION: &str = "UPDATE catalogue SET version = $1";
const ADDRESS: &str = "SELECT public_address FROM deployment";
const SET_ADDRESS: &str = "UPDATE deployment SET public_address = $1";

/// A table: its key, and its other columns.
struct Table {
    name: &'static str,
    key: &'static [&'static str],
    others: &'static str,
}

/// Every table but those of one row. A test holds them to what the database says.
const TABLES: &[Table] = &[
    Table {
        name: "api_keys",
        key: &["id"],
        others: "account, environment, name, hash, created_at, revoked_at, scope, last_used_at, expires_at",
    },
    Table {
        name: "domains",
        key: &["id"],
        others: "account, environment, name, apex, webhook_url, event_url, webhook_secret, next_webhook_secret, \
                 verification_token, created_at, verified_at, last_checked_at, failing_since, misses, handler",
    },
    Table {
        name: "sessions",
        key: &["id"],
        others: "account, environment, domain_id, challenge, webhook_url, metadata, created_at, expires_at, \
                 authenticated_at, user_json, cancelled_at, confirm_code, confirm_tries, client_secret, \
                 hosted_url, requester, flow, answer, completion",
    },
    Table {
        name: "deliveries",
        key: &["id"],
        others: "account, environment, domain_id, url, endpoint, body, state, attempts, created_at, \
                 next_attempt_at, leased_until, ended_at, last_status, last_error, last_answer, \
                 in_backoff",
    },
    Table { name: "atm_sources", key: &["name"], others: "attribution, imported_at" },
    Table { name: "atms", key: &["id"], others: "source, ref, record, first_seen, updated_at, removed_at" },
    Table { name: "atm_apart", key: &["id"], others: "" },
    Table {
        name: "atm_feeds",
        key: &["name"],
        others: "url, format, attribution, every_ms, etag, last_modified, synced_to, fetched_at, failures, \
                 next_at, last_error",
    },
    Table { name: "deleted_domains", key: &["id"], others: "webhook_secret, next_webhook_secret, deleted_at" },
    Table { name: "idempotency_keys", key: &["account", "environment", "key"], others: "asked, reply, created_at" },
    Table { name: "users", key: &["domain_id", "public_key"], others: "created_at, last_login_at" },
    Table {
        name: "endpoints",
        key: &["account", "environment", "endpoint"],
        others: "failing_since, disabled_at, next_probe_at",
    },
    Table { name: "audit", key: &["id"], others: "at, account, environment, actor, action, object, details" },
];

/// How many rows of a table there are.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Moved {
    pub table: &'static str,
    pub rows: i64,
}

/// What was reached: the table's position, and the key of its last row.
type Reached = (usize, Vec<serde_json::Value>);

impl Table {
    /// The texts live as long as the program, as all texts of statements do; there are a few for each table.
    fn read(&self) -> &'static str {
        let (key, columns) = (self.key.join(", "), self.columns());
        let places = places(self.key.len());
        let name = self.name;
        format!("SELECT {columns} FROM {name} WHERE ({key}) > ({places}) ORDER BY {key} LIMIT {BATCH}").leak()
    }

    fn write(&self) -> &'static str {
        let (name, columns) = (self.name, self.columns());
        let places = places(columns.split(", ").count());
        format!("INSERT INTO {name} ({columns}) VALUES ({places})").leak()
    }

    fn count(&self) -> &'static str {
        format!("SELECT COUNT(*) FROM {}", self.name).leak()
    }

    fn columns(&self) -> String {
        let others = Some(self.others).filter(|others| !others.is_empty());
        self.key.iter().copied().chain(others).collect::<Vec<_>>().join(", ")
    }

    /// What stands before every key: of numbers the least, of texts the empty one.
    fn beginning(&self) -> Vec<Value> {
        let is_number = matches!(self.name, "atms" | "atm_apart");
        let least = || if is_number { Value::Int(i64::MIN) } else { Value::Text(String::new()) };
        self.key.iter().map(|_| least()).collect()
    }
}

fn places(count: usize) -> String {
    (1..=count).map(|number| format!("${number}")).collect::<Vec<_>>().join(", ")
}

impl Store {
    /// Takes everything over from another database, of which `source` is the name; tells `reached` how many rows it has
    /// taken, and how many there are. Run again after it was cut off, it goes on.
    ///
    /// # Errors
    /// Where this database is not empty (but for a move from the same source that was cut off), or the numbers of rows
    /// differ at the end; as [`Store::read`] and [`Store::write`] besides.
    pub async fn take_over(
        &self,
        from: &Self,
        source: &str,
        now: Timestamp,
        mut reached: impl FnMut(i64, i64),
    ) -> Result<Vec<Moved>> {
        let (at, mut key) = self.begin_move(source, now).await?;
        let wanted = from.counts().await?;
        let all = wanted.iter().map(|moved| moved.rows).sum();
        let mut taken: i64 = self.counts().await?.iter().map(|moved| moved.rows).sum();
        for (position, table) in TABLES.iter().enumerate().skip(at) {
            let mut after = key.take().unwrap_or_else(|| table.beginning());
            let (read, write) = (table.read(), table.write());
            loop {
                let rows = from.read(read, after).await?;
                let Some(last) = rows.last() else { break };
                after = last.0[..table.key.len()].to_vec();
                taken += i64::try_from(rows.len())?;
                self.write(batch(rows, write, position, &after)?).await?;
                reached(taken, all);
            }
        }
        let version = from.read_one(VERSION, params![]).await?.context("catalogue is one row")?.int(0)?;
        let address = from.read_one(ADDRESS, params![]).await?.context("deployment is one row")?;
        let address = address.opt_text(0)?;
        let counted = self.counts().await?;
        for (wanted, counted) in wanted.iter().zip(&counted) {
            let (table, there, here) = (wanted.table, wanted.rows, counted.rows);
            ensure!(
                there == here,
                "{table} has {there} rows and {here} arrived: stop whoever writes to the source, and begin again with an \
                 empty database"
            );
        }
        let ends = [step(SET_VERSION, params![version]), step(SET_ADDRESS, params![address]), must(END, params![now])];
        self.write(ends).await?;
        Ok(counted)
    }

    /// Where to go on: the position of a table, and the key behind which to.
    async fn begin_move(&self, source: &str, now: Timestamp) -> Result<(usize, Option<Vec<Value>>)> {
        let Some(row) = self.read_one(FIND, params![]).await? else {
            let there = self.counts().await?.into_iter().find(|moved| moved.rows > 0);
            if let Some(Moved { table, rows }) = there {
                bail!("the new database is not empty ({table} has {rows} rows): choose another, or another schema");
            }
            self.write([must(BEGIN, params![source, now])]).await?;
            return Ok((0, None));
        };
        ensure!(row.opt_time(1)?.is_none(), "the new database was moved to before; nothing was changed");
        let begun = row.text(0)?;
        ensure!(begun == source, "a move from {begun} into the new database was cut off: finish that one first");
        let Some(text) = row.opt_text(2)? else { return Ok((0, None)) };
        let (position, key): Reached = serde_json::from_str(text).context("moves.reached")?;
        let value = |value: serde_json::Value| match value {
            serde_json::Value::String(text) => Ok(Value::Text(text)),
            other => other.as_i64().map(Value::Int).context("moves.reached"),
        };
        Ok((position, Some(key.into_iter().map(value).collect::<Result<_>>()?)))
    }

    /// Fails where a move into this database was cut off: what is there is a part.
    ///
    /// # Errors
    /// That, or as [`Store::read`].
    pub async fn check_move(&self) -> Result<()> {
        match self.read_one(FIND, params![]).await? {
            Some(row) if row.opt_time(1)?.is_none() => {
                bail!("a move from {} into this database is not finished: run 'signpost move' again", row.text(0)?)
            }
            _ => Ok(()),
        }
    }

    async fn counts(&self) -> Result<Vec<Moved>> {
        let mut counts = Vec::with_capacity(TABLES.len());
        for table in TABLES {
            let row = self.read_one(table.count(), params![]).await?.context("COUNT is one row")?;
            counts.push(Moved { table: table.name, rows: row.int(0)? });
        }
        Ok(counts)
    }
}

/// The rows, and that they arrived.
fn batch(rows: Vec<Row>, write: &'static str, position: usize, key: &[Value]) -> Result<Vec<Step>> {
    let value = |value: &Value| match value {
        Value::Int(int) => Ok((*int).into()),
        Value::Text(text) => Ok(text.as_str().into()),
        Value::Null | Value::Blob(_) => bail!("no key of ours"),
    };
    let reached: Reached = (position, key.iter().map(value).collect::<Result<_>>()?);
    let reached = must(REACH, params![serde_json::to_string(&reached)?]);
    Ok(rows.into_iter().map(|Row(values)| must(write, values)).chain([reached]).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::server::public_address;

    #[tokio::test]
    async fn the_public_address_is_taken_along() {
        let (old, new) = (Store::open("sqlite::memory:").unwrap(), Store::open("sqlite::memory:").unwrap());
        for address in ["https://before.test", "https://a.test"] {
            public_address::remember(&old, address).await.unwrap();
        }
        new.take_over(&old, "old", Timestamp::UNIX_EPOCH, |_, _| ()).await.unwrap();
        assert_eq!(public_address::find(&new).await.unwrap().as_deref(), Some("https://a.test"));
    }

    #[tokio::test]
    async fn no_table_and_no_column_is_left_behind() {
        let store = Store::open("sqlite::memory:").unwrap();
        let of_one_row = ["schema_version", "schema_needed", "catalogue", "deployment", "moves", "probe"];
        let tables = store.read("SELECT name FROM sqlite_master WHERE type = 'table'", params![]).await.unwrap();
        let tables: BTreeSet<String> = tables.iter().map(|row| row.text(0).unwrap().to_owned()).collect();
        let known: BTreeSet<String> =
            TABLES.iter().map(|table| table.name).chain(of_one_row).map(str::to_owned).collect();
        assert_eq!(tables, known);
        for table in TABLES {
            let columns = store.read("SELECT name FROM pragma_table_info($1)", params![table.name]).await.unwrap();
            let columns: BTreeSet<String> = columns.iter().map(|row| row.text(0).unwrap().to_owned()).collect();
            let known: BTreeSet<String> = table.columns().split(", ").map(str::to_owned).collect();
            assert_eq!(columns, known, "{}", table.name);
        }
    }
}
