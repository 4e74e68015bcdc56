//! Airports, landmarks, regions and nicknames: names that are not those of places, and that many people know.

use super::asked::Asked;
use super::exact::MAX_ALTERNATIVES;
use super::landmarks::{Landmark, LandmarkKind};
use super::query::{Query, Within, is_upper};
use super::resolve::{PlaceSource, Resolved, Unresolved};
use super::steps::PlaceAnswer;
use super::{Gazetteer, Place, PlaceNote, likelihood};
use crate::country::Country;
use crate::fold::fold;
use crate::point::Distance;

/// Words beside the code of an airport.
const CODE_WORDS: [&str; 6] = ["airport", "airports", "code", "iata", "icao", "intl"];
/// A place of this many people is meant by three small letters that are the code of an airport elsewhere, too.
const LIKELIER_THAN_CODE: u32 = 5_000;
/// Codes that are words: only in capitals are they codes. Sorted.
#[rustfmt::skip]
const WORDS: [&str; 64] = [
    "act", "ads", "aid", "art", "ask", "bar", "bay", "big", "bit", "bos", "bus", "cat", "cod", "cow", "dam", "day", "del", "den", "dog", "eat",
    "ego", "fat", "fun", "gum", "ham", "hen", "hot", "ice", "lab", "lap", "law", "lit", "mad", "man", "map", "max", "mia", "mob", "net", "nut",
    "oil", "pay", "pen", "pet", "pie", "pin", "pit", "ram", "rap", "red", "san", "sat", "sea", "sit", "sky", "son", "sun", "tax",
    "tin", "top", "van", "vip", "web", "zoo",
];
/// Codes that are words which stand everywhere: never codes without the word airport. Sorted.
#[rustfmt::skip]
const STOP_WORDS: [&str; 36] = [
    "all", "and", "any", "are", "btc", "but", "buy", "can", "did", "far", "for", "get", "has", "her", "him", "his", "how", "its", "let", "new",
    "not", "now", "off", "old", "one", "our", "out", "see", "the", "too", "two", "use", "was", "way", "who", "you",
];
/// Other places of the name that are so large are named beside a landmark.
const WORTH_NAMING: u32 = 20_000;
/// Most questions with a region or country that are asked with mistakes allowed.
const MAX_MISSPELT: usize = 4;
/// A town this near to the landmark of its name need not be told from it.
const BESIDE: Distance = Distance::miles(10.0);
/// Fewest people of a town that is meant, where its state is named, rather than a landmark of its name elsewhere.
const TOWN: u32 = 1_000;
/// In a region that reaches farther, its middle says little.
const LARGE_REGION: Distance = Distance::miles(60.0);
/// A landmark reaches no farther than this from the place that a text gives for it.
const NEAR_ITS_PLACE: Distance = Distance::miles(50.0);

impl Gazetteer {
    /// The code of an airport, with or without the word for it: before the cities that carry it as another name.
    pub(super) fn airport_code(&self, asked: &Asked<'_>) -> Option<PlaceAnswer> {
        let is_code_word = |word: &&str| CODE_WORDS.iter().any(|known| word.eq_ignore_ascii_case(known));
        let mut codes = asked.bare.split_whitespace().filter(|word| !is_code_word(word));
        let (Some(code), None) = (codes.next(), codes.next()) else { return None };
        let airport = self.landmarks.by_code(code)?;
        let is_other = |landmark: &Landmark| landmark.kind == LandmarkKind::Landmark;
        if self.landmarks.named(&fold(code)).any(is_other) && code.len() == asked.bare.len() {
            return None;
        }
        let (is_written_as_code, is_said) = (is_upper(code), code.len() < asked.bare.len());
        let word = code.to_ascii_lowercase();
        let is_large = |named: &u32| named.is_multiple_of(2) && self.population(named / 2) >= LIKELIER_THAN_CODE;
        let place = self.named(&fold(code), Within::Anywhere).find(is_large);
        let is_area = || !Within::ending(code).is_empty();
        let is_here = || Within::named(code).any(Within::is_here);
        let is_in = |words: &[&str]| words.binary_search(&word.as_str()).is_ok();
        // Those of four letters are known to pilots.
        let is_word = || is_in(&WORDS) || place.is_some() || is_area() || code.len() == 4;
        if !is_said && (is_in(&STOP_WORDS) || is_here() || (!is_written_as_code && is_word())) {
            return None;
        }
        let is_doubtful = !is_said && place.is_some();
        let mut resolved =
            self.resolved_landmark(airport, if is_doubtful || !(is_written_as_code || is_said) { 0.7 } else { 0.95 });
        resolved.alternatives.extend(place.filter(|_| is_doubtful).map(|named| self.place(named / 2)));
        Some(Ok(resolved))
    }

