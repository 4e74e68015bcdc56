//! A search around a place, and its page of results.

use signpost_locator::Distance;
use signpost_locator::gazetteer::Gazetteer;

use super::advice::{Advice, SearchContext};
use super::beyond::nearest_beyond;
use super::elsewhere::{country_at, other_country, swapped};
use super::item::{Item, RowFormat};
use super::left_out::left_out;
use super::place::Center;
use super::view::{AtmPage, PageDates, attribution, notice, omit_ban_reasons};
use crate::advisories::Location;
use crate::catalogue::{AtmFilter, CatalogueEntry, Moment, Snapshot};

/// A search for ATMs around a place.
pub(super) struct NearbySearch<'a> {
    pub(super) center: Center,
    pub(super) radius: Distance,
    /// Name of the argument for a larger radius.
    pub(super) radius_argument: &'static str,
    pub(super) filter: AtmFilter,
    pub(super) format: RowFormat<'a>,
    pub(super) places: &'a Gazetteer,
    /// Whether the reply recommends ATMs, so that it warns of fraud.
    pub(super) recommends: bool,
}

impl NearbySearch<'_> {
    /// Returns the page with these ATMs, the first of `found`. `total` is the number of ATMs, listed or not. If there
    /// are none, the notice contains the next call to make.
    pub(super) fn page<'a>(
        self,
        moment: &Moment<'a>,
        found: &[&'a CatalogueEntry],
        mut atms: Vec<Item<'a>>,
        total: usize,
    ) -> AtmPage<'a> {
        let snapshot = moment.snapshot();
        let listed = &found[..atms.len()];
        omit_ban_reasons(&mut atms, listed, moment);
        let advice = self.advice(moment, listed);
        let left_out = self.left_out(moment);
        let nothing = atms.is_empty().then(|| self.nothing_near(moment, left_out.is_some()));
        let place = self.about_place(snapshot, atms.is_empty());
        AtmPage {
            total,
            truncated: atms.len() < total,
            dates: PageDates::of(snapshot, listed),
            notice: notice(snapshot, advice.bans, [self.center.note, place, left_out, nothing]),
            how_to_report: self.format.pages.how_to_report_one().filter(|_| !atms.is_empty()),
            attribution: attribution(snapshot, self.center.attribution),
            resolved_location: self.center.resolved,
            advisories: advice.advisories,
            next_cursor: None,
            atms,
        }
    }

    /// Returns the advice for the listed ATMs, or for the place if there are none.
    fn advice<'a>(&self, moment: &Moment<'a>, listed: &[&CatalogueEntry]) -> Advice<'a> {
        let from = self.center.point;
        if listed.is_empty() {
            return Advice::of_place(moment, &Location::around(from, self.places), from, self.places);
        }
        let search =
            SearchContext { from, filter: &self.filter, units: self.format.units, recommends: self.recommends };
        Advice::of_atms(moment, listed, &search)
    }

    /// Returns how many ATMs the filter left out, with the numbers of their known properties.
    fn left_out(&self, moment: &Moment<'_>) -> Option<String> {
        let Self { center, radius, filter, format, .. } = self;
        if filter.is_any() {
            return None;
        }
        let place = format!("within {} of {}", format.units.bound(*radius), center.name);
        left_out(&moment.count_properties(center.point, *radius, filter), filter, &place)
    }

    /// Returns why there can be no ATM at the place. Coordinates are looked up only if no ATM was found.
    fn about_place(&self, snapshot: &Snapshot, is_empty: bool) -> Option<String> {
        let Center { point, area: (region, country), .. } = self.center;
        if country.is_some() {
            return other_country(snapshot, region, country);
        }
        if !is_empty {
            return None;
        }
        if let Some(question) = swapped(self.places, point) {
            return Some(question);
        }
        let (region, country) = country_at(self.places, point)?;
        other_country(snapshot, region, Some(country))
    }

    /// Returns that no ATM was found, the nearest ATM beyond the radius, and the next call to make. `is_counted` is
    /// whether the notice already contains the number of ATMs within the radius.
    fn nothing_near(&self, moment: &Moment<'_>, is_counted: bool) -> String {
        let Self { center, filter, format, .. } = self;
        let call = format!("call again with {}", self.radius_argument);
        let next = nearest_beyond(moment, center.point, format.units, &call, filter);
        if is_counted {
            return next;
        }
        format!("No Bitcoin ATM is known within {} of {}. {next}", format.units.text(self.radius), center.name)
    }
}
