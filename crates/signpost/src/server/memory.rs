//! Returns memory to the system after a burst of requests.

use std::hint::black_box;
use std::time::Duration;

use tokio::time::interval;
use tokio_util::sync::CancellationToken;

/// Interval between two calls of [`purge`].
const PURGE_INTERVAL: Duration = Duration::from_secs(10);
/// Minimum bytes of a block with a dedicated page of the allocator.
const LARGE_BLOCK: usize = 16 * 1024 * 1024;

/// Makes the allocator return freed memory every ten seconds, until the server drains.
///
/// mimalloc returns freed memory to the system only while it frees a page, and an idle server never does: after a burst
/// of large request heads it would retain their 64 MiB.
pub(crate) async fn purge_regularly(draining: CancellationToken) {
    let mut ticks = interval(PURGE_INTERVAL);
    loop {
        tokio::select! {
            () = draining.cancelled() => return,
            _ = ticks.tick() => purge(),
        }
    }
}

/// Allocates and frees a block with a dedicated page. It is never written, so the system never provides its memory.
fn purge() {
    drop(black_box(Vec::<u8>::with_capacity(LARGE_BLOCK)));
}
