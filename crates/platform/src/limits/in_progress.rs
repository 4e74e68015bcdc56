//! Limits the number of requests in progress per client address. A request is in progress from its
//! head until the end of its response.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::Extensions;

use super::{Caller, CallerSlots, Slot};

/// Maximum number of requests in progress per client address. Requests with a valid API key and
/// open streams are excluded, because they have separate limits.
pub const MAX_IN_PROGRESS: usize = 256;

/// Maximum number of requests in progress per account, in addition to [`MAX_IN_PROGRESS`] of their
/// client address.
pub const MAX_KEYED_IN_PROGRESS: usize = 2500;

/// Number of independently locked maps, so that threads rarely wait for each other.
const SHARDS: usize = 32;

/// Counts the requests in progress per client address. It is cheap to clone.
#[derive(Clone, Debug)]
pub struct InProgress(Arc<Shards>);

#[derive(Debug)]
struct Shards {
    hasher: RandomState,
    counts: [CallerSlots; SHARDS],
}

/// The permit of a request, stored in the request's extensions. All clones share a slot,
/// which is freed when the last clone is dropped or any clone is released.
#[derive(Clone, Debug)]
pub struct RequestPermit(Arc<Mutex<PermitState>>);

#[derive(Debug)]
enum PermitState {
    Held { _slot: Slot },
    Refused,
    Released,
}

impl Default for InProgress {
    fn default() -> Self {
        let counts = std::array::from_fn(|_| CallerSlots::default());
        Self(Arc::new(Shards { hasher: RandomState::new(), counts }))
    }
}

impl InProgress {
    /// Returns a permit for a request of this caller. The permit is refused
    /// ([`RequestPermit::is_refused`]) if the caller already has [`MAX_IN_PROGRESS`] requests in
    /// progress.
    #[must_use]
    pub fn enter(&self, caller: Caller) -> RequestPermit {
        let Shards { hasher, counts } = &*self.0;
        let shard = usize::try_from(hasher.hash_one(&caller) % SHARDS as u64).unwrap_or(0);
        let state = match counts[shard].acquire(caller, MAX_IN_PROGRESS) {
            Some(slot) => PermitState::Held { _slot: slot },
            None => PermitState::Refused,
        };
        RequestPermit(Arc::new(Mutex::new(state)))
    }
}

impl RequestPermit {
    /// Returns the permit in the extensions of a request. Only requests in tests have none.
    #[must_use]
    pub fn from_extensions(extensions: &Extensions) -> Option<&Self> {
        extensions.get()
    }

    /// Returns `true` if the caller had too many requests in progress when the request arrived, and
    /// no other slot has replaced the refusal.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        matches!(*self.0.lock().unwrap_or_else(PoisonError::into_inner), PermitState::Refused)
    }

    /// Replaces the refusal by a slot of another limit.
    pub fn hold(&self, slot: Slot) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = PermitState::Held { _slot: slot };
    }

    /// Frees the slot, because another limit applies to the request from now on.
    pub fn release(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = PermitState::Released;
    }
}

/// Returns `true` if the permit in these request extensions was refused.
#[must_use]
pub fn is_in_progress_limit_exceeded(extensions: &Extensions) -> bool {
    RequestPermit::from_extensions(extensions).is_some_and(RequestPermit::is_refused)
}

/// Frees the slot of a request because another limit applies to it, such as the limit of its API
/// key or of open streams.
pub fn release_request_slot(extensions: &Extensions) {
    if let Some(permit) = RequestPermit::from_extensions(extensions) {
        permit.release();
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    fn caller(last: u8) -> Caller {
        Caller::Address(IpAddr::from([192, 0, 2, last]))
    }

    #[test]
    fn addresses_have_separate_slots() {
        let all = InProgress::default();
        let held: Vec<_> = (0..MAX_IN_PROGRESS).map(|_| all.enter(caller(1))).collect();
        assert!(held.iter().all(|permit| !permit.is_refused()));
        assert!(all.enter(caller(1)).is_refused());
        assert!(!all.enter(caller(2)).is_refused());
        drop(held);
        assert!(!all.enter(caller(1)).is_refused());
    }

    #[test]
    fn released_permit_frees_its_slot() {
        let all = InProgress::default();
        let held: Vec<_> = (0..MAX_IN_PROGRESS).map(|_| all.enter(caller(1))).collect();
        let refused = all.enter(caller(1));
        held[0].clone().release();
        assert!(!all.enter(caller(1)).is_refused(), "the clone shares the place");
        assert!(refused.is_refused(), "a refusal is not lifted by a place that is free later");
    }
}
