use std::collections::{HashSet, VecDeque};

/// How many events are remembered: beyond it the oldest is forgotten.
const MOST_EVENTS: usize = 10_000;

/// The identities of events that came.
#[derive(Default)]
pub(super) struct SeenEvents {
    /// Acted on, the oldest first.
    done: HashSet<String>,
    order: VecDeque<String>,
    /// Being acted on.
    begun: HashSet<String>,
}

/// What became of an event so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventStanding {
    /// Nobody acts on it, or did.
    New,
    /// Somebody acts on it now, and may fail.
    Begun,
    /// It was acted on.
    Done,
}

impl SeenEvents {
    /// Begins an event that is new; whoever is told so ends it.
    pub(super) fn begin(&mut self, identity: &str) -> EventStanding {
        if self.done.contains(identity) {
            EventStanding::Done
        } else if self.begun.insert(identity.to_owned()) {
            EventStanding::New
        } else {
            EventStanding::Begun
        }
    }

    /// Ends an event. One that nothing came of is new when it comes again.
    pub(super) fn end(&mut self, identity: &str, is_done: bool) {
        self.begun.remove(identity);
        if !is_done || !self.done.insert(identity.to_owned()) {
            return;
        }
        if self.order.len() == MOST_EVENTS
            && let Some(oldest) = self.order.pop_front()
        {
            self.done.remove(&oldest);
        }
        self.order.push_back(identity.to_owned());
    }
}
