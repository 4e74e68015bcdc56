//! Who gets the places of deliveries that are on their way at once: every account a share, and what nobody else wants.
//! Pure; the delivery worker keeps it.

use std::collections::HashMap;

use serde_json::Value;

/// Whose events: an environment and an account, as the rows name them, with a space between.
type Owner = String;

/// How many attempts run at once, and how many of them to one account's endpoint.
const AT_ONCE: usize = 256;
pub(crate) const OF_ENDPOINT: u32 = 8;
/// An account's own share. Beyond it an account takes what is free, while so many stay spare for the others: attempts that
/// hang for 15 s would keep these waiting for as long.
const OF_ACCOUNT: usize = 32;
const SPARE: usize = 64;
/// How many endpoints of an account are looked at in one go, of those for which something is due.
pub(crate) const LOOKED_AT: u32 = 64;

/// The places, and who has them.
#[derive(Debug, Default)]
pub struct Places {
    running: HashMap<Owner, usize>,
    /// Of accounts with more endpoints than are looked at in one go, the last of these: the next look begins behind it.
    reached: HashMap<Owner, String>,
}

/// An event that is due, and for which its endpoint has a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Due {
    pub(crate) id: String,
    pub(crate) owner: Owner,
}

impl Places {
    fn taken(&self) -> usize {
        self.running.values().sum()
    }

    /// How many attempts may begin.
    pub(crate) fn free(&self) -> usize {
        AT_ONCE.saturating_sub(self.taken())
    }

    /// Which of the events, given oldest first, get a place: first each account's own share of them, then the others as
    /// far as the spare places stay free.
    pub(crate) fn choose(&self, due: Vec<Due>) -> Vec<Due> {
        let (mut taken, mut running) = (self.taken(), self.running.clone());
        let (mut chosen, mut beyond) = (Vec::new(), Vec::new());
        for due in due {
            let own = running.entry(due.owner.clone()).or_default();
            if *own >= OF_ACCOUNT {
                beyond.push(due);
            } else if taken < AT_ONCE {
                *own += 1;
                taken += 1;
                chosen.push(due);
            }
        }
        chosen.extend(beyond.into_iter().take((AT_ONCE - SPARE).saturating_sub(taken)));
        chosen
    }

    /// For the look at what is due, a list of `[owner, "full", ""]` for those who get no place now, and of
    /// `[owner, "", endpoint]` for those of whom it begins behind an endpoint.
    pub(crate) fn known(&self) -> String {
        let full = self.running.keys().filter(|owner| self.is_full(owner)).map(|owner| [owner, "full", ""]);
        let reached = self.reached.iter().filter(|(owner, _)| !self.is_full(owner));
        let reached = reached.map(|(owner, endpoint)| [owner.as_str(), "", endpoint]);
        full.chain(reached).map(Value::from_iter).collect::<Value>().to_string()
    }

    /// Whether an account gets no place now.
    fn is_full(&self, owner: &str) -> bool {
        self.taken() >= AT_ONCE - SPARE && self.running.get(owner).is_some_and(|own| *own >= OF_ACCOUNT)
    }

    /// How far the look came with those of whom there was more to look at. With whom it passed over, it goes on where it
    /// was: else their first endpoints would get every place. Says whether some endpoints of those who get places were not
    /// looked at: behind where it came to, or before where it began.
    #[must_use]
    pub(crate) fn reached(&mut self, reached: HashMap<Owner, String>) -> bool {
        let was_halfway = self.is_halfway();
        let mut before = std::mem::take(&mut self.reached);
        before.retain(|owner, _| self.is_full(owner));
        before.extend(reached);
        self.reached = before;
        was_halfway || self.is_halfway()
    }

    fn is_halfway(&self) -> bool {
        self.reached.keys().any(|owner| !self.is_full(owner))
    }

    /// An attempt begins.
    pub(crate) fn begin(&mut self, owner: Owner) {
        *self.running.entry(owner).or_default() += 1;
    }

    /// An attempt is over.
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

    fn due(name: &str, count: usize) -> Vec<Due> {
        (0..count).map(|number| Due { id: format!("{name} {number}"), owner: name.to_owned() }).collect()
    }

    /// How many places each account gets of what is due, and has then.
    fn gets(places: &mut Places, due: Vec<Due>) -> Vec<(String, usize)> {
        let mut gets: Vec<(String, usize)> = Vec::new();
        for chosen in places.choose(due) {
            places.begin(chosen.owner.clone());
            match gets.iter_mut().find(|(name, _)| *name == chosen.owner) {
                Some((_, count)) => *count += 1,
                None => gets.push((chosen.owner, 1)),
            }
        }
        gets
    }

    #[test]
    fn one_account_alone_takes_all_but_the_spare_places_and_another_has_its_share_at_once() {
        let mut places = Places::default();
        assert_eq!(gets(&mut places, due("many", 1000)), [("many".to_owned(), 192)]);
        assert!(gets(&mut places, due("many", 1000)).is_empty());
        assert_eq!(places.known(), r#"[["many","full",""]]"#);
        let both = [due("many", 1000), due("few", 100)].concat();
        assert_eq!(gets(&mut places, both), [("few".to_owned(), 32)]);
        assert_eq!(gets(&mut places, due("third", 100)), [("third".to_owned(), 32)]);
        assert_eq!((places.free(), gets(&mut places, due("fourth", 1))), (0, Vec::new()));
    }

    #[test]
    fn what_ends_is_free_for_those_below_their_share_first() {
        let mut places = Places::default();
        gets(&mut places, due("many", 1000));
        gets(&mut places, due("few", 32));
        places.end("many");
        let both = [due("many", 10), due("few", 10), due("new", 2)].concat();
        assert_eq!(gets(&mut places, both), [("new".to_owned(), 2)]);
        (0..40).for_each(|_| places.end("many"));
        // 185 are taken: of the others seven may go, and the spare places stay.
        let both = [due("many", 10), due("few", 10)].concat();
        assert_eq!(gets(&mut places, both), [("many".to_owned(), 7)]);
    }

    #[test]
    fn the_oldest_go_first() {
        let all = [due("a", 1), due("b", 1), due("a", 2)].concat();
        assert_eq!(Places::default().choose(all.clone()), all);
    }

    #[test]
    fn a_look_goes_on_behind_the_endpoint_that_it_reached() {
        let mut places = Places::default();
        assert!(places.reached(HashMap::from([("a".to_owned(), "https://m.test".to_owned())])));
        assert_eq!(places.known(), r#"[["a","","https://m.test"]]"#);
        gets(&mut places, due("a", 1000));
        assert_eq!(places.known(), r#"[["a","full",""]]"#);
        // It was passed over, and goes on there once it has places again.
        assert!(!places.reached(HashMap::new()));
        places.end("a");
        assert_eq!(places.known(), r#"[["a","","https://m.test"]]"#);
        // There was nothing behind; before it there may be.
        assert!(places.reached(HashMap::new()));
        assert_eq!((places.known().as_str(), places.reached(HashMap::new())), ("[]", false));
    }
}
