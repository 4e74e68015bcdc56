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
        assert!(all.acquire(one.clone(), 3).is_none());
        assert!(all.acquire(other, 3).is_some());
        drop(held);
        assert!(all.0.lock().unwrap().is_empty() && all.acquire(one, 3).is_some());
    }
}
