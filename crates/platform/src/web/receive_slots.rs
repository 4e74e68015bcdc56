//! Slots for large request bodies, which limit the number of bodies that are received concurrently.
//! A new body may displace a slow one.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use futures_util::TryStreamExt;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::limits::Caller;

/// Interval between checks of the transfer rate of a body.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// Time after which the transfer rate of a body is first measured.
const GRACE: Duration = Duration::from_secs(3);
/// A body below this multiple of the minimum rate may be displaced by a new body.
const SLOW_FACTOR: u64 = 16;

/// Limits for request bodies that are received concurrently.
#[derive(Clone, Copy, Debug)]
pub struct ReceiveLimits {
    /// Maximum number of bodies in total.
    pub slots: usize,
    /// Maximum number of bodies per owner, an account or a user.
    pub per_owner: usize,
    /// Maximum number of bodies per client address if other addresses need the slots.
    pub per_address: usize,
    /// Minimum transfer rate of a body in bytes per second.
    pub min_rate: u64,
}

/// The slots of a server for request bodies. Clones share the slots.
#[derive(Clone, Debug)]
pub struct ReceiveSlots {
    limits: ReceiveLimits,
    bodies: Arc<Mutex<Vec<Arc<ReceivedBody>>>>,
}

/// A slot for a request body. Dropping it frees the slot.
#[derive(Debug)]
pub struct ReceiveSlot {
    slots: ReceiveSlots,
    body: Arc<ReceivedBody>,
}

#[derive(Debug)]
struct ReceivedBody {
    owner: String,
    address: Caller,
    /// Elapsed time of the clock when the body began.
    began: Duration,
    bytes: AtomicU64,
    is_complete: AtomicBool,
    displaced: CancellationToken,
}

/// Reason a body got no slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotsFull {
    /// The owner already uses its maximum number of slots.
    Owner,
    /// All slots are in use, and no body may be displaced.
    All,
}

/// Reason the receipt of a body was stopped early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReceiveError {
    /// The body arrived below the minimum rate.
    #[error("the body arrived too slowly")]
    TooSlow,
    /// The body was the slowest when another body needed a slot.
    #[error("the body arrived too slowly and was displaced by another request")]
    Displaced,
}

impl ReceiveSlots {
    /// Creates free slots with these limits.
    #[must_use]
    pub fn new(limits: ReceiveLimits) -> Self {
        Self { limits, bodies: Arc::default() }
    }

    /// Acquires a slot for a body that begins at the time `elapsed`. If no slot is free, displaces
    /// the slowest body, or the newest body of another address that exceeds its share of slots.
    ///
    /// # Errors
    /// Returns [`SlotsFull`] if the owner already uses its maximum, or if no body may be displaced.
    pub fn begin(&self, owner: String, address: Caller, elapsed: Duration) -> Result<ReceiveSlot, SlotsFull> {
        let mut bodies = self.lock();
        if bodies.iter().filter(|body| body.owner == owner).count() >= self.limits.per_owner {
            return Err(SlotsFull::Owner);
        }
        if bodies.len() >= self.limits.slots {
            let index = self.slowest(&bodies, elapsed).or_else(|| self.newest_of_excessive_address(&bodies, &address));
            bodies.swap_remove(index.ok_or(SlotsFull::All)?).displaced.cancel();
        }
        let body = Arc::new(ReceivedBody {
            owner,
            address,
            began: elapsed,
            bytes: AtomicU64::new(0),
            is_complete: AtomicBool::new(false),
            displaced: CancellationToken::new(),
        });
        bodies.push(Arc::clone(&body));
        drop(bodies);
        Ok(ReceiveSlot { slots: self.clone(), body })
    }

