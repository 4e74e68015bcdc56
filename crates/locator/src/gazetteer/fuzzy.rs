//! Fuzzy matches of place names.

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

/// Minimum likelihood of a fuzzy match.
const MIN_LIKELIHOOD: u32 = 10_000;
/// Minimum population of a place that is certain by a misspelt name, if no area is named.
const LARGE: u32 = 100_000;
/// Minimum likelihood of a fuzzy match at edit distance two for a name of less than [`LONG`] letters.
const VERY_LARGE: u32 = 500_000;
const LONG: usize = 9;
/// Maximum queries of a text for (slow) fuzzy searches.
const MAX_QUERIES: usize = 6;
/// Kinds of places at the end of a name, the longest first, each with the form that names use.
const KINDS: [(&[&str], &str); 9] = [
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
    /// Returns a place with one typing mistake in its name, or two if it is long.
    pub(super) fn fuzzy_place(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        // Queries with an area come first, because they have fewer candidates.
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

    /// Returns the likeliest place with a similar name to a query.
    pub(super) fn fuzzy_match(
        &self,
        query: &Query<'_>,
        distance: EditDistance,
        budget: &FuzzyBudget,
    ) -> Option<Resolved> {
        let is_short = distance == EditDistance::Two && query.name.chars().count() < LONG;
        let min = if is_short { VERY_LARGE } else { MIN_LIKELIHOOD };
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

    /// Checks for a large place with a main name that begins with the first letter of a misspelt name.
    fn is_large_and_similar(&self, candidate: Candidate, name: &str) -> bool {
        candidate.is_main_name()
            && self.population(candidate.place()) >= LARGE
            && fold(self.name(candidate.place())).chars().next() == name.chars().next()
            && name.len() > 4
    }

    /// `Miami, Flordia`: returns the place in the state with the most similar name.
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

    /// `Shelby Township, MI`, `Smithtown Town, NY`: returns the place of that name if there is no such township.
    pub(super) fn place_without_kind(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        let found = self.shortened(location, 0.7, |words| {
            let (kind, name) = KINDS.iter().find(|(kind, _)| words.len() > kind.len() && ends_with(words, kind))?;
            let core = words[..words.len() - kind.len()].concat();
            Some(vec![format!("{core}{name}"), core])
        });
        found.map(Ok)
    }

    /// `North Chesterfield, VA`: returns the place without the direction that post offices add to names.
    pub(super) fn place_without_direction(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        const DIRECTIONS: [&str; 4] = ["east", "north", "south", "west"];
        let found = self.shortened(location, 0.6, |words| {
            let (first, name) = words.split_first()?;
            if name.is_empty() || !DIRECTIONS.contains(&first.as_str()) {
                return None;
            }
            Some(vec![name.concat()])
        })?;
        // In South Central LA the last word need not be Louisiana.
        Some(Ok(if location.core.contains(',') { found } else { found.cap_confidence(0.5) }))
    }

    /// Returns the place of the first known prefix of a name in a named region. It need not have a post office, because
    /// the longer name has none.
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
                // In a state of townships, several share a name, and the town may be missing.
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
