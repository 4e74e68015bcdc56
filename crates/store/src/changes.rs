//! What another process did to the database, told as it happens.

use tokio::sync::broadcast;

/// How many changes may wait for one who listens; then it is told that it missed some.
pub(super) const WAITING: usize = 4096;

/// What changed. Where the database cannot tell (an embedded one has one server), nothing is ever told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreChange {
    /// From now on every change is told; what happened before may have been missed.
    Heard,
    /// Changes may happen untold, until [`StoreChange::Heard`].
    Lost,
    /// What a trigger said, in words that the tables' owner understands. A newer program's may be unknown.
    Changed {
        /// Of what kind the thing is that changed.
        kind: String,
        /// Which of that kind; empty where that was not said.
        id: String,
    },
}

/// The changes from now on.
#[derive(Debug)]
pub struct ChangeFeed {
    /// Said before the others: that they are heard already.
    pub(super) first: Option<StoreChange>,
    pub(super) rest: broadcast::Receiver<StoreChange>,
}

impl StoreChange {
    /// Reads what a trigger said: a kind and, behind a space, which.
    pub(super) fn read(text: &str) -> Self {
        let (kind, id) = text.split_once(' ').unwrap_or((text, ""));
        Self::Changed { kind: kind.to_owned(), id: id.to_owned() }
    }
}

impl ChangeFeed {
    /// The next change; `None` where there will be none. Whoever was too slow missed some and hears
    /// [`StoreChange::Heard`] again.
    pub async fn next(&mut self) -> Option<StoreChange> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        match self.rest.recv().await {
            Ok(change) => Some(change),
            Err(broadcast::error::RecvError::Lagged(_)) => Some(StoreChange::Heard),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}
