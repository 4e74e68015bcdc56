use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use data_encoding::HEXLOWER;
use tokio::sync::mpsc::{OwnedPermit, Receiver, Sender, channel};

use super::relay::Relay;
use crate::agreed::Agreed;
use crate::response::RpcResponse;

/// How many sessions over SSE there may be, and what each may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionLimits {
    /// Streams open at once; one more is refused (503).
    pub open: usize,
    /// Replies waiting to be read on one stream; a request for one more is refused (429).
    pub queued: usize,
    /// How long a stream is kept open after its last response.
    pub idle: Duration,
}

impl Default for SessionLimits {
    /// 1024 streams, 16 replies each, 30 minutes.
    fn default() -> Self {
        Self { open: 1024, queued: 16, idle: Duration::from_mins(30) }
    }
}

/// The sessions of the 2024-11-05 transport: streams that are open, and what was agreed on each. Clones share them.
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

/// 128 random bits, written as 32 hex digits. Whoever knows it can speak on the session, so it has no `Debug`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct SseSessionId([u8; 16]);

pub(super) struct SseSession {
    pub(super) replies: Sender<Vec<u8>>,
    agreed: Mutex<Agreed>,
}

/// The reading end of a session, which lives as long as this does.
pub(super) struct OpenStream {
    pub(super) id: SseSessionId,
    sessions: Sessions,
    replies: Receiver<Vec<u8>>,
    /// Told when it ends.
    relay: Option<Arc<dyn Relay>>,
}

impl Sessions {
    /// No sessions yet. `random` gives the 128 bits by which a session is known: they must come from a
    /// cryptographic source.
    #[must_use]
    pub fn new(limits: SessionLimits, random: impl Fn() -> [u8; 16] + Send + Sync + 'static) -> Self {
        Self(Arc::new(SessionsInner { limits, random: Box::new(random), table: Mutex::default() }))
    }

    /// How many streams are open.
    #[must_use]
    pub fn count(&self) -> usize {
        self.table().sessions.len()
    }

    /// Ends every stream and opens no more: call it when the server is to stop, for streams do not end by themselves.
    pub fn close(&self) {
        *self.table() = SessionTable { closed: true, sessions: HashMap::new() };
    }

    /// A new session, unless there are too many.
    pub(super) fn open(&self, relay: Option<Arc<dyn Relay>>) -> Option<OpenStream> {
        let id = SseSessionId((self.0.random)());
        let mut table = self.table();
        if table.closed || table.sessions.len() >= self.0.limits.open {
            return None;
        }
        // Were the bits those of another session, that one must not change hands.
        let Entry::Vacant(place) = table.sessions.entry(id) else { return None };
        let (sender, replies) = channel(self.0.limits.queued);
        place.insert(Arc::new(SseSession { replies: sender, agreed: Mutex::default() }));
        Some(OpenStream { id, sessions: self.clone(), replies, relay })
    }

    pub(super) fn find(&self, id: SseSessionId) -> Option<Arc<SseSession>> {
        self.table().sessions.get(&id).cloned()
    }

    /// Nothing that holds the lock can leave the table half changed, so a panic elsewhere is no reason to stop.
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
    /// What client and server agreed on so far.
    pub(super) fn agreed(&self) -> Agreed {
        self.agreed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps what a reply agrees on and sends it, if it is one that is sent.
    pub(super) fn deliver(&self, mut response: RpcResponse, place: OwnedPermit<Vec<u8>>) {
        let mut agreed = self.agreed.lock().unwrap_or_else(PoisonError::into_inner);
        agreed.keep(&mut response);
        if let Some(body) = response.body {
            place.send(body);
        }
    }
}

impl OpenStream {
    /// The next reply; `None` once the session has been idle for too long or was closed.
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
