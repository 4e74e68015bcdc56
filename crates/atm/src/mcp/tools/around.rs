//! A search around a place, and its page of results.

use signpost_locator::Distance;
use signpost_locator::gazetteer::Gazetteer;

use super::advice::{Advice, Outlook};
use super::beyond::nearest_beyond;
use super::elsewhere::{country_at, other_country, swapped};
use super::left_out::left_out;
use super::place::Center;
use super::units::Units;
use super::view::{AtmPage, Item, attribution, notice};
use crate::advisories::Spot;
use crate::catalogue::{AtmFilter, CatalogueEntry, Moment, Snapshot};

/// What was searched for, and how far around.
pub(super) struct Around<'a> {
    pub(super) center: Center,
    pub(super) radius: Distance,
    /// The argument that a caller makes larger to search farther out.
    pub(super) radius_argument: &'static str,
    pub(super) filter: AtmFilter,
    pub(super) units: Units,
    pub(super) places: &'a Gazetteer,
}

impl Around<'_> {
    /// The page of what was found; where nothing was, with what to do next. `total` counts what is not listed too.
    pub(super) fn page<'a>(
        self,
        snapshot: &'a Snapshot,
        moment: &Moment<'_>,
        atms: Vec<Item<'a>>,
        total: usize,
        advice: Advice<'a>,
    ) -> AtmPage<'a> {
        let left_out = self.left_out(moment);
        let nothing = atms.is_empty().then(|| self.nothing_near(moment, left_out.is_some()));
        let place = self.about_place(snapshot, atms.is_empty());
        AtmPage {
            total,
            truncated: atms.len() < total,
            data_as_of: snapshot.data_as_of(),
            notice: notice(snapshot, advice.bans, [self.center.note.clone(), place, left_out, nothing]),
            attribution: attribution(snapshot, &self.center),
            resolved_location: self.center.resolved,
            advisories: advice.advisories,
            next_cursor: None,
            atms,
        }
    }

    /// What is said of the law and of fraud: of the machines that are listed, else of the place. `sends` is whether the
    /// reply sends somebody to a machine.
    pub(super) fn advice<'a>(&self, moment: &Moment<'a>, listed: &[&CatalogueEntry], sends: bool) -> Advice<'a> {
        let from = self.center.point;
        if listed.is_empty() {
            return Advice::of_place(moment, &Spot::around(from, self.places), from, self.places);
        }
        let outlook = Outlook { from, filter: &self.filter, units: self.units, sends };
        Advice::of_machines(moment, listed, &outlook)
    }

    /// How many machines stand there that the filter left out, and what is known of them.
    fn left_out(&self, moment: &Moment<'_>) -> Option<String> {
        let Self { center, radius, filter, units, .. } = self;
        if filter.is_any() {
            return None;
        }
        let place = format!("within {} of {}", units.bound(*radius), center.name);
        left_out(&moment.knowledge(center.point, *radius, filter), filter, &place)
    }

    /// Why no machine can be expected there. Coordinates are looked up only where there was none.
    fn about_place(&self, snapshot: &Snapshot, is_empty: bool) -> Option<String> {
        let Center { point, area: (region, country), .. } = self.center;
        if country.is_some() {
            return other_country(snapshot, region, country);
        }
        if !is_empty {
            return None;
        }
        swapped(self.places, point).or_else(|| {
            let (region, country) = country_at(self.places, point)?;
            other_country(snapshot, region, Some(country))
        })
    }

    /// What was searched, the nearest machine beyond it, and the next call to make. `is_counted` says that the machines
    /// there were counted already.
    fn nothing_near(&self, moment: &Moment<'_>, is_counted: bool) -> String {
        let Self { center, filter, units, .. } = self;
        let call = format!("call again with {}", self.radius_argument);
        let next = nearest_beyond(moment, center.point, *units, &call, filter);
        if is_counted {
            return next;
        }
        format!("No Bitcoin ATM is known within {} of {}. {next}", units.text(self.radius), center.name)
    }
}