    /// A name that many people know, alone or with its state or country.
    pub(super) fn landmark(&self, asked: &Asked<'_>) -> Option<PlaceAnswer> {
        asked
            .queries()
            .iter()
            .filter(|query| query.before.is_none())
            .find_map(|query| self.landmark_named(query, asked))
    }

    fn landmark_named(&self, query: &Query<'_>, asked: &Asked<'_>) -> Option<PlaceAnswer> {
        let is_word = query.within == Within::Anywhere && !query.written.contains(char::is_whitespace);
        if is_word && self.landmarks.called(&query.name).next().is_none() && !query.name.ends_with("airport") {
            return None;
        }
        let coded = || self.landmarks.by_code(query.written).filter(|_| query.within != Within::Anywhere);
        let mut named = self.landmarks.named(&query.name).chain(coded()).peekable();
        let thing = query.name_without_thing().filter(|_| named.peek().is_none());
        let named = named.chain(thing.iter().flat_map(|name| self.landmarks.named(name)));
        let found: Vec<&Landmark> = named.filter(|landmark| query.within.holds_landmark(landmark)).collect();
        let first = *found.first()?;
        let own = self.named_in_order(&query.name, query.within);
        let is_main = |named: &&u32| named.is_multiple_of(2);
        let town = own.iter().find(is_main).map(|named| (self.population(named / 2), self.place(named / 2)));
        let rival = town.filter(|(people, town)| match query.within {
            // La Guardia in Venezuela is not what is meant, the city that an airport is named after is.
            Within::Anywhere => {
                let is_beside = town.point.distance(first.point) <= NEAR_ITS_PLACE;
                first.kind == LandmarkKind::Airport && *people >= WORTH_NAMING && is_beside
            }
            _ => first.kind != LandmarkKind::Landmark || town.point.distance(first.point) > BESIDE,
        });
        let is_meant =
            |people| query.within == Within::Anywhere || people >= TOWN || first.kind != LandmarkKind::Landmark;
        if rival.is_some_and(|(people, _)| is_meant(people)) {
            return None;
        }
        if first.kind == LandmarkKind::TooLarge {
            let suggestions =
                found.iter().filter_map(|landmark| self.city_of(landmark)).map(|at| self.place(at)).collect();
            return Some(Err(Unresolved { suggestions, ..Unresolved::too_large(asked.bare) }));
        }
        Some(Ok(self.resolved_landmarks(&found, &own, query.within == Within::Anywhere)))
    }

    /// Of several landmarks of a name the first, which is no more than a guess.
    fn resolved_landmarks(&self, found: &[&Landmark], places: &[u32], is_bare: bool) -> Resolved {
        let (first, others) = found.split_first().expect("there is one");
        let apart = |point| first.point.distance(point) > Distance::miles(25.0);
        let others: Vec<Place> =
            others.iter().filter(|other| apart(other.point)).map(|other| self.place_of(other)).collect();
        let is_rival = |named: &&u32| {
            let place = &self.contents.places[(**named / 2) as usize];
            let is_worth_naming = likelihood(place.population, **named) >= WORTH_NAMING && apart(place.point);
            // Who names the state may well mean a small town of it.
            let is_town = !is_bare && named.is_multiple_of(2) && first.point.distance(place.point) > BESIDE;
            is_worth_naming || is_town
        };
        let rivals: Vec<Place> = places.iter().filter(is_rival).map(|named| self.place(named / 2)).collect();
        let confidence = match (is_bare, others.is_empty(), rivals.is_empty()) {
            _ if first.kind == LandmarkKind::Region && first.radius > LARGE_REGION => 0.5,
            (_, false, _) | (false, true, false) => 0.5,
            (true, true, false) => 0.6,
            (true, true, true) => 0.85,
            (false, true, true) => 0.9,
        };
        let mut resolved = self.resolved_landmark(first, confidence);
        resolved.alternatives = others.into_iter().chain(rivals).take(MAX_ALTERNATIVES).collect();
        resolved
    }

