//! The resolver step for texts that name an administrative division outside the United States and Canada.

use super::candidate::Candidate;
use super::exact::MAX_ALTERNATIVES;
use super::location_text::LocationText;
use super::query::Within;
use super::resolve::{PlaceSource, Resolved, Unresolved};
use super::steps::PlaceAnswer;
use super::{Gazetteer, PlaceNote};
use crate::country::Country;
use crate::division::Division;
use crate::fold::fold;
use crate::point::{Distance, Point};

/// Minimum population of a city that takes precedence over the division of its name around it.
const MIN_CITY: u32 = 10_000;
/// Minimum population of a place outside a division of its name that is suggested together with the cities of the
/// division.
const MIN_NAMESAKE: u32 = 20_000;
/// Maximum distance between the middle of a small division and its places. A search from the middle of a larger
/// division would not be useful.
const MAX_SMALL_RADIUS: Distance = Distance::miles(25.0);

/// The divisions that a text names. The text has no other words, except for a country.
struct NamedDivisions<'a> {
    /// The name of the divisions as written in the text.
    written: &'a str,
    divisions: &'static [Division],
    has_country: bool,
}

impl Gazetteer {
    /// Returns the middle of a small division. Rejects a large division and suggests its largest cities.
    pub(super) fn division_only(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        if !location.areas().is_empty() {
            return None;
        }
        let named = named_divisions(location.core)?;
        let name = fold(named.written);
        let within = Within::Divisions(named.divisions);
        if self.has_city_of_name(&name, named.divisions) {
            return None;
        }
        let places: Vec<u32> = self.places_within(within).collect();
        if !named.has_country && self.population_of_namesake(&name) > self.total_population(&places) {
            return None;
        }
        if let Some(middle) = self.middle_of(named.divisions, &places) {
            return Some(Ok(middle));
        }
        let largest = places.into_iter().take(MAX_ALTERNATIVES);
        let mut suggestions: Vec<u32> = largest.collect();
        let namesakes = if named.has_country { Vec::new() } else { self.namesakes(&name) };
        suggestions.truncate(MAX_ALTERNATIVES - namesakes.len());
        suggestions.extend(namesakes);
        let suggestions = suggestions.into_iter().map(|at| self.place(at)).collect();
        Some(Err(Unresolved { suggestions, ..Unresolved::too_large(location.core) }))
    }

    /// Checks whether the name refers to a city rather than to the divisions: a city in the divisions with a main name
    /// that starts with the name (`Palermo`) or equals the name of a division (`Lisboa` is the city and the district of
    /// Lisbon), or a city in their countries with this main name (the city of Sofia is not in the division of Sofia).
    fn has_city_of_name(&self, name: &str, divisions: &'static [Division]) -> bool {
        let is_city = |place: u32| self.population(place) >= MIN_CITY;
        let shares_name = |place: u32| {
            let main_name = fold(self.name(place));
            main_name.starts_with(name) || divisions.iter().any(|division| fold(division.name()) == main_name)
        };
        let mut inside = self.named(name, Within::Divisions(divisions)).map(Candidate::place);
        if inside.any(|place| is_city(place) && shares_name(place)) {
            return true;
        }
        let main = self.named(name, Within::Anywhere).filter(|candidate| candidate.is_main_name());
        main.map(Candidate::place).any(|place| {
            let country = self.area(place).country;
            is_city(place) && divisions.iter().any(|division| division.country() == country)
        })
    }

    /// Checks whether a name without an area is also the name of divisions in other countries with more people than the
    /// place: `Paraná` is a city in Argentina and a state in Brazil.
    pub(super) fn has_larger_division_abroad(&self, found: &Resolved, name: &str) -> bool {
        let divisions = Division::named(name);
        if divisions.is_empty() || divisions.iter().any(|division| Some(division.country()) == found.country) {
            return false;
        }
        let places: Vec<u32> = self.places_within(Within::Divisions(divisions)).collect();
        self.total_population(&places) > self.population_of_likeliest(name, Within::Anywhere)
    }

    /// Returns the places in an area, sorted by descending population.
    fn places_within(&self, within: Within) -> impl Iterator<Item = u32> {
        let places = (0..).zip(&self.contents.places);
        places.filter(move |(_, place)| within.contains(self.contents.areas[usize::from(place.area)])).map(|(at, _)| at)
    }

    /// Returns the population of the largest place with this main name.
    fn population_of_namesake(&self, name: &str) -> u32 {
        let candidates = self.named(name, Within::Anywhere).filter(|candidate| candidate.is_main_name());
        candidates.map(|candidate| self.population(candidate.place())).max().unwrap_or_default()
    }

    fn total_population(&self, places: &[u32]) -> u32 {
        places.iter().fold(0, |sum, at| self.population(*at).saturating_add(sum))
    }

    /// Returns the largest place with this main name, if it is large enough to be suggested.
    fn namesakes(&self, name: &str) -> Vec<u32> {
        let candidates = self.named(name, Within::Anywhere).filter(|candidate| candidate.is_main_name());
        let places = candidates.map(Candidate::place);
        places.filter(|at| self.population(*at) >= MIN_NAMESAKE).take(1).collect()
    }

    /// Returns the middle of a single division, if all of the division's places are near it.
    fn middle_of(&self, divisions: &[Division], places: &[u32]) -> Option<Resolved> {
        let [division] = divisions else { return None };
        let points: Vec<Point> = places.iter().map(|at| self.point(*at)).collect();
        let middle = Point::centroid(points.iter().copied())?;
        if points.iter().any(|point| point.distance(middle) > MAX_SMALL_RADIUS) {
            return None;
        }
        let of = format!("{}, {}", division.name(), division.country().name());
        let resolved = Resolved::at(division.name().to_owned(), middle, PlaceSource::Division, 0.7);
        let resolved = Resolved { division: Some(*division), country: Some(division.country()), ..resolved };
        Some(resolved.with_note(PlaceNote::Middle { of }))
    }
}

/// Returns the divisions that a text names: `Tuscany`, `Bali, Indonesia`, `Scotland UK`.
fn named_divisions(text: &str) -> Option<NamedDivisions<'_>> {
    /// Maximum words in the name of a country.
    const MAX_WORDS: usize = 4;
    let divisions = if text.contains(',') { &[] } else { Division::named(&fold(text)) };
    if !divisions.is_empty() {
        return Some(NamedDivisions { written: text, divisions, has_country: false });
    }
    let breaks = text.rmatch_indices([',', ' ']).map(|(at, _)| at).take(MAX_WORDS);
    breaks.into_iter().find_map(|at| {
        let country = Country::parse(text[at..].trim_start_matches([',', ' ']))?;
        let written = text[..at].trim_end_matches([',', ' ']);
        let divisions = Division::of_country(Division::named(&fold(written)), country);
        if divisions.is_empty() { None } else { Some(NamedDivisions { written, divisions, has_country: true }) }
    })
}
