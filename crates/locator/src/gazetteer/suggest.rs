//! Suggestions for texts that were not resolved.

use super::Gazetteer;
use super::candidate::{Candidate, distinct_places};
use super::exact::MAX_ALTERNATIVES;
use super::location_text::LocationText;
use super::parts::is_street;
use super::query::{Query, Within};
use super::resolve::{Unresolved, UnresolvedKind};
use super::spelling::EditDistance;
use crate::fold::fold;

/// Maximum number of suggestions outside the area that a text names.
const MAX_ELSEWHERE: usize = 2;

impl Gazetteer {
    /// Creates the error for a text that was not resolved, with suggestions.
    pub(super) fn unresolved(&self, location: &LocationText<'_>) -> Unresolved {
        let text = location.core;
        if is_street(text) && location.queries().iter().all(|query| query.within == Within::Anywhere) {
            let reason = format!("streets are not known here, and {text:?} names no city; give the city and state");
            return Unresolved::new(UnresolvedKind::Unknown, reason);
        }
        let reason = if let Some(reason) = self.known_elsewhere(location) {
            reason
        } else if text.contains(char::is_alphabetic) {
            format!("no place is known as {text:?}")
        } else {
            format!("{text:?} is neither a ZIP code nor coordinates on the earth, such as 40.7, -74.0")
        };
        let suggestions = self.suggested(location).into_iter().map(|at| self.place(at)).collect();
        Unresolved { suggestions, ..Unresolved::new(UnresolvedKind::Unknown, reason) }
    }

    /// Returns the reason if the place in a text is known, but not in the named state or country.
    fn known_elsewhere(&self, location: &LocationText<'_>) -> Option<String> {
        let queries = location.queries().iter().filter(|query| query.before.is_none());
        let mut elsewhere = queries.filter(|query| query.within != Within::Anywhere);
        let (query, place) =
            elsewhere.find_map(|query| Some((query, self.named(&query.name, Within::Anywhere).next()?)))?;
        let place = self.place_without_county(place.place());
        Some(format!("{:?} is not known in {}; did you mean {}?", query.written, query.within.name(), place.label()))
    }

    /// Returns suggestions from the first source that has any: places with the name elsewhere followed by the largest
    /// places of the named area, places with similar names, places with a similar start of their name, or the largest
    /// places of the named area.
    fn suggested(&self, location: &LocationText<'_>) -> Vec<u32> {
        let queries = location.queries();
        let name = location.core.split(',').next().unwrap_or_default();
        let folded = fold(name);
        let names = queries.iter().map(|query| query.name.as_str()).chain([folded.as_str()]);
        let elsewhere = names.flat_map(|name| self.named(name, Within::Anywhere));
        let mut elsewhere = distinct_places(elsewhere, MAX_ALTERNATIVES);
        let area = queries.iter().map(|query| query.within).find(|within| *within != Within::Anywhere);
        if let Some(area) = area
            && !elsewhere.is_empty()
        {
            elsewhere.truncate(MAX_ELSEWHERE);
            let inside = self
                .with_longest_common_prefix(&queries[0].name, area, MAX_ALTERNATIVES)
                .into_iter()
                .map(Candidate::place);
            let largest = self.largest(area);
            for at in inside.chain(largest) {
                if elsewhere.len() < MAX_ALTERNATIVES && !elsewhere.contains(&at) {
                    elsewhere.push(at);
                }
            }
        }
        if !elsewhere.is_empty() {
            return elsewhere;
        }
        let anywhere = Query::new(name, Within::Anywhere);
        let similar = self.fuzzy_candidates(&anywhere, EditDistance::One, 0, location.budget);
        if !similar.is_empty() {
            return distinct_places(similar, MAX_ALTERNATIVES);
        }
        let within = queries.iter().map(|query| query.within).find(|within| *within != Within::Anywhere);
        let similar = self.with_longest_common_prefix(&folded, within.unwrap_or(Within::Anywhere), MAX_ALTERNATIVES);
        if !similar.is_empty() {
            return distinct_places(similar, MAX_ALTERNATIVES);
        }
        within.map(|within| self.largest(within).collect()).unwrap_or_default()
    }

    /// Returns the places in an area, sorted by descending population.
    pub(super) fn largest(&self, within: Within) -> impl Iterator<Item = u32> {
        let places = (0..).zip(&self.contents.places);
        let inside = places.filter(move |(_, place)| within.contains(self.contents.areas[place.area as usize]));
        inside.map(|(at, _)| at).take(MAX_ALTERNATIVES)
    }
}