    /// Returns the number of slots in use.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.lock().len()
    }

    /// Returns the position of the slowest body if it is slow enough to be displaced.
    fn slowest(&self, bodies: &[Arc<ReceivedBody>], elapsed: Duration) -> Option<usize> {
        let mut slowest = None;
        for (index, body) in bodies.iter().enumerate() {
            let Some(rate) = body.rate(elapsed) else { continue };
            if rate < SLOW_FACTOR * self.limits.min_rate && slowest.is_none_or(|(other, _)| rate < other) {
                slowest = Some((rate, index));
            }
        }
        slowest.map(|(_, index)| index)
    }

    /// Returns the position of the newest incomplete body of another address that exceeds its share
    /// of slots. Without this, an address could lock out other addresses by starting new bodies,
    /// whose rate is not measured yet.
    fn newest_of_excessive_address(&self, bodies: &[Arc<ReceivedBody>], address: &Caller) -> Option<usize> {
        let mut newest: Option<usize> = None;
        for (index, body) in bodies.iter().enumerate() {
            if body.address == *address || body.is_complete.load(Ordering::Relaxed) {
                continue;
            }
            let is_newer = newest.is_none_or(|other| bodies[other].began <= body.began);
            let from_address = bodies.iter().filter(|other| other.address == body.address).count();
            if is_newer && from_address > self.limits.per_address {
                newest = Some(index);
            }
        }
        newest
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<ReceivedBody>>> {
        self.bodies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReceiveSlot {
    /// Wraps the body of a request so that its bytes are counted for this slot.
    #[must_use]
    pub fn count(&self, request: Request) -> Request {
        let counted = Arc::clone(&self.body);
        request.map(|body| {
            Body::from_stream(body.into_data_stream().inspect_ok(move |chunk| {
                counted.bytes.fetch_add(chunk.len() as u64, Ordering::Relaxed);
            }))
        })
    }

    /// Awaits `receipt` as long as the body arrives fast enough and no other body needs the slot.
    /// The slot of a complete body is freed when it is dropped.
    ///
    /// # Errors
    /// Returns a [`ReceiveError`] if the body is too slow or was displaced.
    pub async fn receive<T>(&self, clock: &Clock, receipt: impl Future<Output = T>) -> Result<T, ReceiveError> {
        tokio::select! {
            biased;
            received = receipt => {
                self.body.is_complete.store(true, Ordering::Relaxed);
                Ok(received)
            }
            end = self.ended_early(clock) => Err(end),
        }
    }

    async fn ended_early(&self, clock: &Clock) -> ReceiveError {
        loop {
            tokio::select! {
                () = self.body.displaced.cancelled() => return ReceiveError::Displaced,
                () = tokio::time::sleep(CHECK_INTERVAL) => {}
            }
            let rate = self.body.rate(clock.elapsed());
            if rate.is_some_and(|rate| rate < self.slots.limits.min_rate) {
                return ReceiveError::TooSlow;
            }
        }
    }
}

impl Drop for ReceiveSlot {
    fn drop(&mut self) {
        self.slots.lock().retain(|body| !Arc::ptr_eq(body, &self.body));
    }
}

impl ReceivedBody {
    /// Returns the transfer rate in bytes per second, or `None` if the body is complete or has only
    /// just begun.
    fn rate(&self, elapsed: Duration) -> Option<u64> {
        let age = elapsed.saturating_sub(self.began);
        if self.is_complete.load(Ordering::Relaxed) || age < GRACE {
            return None;
        }
        let millis = u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
        Some(self.bytes.load(Ordering::Relaxed).saturating_mul(1_000) / millis)
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::net::IpAddr;

    use jiff::{SignedDuration, Timestamp};

    use super::*;

    const LIMITS: ReceiveLimits = ReceiveLimits { slots: 8, per_owner: 1, per_address: 4, min_rate: 1_000 };
    const LATER: Duration = Duration::from_secs(10);

    fn address(last: u8) -> Caller {
        Caller::Address(IpAddr::from([192, 0, 2, last]))
    }

    /// Acquires a slot at time zero. Each owner has a separate address.
    fn begin(slots: &ReceiveSlots, number: u8) -> ReceiveSlot {
        slots.begin(format!("owner {number}"), address(number), Duration::ZERO).unwrap()
    }

    fn arrive(slot: &ReceiveSlot, bytes: u64) {
        slot.body.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    #[test]
    fn new_body_displaces_only_slow_bodies() {
        let slots = ReceiveSlots::new(LIMITS);
        let begun: Vec<ReceiveSlot> = (0..8).map(|number| begin(&slots, number)).collect();
        let late = |number: u8| slots.begin(format!("late {number}"), address(100 + number), LATER);
        assert_eq!(slots.begin("early".to_owned(), address(99), GRACE / 2).unwrap_err(), SlotsFull::All);
        for (slot, rate) in begun.iter().zip([900_000, 20_000, 0, 16_000, 2_000, 1_500, 0, 900_000]) {
            arrive(slot, rate * LATER.as_secs());
        }
        begun[2].body.is_complete.store(true, Ordering::Relaxed);
        let mut new = Vec::new();
        for (number, displaced) in [(0, 6), (1, 5), (2, 4)] {
            new.push(late(number).unwrap());
            assert!(begun[displaced].body.displaced.is_cancelled(), "{displaced}");
            assert_eq!(slots.in_use(), 8);
        }
        assert_eq!(late(3).unwrap_err(), SlotsFull::All);
    }

    #[test]
    fn address_retains_its_share_of_slots() {
        let slots = ReceiveSlots::new(LIMITS);
        let begin_at = |owner: u8, last: u8| slots.begin(format!("owner {owner}"), address(last), Duration::ZERO);
        let begun: Vec<ReceiveSlot> = (0..8).map(|owner| begin_at(owner, 1).unwrap()).collect();
        assert_eq!(begin_at(0, 2).unwrap_err(), SlotsFull::Owner);
        assert_eq!(begin_at(9, 1).unwrap_err(), SlotsFull::All);
        begun[7].body.is_complete.store(true, Ordering::Relaxed);
        let others: Vec<ReceiveSlot> = (10..14).map(|owner| begin_at(owner, owner).unwrap()).collect();
        let displaced = begun.iter().filter(|slot| slot.body.displaced.is_cancelled()).count();
        assert_eq!((displaced, slots.in_use()), (4, 8));
        assert!(!begun[7].body.displaced.is_cancelled());
        assert_eq!(begin_at(15, 15).unwrap_err(), SlotsFull::All);
        drop((begun, others));
        assert_eq!(slots.in_use(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn slow_body_frees_its_slot() {
        let slots = ReceiveSlots::new(LIMITS);
        let clock = Clock::manual(Timestamp::UNIX_EPOCH);
        let slow = begin(&slots, 1);
        assert_eq!(slow.receive(&clock, ready(5)).await, Ok(5));
        let slow = begin(&slots, 2);
        clock.advance(SignedDuration::from_secs(10));
        arrive(&slow, 9_999);
        assert_eq!(slow.receive(&clock, pending::<()>()).await, Err(ReceiveError::TooSlow));
        arrive(&slow, 1);
        let goes_on = tokio::time::timeout(Duration::from_mins(1), slow.receive(&clock, pending::<()>())).await;
        assert!(goes_on.is_err(), "it is fast enough");
        drop(slow);
        let displaced = begin(&slots, 3);
        displaced.body.displaced.cancel();
        assert_eq!(displaced.receive(&clock, pending::<()>()).await, Err(ReceiveError::Displaced));
    }
}
