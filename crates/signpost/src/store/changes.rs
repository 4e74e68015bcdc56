//! What another process did to the database, told as it happens.

use tokio::sync::broadcast;

use crate::store::id::SessionId;

/// How many changes may wait for one who listens; then it is told that it missed some.
pub(super) const WAITING: usize = 4096;

/// What changed. Where the database cannot tell (an embedded one has one server), nothing is ever told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// From now on every change is told; what happened before may have been missed.
    Heard,
    /// Changes may happen untold, until [`Change::Heard`].
    Lost,
    /// A session is not what it was.
    Session(SessionId),
    /// Some domain is not what it was.
    Domains,
    /// The catalogue has another version.
    Catalogue,
}

/// The changes from now on.
#[derive(Debug)]
pub struct Changes {
    /// Said before the others: that they are heard already.
    pub(super) first: Option<Change>,
    pub(super) rest: broadcast::Receiver<Change>,
}

impl Change {
    /// Reads what a trigger said: a kind and, behind a space, which. What a newer program's triggers say is unknown.
    pub(super) fn parse(text: &str) -> Option<Self> {
        match text.split_once(' ').unwrap_or((text, "")) {
            ("session", id) => SessionId::parse(id).map(Self::Session),
            ("domains", _) => Some(Self::Domains),
            ("catalogue", _) => Some(Self::Catalogue),
            _ => None,
        }
    }
}

impl Changes {
    /// The next change; `None` where there will be none. Whoever was too slow missed some and hears [`Change::Heard`]
    /// again.
    pub async fn next(&mut self) -> Option<Change> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        match self.rest.recv().await {
            Ok(change) => Some(change),
            Err(broadcast::error::RecvError::Lagged(_)) => Some(Change::Heard),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}
