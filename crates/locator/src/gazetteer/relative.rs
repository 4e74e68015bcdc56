//! Resolver steps for locations relative to places: the middle between two places, or a part of a city.

use super::inside::has_three_letters;
use super::location_text::LocationText;
use super::query::Within;
use super::resolve::{PlaceSource, Resolved, Unresolved, UnresolvedKind};
use super::steps::PlaceAnswer;
use super::{Gazetteer, PlaceNote};
use crate::country::Country;
use crate::division::Division;
use crate::fold::fold;
use crate::point::{Distance, Point};
use crate::region::Region;

/// Maximum distance between the two places of a text with `between`.
const MAX_DISTANCE_BETWEEN: Distance = Distance::miles(400.0);
/// Maximum confidence of the middle between two places.
const MAX_BETWEEN_CONFIDENCE: f64 = 0.5;
/// Maximum confidence of a city as the result for a part of the city.
const MAX_PART_CONFIDENCE: f64 = 0.6;
/// Maximum confidence of a large city for a direction or a word for its middle without `of`.
const MAX_SIDE_CONFIDENCE: f64 = 0.5;

/// Directions before a place, sorted alphabetically.
#[rustfmt::skip]
const DIRECTIONS: [&str; 21] = [
    "central", "e", "east", "eastern", "n", "ne", "north", "northeast", "northern", "northwest", "nw", "s", "se",
    "south", "southeast", "southern", "southwest", "sw", "w", "west", "western",
];
/// Words for a part of a place, after a direction or before `of`. Sorted alphabetically.
const PARTS: [&str; 11] =
    ["area", "corner", "edge", "end", "half", "outskirts", "part", "parts", "side", "suburb", "suburbs"];

/// Words for the middle or the surroundings of a city, before or after its name. Sorted.
#[rustfmt::skip]
const SIDES: [&str; 33] = [
    "altstadt", "cbd", "center", "centre", "centre-ville", "centro", "centrum", "city", "downtown", "historic",
    "historico", "histórico", "innenstadt", "inner", "metro", "metropolitan", "nord", "norte", "oeste", "old",
    "ouest", "outer", "outskirts", "side", "suburb", "suburbs", "sud", "sur", "town", "uptown", "zentrum", "zona",
    "zone",
];
/// Words before and between two places, in several languages.
const BETWEEN_WORDS: [(&str, &str); 8] = [
    ("between ", " and "),
    ("midpoint of ", " and "),
    ("half way from ", " to "),
    ("halfway from ", " to "),
    ("entre ", " y "),
    ("entre ", " et "),
    ("entre ", " e "),
    ("zwischen ", " und "),
];
/// Minimum population of a city whose name follows a direction or a word for its middle.
const MIN_LARGE_CITY_POPULATION: u32 = 100_000;

/// Words between a part of a place and the place. Sorted alphabetically.
const LINKING_WORDS: [&str; 9] = ["da", "de", "di", "do", "du", "in", "of", "the", "von"];

/// One of several places that a name may refer to.
struct Namesake {
    label: String,
    point: Point,
    region: Option<Region>,
    division: Option<Division>,
    country: Option<Country>,
}

impl Gazetteer {
    /// Resolves `halfway between Tampa and Orlando` to the point in the middle.
    pub(super) fn between_two_places(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        let (first, second) = split_between(location.text)?;
        if !has_three_letters(first) || !has_three_letters(second) {
            return None;
        }
        // A state after the second place applies to both.
        let with_area = match second.split_once(',') {
            Some((_, area)) if !first.contains(',') => {
                self.resolve_part(&format!("{first},{area}"), location.budget).ok()
            }
            _ => None,
        };
        let first = match with_area {
            Some(first) => first,
            None => self.resolve_part(first, location.budget).ok()?,
        };
        let second = self.resolve_part(second, location.budget).ok()?;
        let (first, second) = nearest_namesakes(first, second)?;
        let point = Point::centroid([first.point, second.point])?;
        let name = format!("between {} and {}", first.label, second.label);
        let resolved = Resolved::at(name, point, PlaceSource::Fallback, MAX_BETWEEN_CONFIDENCE);
        let is_in_one_region = first.region == second.region && first.country == second.country;
        let region = if is_in_one_region { first.region } else { None };
        let division = if first.division == second.division { first.division } else { None };
        let country = if first.country == second.country { first.country } else { None };
        let note = PlaceNote::Midpoint { first: first.label, second: second.label };
        Some(Ok(Resolved { region, division, country, ..resolved }.with_note(note)))
    }

