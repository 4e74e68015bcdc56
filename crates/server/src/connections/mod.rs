//! The connections of clients: limits, timeouts and draining.
//!
//! A client that opens connections and sends nothing, or sends requests byte by byte, uses few resources of its
//! machine, but a descriptor of the server for each connection. Heads and idle connections therefore have a timeout,
//! and bodies a minimum rate. At the maximum number of connections, the clients with the most lose some, incomplete
//! heads and bodies first. A complete request is never aborted for another connection.

mod connection;
mod serving;
mod table;
#[cfg(test)]
mod tests;

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use signpost_platform::limits::Proxies;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

use self::serving::Dispatcher;
use self::table::ConnectionTable;
use crate::HostRouter;

/// Interval of the sweep that checks all connections. Timeouts are exceeded by up to this time.
const SWEEP_INTERVAL: Duration = Duration::from_millis(250);
/// Pause after `accept` failed.
const ACCEPT_PAUSE: Duration = Duration::from_millis(250);
/// Maximum number of connections of a server: each may use some 100 KiB.
const MAX_CONNECTIONS: u64 = 16_384;
/// Maximum number of bytes in the incomplete request heads of all connections.
const MAX_INCOMPLETE_HEAD_BYTES: usize = 64 * 1024 * 1024;
/// Descriptors that are reserved for the database, deliveries, other hosts and files.
const RESERVED_DESCRIPTORS: u64 = 512;

/// The limits of the connections of a listener.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    /// Maximum number of open connections.
    pub total: usize,
    /// Maximum number of connections of a client address with an incomplete request head. Trusted proxies have no such
    /// limit.
    pub heads_per_client: usize,
    /// Maximum number of bytes in the incomplete request heads of all connections.
    pub head_bytes: usize,
    /// Timeout of a request head.
    pub head_timeout: Duration,
    /// Timeout of a connection that is idle between two requests.
    pub idle_timeout: Duration,
    /// Time that a handler waits for a body before the minimum rate applies.
    pub body_grace: Duration,
    /// Minimum rate of a body, in bytes per second of waiting for it.
    pub body_bytes_per_second: u64,
}

impl ConnectionLimits {
    /// Returns the limits of a server. The number of connections follows from the limit of open files, which is raised
    /// to its maximum.
    #[must_use]
    pub fn for_server() -> Self {
        // If the limit cannot be raised, the usual limit is assumed.
        let descriptors = rlimit::increase_nofile_limit(u64::MAX).unwrap_or(1024);
        let limits = Self::with_total(connections_below(descriptors));
        if limits.total < 1024 {
            let connections = limits.total;
            tracing::warn!(descriptors, connections, "the open file limit allows few connections (ulimit -n)");
        }
        limits
    }

    /// Returns the limits of a server with this number of connections.
    #[must_use]
    pub fn with_total(total: usize) -> Self {
        Self {
            total,
            heads_per_client: 256,
            head_bytes: MAX_INCOMPLETE_HEAD_BYTES,
            head_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(75),
            body_grace: Duration::from_secs(10),
            body_bytes_per_second: 240,
        }
    }
}

/// Returns the number of connections for this number of descriptors.
fn connections_below(descriptors: u64) -> usize {
    let reserved = RESERVED_DESCRIPTORS.min(descriptors / 2);
    usize::try_from((descriptors - reserved).min(MAX_CONNECTIONS)).unwrap_or(usize::MAX)
}

/// Accepts connections until `draining`, then closes the listener and the connections without a request, and waits for
/// the others to end. If the future is dropped, all connections are closed.
///
/// The future is boxed because rustc generates the code of an `async fn` in the crate that awaits it, with the
/// optimization level of that crate.
pub fn serve(
    listener: TcpListener,
    host_router: HostRouter,
    limits: ConnectionLimits,
    proxies: &Proxies,
    draining: CancellationToken,
) -> BoxFuture<'_, ()> {
    let serving = async move {
        let open = accept(&listener, host_router, limits, proxies, draining).await;
        drop(listener);
        open.drain().await;
    };
    serving.boxed()
}

/// Serves like [`serve`], but leaves the listener open, so that new connections wait in its queue for the next server.
pub fn serve_borrowed<'a>(
    listener: &'a TcpListener,
    host_router: HostRouter,
    limits: ConnectionLimits,
    proxies: &'a Proxies,
    draining: CancellationToken,
) -> BoxFuture<'a, ()> {
    let serving = async move { accept(listener, host_router, limits, proxies, draining).await.drain().await };
    serving.boxed()
}

/// The connections of a listener that has stopped accepting.
struct OpenConnections {
    table: Arc<ConnectionTable>,
    tasks: JoinSet<()>,
}

impl OpenConnections {
    /// Closes the connections without a request and waits for the others to end.
    async fn drain(mut self) {
        self.table.drain();
        while self.tasks.join_next().await.is_some() {}
    }
}

/// Accepts connections until `draining`.
async fn accept(
    listener: &TcpListener,
    host_router: HostRouter,
    limits: ConnectionLimits,
    proxies: &Proxies,
    draining: CancellationToken,
) -> OpenConnections {
    let table = Arc::new(ConnectionTable::new(limits, SWEEP_INTERVAL));
    let dispatcher = Arc::new(Dispatcher::new(host_router, proxies.clone()));
    let mut tasks = JoinSet::new();
    let mut sweep = interval(SWEEP_INTERVAL);
    sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = draining.cancelled() => break,
            _ = sweep.tick() => table.sweep(),
            Some(_) = tasks.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => {
                    if has_place(&table, &mut tasks, limits.total).await {
                        // Without it, every event of a stream waits 40 ms for the acknowledgement of the previous
                        // event.
                        drop(stream.set_nodelay(true));
                        let place = table.enter(proxies.client_of(peer));
                        tasks.spawn(serving::serve(stream, peer, Arc::clone(&dispatcher), place));
                    }
                }
                Err(error) if is_of_client(error.kind()) => {}
                Err(error) => {
                    tracing::warn!(error = %error, "cannot accept connections");
                    // The likely cause is a lack of descriptors, so an immediate retry would fail.
                    table.make_room();
                    sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
    OpenConnections { table, tasks }
}

/// Checks for a free place, and closes other connections if there is none.
async fn has_place(table: &ConnectionTable, tasks: &mut JoinSet<()>, total: usize) -> bool {
    while tasks.len() >= total {
        if tasks.try_join_next().is_some() {
            continue;
        }
        if !table.make_room() {
            return false;
        }
        tasks.join_next().await;
    }
    true
}

/// Checks for a client that closed the connection before it was accepted.
fn is_of_client(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset | ErrorKind::ConnectionRefused)
}
