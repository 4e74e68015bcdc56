//! Counts of the ATMs around a place with known and unknown properties, to explain the result of a filter.

use signpost_locator::{AtmStatus, Distance, Point, Tri};

use super::facts::AtmFilter;
use super::moment::Moment;

/// The numbers of ATMs around a place by their known properties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PropertyCounts {
    /// The number of ATMs that are not gone.
    pub machines: usize,
    /// The number of ATMs that match the filter.
    pub matching: usize,
    /// The number of ATMs with known opening hours.
    pub with_hours: usize,
    /// The numbers of open and closed ATMs.
    pub open: ValueCounts,
    /// The numbers of ATMs that offer the service and support the coin, or do not.
    pub offer: ValueCounts,
    /// The number of ATMs with an unknown result of the filter.
    pub unclear: usize,
}

/// The number of ATMs with each known value of a property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct ValueCounts {
    pub yes: usize,
    pub no: usize,
}

impl ValueCounts {
    fn count(&mut self, answer: Tri) {
        self.yes += usize::from(answer == Tri::Yes);
        self.no += usize::from(answer == Tri::No);
    }
}

impl Moment<'_> {
    /// Counts the ATMs within `radius` by their known properties. Reads the record of each ATM.
    #[must_use]
    pub fn count_properties(&self, from: Point, radius: Distance, filter: &AtmFilter) -> PropertyCounts {
        let mut known = PropertyCounts::default();
        for entry in self.within(from, radius, &AtmFilter::default()) {
            let record = &entry.atm.record;
            let open = match self.status(entry).status {
                AtmStatus::Open => Tri::Yes,
                AtmStatus::Unknown => Tri::Unknown,
                _ => Tri::No,
            };
            let offer = filter.offer(record);
            known.machines += 1;
            known.with_hours += usize::from(record.hours.is_some());
            known.open.count(open);
            known.offer.count(offer);
            match [offer, if filter.open_now { open } else { Tri::Yes }] {
                [Tri::Yes, Tri::Yes] => known.matching += 1,
                [Tri::No, _] | [_, Tri::No] => {}
                _ => known.unclear += 1,
            }
        }
        known
    }
}
