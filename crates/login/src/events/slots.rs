//! Assigns slots to concurrent delivery attempts. Every account has a guaranteed share and may use
//! spare slots. This module is pure; the delivery job stores the state.

use std::collections::HashMap;

use serde_json::Value;

/// The owner of events as rows store it: the environment and the account, separated by a space.
type Owner = String;

/// Maximum concurrent attempts.
const MAX_CONCURRENT_ATTEMPTS: usize = 256;
/// Maximum concurrent attempts at an endpoint.
pub const MAX_PER_ENDPOINT: u32 = 8;
/// Slots of each account. An account may use more if [`SPARE_SLOTS`] stay free for the others, which would otherwise
/// wait for attempts that time out after 15 s.
const ACCOUNT_SHARE: usize = 32;
/// Slots that are free for accounts below their share.
const SPARE_SLOTS: usize = 64;
/// Maximum endpoints of an account with due events that are examined at a time.
pub const MAX_ENDPOINTS_PER_SCAN: u32 = 64;

/// The slots in use, and the position of the scan in each account.
#[derive(Debug, Default)]
pub struct AttemptSlots {
    running: HashMap<Owner, usize>,
    /// The last examined endpoint of each account that has more endpoints. The next scan starts
    /// after it.
    positions: HashMap<Owner, String>,
}

/// A due event to an endpoint with a free slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DueDelivery {
    pub(crate) id: String,
    pub(crate) owner: Owner,
}

impl AttemptSlots {
    fn used(&self) -> usize {
        self.running.values().sum()
    }

    /// Returns the number of free slots.
    pub(crate) fn free(&self) -> usize {
        MAX_CONCURRENT_ATTEMPTS.saturating_sub(self.used())
    }

    /// Chooses the events that get a slot. `due` is sorted by age. Each account gets its share, and more if the spare
    /// slots stay free.
    pub(crate) fn choose(&self, due: Vec<DueDelivery>) -> Vec<DueDelivery> {
        let mut in_use = self.used();
        let mut running = self.running.clone();
        let mut chosen = Vec::new();
        let mut beyond = Vec::new();
        for due in due {
            let own = running.entry(due.owner.clone()).or_default();
            if *own >= ACCOUNT_SHARE {
                beyond.push(due);
            } else if in_use < MAX_CONCURRENT_ATTEMPTS {
                *own += 1;
                in_use += 1;
                chosen.push(due);
            }
        }
        chosen.extend(beyond.into_iter().take((MAX_CONCURRENT_ATTEMPTS - SPARE_SLOTS).saturating_sub(in_use)));
        chosen
    }

    /// Returns the parameter of the statement that selects due events: a JSON list of `[owner,
    /// "full", ""]` for each account without a free slot, and of `[owner, "", endpoint]` for each
    /// account whose scan starts after an endpoint.
    pub(crate) fn to_parameter(&self) -> String {
        let full = self.running.keys().filter(|owner| self.is_full(owner)).map(|owner| [owner, "full", ""]);
        let positions = self.positions.iter().filter(|(owner, _)| !self.is_full(owner));
        let positions = positions.map(|(owner, endpoint)| [owner.as_str(), "", endpoint]);
        full.chain(positions).map(Value::from_iter).collect::<Value>().to_string()
    }

    /// Returns true if an account has no free slot.
    fn is_full(&self, owner: &str) -> bool {
        self.used() >= MAX_CONCURRENT_ATTEMPTS - SPARE_SLOTS
            && self.running.get(owner).is_some_and(|own| *own >= ACCOUNT_SHARE)
    }

    /// Records the last examined endpoint of each account that has more endpoints. The positions of
    /// skipped accounts are preserved, because otherwise their first endpoints would get all slots.
    /// Returns true if some endpoints of accounts with free slots were not examined.
    #[must_use]
    pub(crate) fn record_positions(&mut self, positions: HashMap<Owner, String>) -> bool {
        let was_scan_incomplete = self.is_scan_incomplete();
        let mut before = std::mem::take(&mut self.positions);
        before.retain(|owner, _| self.is_full(owner));
        before.extend(positions);
        self.positions = before;
        was_scan_incomplete || self.is_scan_incomplete()
    }

