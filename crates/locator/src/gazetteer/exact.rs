//! Places by their names.

use super::asked::Asked;
use super::query::{Query, Within, is_upper};
use super::resolve::{PlaceSource, Resolved, distinct};
use super::steps::PlaceAnswer;
use super::{Gazetteer, PlaceNote, likelihood};
use crate::fold::fold;
use crate::point::Distance;
use crate::region::Region;

/// Most other places that an answer names.
pub(super) const MAX_ALTERNATIVES: usize = 5;
/// How likely a place must be for the name of the state or country it lies in, if it is its main name.
const LIKELY_IN_ITS_AREA: u32 = 10_000;
/// The same for another name of it: New York City is called New York, Oklahoma City is not called Oklahoma.
const LIKELY_BY_ANOTHER_NAME: u32 = 100_000;
/// How many people live in a place that is meant by the name of a state or country elsewhere, as Washington is.
const LARGE_ELSEWHERE: u32 = 500_000;
/// A place of its name in the region that has no post office is meant if it is so many times as large as one that has.
const OUTGROWS_POST_OFFICE: u32 = 20;
/// Fewest people of a namesake of a place abroad that is meant as often, and how many times smaller it may be.
const NAMESAKE: u32 = 20_000;
const MUCH_SMALLER: u32 = 50;
/// A smaller place is not called a city by who leaves that word out.
const LARGE_CITY: u32 = 100_000;
/// A place that is so many times less likely than another of its name is not named beside it.
const UNLIKELIER: u32 = 100;
/// A post office of a town's name in its county that is so close is one of the town.
const SAME_TOWN: Distance = Distance::miles(40.0);
/// Fewest likely people of a place that is meant by its bare name beyond doubt.
const WELL_KNOWN: u32 = 5_000;
/// The same outside the United States and Canada.
const WELL_KNOWN_ABROAD: u32 = 100_000;

/// Names that are also words for a part of any city or county. Sorted.
const COMMON: [&str; 34] = [
    "bay",
    "capitol",
    "center",
    "central",
    "delta",
    "eastend",
    "eastside",
    "harbor",
    "heights",
    "hill",
    "hills",
    "island",
    "lake",
    "lakeside",
    "moon",
    "mountain",
    "northbay",
    "northend",
    "northshore",
    "northside",
    "park",
    "port",
    "river",
    "riviera",
    "southbay",
    "southend",
    "southshore",
    "southside",
    "thevalley",
    "union",
    "uptown",
    "valley",
    "village",
    "westside",
];

