//! The state of a connection, for its own task and for the table.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use memchr::memmem;
use tokio::sync::Notify;

/// End of a request head.
const HEAD_END: &[u8] = b"\r\n\r\n";
/// A number of bytes that only the parser has.
const UNKNOWN: u64 = u64::MAX;
/// A sweep number that never occurs.
const NOT_COUNTED: u32 = u32::MAX;
/// Assumed size, in bytes, of a read buffer of unknown content: the size of the parser's first buffer.
const UNKNOWN_BUFFER_BYTES: usize = 8 * 1024;

/// The phase of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Its first request head is incomplete.
    Opening,
    /// A later request head has begun and is incomplete.
    Head,
    /// A handler waits for more of the request's body.
    Body,
    /// A request is in progress.
    Request,
    /// The connection waits for its next request.
    Idle,
    /// The connection accepts no more requests.
    Closing,
}

impl Phase {
    const ALL: [Self; 6] = [Self::Opening, Self::Head, Self::Body, Self::Request, Self::Idle, Self::Closing];
}

/// Numbers that the connections of a listener share.
#[derive(Debug, Default)]
pub(super) struct Totals {
    /// Number of sweeps so far: the time.
    sweeps: AtomicU32,
    /// Bytes of all incomplete heads.
    head_bytes: AtomicUsize,
}

/// A connection. All numbers are written by its own task, except for the state, which the table sets to
/// [`Phase::Closing`].
#[derive(Debug)]
pub(crate) struct OpenConnection {
    pub(super) number: u64,
    /// The client's address; `None` for a trusted proxy, which connects for many clients.
    pub(super) client: Option<IpAddr>,
    /// The phase, and the sweep of its start.
    state: AtomicU64,
    /// The sweep since which the table counts the head as incomplete; [`NOT_COUNTED`] if it does not.
    counted_since: AtomicU32,
    /// Bytes of an incomplete head that are counted in [`Totals`].
    head_bytes: AtomicUsize,
    /// Bytes that were read after the last complete head.
    after_head: AtomicU64,
    /// Set if the last bytes were the end of a head or of a chunked body, so that no later head has begun.
    is_at_blank_line: AtomicBool,
    /// Length of the body of the request in progress.
    body_len: AtomicU64,
    /// Set if the parser may have buffered the start of the next head although nothing was read since the last
    /// response.
    may_buffer_head: AtomicBool,
    /// Bytes of the body that the handler has received.
    body_bytes: AtomicU64,
    /// Number of sweeps during waits of the handler for the body.
    body_waits: AtomicU32,
    /// The first sweep while the handler waited for the body.
    body_since: AtomicU32,
    closing: Notify,
    totals: Arc<Totals>,
}

impl Totals {
    /// Returns the number of sweeps so far.
    pub(super) fn now(&self) -> u32 {
        self.sweeps.load(Ordering::Relaxed)
    }

