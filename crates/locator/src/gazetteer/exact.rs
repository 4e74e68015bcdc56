//! The resolver step that finds places by their exact names.

use super::candidate::{Candidate, distinct_places};
use super::location_text::LocationText;
use super::query::{Query, Within, is_upper};
use super::resolve::{PlaceSource, Resolved};
use super::steps::PlaceAnswer;
use super::{Gazetteer, Place, PlaceNote};
use crate::fold::fold;
use crate::point::Distance;
use crate::region::Region;

/// Maximum number of alternatives in a result.
pub(super) const MAX_ALTERNATIVES: usize = 5;
/// Minimum likelihood of a place for preferring it to the state or country of its main name that contains it.
const MIN_LIKELIHOOD_IN_AREA: u32 = 10_000;
/// Minimum likelihood of a place for preferring it to the state or country of its alternate name that contains it: New
/// York City is called New York, but Oklahoma City is not called Oklahoma.
const MIN_LIKELIHOOD_BY_ALTERNATE_NAME: u32 = 100_000;
/// Minimum population of a place for preferring it to a state or country of its name elsewhere, as for Washington.
const MIN_POPULATION_ELSEWHERE: u32 = 500_000;
/// Minimum ratio of populations for preferring a place without a post office of its name to a place with a post office.
const POST_OFFICE_FACTOR: u32 = 20;
/// Minimum population of a namesake in the United States or Canada that makes a place abroad uncertain, and the maximum
/// ratio of their populations.
const MIN_NAMESAKE_POPULATION: u32 = 20_000;
const MAX_NAMESAKE_RATIO: u32 = 50;
/// Maximum ratio of likelihoods of a place in the United States or Canada and a larger namesake abroad.
const SIMILAR: u32 = 4;
/// Minimum population of a place for finding it without the word `City` at the end of its name.
const LARGE_CITY_POPULATION: u32 = 100_000;
/// Maximum ratio between the likelihoods of the result and of an alternative.
const MAX_ALTERNATIVE_RATIO: u32 = 100;
/// Maximum distance between a town and a post office of its name in its county that belongs to it.
const SAME_TOWN_DISTANCE: Distance = Distance::miles(40.0);
/// Minimum likelihood of a place in the United States or Canada for a confident match without an area.
const CONFIDENT_LIKELIHOOD: u32 = 5_000;
/// Minimum likelihood of a place outside the United States and Canada for a confident match without an area.
const CONFIDENT_LIKELIHOOD_ABROAD: u32 = 100_000;

/// Names that are also generic words for parts of a city or county. Sorted alphabetically.
#[rustfmt::skip]
const GENERIC_NAMES: [&str; 34] = [
    "bay", "capitol", "center", "central", "delta", "eastend", "eastside", "harbor", "heights", "hill", "hills",
    "island", "lake", "lakeside", "moon", "mountain", "northbay", "northend", "northshore", "northside", "park",
    "port", "river", "riviera", "southbay", "southend", "southshore", "southside", "thevalley", "union", "uptown",
    "valley", "village", "westside",
];

impl Gazetteer {
    /// Finds a place by its exact name, in the area that the text names.
    pub(super) fn place_by_name(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        let mut queries = location.queries().iter().filter(|query| query.before.is_none());
        let (query, found) = queries.find_map(|query| {
            // Without an area in the query, the name itself may be an area.
            let areas = if query.within == Within::Anywhere { location.areas() } else { &[] };
            Some((query, self.exactly(query, areas)?))
        })?;
        if query.within != Within::Anywhere {
            // CA is California rather than Canada, unless the text names a city.
            let is_guess = matches!(query.within, Within::Country(_))
                && location.core.ends_with("CA")
                && !self.has_city(&query.name, query.within);
            return Some(Ok(if is_guess { found.cap_confidence(0.5) } else { found }));
        }
        // Example: Newton, IA, precedes the smaller place Newtonia.
        for other in queries.filter(|query| matches!(query.within, Within::Region(_))) {
            let population = self.population_of_likeliest(&other.name, other.within);
            if population > self.population_of_likeliest(&query.name, query.within) {
                return Some(Ok(self.exactly(other, &[]).unwrap_or(found)));
            }
        }
        let is_uncertain = self.has_larger_division_abroad(&found, &query.name);
        Some(Ok(if is_uncertain { found.cap_confidence(0.5) } else { found }))
    }

