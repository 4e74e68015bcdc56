//! Notifies this process of changes that other processes make in a PostgreSQL database.

use tokio::sync::broadcast;

/// Maximum number of changes that are queued for a receiver. A slower receiver is notified that it
/// missed changes.
pub(super) const FEED_CAPACITY: usize = 4096;

/// A change of the database, or of the connection that reports changes. An embedded database has a
/// single server and reports no changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreChange {
    /// All changes are reported from now on. Earlier changes may have been missed.
    Connected,
    /// Changes may be missed until the next [`StoreChange::Connected`].
    Disconnected,
    /// A database trigger reported a change. The program defines the kinds, and a newer program may
    /// report unknown kinds.
    Changed {
        /// The kind of object that changed.
        kind: String,
        /// The ID of the object that changed, or an empty string if the trigger sent no ID.
        id: String,
    },
}

/// A stream of the changes that other processes make.
#[derive(Debug)]
pub struct ChangeFeed {
    /// The change to return before those in the queue.
    pub(super) first: Option<StoreChange>,
    pub(super) rest: broadcast::Receiver<StoreChange>,
}

impl StoreChange {
    /// Parses the payload of a notification: a kind and, after a space, an ID.
    pub(super) fn read(text: &str) -> Self {
        let (kind, id) = text.split_once(' ').unwrap_or((text, ""));
        Self::Changed { kind: kind.to_owned(), id: id.to_owned() }
    }
}

impl ChangeFeed {
    /// Returns the next change, or `None` once the store is closed. Returns
    /// [`StoreChange::Connected`] again if the receiver was too slow and missed changes.
    pub async fn next(&mut self) -> Option<StoreChange> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        match self.rest.recv().await {
            Ok(change) => Some(change),
            Err(broadcast::error::RecvError::Lagged(_)) => Some(StoreChange::Connected),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}
