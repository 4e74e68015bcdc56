//! Returns memory to the system after a burst of requests.

use std::hint::black_box;
use std::time::Duration;

use tokio::time::interval;
use tokio_util::sync::CancellationToken;

/// Time between two calls of [`purge`].
const PURGE_INTERVAL: Duration = Duration::from_secs(10);
/// Bytes of a block that the allocator gives a page of its own.
const LARGE_BLOCK: usize = 16 * 1024 * 1024;

/// Lets the allocator return freed memory every ten seconds, until the server drains.
///
/// mimalloc returns what was freed to the system only while it frees a page, which a server without requests never does: after
/// a burst of large request heads it would keep their 64 MiB.
pub(crate) async fn purge_regularly(draining: CancellationToken) {
    let mut ticks = interval(PURGE_INTERVAL);
    loop {
        tokio::select! {
            () = draining.cancelled() => return,
            _ = ticks.tick() => purge(),
        }
    }
}

/// Allocates and frees a block that has a page of its own. Nothing writes to it, so the system never provides its memory.
fn purge() {
    drop(black_box(Vec::<u8>::with_capacity(LARGE_BLOCK)));
}