    /// Advances the time by a sweep. Returns the number of sweeps so far.
    pub(super) fn advance(&self) -> u32 {
        self.sweeps.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Returns the bytes of all incomplete heads.
    pub(super) fn head_bytes(&self) -> usize {
        self.head_bytes.load(Ordering::Relaxed)
    }
}

impl OpenConnection {
    pub(super) fn new(number: u64, client: Option<IpAddr>, totals: &Arc<Totals>) -> Self {
        Self {
            number,
            client,
            state: AtomicU64::new(packed(Phase::Opening, totals.now())),
            counted_since: AtomicU32::new(NOT_COUNTED),
            head_bytes: AtomicUsize::new(0),
            after_head: AtomicU64::new(UNKNOWN),
            is_at_blank_line: AtomicBool::new(false),
            body_len: AtomicU64::new(0),
            may_buffer_head: AtomicBool::new(false),
            body_bytes: AtomicU64::new(0),
            body_waits: AtomicU32::new(0),
            body_since: AtomicU32::new(0),
            closing: Notify::new(),
            totals: Arc::clone(totals),
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        phase_of(self.state.load(Ordering::SeqCst))
    }

    /// Records bytes that were read from the client. Between two requests they are the start of the next head.
    pub(crate) fn bytes_arrived(&self, bytes: &[u8]) {
        self.is_at_blank_line.store(bytes.ends_with(HEAD_END), Ordering::Relaxed);
        match self.phase() {
            Phase::Body | Phase::Request => {
                let after = self.after_head.load(Ordering::Relaxed);
                self.after_head.store(after.saturating_add(bytes.len() as u64), Ordering::Relaxed);
            }
            Phase::Idle => {
                self.change(Phase::Idle, Phase::Head);
                self.head_bytes_arrived(bytes);
            }
            Phase::Opening | Phase::Head => self.head_bytes_arrived(bytes),
            Phase::Closing => {}
        }
    }

    fn head_bytes_arrived(&self, bytes: &[u8]) {
        let after = if bytes.ends_with(HEAD_END) {
            Some(0)
        } else {
            memmem::find(bytes, HEAD_END).map(|end| (bytes.len() - end - HEAD_END.len()) as u64)
        };
        self.after_head.store(after.unwrap_or(UNKNOWN), Ordering::Relaxed);
        if after.is_none() {
            self.count_head_bytes(bytes.len());
        }
    }

    fn count_head_bytes(&self, count: usize) {
        self.head_bytes.fetch_add(count, Ordering::Relaxed);
        self.totals.head_bytes.fetch_add(count, Ordering::Relaxed);
    }

    /// Subtracts the bytes that [`OpenConnection::count_head_bytes`] added.
    pub(super) fn release_head_bytes(&self) {
        let count = self.head_bytes.swap(0, Ordering::Relaxed);
        if count > 0 {
            self.totals.head_bytes.fetch_sub(count, Ordering::Relaxed);
        }
    }

    /// Begins a request after its head, with this body length; `None` for a chunked body. Returns false if the
    /// connection was closed just before.
    pub(crate) fn begin_request(&self, body_len: Option<u64>) -> bool {
        let request = packed(Phase::Request, self.totals.now());
        // Sequentially consistent, like the sweep when it counts a head: at least one side sees the write of the other.
        let begun = self.state.fetch_update(Ordering::SeqCst, Ordering::Relaxed, |state| {
            (phase_of(state) != Phase::Closing).then_some(request)
        });
        if begun.is_err() {
            return false;
        }
        self.body_len.store(body_len.unwrap_or(UNKNOWN), Ordering::Relaxed);
        self.may_buffer_head.store(false, Ordering::Relaxed);
        self.body_bytes.store(0, Ordering::Relaxed);
        self.body_waits.store(0, Ordering::Relaxed);
        self.release_head_bytes();
        true
    }

    /// Records that the handler waits for more of the body.
    pub(crate) fn body_awaited(&self) {
        if self.change(Phase::Request, Phase::Body) && self.body_waits.load(Ordering::Relaxed) == 0 {
            self.body_since.store(self.totals.now(), Ordering::Relaxed);
        }
    }

    /// Records a part of the body, or its end.
    pub(crate) fn body_arrived(&self, count: usize) {
        self.body_bytes.fetch_add(count as u64, Ordering::Relaxed);
        self.change(Phase::Body, Phase::Request);
    }

    /// Ends a request that was answered or aborted.
    pub(crate) fn end_request(&self) {
        let after = self.after_head.swap(UNKNOWN, Ordering::Relaxed);
        let body_len = self.body_len.load(Ordering::Relaxed);
        let is_at_boundary = match body_len {
            UNKNOWN => self.is_at_blank_line.load(Ordering::Relaxed),
            length => after == length,
        };
        if !is_at_boundary {
            self.may_buffer_head.store(true, Ordering::Relaxed);
            let is_known = after != UNKNOWN && body_len != UNKNOWN;
            let held = if is_known { after.saturating_sub(body_len).try_into().ok() } else { None };
            self.count_head_bytes(held.unwrap_or(UNKNOWN_BUFFER_BYTES));
        }
        let idle = packed(Phase::Idle, self.totals.now());
        let _ = self.state.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |state| {
            (phase_of(state) != Phase::Closing).then_some(idle)
        });
    }

