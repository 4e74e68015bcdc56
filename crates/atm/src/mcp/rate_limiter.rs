//! The rate limits of `/mcp` and `/sse`. A message over the limit may wait for its turn, if its client is a client of the
//! protocol: these call tools in parallel and do not retry.

use std::sync::Arc;
use std::time::Duration;

use axum::http::request::Parts;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use signpost_mcp::{Bucket, OverLimit, Permit, RateLimiter, RetryAfter};
use signpost_platform::limits::{
    Caller, CallerSlots, Exceeded, Limit, Slot, is_in_progress_limit_exceeded, release_request_slot,
};
use signpost_platform::observe::add_turn_wait;
use signpost_platform::web::peer::peer;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::service::AtmService;

/// Maximum open event streams of one client address, of 1024 in all.
const MAX_STREAMS_PER_CLIENT: usize = 64;
/// Retry delay of a client with too many open event streams.
const STREAM_PAUSE: Duration = Duration::from_secs(5);
/// Retry delay of a client with too many requests in progress.
const IN_PROGRESS_PAUSE: Duration = Duration::from_secs(1);
/// Maximum messages of one client address that wait for their turn.
const MAX_WAITING_PER_CLIENT: usize = 20;
/// Maximum messages that wait for their turn.
const MAX_WAITING: usize = 1000;

/// The rate limiter of the locator's transports.
pub(super) struct McpRateLimiter {
    service: AtmService,
    streams: CallerSlots,
    waiting: WaitingSlots,
}

/// The slots of messages that wait for their turn.
struct WaitingSlots {
    total: Arc<Semaphore>,
    clients: CallerSlots,
}

/// The slot of a message that waits. Dropping it frees the slot.
struct WaitingSlot {
    _total: OwnedSemaphorePermit,
    _client: Slot,
}

impl WaitingSlots {
    fn new() -> Self {
        Self { total: Arc::new(Semaphore::new(MAX_WAITING)), clients: CallerSlots::default() }
    }

    fn has_slot(&self, caller: &Caller) -> bool {
        match self.total.available_permits() {
            0 => false,
            // No message waits, as nearly always: the lock is not needed.
            MAX_WAITING => true,
            _ => !self.clients.is_full(caller, MAX_WAITING_PER_CLIENT),
        }
    }

    fn acquire(&self, caller: Caller) -> Option<WaitingSlot> {
        let client = self.clients.acquire(caller, MAX_WAITING_PER_CLIENT)?;
        let total = Arc::clone(&self.total).try_acquire_owned().ok()?;
        Some(WaitingSlot { _total: total, _client: client })
    }
}

impl McpRateLimiter {
    pub(super) fn new(service: AtmService) -> Self {
        Self { service, streams: CallerSlots::default(), waiting: WaitingSlots::new() }
    }

    async fn admit(&self, bucket: Bucket, over_limit: OverLimit, request: &Parts) -> Result<Permit, RetryAfter> {
        if is_in_progress_limit_exceeded(&request.extensions) {
            return Err(RetryAfter(IN_PROGRESS_PAUSE));
        }
        let caller = peer(&self.service, &request.extensions, &request.headers);
        match bucket {
            Bucket::Message => self.admit_message(over_limit, caller).await,
            Bucket::Stream => self.admit_stream(caller, request).await,
        }
    }

    /// Admits a message at its turn. A message for which no slot is left is treated as one that cannot wait, before a
    /// turn is reserved for it.
    async fn admit_message(&self, over_limit: OverLimit, caller: Caller) -> Result<Permit, RetryAfter> {
        let limits = &self.service.limits;
        let now = self.service.clock.elapsed();
        let may_wait = over_limit == OverLimit::Wait && !self.service.draining.is_cancelled();
        if !may_wait || !self.waiting.has_slot(&caller) {
            limits.check(Limit::Mcp, &caller, now).await.map_err(retry_after)?;
            return Ok(Permit::default());
        }
        let wait = limits.reserve(Limit::Mcp, &caller, now).await.map_err(retry_after)?;
        if wait.is_zero() {
            return Ok(Permit::default());
        }
        // The last slot may have been taken meanwhile. The reserved turn is lost then, as for a client that leaves.
        let slot = self.waiting.acquire(caller).ok_or(RetryAfter(wait))?;
        self.wait_for_turn(wait, slot).await
    }

    /// Waits until the turn of a message. At the end of the server, and if the client leaves, its turn is lost: those
    /// behind it have been promised theirs.
    async fn wait_for_turn(&self, wait: Duration, slot: WaitingSlot) -> Result<Permit, RetryAfter> {
        let turn = self.service.clock.elapsed() + wait;
        let _until_then = (slot, self.service.metrics.begin_wait());
        match self.service.draining.run_until_cancelled(self.service.clock.wait_until(turn)).await {
            Some(()) => {
                self.service.metrics.limited_message("waited");
                add_turn_wait(wait);
                Ok(Permit::default())
            }
            None => Err(RetryAfter(turn.saturating_sub(self.service.clock.elapsed()))),
        }
    }

    async fn admit_stream(&self, caller: Caller, request: &Parts) -> Result<Permit, RetryAfter> {
        let counted = self.service.limits.check(Limit::Sse, &caller, self.service.clock.elapsed()).await;
        counted.map_err(retry_after)?;
        let slot = self.streams.acquire(caller, MAX_STREAMS_PER_CLIENT).ok_or(RetryAfter(STREAM_PAUSE))?;
        release_request_slot(&request.extensions);
        Ok(Permit::with_guard(slot))
    }
}

fn retry_after(Exceeded { wait, .. }: Exceeded) -> RetryAfter {
    RetryAfter(wait)
}

impl RateLimiter for McpRateLimiter {
    fn admit<'a>(
        &'a self,
        bucket: Bucket,
        over_limit: OverLimit,
        request: &'a Parts,
    ) -> BoxFuture<'a, Result<Permit, RetryAfter>> {
        self.admit(bucket, over_limit, request).boxed()
    }

    fn rejected(&self, bucket: Bucket) {
        if bucket == Bucket::Message {
            self.service.metrics.limited_message("refused");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    fn client(number: u32) -> Caller {
        Caller::Address(IpAddr::V4(Ipv4Addr::from_bits(number)))
    }

    #[test]
    fn waiting_messages_are_limited_per_client_and_in_all() {
        let slots = WaitingSlots::new();
        let mut held = Vec::new();
        for number in 0..50 {
            for _ in 0..20 {
                assert!(slots.has_slot(&client(number)));
                held.push(slots.acquire(client(number)).expect("a slot"));
            }
            assert!(!slots.has_slot(&client(number)) && slots.acquire(client(number)).is_none());
        }
        assert!(!slots.has_slot(&client(50)) && slots.acquire(client(50)).is_none());
        // The refused attempts of the last client have not taken slots.
        held.pop();
        assert!(slots.has_slot(&client(50)) && !slots.has_slot(&client(0)));
        drop(slots.acquire(client(50)).expect("the slot is free"));
        drop(held);
        assert_eq!(slots.total.available_permits(), MAX_WAITING);
    }
}
