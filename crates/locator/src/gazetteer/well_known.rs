//! Resolver steps for well-known names other than populated places: airports, landmarks, regions and nicknames.

use super::candidate::Candidate;
use super::exact::MAX_ALTERNATIVES;
use super::landmarks::{Landmark, LandmarkKind};
use super::location_text::LocationText;
use super::query::{Query, Within, is_upper};
use super::resolve::{PlaceSource, Resolved, Unresolved};
use super::steps::PlaceAnswer;
use super::{Gazetteer, Place, PlaceNote};
use crate::country::Country;
use crate::fold::fold;
use crate::point::Distance;

/// Words that accompany the code of an airport.
const CODE_WORDS: [&str; 6] = ["airport", "airports", "code", "iata", "icao", "intl"];
/// Minimum population of a place for preferring it to an airport, if the text is its name and the airport's code in
/// lower case.
const MIN_POPULATION_OVER_CODE: u32 = 5_000;
/// Words that are recognized as airport codes only in upper case. Sorted alphabetically.
#[rustfmt::skip]
const UPPERCASE_CODES: [&str; 64] = [
    "act", "ads", "aid", "art", "ask", "bar", "bay", "big", "bit", "bos", "bus", "cat", "cod", "cow", "dam", "day", "del", "den", "dog", "eat",
    "ego", "fat", "fun", "gum", "ham", "hen", "hot", "ice", "lab", "lap", "law", "lit", "mad", "man", "map", "max", "mia", "mob", "net", "nut",
    "oil", "pay", "pen", "pet", "pie", "pin", "pit", "ram", "rap", "red", "san", "sat", "sea", "sit", "sky", "son", "sun", "tax",
    "tin", "top", "van", "vip", "web", "zoo",
];
/// Frequent words that are recognized as codes only together with a word such as `airport`. Sorted alphabetically.
#[rustfmt::skip]
const STOP_WORDS: [&str; 36] = [
    "all", "and", "any", "are", "btc", "but", "buy", "can", "did", "far", "for", "get", "has", "her", "him", "his", "how", "its", "let", "new",
    "not", "now", "off", "old", "one", "our", "out", "see", "the", "too", "two", "use", "was", "way", "who", "you",
];
/// Minimum likelihood of a place to be listed as an alternative to a landmark of its name.
const MIN_ALTERNATIVE_LIKELIHOOD: u32 = 20_000;
/// Maximum number of fuzzy searches for queries with a region or country.
const MAX_FUZZY_QUERIES: usize = 4;
/// Maximum distance between a town and a landmark of its name that need not be distinguished.
const SAME_PLACE_DISTANCE: Distance = Distance::miles(10.0);
/// Minimum population of a town in the named state for preferring it to a landmark of its name elsewhere.
const MIN_TOWN_POPULATION: u32 = 1_000;
/// Maximum radius of a region for a confident result.
const LARGE_REGION_RADIUS: Distance = Distance::miles(60.0);
/// Maximum distance between a landmark and the place that a text names with it.
const MAX_DISTANCE_FROM_PLACE: Distance = Distance::miles(50.0);
/// Minimum distance between a landmark and an alternative with its name.
const MIN_ALTERNATIVE_DISTANCE: Distance = Distance::miles(25.0);

impl Gazetteer {
    /// Resolves the code of an airport, with or without a word such as `airport`. Codes are preferred to cities with
    /// the code as an alternate name.
    pub(super) fn airport_code(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        let mut codes = location.core.split_whitespace().filter(|word| !is_code_word(word));
        let code = codes.next()?;
        if codes.next().is_some() {
            return None;
        }
        let airport = self.landmarks.by_code(code)?;
        if code.len() < location.core.len() {
            return Some(Ok(self.resolved_landmark(airport, 0.95)));
        }
        let name = fold(code);
        let place = self.named(&name, Within::Anywhere).find(|candidate| {
            candidate.is_main_name() && self.population(candidate.place()) >= MIN_POPULATION_OVER_CODE
        });
        if self.landmarks.named(&name).any(|landmark| landmark.kind == LandmarkKind::Landmark)
            || is_rather_a_word(code, place.is_some())
        {
            return None;
        }
        let is_sure = is_upper(code) && place.is_none();
        let mut resolved = self.resolved_landmark(airport, if is_sure { 0.95 } else { 0.7 });
        resolved.alternatives.extend(place.map(|place| self.place(place.place())));
        Some(Ok(resolved))
    }

    /// Resolves the exact name of a landmark, with or without its state or country.
    pub(super) fn landmark(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        let mut queries = location.queries().iter().filter(|query| query.before.is_none());
        queries.find_map(|query| self.landmark_of_query(query, location.core))
    }

