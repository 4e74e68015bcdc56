//! The database: SQLite by default, PostgreSQL for several replicas.
//!
//! A write is a *value*: a list of [`Step`]s that happen together or not at all. That is what lets SQLite put the
//! writes of many requests into one commit, and it is why SQL is written once for both. The price: nothing can be
//! decided in Rust in mid-transaction, so races are settled in the `WHERE`.
//!
//! It knows no feature: a program hands its [`Schema`] in, and gives what others changed ([`StoreChange`]) its meaning.

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