    /// Resolves a part of a city to the city, as in `north side of Chicago`, `NE Portland` and `South Side,
    /// Pittsburgh`.
    pub(super) fn part_of_a_place(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        let (part, place) = split_part(location.core)?;
        match self.resolve_part(place, location.budget) {
            Ok(found) if found.source == PlaceSource::Place || found.source == PlaceSource::Division => {
                let note = PlaceNote::Part { part: part.to_owned(), place: found.label() };
                Some(Ok(found.cap_confidence(MAX_PART_CONFIDENCE).with_note(note)))
            }
            Err(unresolved @ Unresolved { kind: UnresolvedKind::TooLarge, .. }) => Some(Err(unresolved)),
            _ => None,
        }
    }

    /// `north London`, `Sydney CBD`, `centro histórico Lima`: returns the large city.
    pub(super) fn side_of_a_city(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        let name = without_side(location.core)?;
        if location.queries().iter().any(|query| matches!(query.within, Within::Region(_))) {
            return None;
        }
        let city = location.part(name);
        if !city.areas().is_empty() {
            return None;
        }
        if self.population_of_likeliest(&fold(name.split(',').next().unwrap_or(name)), Within::Anywhere)
            < MIN_LARGE_CITY_POPULATION
        {
            return None;
        }
        let found = self.place_by_name(&city)?.ok()?;
        let note = PlaceNote::Part { part: location.core.to_owned(), place: found.label() };
        Some(Ok(found.cap_confidence(MAX_SIDE_CONFIDENCE).with_note(note)))
    }
}

/// Returns the likeliest pair of places with these names that are near each other.
fn nearest_namesakes(first: Resolved, second: Resolved) -> Option<(Namesake, Namesake)> {
    let firsts = namesakes(first);
    let seconds = namesakes(second);
    let mut pairs: Vec<(usize, usize)> =
        (0..firsts.len()).flat_map(|one| (0..seconds.len()).map(move |other| (one, other))).collect();
    pairs.sort_by_key(|(one, other)| one + other);
    let is_near =
        |(one, other): &(usize, usize)| firsts[*one].point.distance(seconds[*other].point) <= MAX_DISTANCE_BETWEEN;
    let (one, other) = pairs.into_iter().find(is_near)?;
    Some((firsts.into_iter().nth(one)?, seconds.into_iter().nth(other)?))
}

/// Returns the places that a name may refer to, sorted by descending likelihood.
fn namesakes(resolved: Resolved) -> Vec<Namesake> {
    let first = Namesake {
        label: resolved.label(),
        point: resolved.point,
        region: resolved.region,
        division: resolved.division,
        country: resolved.country,
    };
    let others = resolved.alternatives.into_iter().map(|place| Namesake {
        label: place.label(),
        point: place.point,
        region: place.region,
        division: place.division,
        country: Some(place.country),
    });
    std::iter::once(first).chain(others).collect()
}

/// Splits the two places off a text with `between`, in several languages.
fn split_between(text: &str) -> Option<(&str, &str)> {
    let lower = text.to_ascii_lowercase();
    BETWEEN_WORDS.iter().find_map(|(word, and)| {
        let at = lower.find(word)?;
        let is_word = at == 0 || lower[..at].ends_with(' ');
        let start = at + word.len();
        let middle = start + lower[start..].find(and)?;
        if is_word { Some((text[start..middle].trim(), text[middle + and.len()..].trim())) } else { None }
    })
}

