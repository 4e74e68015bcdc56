//! How many requests of one caller may wait or stream at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::Caller;

/// How many slots each caller holds; cheap to clone. Callers who hold none are forgotten.
#[derive(Clone, Debug, Default)]
pub struct Concurrent(Arc<Mutex<HashMap<Caller, usize>>>);

/// One of a caller's slots, given up when it is dropped.
#[derive(Debug)]
pub struct Slot {
    all: Concurrent,
    caller: Caller,
}

impl Concurrent {
    /// A slot for `caller`, or none where they hold `most` already.
    #[must_use]
    pub fn acquire(&self, caller: Caller, most: usize) -> Option<Slot> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = held.get(&caller).copied().unwrap_or(0);
        if count >= most {
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
    fn each_caller_has_slots_of_their_own_and_gets_them_back() {
        let (all, [one, other]) =
            (Concurrent::default(), ["one", "other"].map(|name| Caller::Account(name.to_owned())));
        let held: Vec<_> = (0..3).map(|_| all.acquire(one.clone(), 3).unwrap()).collect();
        assert!(all.acquire(one.clone(), 3).is_none());
        assert!(all.acquire(other, 3).is_some());
        drop(held);
        assert!(all.0.lock().unwrap().is_empty() && all.acquire(one, 3).is_some());
    }
}