    /// Finds the places with exactly the name of a query. `areas` are the regions and countries with this name.
    pub(super) fn exactly(&self, query: &Query<'_>, areas: &[Within]) -> Option<Resolved> {
        let is_anywhere = query.within == Within::Anywhere;
        let mut found = self.named_in_order(&query.name, query.within);
        // Example: `Virginia, USA`.
        let state = state_in_country(query);
        let areas = state.as_ref().map_or(areas, std::slice::from_ref);
        let is_area = (is_anywhere || state.is_some()) && !areas.is_empty();
        if is_area {
            found.retain(|&candidate| self.outranks_area(candidate, self.is_in_any(candidate, areas)));
        }
        self.remove_unlikely_alternatives(&mut found, query.within);
        found.truncate(1 + MAX_ALTERNATIVES);
        let mut resolved = self.resolved(&found, query, PlaceSource::Place)?;

        let first = found[0];
        let is_elsewhere = is_area && !self.is_in_any(first, areas);
        let is_common = is_anywhere && GENERIC_NAMES.binary_search(&query.name.as_str()).is_ok();
        // Three lower-case letters are more likely a word than an alternate name.
        let is_word = is_anywhere && query.name.len() <= 3 && !is_upper(query.written) && !first.is_main_name();
        if is_elsewhere || is_common || is_word || self.has_namesake_elsewhere(&found, query.within) {
            resolved = resolved.cap_confidence(0.5);
        }
        if !is_anywhere
            && !first.is_main_name()
            && self.population(first.place()) < LARGE_CITY_POPULATION
            && fold(self.name(first.place())).strip_suffix("city") == Some(&query.name)
        {
            // Denver, TX, is treated as unknown rather than as Denver City.
            let note = PlaceNote::FuzzyMatch { asked: query.written.to_owned(), place: resolved.label() };
            resolved = resolved.cap_confidence(0.7).with_note(note);
        }
        Some(resolved)
    }

    /// Returns the population of the likeliest place with a folded name, or 0 if there is none.
    pub(super) fn population_of_likeliest(&self, name: &str, within: Within) -> u32 {
        self.named(name, within).next().map_or(0, |candidate| self.population(candidate.place()))
    }

    fn has_city(&self, name: &str, within: Within) -> bool {
        self.named(name, within).any(|candidate| self.population(candidate.place()) >= LARGE_CITY_POPULATION)
    }

    fn is_in_any(&self, candidate: Candidate, areas: &[Within]) -> bool {
        let area = self.area(candidate.place());
        areas.iter().any(|within| within.contains(area))
    }

    /// Returns `true` if a place is in the United States or Canada.
    fn is_here(&self, candidate: Candidate) -> bool {
        self.area(candidate.place()).region.is_some()
    }

    /// Checks whether the first place has a namesake that is meant as often. For a place abroad, it is a place in the
    /// United States or Canada that is not much smaller, or has the name as its main name; for a place in these
    /// countries, a larger place abroad with a similar likelihood: `Odessa`.
    fn has_namesake_elsewhere(&self, found: &[Candidate], within: Within) -> bool {
        let [first, others @ ..] = found else { return false };
        if within != Within::Anywhere {
            return false;
        }
        let population = self.population(first.place());
        let is_here = self.is_here(*first);
        others.iter().filter(|candidate| self.is_here(**candidate) != is_here).any(|candidate| {
            let other = self.population(candidate.place());
            if is_here {
                return other > population && self.likelihood(*candidate).saturating_mul(SIMILAR) >= population;
            }
            let is_likelier_name = candidate.is_main_name() && !first.is_main_name();
            other >= MIN_NAMESAKE_POPULATION
                && (is_likelier_name || other.saturating_mul(MAX_NAMESAKE_RATIO) >= population)
        })
    }

    /// Removes improbable alternatives of the first place: post offices of the place itself and, if the query names no
    /// area, much less likely places.
    fn remove_unlikely_alternatives(&self, found: &mut Vec<Candidate>, within: Within) {
        let Some(first) = found.first().copied() else { return };
        let likelihood = self.likelihood(first);
        found.retain(|&candidate| {
            if candidate == first {
                return true;
            }
            if within == Within::Anywhere
                && self.likelihood(candidate).saturating_mul(MAX_ALTERNATIVE_RATIO) < likelihood
            {
                return false;
            }
            let is_post_office = self.population(candidate.place()) == 0;
            !is_post_office || !self.are_in_one_town(candidate.place(), first.place())
        });
    }

