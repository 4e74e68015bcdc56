//! A write as a value: steps that happen together or not at all.

use anyhow::Result;
use tokio::sync::oneshot;

use crate::row::{Row, Value};
use crate::watched::WatchedVersion;

/// One statement of a write.
#[derive(Clone, Debug)]
pub struct Step {
    pub(crate) sql: &'static str,
    pub(crate) params: Vec<Value>,
    pub(crate) must: bool,
    /// The text that does many, and which value it knows each by.
    pub(crate) alike: Option<(&'static str, usize)>,
    /// The state of the watched tables that it was made of.
    pub(crate) as_of: Option<WatchedVersion>,
}

/// Where the result of a statement or of a write is awaited.
pub(crate) type ReplySender<T> = oneshot::Sender<Result<T>>;

/// How a write ended.
#[derive(Debug, PartialEq)]
pub enum WriteOutcome {
    /// All steps happened and are on disk; the rows are the last step's.
    Committed(Vec<Row>),
    /// The step at this position had to change a row and changed none, or was made of what may be out of date; nothing
    /// happened.
    Refused(usize),
}

/// An error of [`Store::commit`](crate::Store::commit).
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A step that must change a row changed none: the row does not exist, or another write came first. Nothing was written.
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

/// The database cannot serve this request now: the disk is full, the file is locked, too much waits.
#[derive(Debug, thiserror::Error)]
#[error("the database is unavailable: {0}")]
pub struct Unavailable(pub String);

/// A step that may change any number of rows.
#[must_use]
pub fn step(sql: &'static str, params: Vec<Value>) -> Step {
    Step { sql, params, must: false, alike: None, as_of: None }
}

/// A step that must change a row, or the whole write is refused.
#[must_use]
pub fn must(sql: &'static str, params: Vec<Value>) -> Step {
    Step { sql, params, must: true, alike: None, as_of: None }
}

/// The values behind `$1`, `$2`, ….
#[macro_export]
macro_rules! params {
    ($($value:expr),* $(,)?) => { vec![$($crate::Value::from($value)),*] };
}

pub(crate) use params;

impl Step {
    /// Where many writes of this one step wait, PostgreSQL does them as one statement. It takes an array for each value,
    /// and gives back, of each step that changed its row, the value at `key`, counted from 0.
    #[must_use]
    pub fn alike(self, sql: &'static str, key: usize) -> Self {
        Self { alike: Some((sql, key)), ..self }
    }

    /// The step is refused where the watched tables may have changed since this state
    /// ([`Store::watched_version`](crate::Store::watched_version)).
    #[must_use]
    pub fn as_of(self, version: Option<WatchedVersion>) -> Self {
        Self { as_of: version, ..self }
    }
}

impl WriteOutcome {
    /// Whether the write happened.
    #[must_use]
    pub fn is_committed(&self) -> bool {
        matches!(self, Self::Committed(_))
    }
}
