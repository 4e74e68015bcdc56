//! Notifications of changes by other processes.

use tokio::sync::broadcast;

/// Maximum number of changes that wait for a receiver; then it is notified that it missed some.
pub(super) const FEED_CAPACITY: usize = 4096;

/// A notification. An embedded database has a single server and sends no notifications.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreChange {
    /// Every change is notified from now on. Earlier changes may have been missed.
    Connected,
    /// Changes may be missed, until [`StoreChange::Connected`].
    Disconnected,
    /// A notification of a trigger. The program defines its meaning. Notifications of a newer program may be unknown.
    Changed {
        /// The kind of the object that changed.
        kind: String,
        /// The ID of the object; empty if it is not given.
        id: String,
    },
}

/// A receiver of changes.
#[derive(Debug)]
pub struct ChangeFeed {
    /// Returned before the others.
    pub(super) first: Option<StoreChange>,
    pub(super) rest: broadcast::Receiver<StoreChange>,
}

impl StoreChange {
    /// Parses a notification: a kind and, after a space, an ID.
    pub(super) fn read(text: &str) -> Self {
        let (kind, id) = text.split_once(' ').unwrap_or((text, ""));
        Self::Changed { kind: kind.to_owned(), id: id.to_owned() }
    }
}

impl ChangeFeed {
    /// Returns the next change; `None` if the feed has ended. A receiver that was too slow and missed some gets
    /// [`StoreChange::Connected`] again.
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