    /// Checks for an incomplete request head that has begun, or may have begun.
    pub(super) fn has_incomplete_head(&self) -> bool {
        match self.phase() {
            Phase::Opening | Phase::Head => true,
            Phase::Idle => self.may_buffer_head.load(Ordering::Relaxed),
            Phase::Body | Phase::Request | Phase::Closing => false,
        }
    }

    /// Checks that the table counts the head as incomplete.
    pub(super) fn is_counted(&self) -> bool {
        self.counted_since.load(Ordering::SeqCst) != NOT_COUNTED
    }

    /// Records that the table counts the head as incomplete. Returns the sweep of its start.
    pub(super) fn count_head(&self) -> u32 {
        let since = self.since();
        self.counted_since.store(since, Ordering::SeqCst);
        since
    }

    /// Records that the table no longer counts the head. Returns the sweep that was recorded for it.
    pub(super) fn uncount_head(&self) -> Option<u32> {
        Some(self.counted_since.swap(NOT_COUNTED, Ordering::SeqCst)).filter(|since| *since != NOT_COUNTED)
    }

    /// Returns the bytes of the incomplete head.
    pub(super) fn held_head_bytes(&self) -> usize {
        self.head_bytes.load(Ordering::Relaxed)
    }

    /// Records that the handler waited for the body for another sweep. Returns the number of these sweeps, and of the
    /// received bytes.
    pub(super) fn count_body_wait(&self) -> (u32, u64) {
        (self.body_waits.fetch_add(1, Ordering::Relaxed) + 1, self.body_bytes.load(Ordering::Relaxed))
    }

    /// Returns the bytes of the current body that the handler has received.
    #[cfg(test)]
    pub(super) fn received_body_bytes(&self) -> u64 {
        self.body_bytes.load(Ordering::Relaxed)
    }

    /// Waits until the connection is to close or the server drains.
    pub(crate) async fn until_closed(&self) {
        self.closing.notified().await;
    }

    /// Wakes the connection's task because the server drains.
    pub(super) fn notify(&self) {
        self.closing.notify_one();
    }

    /// Closes the connection unless a complete request is unanswered. Returns true if this call closed it.
    pub(super) fn close(&self) -> bool {
        let closed = self.state.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |state| match phase_of(state) {
            Phase::Request | Phase::Closing => None,
            Phase::Opening | Phase::Head | Phase::Body | Phase::Idle => Some(packed(Phase::Closing, 0)),
        });
        if closed.is_err() {
            return false;
        }
        self.release_head_bytes();
        self.closing.notify_one();
        true
    }

    /// Returns the sweep of the start of the phase; for a body, of the handler's first wait.
    pub(super) fn since(&self) -> u32 {
        let state = self.state.load(Ordering::Relaxed);
        if phase_of(state) == Phase::Body { self.body_since.load(Ordering::Relaxed) } else { since_of(state) }
    }

    /// Changes the phase. Returns false if the current phase differs, as after a concurrent close.
    fn change(&self, from: Phase, to: Phase) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        let changed = packed(to, self.totals.now());
        phase_of(state) == from
            && self.state.compare_exchange(state, changed, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}

fn packed(phase: Phase, since: u32) -> u64 {
    (u64::from(since) << 3) | phase as u64
}

fn since_of(state: u64) -> u32 {
    u32::try_from(state >> 3).unwrap_or(u32::MAX)
}

fn phase_of(state: u64) -> Phase {
    // No other values are packed.
    *Phase::ALL.get((state & 7) as usize).unwrap_or(&Phase::Closing)
}
