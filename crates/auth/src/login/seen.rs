//! Remembers received events, so that each is handled once.

use std::collections::{HashSet, VecDeque};

/// Maximum number of remembered events. The oldest event is forgotten first.
const MAX_EVENTS: usize = 10_000;

/// The events that were received, by their identities.
#[derive(Default)]
pub(super) struct SeenEvents {
    /// The events that were handled.
    done: HashSet<String>,
    /// The events that were handled, oldest first.
    order: VecDeque<String>,
    /// The events that are being handled.
    in_progress: HashSet<String>,
}

/// The state of a received event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventState {
    /// The event was not received before.
    New,
    /// The event is being handled, which may fail.
    InProgress,
    /// The event was handled.
    Done,
}

impl SeenEvents {
    /// Starts handling an event if it is new. In that case, the caller must call
    /// [`SeenEvents::end`].
    pub(super) fn begin(&mut self, identity: &str) -> EventState {
        if self.done.contains(identity) {
            EventState::Done
        } else if self.in_progress.insert(identity.to_owned()) {
            EventState::New
        } else {
            EventState::InProgress
        }
    }

    /// Ends the handling of an event. If it failed, the event is new again.
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
