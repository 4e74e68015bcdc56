//! Writes changes of a session, if the session has not changed since it was read.

use anyhow::{Context, anyhow};
use signpost_store::{Row, Statement, Store, Stored, WriteOutcome, params, sql};

use super::{Session, SessionState};
use crate::error::Error;

const SELECT: &str = sql!(Session::SELECT, " WHERE id = $1");

/// An error of a write of a session.
#[derive(Debug, thiserror::Error)]
pub enum SessionWriteError {
    /// The session has changed since it was read, or its domain may have. Contains the session as it is now, or `None`
    /// if it was deleted.
    #[error("another write of the session came first")]
    Changed(Option<Box<Session>>),
    /// Another required statement of the write changed no row.
    #[error("another statement of the write was refused")]
    StatementRefused,
    /// The database is unavailable, or a statement failed.
    #[error(transparent)]
    Internal(#[from] anyhow::Error),
}

impl From<SessionWriteError> for Error {
    fn from(error: SessionWriteError) -> Self {
        match error {
            SessionWriteError::Changed(None) => Self::SessionNotFound,
            SessionWriteError::Changed(Some(session)) => match session.state {
                SessionState::Pending => Self::ChallengeNotFound,
                SessionState::Cancelled { .. } => Self::SessionCancelled { id: session.id.to_string() },
                SessionState::Answered { .. }
                | SessionState::AnsweredOnPage { .. }
                | SessionState::Authenticated { .. } => Self::SessionAlreadyAuthenticated,
            },
            SessionWriteError::StatementRefused => anyhow!("{error}").into(),
            SessionWriteError::Internal(error) => error.into(),
        }
    }
}

/// Performs a write that changes the session in its first statement, if the row is unchanged. Returns the rows of the
/// last statement.
pub(super) async fn write(
    store: &Store,
    session: &Session,
    statements: impl Into<Vec<Statement>>,
) -> Result<Vec<Row>, SessionWriteError> {
    match store.write(statements).await? {
        WriteOutcome::Committed(rows) => Ok(rows),
        WriteOutcome::Refused(0) => {
            let row = store.read_by_index(SELECT, params![&session.id]).await?;
            let changed = row.map(Session::from_row).transpose()?;
            Err(SessionWriteError::Changed(changed.map(Box::new)))
        }
        WriteOutcome::Refused(_) => Err(SessionWriteError::StatementRefused),
    }
}

/// Performs a write of a single statement that returns the columns of the session. Returns the session after the write.
pub(super) async fn write_returning(
    store: &Store,
    session: &Session,
    statement: Statement,
) -> Result<Session, SessionWriteError> {
    let rows = write(store, session, [statement]).await?;
    let row = rows.into_iter().next().context("the statement returns one row")?;
    Ok(Session::from_row(row)?)
}