/// Removes the words for a side or the middle of a city from both ends of a text. `None` if it has none.
fn without_side(text: &str) -> Option<&str> {
    let is_side = |word: &str| {
        let word = word.to_lowercase();
        DIRECTIONS.binary_search(&word.as_str()).is_ok() || SIDES.binary_search(&word.as_str()).is_ok()
    };
    let mut rest = text;
    while let Some((word, after)) = rest.split_once(' ')
        && (is_side(word) || (rest.len() < text.len() && LINKING_WORDS.contains(&word.to_lowercase().as_str())))
    {
        rest = after.trim_start();
    }
    while let Some((before, word)) = rest.rsplit_once(' ')
        && is_side(word)
    {
        rest = before.trim_end();
    }
    if rest.len() < text.len() && has_three_letters(rest) { Some(rest) } else { None }
}

/// Splits a direction and a word for a part of a place off the start of a text. Without such a word, the direction must
/// be abbreviated, because `West Covina` is a city.
fn split_part(text: &str) -> Option<(&str, &str)> {
    let mut rest = text;
    let mut has_part = false;
    let mut has_direction = false;
    let mut is_short = false;
    while let Some((word, after)) = rest.split_once([' ', ',']) {
        let lower = word.to_ascii_lowercase();
        if DIRECTIONS.binary_search(&lower.as_str()).is_ok() && !has_part {
            has_direction = true;
            is_short = word.len() <= 2 && word.bytes().all(|letter| letter.is_ascii_uppercase());
        } else if PARTS.binary_search(&lower.as_str()).is_ok() || (is_center(&lower) && starts_with_linking_word(after))
        {
            has_part = true;
        } else if !lower.is_empty() && !LINKING_WORDS.contains(&lower.as_str()) {
            break;
        }
        rest = after;
    }
    let part = text[..text.len() - rest.len()].trim_end_matches([' ', ',']);
    let is_part = has_part || (has_direction && is_short);
    if is_part && has_three_letters_or_code(rest) { Some((part, rest)) } else { None }
}

/// Checks whether a word means "center", in several languages. `Center Point` is a town.
fn is_center(word: &str) -> bool {
    ["center", "centre", "centro", "centrum", "downtown", "innenstadt", "zentrum"].contains(&word)
}

fn starts_with_linking_word(text: &str) -> bool {
    text.split_whitespace().next().is_some_and(|word| LINKING_WORDS.contains(&word.to_ascii_lowercase().as_str()))
}

/// Checks whether a text can be a name or is the code of a region, as in `SW DC`.
fn has_three_letters_or_code(text: &str) -> bool {
    has_three_letters(text) || Region::parse(text).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        assert!(DIRECTIONS.is_sorted() && PARTS.is_sorted() && SIDES.is_sorted());
    }

    #[test]
    fn sides_and_middles_are_removed() {
        for (text, expected) in [
            ("north London", Some("London")),
            ("city centre Glasgow", Some("Glasgow")),
            ("Sydney CBD", Some("Sydney")),
            ("centre-ville de Lyon", Some("Lyon")),
            ("centro histórico Lima", Some("Lima")),
            ("Quito norte", Some("Quito")),
            ("London", None),
            ("north", None),
        ] {
            assert_eq!(without_side(text), expected, "{text}");
        }
    }

    #[test]
    fn two_places_are_split_in_several_languages() {
        for (text, expected) in [
            ("halfway between Tampa and Orlando", Some(("Tampa", "Orlando"))),
            ("entre Madrid y Toledo", Some(("Madrid", "Toledo"))),
            ("entre Lyon et Grenoble", Some(("Lyon", "Grenoble"))),
            ("zwischen Köln und Bonn", Some(("Köln", "Bonn"))),
            ("half way from Rome to Naples", Some(("Rome", "Naples"))),
            ("centre of Lyon", None),
        ] {
            assert_eq!(split_between(text), expected, "{text}");
        }
    }

    #[test]
    fn parts_are_split_from_places() {
        for (text, expected) in [
            ("north side of Chicago", Some(("north side of", "Chicago"))),
            ("South Side, Pittsburgh", Some(("South Side", "Pittsburgh"))),
            ("NE Portland", Some(("NE", "Portland"))),
            ("the western suburbs of Chicago", Some(("the western suburbs of", "Chicago"))),
            ("SW DC", Some(("SW", "DC"))),
            ("centro de São Paulo", Some(("centro de", "São Paulo"))),
            ("West Covina", None),
            ("N", None),
            ("side", None),
        ] {
            assert_eq!(split_part(text), expected, "{text}");
        }
    }
}
