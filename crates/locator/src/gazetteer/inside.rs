//! Resolver steps for texts that name something in a place, such as a street, a shop or a part of a city.

use super::around::has_only_filler_words;
use super::landmarks::LandmarkKind;
use super::location_text::LocationText;
use super::parts::{MAX_WORDS, contains_facility_word, is_street, split_at_prepositions, split_at_words};
use super::query::{Query, Within};
use super::resolve::{PlaceSource, Resolved, Unresolved, UnresolvedKind};
use super::spelling::{EditDistance, FuzzyBudget};
use super::steps::PlaceAnswer;
use super::well_known::nearest;
use super::{Gazetteer, PlaceNote};
use crate::fold::fold;
use crate::point::Distance;

/// Maximum confidence of a result that ignores a part of the text.
const MAX_FALLBACK_CONFIDENCE: f64 = 0.5;
/// Maximum confidence of a place that is guessed from the first or last words of the text.
const MAX_END_CONFIDENCE: f64 = 0.4;
/// Minimum population of a locality that follows an unknown part, if no state or country is named.
const MIN_LOCALITY: u32 = 5_000;
/// Minimum likelihood of a place that is guessed from the first or last words, if no state or country is named.
const MIN_END_LIKELIHOOD: u32 = 50_000;
/// Minimum population of a city before an unknown part, if no country is named.
const MIN_LARGE_CITY_POPULATION: u32 = 100_000;
/// Minimum letters of an unknown part after a city. Fewer letters are rather a wrong code of a state.
const MIN_UNKNOWN_LETTERS: usize = 4;
/// Maximum ratio of populations for preferring a place in the United States or Canada to a larger namesake abroad.
const MAX_NAMESAKE_RATIO: u32 = 5;

impl Gazetteer {
    /// Finds a landmark in a place, or only the place if the landmark is unknown.
    pub(super) fn landmark_in_place(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        for (what, place) in split_at_words(location.core) {
            if !what.eq_ignore_ascii_case("airport") && self.landmarks.named(&fold(what)).next().is_none() {
                continue;
            }
            let place = location.part(place.trim_end_matches("'s").trim_end_matches("’s"));
            let Some(place) = self.locality(&place) else { continue };
            if let Some(found) = self.airport_in(what, &place).or_else(|| self.landmark_in(what, &place)) {
                return Some(Ok(found));
            }
        }
        self.in_last_place(location).map(Ok)
    }

    /// Finds the first of two alternatives, as in `Dallas, TX or Houston, TX`, and adds a note about the other.
    pub(super) fn first_of_alternatives(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        let (first, other) = location.core.split_once(" or ")?;
        self.first_of_two(location, first, other)
    }

    /// Finds the first of two twin cities, as in `Fargo-Moorhead` and `Scranton/Wilkes-Barre, PA`, and adds a note
    /// about the other.
    pub(super) fn twin_cities(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        let (first, other) = location.core.split_once(['/', '-', '–'])?;
        if !has_three_letters(first) || !has_three_letters(other) {
            return None;
        }
        self.first_of_two(location, first, other)
    }

    fn first_of_two(&self, location: &LocationText<'_>, first: &str, other: &str) -> Option<PlaceAnswer> {
        // An area after the second place applies to both.
        let text = match other.rsplit_once(',') {
            Some((_, area)) if !first.contains(',') => format!("{first}, {area}"),
            _ => first.to_owned(),
        };
        let place = self.locality(&LocationText::new(&text, location.budget))?;
        place.region?;
        let other = other.split(',').next().unwrap_or(other).trim();
        self.named(&fold(other), Within::Anywhere).next()?;
        let note = PlaceNote::OneOfTwo { other: other.to_owned(), place: place.label() };
        Some(Ok(Resolved { source: PlaceSource::Fallback, ..place }
            .cap_confidence(MAX_FALLBACK_CONFIDENCE)
            .with_note(note)))
    }

    fn in_last_place(&self, location: &LocationText<'_>) -> Option<Resolved> {
        let pairs = split_at_prepositions(location.core);
        let (at, place) =
            pairs.iter().enumerate().find_map(|(at, (_, place))| Some((at, self.locality(&location.part(place))?)))?;
        // The parts before the place are tried from right to left.
        for (before, _) in &pairs[at..] {
            let what = before.rsplit(',').next().unwrap_or_default().trim();
            if let Some(found) = self.feature_in(what, &place) {
                return Some(found);
            }
        }
        let unknown = pairs[at].0;
        if has_only_filler_words(unknown) && !contains_facility_word(unknown) {
            return Some(place);
        }
        if let Some(found) = self.one_of_two_places(location, unknown, pairs[at].1, &place) {
            return Some(found);
        }
        // Streets and highways with these words are in the United States or Canada.
        let place = if is_street(unknown) { self.prefer_domestic_namesake(place) } else { place };
        Some(fallback(place, unknown, MAX_FALLBACK_CONFIDENCE))
    }

