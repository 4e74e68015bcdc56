//! The storage layer: SQLite by default, PostgreSQL for deployments with several servers.
//!
//! A write is a *value*: an atomic list of [`Statement`]s. SQLite can therefore put the writes of many requests into a
//! single commit, and both engines use the same SQL text. In return, Rust code cannot decide anything within a
//! transaction, so races are resolved in the `WHERE` clause.
//!
//! The crate has no domain knowledge: a program provides its [`Schema`], and interprets the changes of other processes
//! ([`StoreChange`]).

mod application_id;
mod backup;
mod changes;
pub mod column;
pub mod columns;
mod file;
mod file_state;
pub mod id;
mod lock;
mod migrate;
mod moving;
mod postgres;
mod random;
mod readiness;
pub mod row;
pub mod rows;
pub mod schema;
mod sqlite;
mod statement;
mod store;
pub mod text;
mod watched;

pub use changes::{ChangeFeed, StoreChange};
pub use column::{ColumnType, Json, Parsed};
pub use columns::{ReadColumns, Values, WriteColumns};
pub use file::{DatabaseMissing, available_bytes};
pub use file_state::FileState;
pub use lock::{DatabaseLock, lock, try_lock};
pub use migrate::{DatabaseTooNew, DatabaseUnreleased, Migrated, Migration};
pub use moving::MovedTable;
pub use postgres::{DatabaseNotReady, is_postgres, is_postgres_url};
pub use random::random;
pub use row::{Row, Value};
pub use rows::Stored;
pub use schema::{Column, ColumnKind, Schema, StoredTable};
pub use statement::{Statement, Unavailable, WriteError, WriteOutcome};
pub use store::{Store, StoreLatency};
pub use watched::TableVersion;
