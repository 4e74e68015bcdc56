//! The database: SQLite by default, PostgreSQL for several replicas.
//!
//! A write is a *value*: an atomic list of [`Step`]s. So SQLite can put the writes of many requests into one commit,
//! and both engines use one SQL text. The price: Rust code cannot decide anything in mid-transaction, so races are
//! settled in the `WHERE`.
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
mod step;
mod store;
pub mod text;
mod watched;

pub use changes::{ChangeFeed, StoreChange};
pub use column::{ColumnType, Json, Parsed};
pub use columns::{ReadColumns, Values, WriteColumns};
pub use file::{Missing, available_bytes};
pub use file_state::FileState;
pub use lock::{DatabaseLock, lock, try_lock};
pub use migrate::{Migrated, Migration, Newer, Unreleased};
pub use moving::Moved;
pub use postgres::{DatabaseNotReady, is_postgres, is_postgres_url};
pub use random::random;
pub use row::{Row, Value};
pub use rows::Stored;
pub use schema::{Column, Kind, Schema, StoredTable};
pub use step::{Step, Unavailable, WriteError, WriteOutcome, must, step};
pub use store::{Store, StoreLatency};
pub use watched::TableVersion;