    /// Returns the larger of two places in a text that are far apart. Returns `None` if the first part of the text is
    /// not a place.
    fn one_of_two_places(
        &self,
        location: &LocationText<'_>,
        unknown: &str,
        text_of_place: &str,
        place: &Resolved,
    ) -> Option<Resolved> {
        let first = unknown.split(',').next().unwrap_or_default().trim();
        if is_street(first) || !has_three_letters(first) || has_only_filler_words(first) {
            return None;
        }
        let found = self.place_by_name(&LocationText::new(first, location.budget))?.ok()?;
        let population = self.population_of_likeliest(&fold(first), Within::Anywhere);
        if found.source != PlaceSource::Place || population < MIN_LOCALITY {
            return None;
        }
        let is_larger = population >= self.population_of_likeliest(&fold(&place.name), Within::Anywhere);
        let (answer, other) = if is_larger { (found, text_of_place) } else { (place.clone(), first) };
        let note = PlaceNote::Elsewhere { other: other.to_owned(), place: answer.label() };
        let mut answer = Resolved { source: PlaceSource::Fallback, ..answer }
            .cap_confidence(MAX_FALLBACK_CONFIDENCE)
            .with_note(note);
        answer.dropped.push(other.to_owned());
        Some(answer)
    }

    /// Replaces a place abroad by its largest namesake in the United States or Canada, if the namesake is not much
    /// smaller.
    fn prefer_domestic_namesake(&self, place: Resolved) -> Resolved {
        if place.region.is_some() || place.source != PlaceSource::Place {
            return place;
        }
        let here = place.alternatives.iter().filter(|other| other.region.is_some());
        let Some(here) = here.max_by_key(|other| other.population) else { return place };
        let abroad = self.population_of_likeliest(&fold(&place.name), Within::Anywhere);
        if here.population.saturating_mul(MAX_NAMESAKE_RATIO) < abroad {
            return place;
        }
        let answer = Resolved::at(here.name.clone(), here.point, place.source, place.confidence);
        Resolved { region: here.region, country: Some(here.country), ..answer }
    }

    /// Finds the airport, a landmark or a district of a place.
    fn feature_in(&self, what: &str, place: &Resolved) -> Option<Resolved> {
        self.airport_in(what, place).or_else(|| self.landmark_in(what, place)).or_else(|| self.district_of(what, place))
    }

    fn airport_in(&self, what: &str, place: &Resolved) -> Option<Resolved> {
        let has_word = what.split_whitespace().any(|word| word.eq_ignore_ascii_case("airport"));
        if !has_word || !has_only_filler_words(what) {
            return None;
        }
        Some(self.resolved_landmark(self.airport_of(place)?, 0.8))
    }

    /// Returns the nearest landmark with a name, if it is near the place.
    fn landmark_in(&self, what: &str, place: &Resolved) -> Option<Resolved> {
        let name = fold(what);
        let named = self.landmarks.named(&name).chain(self.landmarks.by_code(what.trim()));
        let named = named.filter(|landmark| landmark.kind != LandmarkKind::TooLarge);
        let nearest = nearest(named, |landmark| landmark.point.distance(place.point))?;
        let mut resolved = self.resolved_landmark(nearest, place.confidence.clamp(0.5, 0.9));
        resolved.notes.extend(place.notes.iter().filter(|note| matches!(note, PlaceNote::FuzzyMatch { .. })).cloned());
        Some(resolved)
    }

    /// Returns the nearest other place with a name, if it is near the place.
    fn district_of(&self, what: &str, place: &Resolved) -> Option<Resolved> {
        let within = place.region.map_or(Within::Anywhere, Within::Region);
        let name = fold(what);
        let others = self.named(&name, within).filter(|candidate| {
            // An alternate name of the place itself is not a district.
            candidate.is_main_name() || self.point(candidate.place()).distance(place.point) > Distance::metres(1.0)
        });
        let nearest = nearest(others, |candidate| self.point(candidate.place()).distance(place.point))?;
        let district = self.resolved(&[nearest], &Query::new(what, within), PlaceSource::Place)?;
        Some(district.cap_confidence(0.8).cap_confidence(place.confidence.max(0.5)))
    }

    /// Returns the locality that a part of a text names.
    fn locality(&self, location: &LocationText<'_>) -> Option<Resolved> {
        if fold(location.text).is_empty() || has_only_filler_words(location.text) {
            return None;
        }
        // Example: `Buffalo misspelt, NY`.
        match location.areas() {
            [] => {}
            [Within::Region(region), ..] if region.code() == "DC" => return self.place_by_name(location)?.ok(),
            _ => return None,
        }
        let steps =
            [Self::postcode_only, Self::landmark, Self::division_only, Self::place_by_name, Self::county_by_name];
        match steps.iter().find_map(|step| step(self, location)) {
            Some(Ok(found)) if self.may_be_locality(&found, location) => return Some(found),
            Some(Err(Unresolved { kind: UnresolvedKind::TooLarge, .. })) => return None,
            _ => {}
        }
        let with_area = location.queries().iter().filter(|query| query.within != Within::Anywhere);
        with_area.take(2).find_map(|query| self.fuzzy_match(query, EditDistance::One, location.budget))
    }