impl Gazetteer {
    /// A place of exactly the name that the text gives, in the area that it names.
    pub(super) fn place_by_name(&self, asked: &Asked<'_>) -> Option<PlaceAnswer> {
        let mut plain = asked.queries().iter().filter(|query| query.before.is_none());
        // In an area that is named it does not matter whether the text is the name of another.
        let areas = |query: &Query<'_>| if query.within == Within::Anywhere { asked.areas() } else { &[] };
        let (query, found) = plain.find_map(|query| Some((query, self.exactly(query, areas(query))?)))?;
        if query.within != Within::Anywhere {
            // CA is California first; a village of Canada is a guess.
            let is_code = matches!(query.within, Within::Country(_)) && asked.bare.ends_with("CA");
            let is_village =
                || self.named(&query.name, query.within).all(|named| self.population(named / 2) < LARGE_CITY);
            return Some(Ok(if is_code && is_village() { found.at_most(0.5) } else { found }));
        }
        // Newton, IA is larger than Newtonia.
        let located = plain.filter(|query| matches!(query.within, Within::Region(_)));
        let people = |query: &Query<'_>| {
            self.named(&query.name, query.within).next().map_or(0, |named| self.population(named / 2))
        };
        let larger = located.into_iter().find(|located| people(located) > people(query));
        Some(Ok(larger.and_then(|query| self.exactly(query, &[])).unwrap_or(found)))
    }

    /// `areas` are the regions and countries that the name is that of.
    pub(super) fn exactly(&self, query: &Query<'_>, areas: &[Within]) -> Option<Resolved> {
        let mut found = self.named_in_order(&query.name, query.within);
        // Virginia, USA
        let state = match query.within {
            Within::Country(country) => Region::parse(query.written).filter(|region| region.country() == country),
            _ => None,
        };
        let state = state.map(Within::Region);
        let areas = state.as_ref().map_or(areas, std::slice::from_ref);
        let is_area = (query.within == Within::Anywhere || state.is_some()) && !areas.is_empty();
        let is_inside = |named: u32| areas.iter().any(|within| within.holds(self.area(named / 2)));
        if is_area {
            found.retain(|&named| self.outshines_area(named, is_inside(named)));
        }
        self.keep_worth_naming(&mut found, query.within);
        found.truncate(1 + MAX_ALTERNATIVES);
        let is_elsewhere = is_area && found.first().is_some_and(|named| !is_inside(*named));
        let resolved = self.resolved(&found, query, PlaceSource::Place)?;
        // In small letters three of them are a word.
        let is_short = query.within == Within::Anywhere && query.name.len() <= 3 && !is_upper(query.written);
        let is_common = query.within == Within::Anywhere && COMMON.binary_search(&query.name.as_str()).is_ok();
        let is_doubtful =
            is_elsewhere || is_common || (is_short && found.first().is_some_and(|named| !named.is_multiple_of(2)));
        let resolved =
            if is_doubtful || self.is_rather_here(&found, query.within) { resolved.at_most(0.5) } else { resolved };
        let (first, taken) = (found[0], self.name(found[0] / 2));
        let is_other_name = query.within != Within::Anywhere && !first.is_multiple_of(2);
        if is_other_name
            && self.population(first / 2) < LARGE_CITY
            && fold(taken).strip_suffix("city") == Some(&query.name)
        {
            // Denver, TX is not Denver City, as far as people know.
            let note = PlaceNote::TakenFor { asked: query.written.to_owned(), place: resolved.label() };
            return Some(resolved.at_most(0.7).with_note(note));
        }
        Some(resolved)
    }

    /// Whether a place abroad has a namesake in the United States or Canada that is not much smaller: who asks there means
    /// that one as often.
    fn is_rather_here(&self, found: &[u32], within: Within) -> bool {
        let is_here = |named: &u32| self.area(named / 2).region.is_some();
        let people = |named: &u32| self.population(named / 2);
        let Some((first, others)) =
            found.split_first().filter(|(first, _)| within == Within::Anywhere && !is_here(first))
        else {
            return false;
        };
        let rival = others.iter().filter(|named| is_here(named)).map(people).max().unwrap_or_default();
        rival >= NAMESAKE && rival.saturating_mul(MUCH_SMALLER) >= people(first)
    }

    /// Leaves out places that nobody means beside the first: much smaller ones where nothing is said of where, and those
    /// of its name that are a part of it, which differ by nothing that could be said.
    fn keep_worth_naming(&self, found: &mut Vec<u32>, within: Within) {
        let Some(first) = found.first().copied() else { return };
        let likely = |named: u32| likelihood(self.population(named / 2), named);
        let same = |at: u32, other: u32| {
            let away = self.contents.places[at as usize].point.distance(self.contents.places[other as usize].point);
            self.county_of(at).is_some() && self.county_of(at) == self.county_of(other) && away <= SAME_TOWN
        };
        found.retain(|&named| {
            let is_small = within == Within::Anywhere && likely(named).saturating_mul(UNLIKELIER) < likely(first);
            let is_office = self.population(named / 2) == 0;
            named == first || !(is_small || (is_office && same(named / 2, first / 2)))
        });
    }

    /// Whether a place is meant by a name that is also that of a state or country, which it may lie in.
    fn outshines_area(&self, named: u32, is_inside: bool) -> bool {
        let likely = likelihood(self.population(named / 2), named);
        match (is_inside, named.is_multiple_of(2)) {
            (true, true) => likely >= LIKELY_IN_ITS_AREA,
            (true, false) => likely >= LIKELY_BY_ANOTHER_NAME,
            (false, is_main) => is_main && likely >= LARGE_ELSEWHERE,
        }
    }

    /// The places that a folded name leads to, the likeliest first. Of those in one region the one with a post office of
    /// that name is likelier than another, unless that is many times as large: people call a place what they write on
    /// letters.
    pub(super) fn named_in_order(&self, name: &str, within: Within) -> Vec<u32> {
        /// More places of one name are not told apart by anybody.
        const MAX_NAMED: usize = 64;
        let mut found: Vec<u32> = self.named(name, within).take(MAX_NAMED).collect();
        let (Within::Region(_), [first, others @ ..]) = (within, &found[..]) else { return found };
        let is_main = |named: &u32| named.is_multiple_of(2);
        if others.is_empty() || !is_main(first) || self.has_post_office(first / 2) {
            return found;
        }
        let with_office = |named: &u32| self.has_post_office(named / 2);
        let Some(at) = found.iter().position(with_office) else { return found };
        let (people, of_office) = (self.population(found[0] / 2), self.population(found[at] / 2));
        let is_outgrown = of_office > 0 && people >= of_office.saturating_mul(OUTGROWS_POST_OFFICE);
        if !is_outgrown {
            found[..=at].rotate_right(1);
        }
        found
    }

    /// The first of some places as an answer, with the others as alternatives.
    pub(super) fn resolved(&self, found: &[u32], query: &Query<'_>, source: PlaceSource) -> Option<Resolved> {
        let places = distinct(found.iter().copied(), 1 + MAX_ALTERNATIVES);
        let (first, others) = places.split_first()?;
        let likely = |named: &u32| likelihood(self.population(named / 2), *named);
        let all: f64 = found.iter().map(|named| f64::from(likely(named)) + 1.0).sum();
        let share = (f64::from(likely(&found[0])) + 1.0) / all;
        let by_main_name = if found[0].is_multiple_of(2) { 1.0 } else { 0.9 };
        let is_shared = |at: u32| {
            let looks_alike =
                |other: &u32| *other != at && self.area(*other) == self.area(at) && self.name(*other) == self.name(at);
            places.iter().any(looks_alike)
        };
        let place = |at: u32| if is_shared(at) { self.place(at) } else { self.place_without_county(at) };
        let alternatives = others.iter().map(|at| place(*at)).collect();
        let place = place(*first);
        let confidence = match query.within {
            Within::Anywhere => {
                let fewest = if place.region.is_some() { WELL_KNOWN } else { WELL_KNOWN_ABROAD };
                (0.9 * share * by_main_name).min(if likely(&found[0]) < fewest { 0.5 } else { 0.9 })
            }
            _ => (0.8 + 0.15 * share) * by_main_name,
        };
        let resolved = Resolved::at(place.name, place.point, source, confidence);
        let (region, country) = (place.region, Some(place.country));
        Some(Resolved { region, country, county: place.county, alternatives, ..resolved })
    }
}