    fn are_in_one_town(&self, one: u32, other: u32) -> bool {
        let Some(county) = self.county_of(one) else { return false };
        self.county_of(other) == Some(county) && self.point(one).distance(self.point(other)) <= SAME_TOWN_DISTANCE
    }

    /// Returns `true` if a place is preferred to a state or country of its name. `is_inside` is `true` if the place is
    /// in it.
    fn outranks_area(&self, candidate: Candidate, is_inside: bool) -> bool {
        let likelihood = self.likelihood(candidate);
        match (is_inside, candidate.is_main_name()) {
            (true, true) => likelihood >= MIN_LIKELIHOOD_IN_AREA,
            (true, false) => likelihood >= MIN_LIKELIHOOD_BY_ALTERNATE_NAME,
            (false, is_main_name) => is_main_name && likelihood >= MIN_POPULATION_ELSEWHERE,
        }
    }

    /// Returns the candidates for a folded name, sorted by descending likelihood. In a region, a place with a post
    /// office of its name precedes a place without a post office, unless the latter is much larger, because people use
    /// the place names of postal addresses.
    pub(super) fn named_in_order(&self, name: &str, within: Within) -> Vec<Candidate> {
        /// Maximum number of candidates for a name.
        const MAX_NAMED: usize = 64;
        let mut found: Vec<Candidate> = self.named(name, within).take(MAX_NAMED).collect();
        if found.len() < 2 || !matches!(within, Within::Region(_)) {
            return found;
        }
        let first = found[0];
        if !first.is_main_name() || self.has_post_office(first.place()) {
            return found;
        }
        let Some(at) = found.iter().position(|candidate| self.has_post_office(candidate.place())) else {
            return found;
        };
        let population = self.population(found[at].place());
        let is_outgrown =
            population > 0 && self.population(first.place()) >= population.saturating_mul(POST_OFFICE_FACTOR);
        if !is_outgrown {
            found[..=at].rotate_right(1);
        }
        found
    }

    /// Creates a result from the first candidate, with the others as alternatives.
    pub(super) fn resolved(&self, found: &[Candidate], query: &Query<'_>, source: PlaceSource) -> Option<Resolved> {
        let places = distinct_places(found.iter().copied(), 1 + MAX_ALTERNATIVES);
        let (first, others) = places.split_first()?;
        let likelihood = self.likelihood(found[0]);
        let all: f64 = found.iter().map(|candidate| f64::from(self.likelihood(*candidate)) + 1.0).sum();
        let share = (f64::from(likelihood) + 1.0) / all;
        let by_main_name = if found[0].is_main_name() { 1.0 } else { 0.9 };
        let place = self.place_among(*first, &places);
        let confidence = match query.within {
            Within::Anywhere => {
                let min = if place.region.is_some() { CONFIDENT_LIKELIHOOD } else { CONFIDENT_LIKELIHOOD_ABROAD };
                (0.9 * share * by_main_name).min(if likelihood < min { 0.5 } else { 0.9 })
            }
            _ => (0.8 + 0.15 * share) * by_main_name,
        };
        Some(Resolved {
            region: place.region,
            division: place.division,
            country: Some(place.country),
            county: place.county,
            is_bare_name: query.within == Within::Anywhere,
            alternatives: others.iter().map(|at| self.place_among(*at, &places)).collect(),
            ..Resolved::at(place.name, place.point, source, confidence)
        })
    }

    /// Returns a place, including its county if another of the places has an equal name and area.
    fn place_among(&self, place: u32, places: &[u32]) -> Place {
        for other in places {
            if *other != place && self.area(*other) == self.area(place) && self.name(*other) == self.name(place) {
                return self.place(place);
            }
        }
        self.place_without_county(place)
    }
}

/// Returns the state that a query within a country names, as in `Virginia, USA`.
fn state_in_country(query: &Query<'_>) -> Option<Within> {
    let Within::Country(country) = query.within else { return None };
    let region = Region::parse(query.written)?;
    if region.country() == country { Some(Within::Region(region)) } else { None }
}
