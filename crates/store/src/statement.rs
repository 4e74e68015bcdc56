//! Statements and writes as values. The statements of a write run together or not at all.

use anyhow::Result;
use tokio::sync::oneshot;

use crate::row::{Row, Value};
use crate::watched::TableVersion;

/// An SQL statement with its parameter values.
#[derive(Clone, Debug)]
pub struct Statement {
    pub(crate) sql: &'static str,
    pub(crate) params: Vec<Value>,
    /// Set if the statement must change a row.
    pub(crate) expects_row: bool,
    /// The SQL of a batch of such statements, and the position of the parameter that identifies
    /// each statement.
    pub(crate) batch: Option<(&'static str, usize)>,
    /// The version of the watched tables that the statement requires.
    pub(crate) if_unchanged: Option<TableVersion>,
}

/// Sends the result of a statement or a write to its caller.
pub(crate) type ReplySender<T> = oneshot::Sender<Result<T>>;

/// The outcome of a write.
#[derive(Debug, PartialEq)]
pub enum WriteOutcome {
    /// All statements were committed to disk. Contains the rows that the last statement returned.
    Committed(Vec<Row>),
    /// Nothing was written. The statement at this position had to change a row and changed none, or
    /// the watched tables may have changed.
    Refused(usize),
}

/// An error of [`Store::commit`](crate::Store::commit).
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A statement that must change a row changed none, because the row does not exist or another
    /// write came first. Nothing was written.
    #[error("the row does not exist, or another write came first")]
    Conflict,
    /// The database is unavailable, or a statement failed. Nothing was written.
    #[error(transparent)]
    Internal(#[from] anyhow::Error),
}

impl WriteError {
    /// Returns `conflict` for [`WriteError::Conflict`], and converts the database error otherwise.
    pub fn on_conflict<E: From<anyhow::Error>>(self, conflict: E) -> E {
        match self {
            Self::Conflict => conflict,
            Self::Internal(error) => error.into(),
        }
    }
}

/// Error that the database cannot serve a request at the moment, because the disk is full, the file
/// is locked, or too many requests are waiting.
#[derive(Debug, thiserror::Error)]
#[error("the database is unavailable: {0}")]
pub struct Unavailable(pub String);

/// Creates the list of parameter values for `$1`, `$2`, ….
#[macro_export]
macro_rules! params {
    ($($value:expr),* $(,)?) => { vec![$($crate::Value::from($value)),*] };
}

pub(crate) use params;

impl Statement {
    /// Creates a statement that may change any number of rows.
    #[must_use]
    pub fn new(sql: &'static str, params: Vec<Value>) -> Self {
        Self { sql, params, expects_row: false, batch: None, if_unchanged: None }
    }

    /// Creates a statement that must change a row. If it changes none, the whole write is refused.
    #[must_use]
    pub fn expect_row(sql: &'static str, params: Vec<Value>) -> Self {
        Self { expects_row: true, ..Self::new(sql, params) }
    }

    /// Allows PostgreSQL to combine this statement with those of other waiting writes in the batch
    /// statement `sql`. It has an array for each parameter, and returns the parameter at position
    /// `key`, counted from 0, for each statement that changed its row.
    #[must_use]
    pub fn batched(self, sql: &'static str, key: usize) -> Self {
        Self { batch: Some((sql, key)), ..self }
    }

    /// Requires this version of the watched tables
    /// ([`Store::table_version`](crate::Store::table_version)). The write is refused if they may
    /// have changed since.
    #[must_use]
    pub fn if_unchanged(self, version: Option<TableVersion>) -> Self {
        Self { if_unchanged: version, ..self }
    }
}

impl WriteOutcome {
    /// Returns `true` if the write was committed to disk.
    #[must_use]
    pub fn is_committed(&self) -> bool {
        matches!(self, Self::Committed(_))
    }
}