    /// A landmark as an answer; of a nickname the city.
    pub(super) fn resolved_landmark(&self, landmark: &Landmark, confidence: f64) -> Resolved {
        let source = match landmark.kind {
            LandmarkKind::Airport => PlaceSource::Airport,
            LandmarkKind::Landmark => PlaceSource::Landmark,
            LandmarkKind::Nickname => PlaceSource::Place,
            LandmarkKind::Region | LandmarkKind::TooLarge => PlaceSource::Region,
        };
        let city = Some(landmark).filter(|landmark| landmark.kind == LandmarkKind::Nickname);
        let city = city.and_then(|landmark| self.city_of(landmark)).map(|at| self.place(at));
        let (name, point) = match city {
            Some(city) => (city.name, city.point),
            None => (landmark.name.to_owned(), landmark.point),
        };
        let resolved = Resolved::at(name, point, source, confidence);
        let resolved = Resolved { region: landmark.region, country: Some(landmark.country), ..resolved };
        if source == PlaceSource::Region {
            return resolved.with_note(PlaceNote::Middle { of: format!("{}, which is large", landmark.name) });
        }
        resolved
    }

    /// `Disneylnd`: a landmark whose name has a typing mistake, in long names two.
    pub(super) fn landmark_misspelt(&self, asked: &Asked<'_>) -> Option<PlaceAnswer> {
        let alone = (!asked.bare.contains(',')).then(|| Query::new(asked.bare, Within::Anywhere));
        let located = asked.queries().iter().filter(|query| query.within != Within::Anywhere && query.before.is_none());
        located.take(MAX_MISSPELT).chain(&alone).find_map(|query| {
            let is_meant =
                |landmark: &Landmark| landmark.kind != LandmarkKind::TooLarge && query.within.holds_landmark(landmark);
            let found = self.landmarks.nearly(&query.name, is_meant)?;
            let confidence = if query.within == Within::Anywhere { 0.5 } else { 0.65 };
            let resolved = self.resolved_landmark(found, confidence);
            let note = PlaceNote::TakenFor { asked: query.written.to_owned(), place: resolved.name.clone() };
            Some(Ok(Resolved { source: PlaceSource::Misspelt, ..resolved.with_note(note) }))
        })
    }

    /// The airport nearest to a place, if one is near.
    pub(super) fn airport_of(&self, place: &Resolved) -> Option<&Landmark> {
        let airports = self.landmarks.all().iter().filter(|landmark| landmark.kind == LandmarkKind::Airport);
        nearest(airports, |airport| airport.point.distance(place.point))
    }

    fn city_of(&self, landmark: &Landmark) -> Option<u32> {
        let within = landmark.region.map_or(Within::Country(landmark.country), Within::Region);
        self.named_in_order(&fold(landmark.city), within).first().map(|named| named / 2)
    }

    fn place_of(&self, landmark: &Landmark) -> Place {
        self.place_without_people(landmark.name.to_owned(), landmark.region, landmark.country, landmark.point)
    }
}

/// Which of some things is nearest to a place, if one is so near that it may belong to it.
pub(super) fn nearest<T>(things: impl Iterator<Item = T>, away: impl Fn(&T) -> Distance) -> Option<T> {
    let near = things.map(|thing| (away(&thing), thing)).filter(|(distance, _)| *distance <= NEAR_ITS_PLACE);
    near.min_by(|one, other| one.0.in_metres().total_cmp(&other.0.in_metres())).map(|(_, thing)| thing)
}

impl Within {
    /// Whether it is the United States, Canada or a part of them.
    fn is_here(self) -> bool {
        match self {
            Self::Anywhere => false,
            Self::Country(country) => [Country::UNITED_STATES, Country::CANADA].contains(&country),
            Self::Region(_) => true,
        }
    }

    fn holds_landmark(self, landmark: &Landmark) -> bool {
        match self {
            Self::Anywhere => true,
            Self::Country(country) => landmark.country == country,
            Self::Region(region) => landmark.region == Some(region),
        }
    }
}
