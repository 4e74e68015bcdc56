//! Limits the number of concurrent long-lived requests per caller, such as long polls and streams.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::Caller;

/// Counts the slots in use of each caller. It is cheap to clone. Callers without slots use no
/// memory.
#[derive(Clone, Debug, Default)]
pub struct CallerSlots(Arc<Mutex<HashMap<Caller, usize>>>);

/// A slot that a caller uses. Dropping it frees the slot.
#[derive(Debug)]
pub struct Slot {
    all: CallerSlots,
    caller: Caller,
}

impl CallerSlots {
    /// Returns a slot for `caller`, or `None` if the caller already uses `max` slots.
    #[must_use]
    pub fn acquire(&self, caller: Caller, max: usize) -> Option<Slot> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = held.get(&caller).copied().unwrap_or(0);
        if count >= max {
            return None;
        }
        held.insert(caller.clone(), count + 1);
        Some(Slot { all: self.clone(), caller })
    }

    /// Returns true if `caller` has `max` slots already.
    #[must_use]
    pub fn is_full(&self, caller: &Caller, max: usize) -> bool {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.get(caller).is_some_and(|count| *count >= max)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut held = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        match held.get_mut(&self.caller) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(held.remove(&self.caller)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_have_separate_slots() {
        let all = CallerSlots::default();
        let [one, other] = ["one", "other"].map(|name| Caller::Account(name.to_owned()));
        let held: Vec<_> = (0..3).map(|_| all.acquire(one.clone(), 3).unwrap()).collect();
        assert!(all.is_full(&one, 3) && !all.is_full(&one, 4) && !all.is_full(&other, 3));
        assert!(all.acquire(one.clone(), 3).is_none());
        assert!(all.acquire(other, 3).is_some());
        drop(held);
        assert!(all.0.lock().unwrap().is_empty() && all.acquire(one, 3).is_some());
    }
}
