//! Resolver steps that find places by similar names: misspelt names, misspelt states, and names with additional words.

use super::candidate::Candidate;
use super::exact::MAX_ALTERNATIVES;
use super::location_text::LocationText;
use super::query::{Query, Within};
use super::resolve::{PlaceSource, Resolved};
use super::spelling::{EditDistance, FuzzyBudget};
use super::steps::PlaceAnswer;
use super::{Gazetteer, PlaceNote};
use crate::fold::{fold, words};
use crate::region::Region;

/// Minimum likelihood of a place found by a fuzzy match.
const MIN_LIKELIHOOD: u32 = 10_000;
/// Minimum population of a place for a confident match by a misspelt name without an area.
const CONFIDENT_POPULATION: u32 = 100_000;
/// Minimum likelihood of a place found at edit distance two by a name shorter than [`LONG_NAME_LETTERS`].
const MIN_SHORT_NAME_LIKELIHOOD: u32 = 500_000;
const LONG_NAME_LETTERS: usize = 9;
/// Maximum number of (slow) fuzzy searches for the queries of a text.
const MAX_QUERIES: usize = 6;
/// Generic words at the end of place names, sorted by descending length, each with the form that the gazetteer uses.
const GENERIC_WORDS: [(&[&str], &str); 9] = [
    (&["charter", "township"], "township"),
    (&["civil", "township"], "township"),
    (&["township"], "township"),
    (&["town"], "town"),
    (&["borough"], "borough"),
    (&["boro"], "borough"),
    (&["village"], "village"),
    (&["city"], "city"),
    (&["municipality"], "municipality"),
];

impl Gazetteer {
    /// Finds a place despite a typing mistake in its name, or two mistakes in a long name.
    pub(super) fn fuzzy_place(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        // Queries with an area are tried first, because they have fewer candidates.
        let (anywhere, within): (Vec<&Query<'_>>, Vec<_>) = location
            .queries()
            .iter()
            .filter(|query| !query.written.contains(','))
            .partition(|query| query.within == Within::Anywhere);
        let ordered: Vec<&Query<'_>> = within.into_iter().chain(anywhere).take(MAX_QUERIES).collect();
        for distance in [EditDistance::One, EditDistance::Two] {
            for query in &ordered {
                if let Some(found) = self.fuzzy_match(query, distance, location.budget) {
                    return Some(Ok(found));
                }
            }
        }
        None
    }

    /// Returns the likeliest place with a name that is similar to the name of a query.
    pub(super) fn fuzzy_match(
        &self,
        query: &Query<'_>,
        distance: EditDistance,
        budget: &FuzzyBudget,
    ) -> Option<Resolved> {
        let is_short = distance == EditDistance::Two && query.name.chars().count() < LONG_NAME_LETTERS;
        let min = if is_short { MIN_SHORT_NAME_LIKELIHOOD } else { MIN_LIKELIHOOD };
        let found = self.fuzzy_candidates(query, distance, min, budget);
        let first = *found.first()?;
        let resolved = self.resolved(&found, query, PlaceSource::FuzzyMatch)?.scale_confidence(0.7);
        let is_sure = query.before.is_none()
            && (query.within != Within::Anywhere
                || (resolved.region.is_some() && self.is_large_and_similar(first, &query.name)));
        let note = PlaceNote::FuzzyMatch { asked: query.written.to_owned(), place: resolved.label() };
        let resolved = resolved.cap_confidence(if is_sure { 1.0 } else { 0.5 }).with_note(note);
        let Some(unknown) = query.before else { return Some(resolved) };
        let note = PlaceNote::OnlyPart { unknown: unknown.to_owned(), place: resolved.label() };
        Some(resolved.with_note(note))
    }

    /// Returns `true` if a candidate is a large place and its main name starts with the first letter of the misspelt
    /// name.
    fn is_large_and_similar(&self, candidate: Candidate, name: &str) -> bool {
        candidate.is_main_name()
            && self.population(candidate.place()) >= CONFIDENT_POPULATION
            && fold(self.name(candidate.place())).chars().next() == name.chars().next()
            && name.len() > 4
    }

    /// Finds a place in a misspelt state, as in `Miami, Flordia`.
    pub(super) fn place_in_fuzzy_region(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        let (name, region) = location.core.rsplit_once([',', ' '])?;
        let region = region.trim();
        let meant = Region::find_similar(region)?;
        let name = name.trim_end_matches([',', ' ']);
        let name = name.rsplit_once(',').map_or(name, |(_, name)| name.trim());
        let found = self.exactly(&Query::new(name, Within::Region(meant)), &[])?;
        let note = PlaceNote::FuzzyMatch { asked: region.to_owned(), place: meant.name().to_owned() };
        Some(Ok(found.scale_confidence(0.7).with_note(note)))
    }

    /// Finds a place without the generic word of its name, as in `Shelby Township, MI` and `Smithtown Town, NY`, if
    /// there is no such township.
    pub(super) fn place_without_kind(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        let found = self.shortened(location, 0.7, |words| {
            let (kind, name) =
                GENERIC_WORDS.iter().find(|(kind, _)| words.len() > kind.len() && ends_with(words, kind))?;
            let core = words[..words.len() - kind.len()].concat();
            Some(vec![format!("{core}{name}"), core])
        });
        found.map(Ok)
    }

    /// Finds a place without a direction before its name, as in `North Chesterfield, VA`. Post offices add such
    /// directions.
    pub(super) fn place_without_direction(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        const DIRECTIONS: [&str; 4] = ["east", "north", "south", "west"];
        let found = self.shortened(location, 0.6, |words| {
            let (first, name) = words.split_first()?;
            if name.is_empty() || !DIRECTIONS.contains(&first.as_str()) {
                return None;
            }
            Some(vec![name.concat()])
        })?;
        // In `South Central LA`, the last word may not be Louisiana.
        Some(Ok(if location.core.contains(',') { found } else { found.cap_confidence(0.5) }))
    }

    /// Repeatedly shortens a name in a named region until a place is known. The place need not have a post office,
    /// because the longer name has none.
    fn shortened(
        &self,
        location: &LocationText<'_>,
        factor: f64,
        shorten: impl Fn(&[String]) -> Option<Vec<String>>,
    ) -> Option<Resolved> {
        let in_region = location.queries().iter().filter(|query| matches!(query.within, Within::Region(_)));
        for query in in_region {
            let Some(names) = shorten(&words(query.written)) else { continue };
            for name in names {
                let found: Vec<Candidate> = self.named(&name, query.within).take(1 + MAX_ALTERNATIVES).collect();
                let Some(resolved) = self.resolved(&found, query, PlaceSource::Place) else { continue };
                let note = PlaceNote::FuzzyMatch { asked: query.written.to_owned(), place: resolved.label() };
                let resolved = resolved.scale_confidence(factor).with_note(note);
                // In states with townships, several townships may share a name, and the town may be missing.
                let is_guess = query.name.ends_with("township") || query.before.is_some();
                return Some(if is_guess { resolved.cap_confidence(0.5) } else { resolved });
            }
        }
        None
    }
}

fn ends_with(words: &[String], end: &[&str]) -> bool {
    words[words.len() - end.len()..].iter().eq(end)
}
