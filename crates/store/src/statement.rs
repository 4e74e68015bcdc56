//! A write as a value: statements that run together or not at all.

use anyhow::Result;
use tokio::sync::oneshot;

use crate::row::{Row, Value};
use crate::watched::TableVersion;

/// An SQL statement with its parameters.
#[derive(Clone, Debug)]
pub struct Statement {
    pub(crate) sql: &'static str,
    pub(crate) params: Vec<Value>,
    /// Whether the statement must change a row.
    pub(crate) expects_row: bool,
    /// The SQL of a batch of such statements, and the position of the value that identifies each.
    pub(crate) batch: Option<(&'static str, usize)>,
    /// The version of the watched tables that the statement requires.
    pub(crate) if_unchanged: Option<TableVersion>,
}

/// Sends the result of a statement or a write.
pub(crate) type ReplySender<T> = oneshot::Sender<Result<T>>;

/// The outcome of a write.
#[derive(Debug, PartialEq)]
pub enum WriteOutcome {
    /// All statements are on disk. Contains the rows of the last statement.
    Committed(Vec<Row>),
    /// Nothing was written: the statement at this position was required to change a row and changed none, or the
    /// watched tables may have changed.
    Refused(usize),
}

/// An error of [`Store::commit`](crate::Store::commit).
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A statement that must change a row changed none: the row does not exist, or another write came first. Nothing
    /// was written.
    #[error("the row does not exist, or another write came first")]
    Conflict,
    /// The database is unavailable, or a statement failed. Nothing was written.
    #[error(transparent)]
    Internal(#[from] anyhow::Error),
}

impl WriteError {
    /// Returns this error for a conflict, and the failure of the database otherwise.
    pub fn on_conflict<E: From<anyhow::Error>>(self, conflict: E) -> E {
        match self {
            Self::Conflict => conflict,
            Self::Internal(error) => error.into(),
        }
    }
}

/// The database cannot serve this request now: the disk is full, the file is locked, or too many requests wait.
#[derive(Debug, thiserror::Error)]
#[error("the database is unavailable: {0}")]
pub struct Unavailable(pub String);

/// Creates the values of `$1`, `$2`, ….
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

    /// Creates a statement that must change a row: otherwise the whole write is refused.
    #[must_use]
    pub fn expect_row(sql: &'static str, params: Vec<Value>) -> Self {
        Self { expects_row: true, ..Self::new(sql, params) }
    }

    /// Allows PostgreSQL to run many waiting writes of this single statement at once, as `sql`. It has an array for
    /// each parameter, and returns, for each statement that changed its row, the parameter at position `key`, counted
    /// from 0.
    #[must_use]
    pub fn batched(self, sql: &'static str, key: usize) -> Self {
        Self { batch: Some((sql, key)), ..self }
    }

    /// Refuses the statement if the watched tables may have changed since this version
    /// ([`Store::table_version`](crate::Store::table_version)).
    #[must_use]
    pub fn if_unchanged(self, version: Option<TableVersion>) -> Self {
        Self { if_unchanged: version, ..self }
    }
}

impl WriteOutcome {
    /// Returns `true` if the write is on disk.
    #[must_use]
    pub fn is_committed(&self) -> bool {
        matches!(self, Self::Committed(_))
    }
}