    /// Checks that a place is large enough, if the text names no area.
    fn may_be_locality(&self, found: &Resolved, location: &LocationText<'_>) -> bool {
        if found.source != PlaceSource::Place || location.queries().iter().any(|query| query.within != Within::Anywhere)
        {
            return true;
        }
        let name = fold(location.core);
        self.named(&name, Within::Anywhere).any(|candidate| self.population(candidate.place()) >= MIN_LOCALITY)
    }

    /// `Brno, South Moravia, Czech Republic`: returns the city before a part that is not known, in the country or
    /// division at the end of the text. Without such an area, only a large city.
    pub(super) fn city_before_unknown_part(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        let (name, rest) = location.core.split_once(',')?;
        let end = rest.rsplit(',').next().unwrap_or(rest);
        let (unknown, within, min) = match Within::ending(end).first() {
            Some(Within::Region(_)) => return None,
            Some(area) => (rest.rsplit_once(',')?.0.trim(), *area, MIN_LOCALITY),
            None => (rest.trim(), Within::Anywhere, MIN_LARGE_CITY_POPULATION),
        };
        let is_name = unknown.chars().filter(|letter| letter.is_alphabetic()).count() >= MIN_UNKNOWN_LETTERS;
        if !is_name || is_street(name) || self.landmarks.named(&fold(unknown)).next().is_some() {
            return None;
        }
        let query = Query::new(name.trim(), within);
        if self.population_of_likeliest(&query.name, within) < min {
            return None;
        }
        Some(Ok(fallback(self.exactly(&query, &[])?, unknown, MAX_FALLBACK_CONFIDENCE)))
    }

    /// Finds a place at the end or the start of a text without separators: `123 Main St Austin TX`, `Seattle Pike Place
    /// Market`.
    pub(super) fn prefix_or_suffix_place(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        for query in location.queries().iter().filter(|query| query.within != Within::Anywhere) {
            if let Some(found) = self.place_in_last_words(query.written, query.within, location.budget) {
                return Some(Ok(found));
            }
        }
        if let Some(found) = self.place_in_last_words(location.core, Within::Anywhere, location.budget)
            && found.region.is_some()
        {
            return Some(Ok(found));
        }
        self.place_in_first_words(location.core, location.budget).map(Ok)
    }

    fn place_in_last_words(&self, text: &str, within: Within, budget: &FuzzyBudget) -> Option<Resolved> {
        let breaks = text.rmatch_indices(char::is_whitespace).map(|(at, _)| at);
        let breaks: Vec<usize> = breaks.take(MAX_WORDS).collect();
        breaks.into_iter().rev().find_map(|at| self.place_of_words(&text[at..], within, &text[..at], budget))
    }

    fn place_in_first_words(&self, text: &str, budget: &FuzzyBudget) -> Option<Resolved> {
        if !contains_facility_word(text) {
            return None;
        }
        let breaks: Vec<usize> = text.match_indices(char::is_whitespace).map(|(at, _)| at).take(MAX_WORDS).collect();
        breaks.into_iter().rev().find_map(|at| self.place_of_words(&text[..at], Within::Anywhere, &text[at..], budget))
    }

    /// Returns the place with a name that stands next to an unknown part of the text.
    fn place_of_words(&self, name: &str, within: Within, unknown: &str, budget: &FuzzyBudget) -> Option<Resolved> {
        let query = Query::new(name.trim(), within);
        let areas: Vec<Within> = Within::named(query.written).collect();
        if !areas.is_empty() && query.written.len() == 2 {
            return None;
        }
        if within == Within::Anywhere
            && matches!(self.division_only(&LocationText::new(query.written, budget)), Some(Err(_)))
        {
            return None;
        }
        if within == Within::Anywhere
            && !self.named(&query.name, within).any(|candidate| self.likelihood(candidate) >= MIN_END_LIKELIHOOD)
        {
            return None;
        }
        Some(fallback(self.exactly(&query, &areas)?, unknown.trim(), MAX_END_CONFIDENCE))
    }
}

pub(super) fn has_three_letters(text: &str) -> bool {
    text.chars().filter(|letter| letter.is_alphabetic()).count() > 2
}

/// Converts a place to the result for an unknown text in it, with a note and a limited confidence.
fn fallback(place: Resolved, unknown: &str, max_confidence: f64) -> Resolved {
    let label = place.label();
    let note = if is_street(unknown) {
        PlaceNote::Street { place: label }
    } else {
        PlaceNote::OnlyPart { unknown: unknown.to_owned(), place: label }
    };
    let mut place = Resolved { source: PlaceSource::Fallback, ..place }.cap_confidence(max_confidence).with_note(note);
    place.dropped.push(unknown.to_owned());
    place
}
