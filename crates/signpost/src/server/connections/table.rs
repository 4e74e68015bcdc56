//! What is known of each open connection, and which of them makes way for another.
//!
//! A request costs three changes of one number here; the lock is taken once when a connection begins, once with its
//! first request and once at its end.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use super::ConnectionLimits;

/// How many idle connections make way at once: they are found by looking at all of them.
const IDLE_BATCH: usize = 32;
/// How many sweeps pass before a connection without a request makes way for others: the head of one that has just been
/// accepted is most likely here and only not read yet.
const GRACE_SWEEPS: u32 = 2;

/// Where a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Its first request head is not whole.
    Opening,
    /// A part of a later one has come.
    Head,
    /// A request is being answered.
    Request,
    /// It waits for the next request.
    Idle,
    /// It takes no request any more.
    Closing,
}

impl Phase {
    const ALL: [Self; 5] = [Self::Opening, Self::Head, Self::Request, Self::Idle, Self::Closing];
}

/// All connections of a listener.
#[derive(Debug)]
pub(crate) struct ConnectionTable {
    limits: ConnectionLimits,
    head_sweeps: u32,
    idle_sweeps: u32,
    /// The time, in sweeps.
    now: AtomicU32,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    /// By their number, which goes up: the oldest first.
    connections: BTreeMap<u64, Arc<OpenConnection>>,
    next: u64,
    opening: BTreeSet<u64>,
    opening_by_client: HashMap<IpAddr, BTreeSet<u64>>,
}

/// One connection, as its own task and the table see it.
#[derive(Debug)]
pub(crate) struct OpenConnection {
    number: u64,
    /// None where it is a trusted proxy's.
    client: Option<IpAddr>,
    /// The phase, and since when.
    state: AtomicU32,
    closing: Notify,
    table: Arc<ConnectionTable>,
}

/// A connection's place in the table, given up when it is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionPlace(Arc<OpenConnection>);

impl ConnectionTable {
    pub(crate) fn new(limits: ConnectionLimits, sweep_interval: Duration) -> Self {
        let sweeps = |time: Duration| u32::try_from(time.as_millis() / sweep_interval.as_millis()).unwrap_or(u32::MAX);
        Self {
            limits,
            head_sweeps: sweeps(limits.head_timeout),
            idle_sweeps: sweeps(limits.idle_timeout),
            now: AtomicU32::new(0),
            open: Mutex::default(),
        }
    }

    /// A place for a connection. Where its client has too many without a request, the oldest of those is closed, now or
    /// with the sweep that finds it old enough.
    pub(crate) fn enter(self: &Arc<Self>, client: Option<IpAddr>) -> ConnectionPlace {
        let mut open = self.lock();
        let number = open.next;
        open.next += 1;
        if let Some(client) = client {
            open.opening_by_client.entry(client).or_default().insert(number);
            self.trim(&mut open, client);
        }
        let state = AtomicU32::new(packed(Phase::Opening, self.now()));
        let connection = OpenConnection { number, client, state, closing: Notify::new(), table: Arc::clone(self) };
        let connection = Arc::new(connection);
        open.opening.insert(number);
        open.connections.insert(number, Arc::clone(&connection));
        ConnectionPlace(connection)
    }

    /// Closes the oldest connection that has not had a whole request head, or else those that have been idle for longest.
    /// Whether any was closed.
    pub(crate) fn make_room(&self) -> bool {
        let mut open = self.lock();
        self.close_opening(&mut open, GRACE_SWEEPS) || Self::close_idle(&open) || self.close_opening(&mut open, 0)
    }

    fn close_opening(&self, open: &mut Open, least_age: u32) -> bool {
        while let Some(oldest) = open.opening.first().copied() {
            if open.age(oldest, self.now()) < least_age {
                return false;
            }
            if open.close(oldest) {
                return true;
            }
        }
        false
    }

    fn close_idle(open: &Open) -> bool {
        let waits = |connection: &&Arc<OpenConnection>| matches!(connection.phase(), Phase::Idle | Phase::Head);
        let mut waiting: Vec<_> = open.connections.values().filter(waits).cloned().collect();
        let batch = IDLE_BATCH.min(waiting.len());
        if batch < waiting.len() {
            waiting.select_nth_unstable_by_key(batch, |connection| connection.since());
        }
        waiting[..batch].iter().filter(|connection| connection.close()).count() > 0
    }

