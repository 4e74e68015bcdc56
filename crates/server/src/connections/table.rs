//! The open connections of a listener, and the choice of connections to close for others.
//!
//! A request only updates the numbers of its connection. The lock is acquired once when a connection begins, once with
//! its first request and once at its end.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::ConnectionLimits;
use super::connection::{OpenConnection, Phase, Totals};

/// Divisor of the number of closable connections that are closed at once, because the search visits all connections.
const CLOSED_SHARE: usize = 64;
/// Number of sweeps before a connection may be closed for others: the head of a new connection, or a small body, has
/// probably arrived but has not been read yet.
const GRACE_SWEEPS: u32 = 2;

/// All connections of a listener.
#[derive(Debug)]
pub(crate) struct ConnectionTable {
    limits: ConnectionLimits,
    head_sweeps: u32,
    idle_sweeps: u32,
    body_sweeps: u32,
    /// Minimum bytes of a body per sweep.
    body_bytes_per_sweep: u64,
    totals: Arc<Totals>,
    open: Mutex<TableState>,
}

#[derive(Debug, Default)]
struct TableState {
    /// Connections by increasing number: the oldest first.
    connections: BTreeMap<u64, Arc<OpenConnection>>,
    next: u64,
    /// Connections with an incomplete head, except for trusted proxies.
    heads_by_client: HashMap<IpAddr, BTreeSet<IncompleteHead>>,
}

/// A connection with an incomplete head: the sweep of its start, and the connection's number.
type IncompleteHead = (u32, u64);

/// The place of a connection in the table, which is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionPlace {
    connection: Arc<OpenConnection>,
    table: Arc<ConnectionTable>,
}

impl ConnectionTable {
    pub(crate) fn new(limits: ConnectionLimits, sweep_interval: Duration) -> Self {
        let per_second = u64::from(sweeps_in(Duration::from_secs(1), sweep_interval).max(1));
        Self {
            limits,
            head_sweeps: sweeps_in(limits.head_timeout, sweep_interval),
            idle_sweeps: sweeps_in(limits.idle_timeout, sweep_interval),
            body_sweeps: sweeps_in(limits.body_grace, sweep_interval),
            body_bytes_per_sweep: limits.body_bytes_per_second / per_second,
            totals: Arc::default(),
            open: Mutex::default(),
        }
    }

    /// Adds a connection. If its client has too many with an incomplete head, the oldest of them is closed, now or by
    /// the sweep that finds it old enough.
    pub(crate) fn enter(self: &Arc<Self>, client: Option<IpAddr>) -> ConnectionPlace {
        let mut open = self.lock();
        let number = open.next;
        open.next += 1;
        let connection = Arc::new(OpenConnection::new(number, client, &self.totals));
        open.connections.insert(number, Arc::clone(&connection));
        open.count_head(&connection);
        if let Some(client) = client {
            self.trim(&mut open, client);
        }
        ConnectionPlace { connection, table: Arc::clone(self) }
    }

    /// Closes connections with a head or a body that has been incomplete for a while, or else any without a complete
    /// request. Connections of the clients with the most are closed first, so that a client with a single connection is
    /// not affected by a client with hundreds; within a client, the longest waits first. Returns true if any was
    /// closed.
    pub(crate) fn make_room(&self) -> bool {
        let open = self.lock();
        let mut counts: HashMap<IpAddr, usize> = HashMap::new();
        for client in open.connections.values().filter_map(|connection| connection.client) {
            *counts.entry(client).or_default() += 1;
        }
        let latest = self.now().saturating_sub(GRACE_SWEEPS);
        let mut incomplete = Vec::new();
        let mut others = Vec::new();
        for connection in open.connections.values() {
            let phase = connection.phase();
            let since = connection.since();
            let count = connection.client.and_then(|client| counts.get(&client)).copied().unwrap_or(0);
            match phase {
                Phase::Opening | Phase::Head | Phase::Body if since <= latest => {
                    incomplete.push((Reverse(count), false, since, connection));
                }
                Phase::Request | Phase::Closing => {}
                _ => others.push((Reverse(count), phase != Phase::Idle, since, connection)),
            }
        }
        let mut closable = if incomplete.is_empty() { others } else { incomplete };
        closable.sort_unstable_by_key(|(count, is_busy, since, _)| (*count, *is_busy, *since));
        let share = closable.len().div_ceil(CLOSED_SHARE);
        closable[..share].iter().filter(|(.., connection)| connection.close()).count() > 0
    }

