//! Detects new events in repeated reads of the outbox.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use signpost_login::ids::EventId;

/// Maximum time between the creation of an event's ID and its write: several servers create IDs before they write.
const OVERLAP: SignedDuration = SignedDuration::from_secs(60);

/// The events that were seen in the last minute. Their age is measured by the times in their IDs
/// and not by the local clock.
#[derive(Debug, Default)]
pub(super) struct OutboxCursor {
    seen: BTreeSet<EventId>,
}

impl OutboxCursor {
    /// Returns the start of the next read: events before it can no longer appear.
    pub(super) fn start(&self) -> EventId {
        let newest = self.seen.last().map_or(Timestamp::UNIX_EPOCH, EventId::time);
        EventId::new((newest - OVERLAP).max(Timestamp::UNIX_EPOCH), [0; 16])
    }

    /// Marks an event as seen. Returns true if it is new.
    pub(super) fn is_new(&mut self, id: &EventId) -> bool {
        self.seen.insert(id.clone())
    }

    /// Deletes the events before [`Self::start`].
    pub(super) fn prune(&mut self) {
        self.seen = self.seen.split_off(&self.start());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(millis: i64, random: u8) -> EventId {
        EventId::new(Timestamp::from_millisecond(1_700_000_000_000 + millis).unwrap(), [random; 16])
    }

    #[test]
    fn late_event_is_new_once() {
        let mut cursor = OutboxCursor::default();
        assert!(cursor.is_new(&id(0, 5)) && cursor.is_new(&id(59_000, 5)));
        // Created in a recent millisecond, but older than the seen events.
        for late in [id(59_000, 4), id(58_000, 9), id(1, 1)] {
            assert!(late > cursor.start() && cursor.is_new(&late), "{late}");
        }
        for known in [id(0, 5), id(59_000, 5), id(59_000, 4)] {
            assert!(!cursor.is_new(&known), "{known}");
        }
    }

    #[test]
    fn old_events_are_pruned() {
        let mut cursor = OutboxCursor::default();
        for second in 0..1000 {
            cursor.is_new(&id(second * 1000, 1));
            cursor.prune();
            assert!(cursor.seen.len() <= 62 && cursor.seen.iter().all(|id| *id > cursor.start()));
        }
        assert!(id(0, 5) > OutboxCursor::default().start());
    }
}
