use std::collections::{HashSet, VecDeque};

/// Maximum number of remembered events. The oldest is dropped first.
const MAX_EVENTS: usize = 10_000;

/// The identities of received events.
#[derive(Default)]
pub(super) struct SeenEvents {
    /// The handled events.
    done: HashSet<String>,
    /// The handled events, oldest first.
    order: VecDeque<String>,
    /// The events that are being handled.
    in_progress: HashSet<String>,
}

/// The state of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventState {
    /// Not handled yet.
    New,
    /// Being handled, which may fail.
    InProgress,
    /// Handled.
    Done,
}

impl SeenEvents {
    /// Starts the handling of an event, if it is new. The caller must end it.
    pub(super) fn begin(&mut self, identity: &str) -> EventState {
        if self.done.contains(identity) {
            EventState::Done
        } else if self.in_progress.insert(identity.to_owned()) {
            EventState::New
        } else {
            EventState::InProgress
        }
    }

    /// Ends the handling of an event. After a failure the event is new again.
    pub(super) fn end(&mut self, identity: &str, is_done: bool) {
        self.in_progress.remove(identity);
        if !is_done || !self.done.insert(identity.to_owned()) {
            return;
        }
        if self.order.len() == MAX_EVENTS
            && let Some(oldest) = self.order.pop_front()
        {
            self.done.remove(&oldest);
        }
        self.order.push_back(identity.to_owned());
    }
}
