//! What is known of the machines around a place, for whoever asked only for those that are known to be so.

use signpost_locator::{AtmStatus, Distance, Point, Tri};

use super::facts::AtmFilter;
use super::moment::Moment;

/// Of how many machines it is known whether they are as a filter asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Knowledge {
    /// All that stand there and are not gone.
    pub machines: usize,
    /// Those that are known to be as the filter asks.
    pub matching: usize,
    /// Those whose hours are known.
    pub with_hours: usize,
    /// Whether they are open.
    pub open: KnownAnswers,
    /// Whether they offer the service and deal in the coin.
    pub offer: KnownAnswers,
    /// Those that are not known to be as the filter asks, and not known to be otherwise either.
    pub unclear: usize,
}

/// How many machines have each answer to a question; of the others it is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct KnownAnswers {
    pub yes: usize,
    pub no: usize,
}

impl KnownAnswers {
    fn count(&mut self, answer: Tri) {
        self.yes += usize::from(answer == Tri::Yes);
        self.no += usize::from(answer == Tri::No);
    }
}

impl Moment<'_> {
    /// What is known of the machines within `radius` that a filter asks for. It looks at each of them.
    #[must_use]
    pub fn knowledge(&self, from: Point, radius: Distance, filter: &AtmFilter) -> Knowledge {
        let mut known = Knowledge::default();
        for entry in self.within(from, radius, &AtmFilter::default()) {
            let record = &entry.machine.record;
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
            let asked = [offer, if filter.open_now { open } else { Tri::Yes }];
            match asked {
                [Tri::Yes, Tri::Yes] => known.matching += 1,
                [Tri::No, _] | [_, Tri::No] => {}
                _ => known.unclear += 1,
            }
        }
        known
    }
}
