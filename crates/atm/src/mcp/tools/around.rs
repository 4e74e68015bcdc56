//! A search around a place, and its page of results.

use signpost_locator::Distance;

use super::beyond::nearest_beyond;
use super::place::Center;
use super::units::Units;
use super::view::{AtmPage, Item, attribution, notice};
use crate::catalogue::{AtmFilter, Moment, Snapshot};

/// What was searched for, and how far around.
pub(super) struct Around {
    pub(super) center: Center,
    pub(super) radius: Distance,
    /// The argument that a caller makes larger to search farther out.
    pub(super) radius_argument: &'static str,
    pub(super) filter: AtmFilter,
    pub(super) units: Units,
}

impl Around {
    /// The page of what was found; where nothing was, with what to do next. `total` counts what is not listed too.
    pub(super) fn page<'a>(
        self,
        snapshot: &'a Snapshot,
        moment: &Moment<'_>,
        atms: Vec<Item<'a>>,
        total: usize,
    ) -> AtmPage<'a> {
        let nothing = atms.is_empty().then(|| self.nothing_near(moment));
        AtmPage {
            total,
            truncated: atms.len() < total,
            notice: notice(snapshot, [self.center.note.clone(), nothing]),
            attribution: attribution(snapshot, &self.center),
            resolved_location: self.center.resolved,
            next_cursor: None,
            atms,
        }
    }

    /// What was searched, the nearest machine beyond it, and the next call to make.
    fn nothing_near(&self, moment: &Moment<'_>) -> String {
        let Self { center, filter, units, .. } = self;
        let kind = if filter.is_any() { "Bitcoin ATM" } else { "Bitcoin ATM with the wanted properties" };
        let call = format!("call again with {}", self.radius_argument);
        let next = nearest_beyond(moment, center.point, *units, &call, filter);
        format!("No {kind} is known within {} of {}. {next}", units.text(self.radius), center.name)
    }
}