    fn landmark_of_query(&self, query: &Query<'_>, text: &str) -> Option<PlaceAnswer> {
        let is_anywhere = query.within == Within::Anywhere;
        let is_single_word = is_anywhere && !query.written.contains(char::is_whitespace);
        if is_single_word
            && self.landmarks.by_exact_name(&query.name).next().is_none()
            && !query.name.ends_with("airport")
        {
            return None;
        }
        let coded = if is_anywhere { None } else { self.landmarks.by_code(query.written) };
        let mut found: Vec<&Landmark> = self.landmarks.named(&query.name).chain(coded).collect();
        if found.is_empty()
            && let Some(name) = query.name_without_thing()
        {
            found.extend(self.landmarks.named(name));
        }
        found.retain(|landmark| {
            self.is_landmark_in(landmark, query.within) && (is_anywhere || !names_its_country(landmark))
        });
        let [first, others @ ..] = &found[..] else { return None };
        let places = self.named_in_order(&query.name, query.within);
        if let Some(town) = places.iter().find(|candidate| candidate.is_main_name())
            && self.outranks_landmark(town.place(), first, is_anywhere)
        {
            return None;
        }
        if first.kind == LandmarkKind::TooLarge {
            let cities = found.iter().filter_map(|landmark| self.city_of(landmark));
            let suggestions = cities.map(|at| self.place(at)).collect();
            return Some(Err(Unresolved { suggestions, ..Unresolved::too_large(text) }));
        }
        Some(Ok(self.resolved_landmarks(first, others, &places, is_anywhere)))
    }

    /// Returns `true` if a town is preferred to a landmark of its name. A small town abroad, such as La Guardia in
    /// Venezuela, is not preferred to an airport, but a large city is.
    fn outranks_landmark(&self, town: u32, landmark: &Landmark, is_anywhere: bool) -> bool {
        let population = self.population(town);
        let distance = self.point(town).distance(landmark.point);
        if is_anywhere {
            return landmark.kind == LandmarkKind::Airport
                && population >= MIN_ALTERNATIVE_LIKELIHOOD
                && distance <= MAX_DISTANCE_FROM_PLACE;
        }
        landmark.kind != LandmarkKind::Landmark || (population >= MIN_TOWN_POPULATION && distance > SAME_PLACE_DISTANCE)
    }

    /// Creates a result from the first of several landmarks, with the other landmarks and places as alternatives.
    fn resolved_landmarks(
        &self,
        first: &Landmark,
        others: &[&Landmark],
        places: &[Candidate],
        is_anywhere: bool,
    ) -> Resolved {
        let apart = others.iter().filter(|other| first.point.distance(other.point) > MIN_ALTERNATIVE_DISTANCE);
        let others: Vec<Place> = apart.map(|other| self.place_of(other)).collect();
        let rivals = places.iter().filter(|candidate| self.is_rival(**candidate, first, is_anywhere));
        let rivals: Vec<Place> = rivals.map(|candidate| self.place(candidate.place())).collect();
        let confidence = match (is_anywhere, others.is_empty(), rivals.is_empty()) {
            _ if first.kind == LandmarkKind::Region && first.radius > LARGE_REGION_RADIUS => 0.5,
            (_, false, _) | (false, true, false) => 0.5,
            (true, true, false) => 0.6,
            (true, true, true) => 0.85,
            (false, true, true) => 0.9,
        };
        let mut resolved = self.resolved_landmark(first, confidence);
        resolved.alternatives = others.into_iter().chain(rivals).take(MAX_ALTERNATIVES).collect();
        resolved
    }

    /// Returns `true` if a place is listed as an alternative to a landmark of its name. In a named state, even a small
    /// town is listed.
    fn is_rival(&self, candidate: Candidate, landmark: &Landmark, is_anywhere: bool) -> bool {
        let distance = landmark.point.distance(self.point(candidate.place()));
        let is_large = self.likelihood(candidate) >= MIN_ALTERNATIVE_LIKELIHOOD && distance > MIN_ALTERNATIVE_DISTANCE;
        let is_town = !is_anywhere && candidate.is_main_name() && distance > SAME_PLACE_DISTANCE;
        is_large || is_town
    }

