//! Resolver steps for texts with a postcode and other words. If they contradict each other, the words take precedence.

use super::candidate::Candidate;
use super::location_text::LocationText;
use super::postal_code::{PostcodeInText, fits, is_district_number, is_only_a_postcode, split_postcodes, uk_post_town};
use super::query::Within;
use super::resolve::{PlaceSource, Resolved, Unresolved, UnresolvedKind};
use super::steps::PlaceAnswer;
use super::{Gazetteer, PlaceNote};
use crate::address::{parse_forward_sortation_area, parse_postcode};
use crate::country::Country;
use crate::fold::fold;
use crate::point::{Distance, Point};

/// Maximum distance between a postcode and the middle of its town.
const MAX_TOWN_DISTANCE: Distance = Distance::miles(30.0);
/// Maximum distance between a postcode and the middle of its county or informal region.
const MAX_AREA_DISTANCE: Distance = Distance::miles(60.0);
/// Maximum distance between a British postcode and its post town.
const MAX_POST_TOWN_DISTANCE: Distance = Distance::miles(40.0);
/// Maximum confidence of a place if the postcode of its country is unknown.
const MAX_UNKNOWN_CODE_CONFIDENCE: f64 = 0.8;
/// Minimum population of a place that is chosen among namesakes for the shape of its postcode.
const MIN_NAMESAKE_POPULATION: u32 = 20_000;
/// Maximum confidence of a place if the postcode lies elsewhere.
const MAX_CONTRADICTION_CONFIDENCE: f64 = 0.5;

impl Gazetteer {
    /// Resolves a text with a postcode and other words: to the postcode if the words name its area or no place,
    /// otherwise to the place that the words name, with a note that the postcode was not used.
    pub(super) fn place_with_postcode(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        if !location.core.bytes().any(|byte| byte.is_ascii_digit()) {
            return None;
        }
        for found in split_postcodes(location.core) {
            if found.rest.is_empty() || !location.budget.spend_postcode() {
                continue;
            }
            if let Some(answer) = self.postcode_and_words(location, &found) {
                return Some(answer);
            }
        }
        None
    }

    fn postcode_and_words(&self, location: &LocationText<'_>, found: &PostcodeInText<'_>) -> Option<PlaceAnswer> {
        let words = self.resolve_part(&found.rest, location.budget);
        let Some((code, country)) = parse_postcode(found.code).or_else(|| parse_forward_sortation_area(found.code))
        else {
            return match words {
                Ok(place) => self.with_foreign_code(place, found).map(Ok),
                Err(area) if area.kind == UnresolvedKind::TooLarge && !is_district_number(found.code) => {
                    Some(Err(area))
                }
                Err(_) => None,
            };
        };
        let postcode = self.postcode(&code, country).ok();
        match (words, postcode) {
            (Ok(place), Some(postcode)) if self.is_beside(&place, &found.rest, postcode.point) => {
                let is_street = place.source == PlaceSource::Fallback && !place.notes.is_empty();
                Some(Ok(if is_street { Self::without_street(postcode) } else { postcode }))
            }
            // The postcode is exact, but the words were not.
            (Ok(place), Some(_)) if place.source == PlaceSource::FuzzyMatch && is_here(&place) => None,
            (Ok(place), _) if place.source == PlaceSource::Coordinates => None,
            (Ok(place), _) => {
                let answer = self.with_foreign_code(place.clone(), found);
                Some(Ok(answer.unwrap_or_else(|| with_contradiction(place, found.code))))
            }
            (Err(Unresolved { kind: UnresolvedKind::TooLarge, .. }), Some(postcode)) => {
                Self::postcode_in_area(location, found, postcode)
            }
            (Err(Unresolved { kind: UnresolvedKind::OwnPlace, .. }), Some(postcode)) => Some(Ok(postcode)),
            _ => None,
        }
    }

    /// Returns a place with a postcode that may be of another country than the United States and Canada: the place if
    /// its country has such codes, else a namesake in a country with such codes, else the place with a note that the
    /// code contradicts it. `None` if the code may be another number.
    fn with_foreign_code(&self, place: Resolved, found: &PostcodeInText<'_>) -> Option<Resolved> {
        let code = found.code;
        if place.source == PlaceSource::Coordinates {
            return None;
        }
        let is_district = is_district_number(code) && place.source == PlaceSource::Place;
        let country = place.country.filter(|country| is_abroad(*country));
        if country.is_some_and(|country| is_district || self.is_code_of(country, place.point, code)) {
            return Some(with_unknown_code(place, code, MAX_UNKNOWN_CODE_CONFIDENCE));
        }
        // A wrong ZIP code is likelier than a namesake abroad of a city of the United States.
        let may_be_abroad = place.is_bare_name && (country.is_some() || parse_postcode(code).is_none());
        if may_be_abroad && let Some(namesake) = self.namesake_with_code(&place, code) {
            return Some(with_unknown_code(namesake, code, MAX_CONTRADICTION_CONFIDENCE));
        }
        let is_at_the_end = found.is_at_the_end && place.source == PlaceSource::Place && !is_district_number(code);
        if is_at_the_end || is_only_a_postcode(code) { Some(with_contradiction(place, code)) } else { None }
    }

