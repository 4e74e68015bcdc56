//! A read-through cache of sessions, because sessions are read far more often than they change.

use std::sync::Arc;

use anyhow::Result;
use signpost_platform::accounts::Environment;
use signpost_platform::cache::ReadCache;
use signpost_platform::parsed_rows::ParsedRows;
use signpost_store::{Store, Stored, params, sql};

use super::Session;
use super::sql::from_row;
use crate::ids::SessionId;

const FIND_IN_ANY_ACCOUNT: &str = sql!(Session::SELECT, " WHERE id = $1 AND environment = $2");

/// A read-through cache of sessions.
#[derive(Debug)]
pub struct SessionCache {
    store: Store,
    sessions: ReadCache<SessionId, Arc<Session>>,
    /// The most recently read rows, with the sessions that were parsed from them.
    parsed: ParsedRows<SessionId, Session>,
}

impl SessionCache {
    /// Creates an empty cache. It returns stored sessions only if changes of the database are detected.
    #[must_use]
    pub fn new(store: Store) -> Self {
        Self {
            store,
            sessions: ReadCache::new(|session| session.size()),
            // A row is about as large as its session.
            parsed: ParsedRows::new(|session: &Session| 2 * session.size()),
        }
    }

    /// Returns the session with this ID regardless of account. Callers must authorize access by other means.
    ///
    /// # Errors
    /// Returns an error if the database cannot be read, or a column of the row is not valid.
    pub async fn find(&self, environment: Environment, id: &SessionId) -> Result<Option<Arc<Session>>> {
        let state = self.store.file_state();
        let read = async {
            match self.store.read_by_index(FIND_IN_ANY_ACCOUNT, params![id, environment]).await? {
                Some(row) => self.parsed.parse(id, row, |row| from_row(id, row)).map(Some),
                None => Ok(None),
            }
        };
        let session = self.sessions.find_if_unchanged(id, state, read).await?;
        Ok(session.filter(|session| session.account.environment == environment))
    }

    /// Removes a session that has changed.
    pub fn invalidate(&self, id: &SessionId) {
        self.sessions.invalidate(id);
    }

    /// Removes all sessions.
    pub fn invalidate_all(&self) {
        self.sessions.invalidate_all();
    }

    /// Removes all sessions. New sessions are cached if the database notifies this server of every change from now on.
    pub fn restart(&self, is_notified: bool) {
        self.sessions.restart(is_notified);
    }
}