    /// Creates a result from a landmark, or from the city of a nickname.
    pub(super) fn resolved_landmark(&self, landmark: &Landmark, confidence: f64) -> Resolved {
        let source = match landmark.kind {
            LandmarkKind::Airport => PlaceSource::Airport,
            LandmarkKind::Landmark => PlaceSource::Landmark,
            LandmarkKind::Nickname => PlaceSource::Place,
            LandmarkKind::Region | LandmarkKind::TooLarge => PlaceSource::Region,
        };
        let city = if landmark.kind == LandmarkKind::Nickname { self.city_of(landmark) } else { None };
        let (name, point) = match city {
            Some(city) => (self.name(city), self.point(city)),
            None => (landmark.name, landmark.point),
        };
        let resolved = Resolved::at(name.to_owned(), point, source, confidence);
        let resolved = Resolved { region: landmark.region, country: Some(landmark.country), ..resolved };
        if source == PlaceSource::Region {
            return resolved.with_note(PlaceNote::Middle { of: format!("{}, which is large", landmark.name) });
        }
        resolved
    }

    /// Finds a landmark despite a typing mistake in its name (`Disneylnd`), or two mistakes in a long name.
    pub(super) fn fuzzy_landmark(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        let core = location.core;
        let alone = if core.contains(',') { None } else { Some(Query::new(core, Within::Anywhere)) };
        let located =
            location.queries().iter().filter(|query| query.within != Within::Anywhere && query.before.is_none());
        located.take(MAX_FUZZY_QUERIES).chain(&alone).find_map(|query| {
            let found = self.landmarks.find_similar(&query.name, |landmark| {
                landmark.kind != LandmarkKind::TooLarge && query.within.contains(landmark.area())
            })?;
            let confidence = if query.within == Within::Anywhere { 0.5 } else { 0.65 };
            let resolved = self.resolved_landmark(found, confidence);
            let note = PlaceNote::FuzzyMatch { asked: query.written.to_owned(), place: resolved.name.clone() };
            Some(Ok(Resolved { source: PlaceSource::FuzzyMatch, ..resolved.with_note(note) }))
        })
    }

    /// Returns the airport nearest to a place, if it is near the place.
    pub(super) fn airport_of(&self, place: &Resolved) -> Option<&Landmark> {
        let airports = self.landmarks.all().iter().filter(|landmark| landmark.kind == LandmarkKind::Airport);
        nearest(airports, |airport| airport.point.distance(place.point))
    }

    /// Checks whether a landmark lies in an area. Its division is that of the nearest place.
    fn is_landmark_in(&self, landmark: &Landmark, within: Within) -> bool {
        let mut area = landmark.area();
        if matches!(within, Within::Divisions(_)) {
            let nearest = self.nearest_place_in(landmark.point, landmark.country, None);
            area.division = nearest.and_then(|place| place.division);
        }
        within.contains(area)
    }

    fn city_of(&self, landmark: &Landmark) -> Option<u32> {
        let within = landmark.region.map_or(Within::Country(landmark.country), Within::Region);
        self.named_in_order(&fold(landmark.city), within).first().map(|city| city.place())
    }

    fn place_of(&self, landmark: &Landmark) -> Place {
        self.place_without_people(landmark.name.to_owned(), landmark.region, landmark.country, landmark.point)
    }
}

/// Returns `true` if a landmark has the name of its country: `Malta, MT` is a town in Montana.
fn names_its_country(landmark: &Landmark) -> bool {
    landmark.kind == LandmarkKind::Region && landmark.name == landmark.country.name()
}

fn is_code_word(word: &str) -> bool {
    CODE_WORDS.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// Returns `true` if the code of an airport without other text is more likely a word, an area or a place.
fn is_rather_a_word(code: &str, is_place: bool) -> bool {
    let word = code.to_ascii_lowercase();
    if STOP_WORDS.binary_search(&word.as_str()).is_ok() || Within::named(code).any(Within::is_here) {
        return true;
    }
    if is_upper(code) {
        return false;
    }
    // Codes of four letters are mostly used by pilots.
    UPPERCASE_CODES.binary_search(&word.as_str()).is_ok()
        || is_place
        || code.len() == 4
        || !Within::ending(code).is_empty()
}

/// Returns the nearest item, if it is near enough to belong to a place.
pub(super) fn nearest<T>(things: impl Iterator<Item = T>, distance: impl Fn(&T) -> Distance) -> Option<T> {
    let near =
        things.map(|thing| (distance(&thing), thing)).filter(|(distance, _)| *distance <= MAX_DISTANCE_FROM_PLACE);
    near.min_by(|one, other| one.0.in_metres().total_cmp(&other.0.in_metres())).map(|(_, thing)| thing)
}

impl Within {
    /// Returns `true` if the area is the United States, Canada or a part of them.
    fn is_here(self) -> bool {
        match self {
            Self::Anywhere | Self::Divisions(_) => false,
            Self::Country(country) => [Country::UNITED_STATES, Country::CANADA].contains(&country),
            Self::Region(_) => true,
        }
    }
}