    /// Checks whether a code has the shape of the postcodes of a country. The post town of a British code must lie near
    /// the point.
    fn is_code_of(&self, country: Country, point: Point, code: &str) -> bool {
        if !fits(country, code) {
            return false;
        }
        let town = if country.code() == "GB" { self.british_town(code) } else { None };
        town.is_none_or(|town| self.point(town).distance(point) <= MAX_POST_TOWN_DISTANCE)
    }

    /// Returns the likeliest other place of a name in a country with codes of this shape: `Valencia 46001` is in Spain.
    fn namesake_with_code(&self, place: &Resolved, code: &str) -> Option<Resolved> {
        let name = fold(&place.name);
        let has_code = |candidate: &Candidate| {
            let at = candidate.place();
            let country = self.area(at).country;
            let is_likely = country.code() == "GB" || self.population(at) >= MIN_NAMESAKE_POPULATION;
            is_likely && is_abroad(country) && self.is_code_of(country, self.point(at), code)
        };
        let at = self.named(&name, Within::Anywhere).find(has_code)?.place();
        let namesake = self.place_without_county(at);
        let resolved = Resolved::at(namesake.name, namesake.point, PlaceSource::Place, place.confidence);
        Some(Resolved { division: namesake.division, country: Some(namesake.country), ..resolved })
    }

    /// Resolves to the postcode if the words name its state or country.
    fn postcode_in_area(
        location: &LocationText<'_>,
        found: &PostcodeInText<'_>,
        postcode: Resolved,
    ) -> Option<PlaceAnswer> {
        let rest = LocationText::new(&found.rest, location.budget);
        let country = postcode.country?;
        let is_inside = |within: &Within| match within {
            Within::Region(region) => postcode.region == Some(*region),
            Within::Country(wanted) => *wanted == country,
            Within::Anywhere | Within::Divisions(_) => false,
        };
        if rest.areas().iter().any(is_inside) {
            return Some(Ok(postcode));
        }
        let reason = format!(
            "the postcode {} is in {}, not in {:?}; name the city, or give one of the two",
            found.code,
            postcode.region.map_or(country.name(), crate::region::Region::name),
            rest.core
        );
        Some(Err(Unresolved::new(UnresolvedKind::Ambiguous, reason)))
    }

    /// Returns `true` if a postcode is near the place that the words name, or near a namesake of this place.
    fn is_beside(&self, place: &Resolved, words: &str, postcode: Point) -> bool {
        let max = match place.source {
            PlaceSource::County | PlaceSource::Region | PlaceSource::Division => MAX_AREA_DISTANCE,
            _ => MAX_TOWN_DISTANCE,
        };
        if place.point.distance(postcode) <= max {
            return true;
        }
        if place.alternatives.iter().any(|other| other.point.distance(postcode) <= MAX_TOWN_DISTANCE) {
            return true;
        }
        let country = place.country.filter(|_| !place.is_bare_name);
        let area = place.region.map(Within::Region).or(country.map(Within::Country));
        let within = area.unwrap_or(Within::Anywhere);
        let is_near = |candidate: Candidate| self.point(candidate.place()).distance(postcode) <= MAX_TOWN_DISTANCE;
        self.named(&fold(&place.name), within).any(is_near) || self.named(&fold(words), Within::Anywhere).any(is_near)
    }

    /// Resolves a British postcode without other text to its post town.
    pub(super) fn british_postcode(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        /// Minimum length of a postcode without a town. Shorter codes have other meanings, such as the motorway M1.
        const MIN_CHARS: usize = 3;
        let code = location.core;
        if code.len() < MIN_CHARS {
            return None;
        }
        let place = self.place_without_county(self.british_town(code)?);
        let resolved =
            Resolved::at(place.name.clone(), place.point, PlaceSource::Postcode, MAX_CONTRADICTION_CONFIDENCE);
        let note = PlaceNote::UnknownPostcode { code: code.to_owned(), place: place.label() };
        let resolved = Resolved { division: place.division, country: Some(place.country), ..resolved };
        Some(Ok(resolved.with_note(note)))
    }

    /// Returns the post town of a British postcode.
    fn british_town(&self, code: &str) -> Option<u32> {
        let kingdom = Country::parse("GB")?;
        let town = self.named(&fold(uk_post_town(code)?), Within::Country(kingdom)).next()?;
        Some(town.place())
    }
}

fn is_abroad(country: Country) -> bool {
    ![Country::UNITED_STATES, Country::CANADA].contains(&country)
}

/// Limits the confidence of a place with a postcode that is not known.
fn with_unknown_code(place: Resolved, code: &str, max_confidence: f64) -> Resolved {
    let note = PlaceNote::UnknownPostcode { code: code.to_owned(), place: place.label() };
    let mut place = place.cap_confidence(max_confidence).with_note(note);
    place.dropped.push(code.to_owned());
    place
}

fn is_here(place: &Resolved) -> bool {
    place.region.is_some()
}

/// Limits the confidence of a place if the postcode lies elsewhere, and adds a note.
fn with_contradiction(place: Resolved, code: &str) -> Resolved {
    let note = PlaceNote::PostcodeElsewhere { code: code.to_owned(), place: place.label() };
    let mut place = place.cap_confidence(MAX_CONTRADICTION_CONFIDENCE).with_note(note);
    place.dropped.push(code.to_owned());
    place
}