    /// Closes the oldest incomplete heads of a client beyond its limit. The scan stops at the first head that is too
    /// young: in a flood, each connection would otherwise be visited for every other.
    fn trim(&self, open: &mut TableState, client: IpAddr) {
        let TableState { connections, heads_by_client, .. } = open;
        let Some(of_client) = heads_by_client.get_mut(&client) else { return };
        while of_client.len() > self.limits.heads_per_client
            && let Some((since, number)) = of_client.first().copied()
            && self.now().saturating_sub(since) >= GRACE_SWEEPS
        {
            of_client.pop_first();
            if let Some(connection) = connections.get(&number) {
                connection.uncount_head();
                connection.close();
            }
        }
    }

    /// Advances the time by a sweep, and closes connections that have exceeded their timeout.
    pub(crate) fn sweep(&self) {
        let now = self.totals.advance();
        let mut open = self.lock();
        let mut heads = Vec::new();
        for connection in open.connections.values() {
            let has_head = connection.has_incomplete_head();
            let timeout = match connection.phase() {
                _ if has_head => self.head_sweeps,
                Phase::Idle => self.idle_sweeps,
                Phase::Body => {
                    self.check_body(connection);
                    continue;
                }
                Phase::Opening | Phase::Head | Phase::Request | Phase::Closing => continue,
            };
            let age = now.saturating_sub(connection.since());
            // The first sweep was partial.
            if age > timeout {
                connection.close();
            } else if has_head && !connection.is_counted() && age > 0 {
                heads.push(Arc::clone(connection));
            }
        }
        // A later head is counted only if it is still incomplete after a sweep. Nearly all are complete on arrival, and
        // never acquire the lock.
        for connection in heads {
            open.count_head(&connection);
            if !connection.has_incomplete_head() {
                open.uncount_head(&connection);
            }
        }
        let clients: Vec<_> = open.heads_by_client.keys().copied().collect();
        for client in clients {
            self.trim(&mut open, client);
        }
    }

    /// Closes a connection if its body arrives below the minimum rate.
    fn check_body(&self, connection: &OpenConnection) {
        let (waits, bytes) = connection.count_body_wait();
        if waits > self.body_sweeps && bytes < u64::from(waits) * self.body_bytes_per_sweep {
            connection.close();
        }
    }

    /// If incomplete heads exceed their limit in bytes, closes the oldest until three quarters of it are in use.
    fn limit_head_bytes(&self) {
        if self.totals.head_bytes() <= self.limits.head_bytes {
            return;
        }
        let open = self.lock();
        let mut holding: Vec<_> =
            open.connections.values().filter(|connection| connection.held_head_bytes() > 0).collect();
        holding.sort_unstable_by_key(|connection| Reverse(connection.held_head_bytes()));
        let goal = self.limits.head_bytes / 4 * 3;
        for connection in holding {
            if self.totals.head_bytes() <= goal {
                return;
            }
            connection.close();
        }
    }

    /// Notifies all connections that the server drains.
    pub(crate) fn drain(&self) {
        self.lock().connections.values().for_each(|connection| connection.notify());
    }

    fn now(&self) -> u32 {
        self.totals.now()
    }

    fn lock(&self) -> MutexGuard<'_, TableState> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the number of sweeps in a time.
fn sweeps_in(time: Duration, sweep_interval: Duration) -> u32 {
    u32::try_from(time.as_millis() / sweep_interval.as_millis()).unwrap_or(u32::MAX)
}

impl TableState {
    fn count_head(&mut self, connection: &OpenConnection) {
        let Some(client) = connection.client else { return };
        let head = (connection.count_head(), connection.number);
        self.heads_by_client.entry(client).or_default().insert(head);
    }

    fn uncount_head(&mut self, connection: &OpenConnection) {
        let Some(since) = connection.uncount_head() else { return };
        let Some(client) = connection.client else { return };
        if let Some(of_client) = self.heads_by_client.get_mut(&client) {
            of_client.remove(&(since, connection.number));
            if of_client.is_empty() {
                self.heads_by_client.remove(&client);
            }
        }
    }
}

impl ConnectionPlace {
    pub(crate) fn connection(&self) -> &Arc<OpenConnection> {
        &self.connection
    }

    /// Returns a function that records the bytes read from the client.
    pub(crate) fn recorder(&self) -> impl FnMut(&[u8]) + Send + use<> {
        let connection = Arc::clone(&self.connection);
        let table = Arc::clone(&self.table);
        move |bytes| {
            connection.bytes_arrived(bytes);
            table.limit_head_bytes();
        }
    }

    /// Begins a request after its head, with this body length; `None` for a chunked body. Returns false if the
    /// connection was closed just before.
    pub(crate) fn begin_request(&self, body_len: Option<u64>) -> bool {
        let begins = self.connection.begin_request(body_len);
        if self.connection.is_counted() {
            self.table.lock().uncount_head(&self.connection);
        }
        begins
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        let mut open = self.table.lock();
        open.uncount_head(&self.connection);
        open.connections.remove(&self.connection.number);
        drop(open);
        self.connection.release_head_bytes();
    }
}