    /// Closes what a client has more without a request than it may, the oldest first, and looks at no younger one than it
    /// has to: of a flood each connection would else be looked at for every other.
    fn trim(&self, open: &mut Open, client: IpAddr) {
        while let Some(of_client) = open.opening_by_client.get(&client)
            && of_client.len() > self.limits.opening_per_client
            && let Some(oldest) = of_client.first().copied()
            && open.age(oldest, self.now()) >= GRACE_SWEEPS
        {
            open.close(oldest);
        }
    }

    /// Lets a little time pass, and closes what has waited for too long.
    pub(crate) fn sweep(&self) {
        let now = self.now.fetch_add(1, Ordering::Relaxed) + 1;
        let mut open = self.lock();
        let clients: Vec<_> = open.opening_by_client.keys().copied().collect();
        for client in clients {
            self.trim(&mut open, client);
        }
        for connection in open.connections.values() {
            let most = match connection.phase() {
                Phase::Opening | Phase::Head => self.head_sweeps,
                Phase::Idle => self.idle_sweeps,
                Phase::Request | Phase::Closing => continue,
            };
            // Of the first sweep only a part had passed.
            if now - connection.since() > most {
                connection.close();
            }
        }
    }

    /// Tells all connections that the server stops.
    pub(crate) fn drain(&self) {
        self.lock().connections.values().for_each(|connection| connection.closing.notify_one());
    }

    fn now(&self) -> u32 {
        self.now.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// Closes a connection unless a request is in it, and counts it as one of those without a request no longer.
    fn close(&mut self, number: u64) -> bool {
        let Some(connection) = self.connections.get(&number).cloned() else { return false };
        self.leave_opening(&connection);
        connection.close()
    }

    /// How many sweeps ago a connection's state changed.
    fn age(&self, number: u64, now: u32) -> u32 {
        self.connections.get(&number).map_or(0, |connection| now - connection.since())
    }

    fn leave_opening(&mut self, connection: &OpenConnection) {
        self.opening.remove(&connection.number);
        let Some(client) = connection.client else { return };
        if let Some(of_client) = self.opening_by_client.get_mut(&client) {
            of_client.remove(&connection.number);
            if of_client.is_empty() {
                self.opening_by_client.remove(&client);
            }
        }
    }
}

impl OpenConnection {
    pub(crate) fn phase(&self) -> Phase {
        phase_of(self.state.load(Ordering::Acquire))
    }

    /// Bytes have come: between two requests they begin the next one.
    pub(crate) fn bytes_arrived(&self) {
        let state = self.state.load(Ordering::Relaxed);
        if phase_of(state) == Phase::Idle {
            let head = packed(Phase::Head, self.table.now());
            // It fails where the connection is told to close just now.
            let _ = self.state.compare_exchange(state, head, Ordering::AcqRel, Ordering::Relaxed);
        }
    }

    /// A request head is whole. Whether the request may begin: not where the connection was closed a moment ago.
    pub(crate) fn begin_request(&self) -> bool {
        let request = packed(Phase::Request, self.table.now());
        let begin = |state| (phase_of(state) != Phase::Closing).then_some(request);
        let Ok(before) = self.state.fetch_update(Ordering::AcqRel, Ordering::Relaxed, begin) else { return false };
        if phase_of(before) == Phase::Opening {
            self.table.lock().leave_opening(self);
        }
        true
    }

    /// The request is answered, or was given up.
    pub(crate) fn end_request(&self) {
        self.state.store(packed(Phase::Idle, self.table.now()), Ordering::Release);
    }

    /// Ends once the connection is to close, or the server drains.
    pub(crate) async fn until_closed(&self) {
        self.closing.notified().await;
    }

    /// Sees to it that no request begins here, unless one has.
    fn close(&self) -> bool {
        let close = |state| match phase_of(state) {
            Phase::Request | Phase::Closing => None,
            Phase::Opening | Phase::Head | Phase::Idle => Some(packed(Phase::Closing, 0)),
        };
        let closed = self.state.fetch_update(Ordering::AcqRel, Ordering::Relaxed, close).is_ok();
        if closed {
            self.closing.notify_one();
        }
        closed
    }

    fn since(&self) -> u32 {
        self.state.load(Ordering::Relaxed) >> 3
    }
}

impl ConnectionPlace {
    pub(crate) fn connection(&self) -> &Arc<OpenConnection> {
        &self.0
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        let mut open = self.0.table.lock();
        open.leave_opening(&self.0);
        open.connections.remove(&self.0.number);
    }
}

fn packed(phase: Phase, since: u32) -> u32 {
    (since << 3) | phase as u32
}

fn phase_of(state: u32) -> Phase {
    // Nothing else is ever packed.
    *Phase::ALL.get((state & 7) as usize).unwrap_or(&Phase::Closing)
}