    fn is_scan_incomplete(&self) -> bool {
        self.positions.keys().any(|owner| !self.is_full(owner))
    }

    /// Records the start of an attempt.
    pub(crate) fn begin(&mut self, owner: Owner) {
        *self.running.entry(owner).or_default() += 1;
    }

    /// Records the end of an attempt.
    pub(crate) fn end(&mut self, owner: &str) {
        if let Some(running) = self.running.get_mut(owner) {
            *running -= 1;
            if *running == 0 {
                self.running.remove(owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(name: &str, count: usize) -> Vec<DueDelivery> {
        (0..count).map(|number| DueDelivery { id: format!("{name} {number}"), owner: name.to_owned() }).collect()
    }

    /// Assigns slots to due deliveries. Returns the number of assigned slots of each account.
    fn assign_slots(slots: &mut AttemptSlots, due: Vec<DueDelivery>) -> Vec<(String, usize)> {
        let mut assigned: Vec<(String, usize)> = Vec::new();
        for chosen in slots.choose(due) {
            slots.begin(chosen.owner.clone());
            match assigned.iter_mut().find(|(name, _)| *name == chosen.owner) {
                Some((_, count)) => *count += 1,
                None => assigned.push((chosen.owner, 1)),
            }
        }
        assigned
    }

    #[test]
    fn spare_slots_serve_a_second_account() {
        let mut slots = AttemptSlots::default();
        assert_eq!(assign_slots(&mut slots, due("many", 1000)), [("many".to_owned(), 192)]);
        assert!(assign_slots(&mut slots, due("many", 1000)).is_empty());
        assert_eq!(slots.to_parameter(), r#"[["many","full",""]]"#);
        let both = [due("many", 1000), due("few", 100)].concat();
        assert_eq!(assign_slots(&mut slots, both), [("few".to_owned(), 32)]);
        assert_eq!(assign_slots(&mut slots, due("third", 100)), [("third".to_owned(), 32)]);
        assert_eq!((slots.free(), assign_slots(&mut slots, due("fourth", 1))), (0, Vec::new()));
    }

    #[test]
    fn freed_slots_go_below_the_share_first() {
        let mut slots = AttemptSlots::default();
        assign_slots(&mut slots, due("many", 1000));
        assign_slots(&mut slots, due("few", 32));
        slots.end("many");
        let both = [due("many", 10), due("few", 10), due("new", 2)].concat();
        assert_eq!(assign_slots(&mut slots, both), [("new".to_owned(), 2)]);
        (0..40).for_each(|_| slots.end("many"));
        // 185 slots are in use: seven more may be assigned, and the spare slots remain.
        let both = [due("many", 10), due("few", 10)].concat();
        assert_eq!(assign_slots(&mut slots, both), [("many".to_owned(), 7)]);
    }

    #[test]
    fn oldest_deliveries_are_chosen_first() {
        let all = [due("a", 1), due("b", 1), due("a", 2)].concat();
        assert_eq!(AttemptSlots::default().choose(all.clone()), all);
    }

    #[test]
    fn scan_resumes_after_the_last_endpoint() {
        let mut slots = AttemptSlots::default();
        assert!(slots.record_positions(HashMap::from([("a".to_owned(), "https://m.test".to_owned())])));
        assert_eq!(slots.to_parameter(), r#"[["a","","https://m.test"]]"#);
        assign_slots(&mut slots, due("a", 1000));
        assert_eq!(slots.to_parameter(), r#"[["a","full",""]]"#);
        // The account was skipped, and its examination resumes there when it has slots again.
        assert!(!slots.record_positions(HashMap::new()));
        slots.end("a");
        assert_eq!(slots.to_parameter(), r#"[["a","","https://m.test"]]"#);
        // There was no event after the position; there may be events before it.
        assert!(slots.record_positions(HashMap::new()));
        assert_eq!((slots.to_parameter().as_str(), slots.record_positions(HashMap::new())), ("[]", false));
    }
}
