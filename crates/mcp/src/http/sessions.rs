//! The sessions of the 2024-11-05 transport: open event streams with their negotiated state.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use data_encoding::HEXLOWER;
use tokio::sync::mpsc::{OwnedPermit, Receiver, Sender, channel};

use super::relay::Relay;
use crate::negotiated::NegotiatedState;
use crate::response::RpcResponse;

/// The limits for sessions of the 2024-11-05 transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionLimits {
    /// Maximum number of open streams. Further streams are rejected with the status 503.
    pub open: usize,
    /// Maximum number of waiting replies of a stream. Further requests are rejected with the status 429.
    pub queued: usize,
    /// Maximum idle time of a stream after its last response.
    pub idle: Duration,
}

impl Default for SessionLimits {
    /// Returns the default limits: 1024 streams, 16 waiting replies each, and 30 minutes of idle time.
    fn default() -> Self {
        Self { open: 1024, queued: 16, idle: Duration::from_mins(30) }
    }
}

/// The table of open sessions of the 2024-11-05 transport. Clones share the table.
#[derive(Clone)]
pub struct Sessions(Arc<SessionsInner>);

struct SessionsInner {
    limits: SessionLimits,
    random: Box<dyn Fn() -> [u8; 16] + Send + Sync>,
    table: Mutex<SessionTable>,
}

#[derive(Default)]
struct SessionTable {
    sessions: HashMap<SseSessionId, Arc<SseSession>>,
    closed: bool,
}

/// The ID of a session: 128 random bits, written as 32 hex digits. It is a secret that grants access to the session, so
/// the type does not implement `Debug`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct SseSessionId([u8; 16]);

pub(super) struct SseSession {
    pub(super) replies: Sender<Vec<u8>>,
    negotiated: Mutex<NegotiatedState>,
}

/// The receiving end of a session's replies. Dropping it ends the session.
pub(super) struct OpenStream {
    pub(super) id: SseSessionId,
    sessions: Sessions,
    replies: Receiver<Vec<u8>>,
    /// Notified when the stream is closed.
    relay: Option<Arc<dyn Relay>>,
}

impl Sessions {
    /// Creates an empty table. `random` must return the 128 bits of a session ID from a cryptographically secure
    /// source.
    #[must_use]
    pub fn new(limits: SessionLimits, random: impl Fn() -> [u8; 16] + Send + Sync + 'static) -> Self {
        Self(Arc::new(SessionsInner { limits, random: Box::new(random), table: Mutex::default() }))
    }

    /// Returns the number of open streams.
    #[must_use]
    pub fn count(&self) -> usize {
        self.table().sessions.len()
    }

    /// Ends all streams and rejects new streams. Call it at shutdown, because streams never end by themselves.
    pub fn close(&self) {
        *self.table() = SessionTable { closed: true, sessions: HashMap::new() };
    }

    /// Opens a session, or returns `None` if there are too many sessions.
    pub(super) fn open(&self, relay: Option<Arc<dyn Relay>>) -> Option<OpenStream> {
        let id = SseSessionId((self.0.random)());
        let mut table = self.table();
        if table.closed || table.sessions.len() >= self.0.limits.open {
            return None;
        }
        // An existing session with this ID must not be replaced.
        let Entry::Vacant(place) = table.sessions.entry(id) else { return None };
        let (sender, replies) = channel(self.0.limits.queued);
        place.insert(Arc::new(SseSession { replies: sender, negotiated: Mutex::default() }));
        Some(OpenStream { id, sessions: self.clone(), replies, relay })
    }

    pub(super) fn find(&self, id: SseSessionId) -> Option<Arc<SseSession>> {
        self.table().sessions.get(&id).cloned()
    }

    /// Locks the table. Poisoning is ignored, because a panic cannot leave the table inconsistent.
    fn table(&self) -> MutexGuard<'_, SessionTable> {
        self.0.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions").field("limits", &self.0.limits).field("count", &self.count()).finish()
    }
}

impl SseSessionId {
    pub(super) fn parse(text: &str) -> Option<Self> {
        HEXLOWER.decode(text.as_bytes()).ok()?.try_into().ok().map(Self)
    }

    pub(super) fn secret(self) -> String {
        HEXLOWER.encode(&self.0)
    }
}

impl SseSession {
    /// Returns the negotiated state.
    pub(super) fn negotiated(&self) -> NegotiatedState {
        self.negotiated.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stores the negotiated values of a response and sends its body, if it has one.
    pub(super) fn deliver(&self, mut response: RpcResponse, place: OwnedPermit<Vec<u8>>) {
        let mut negotiated = self.negotiated.lock().unwrap_or_else(PoisonError::into_inner);
        negotiated.update(&mut response);
        if let Some(body) = response.body {
            place.send(body);
        }
    }
}

impl OpenStream {
    /// Returns the next reply, or `None` if the session was idle for too long or closed.
    pub(super) async fn next(&mut self) -> Option<Vec<u8>> {
        tokio::time::timeout(self.sessions.0.limits.idle, self.replies.recv()).await.ok().flatten()
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.sessions.table().sessions.remove(&self.id);
        if let Some(relay) = &self.relay {
            relay.closed(&self.id.secret());
        }
    }
}
