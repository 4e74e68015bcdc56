//! Places with a postcode beside them. A postcode never wins against the words beside it.

use super::candidate::Candidate;
use super::location_text::LocationText;
use super::postal_code::{PostcodeInText, fits, is_district_number, split_postcodes, uk_post_town};
use super::query::Within;
use super::resolve::{PlaceSource, Resolved, Unresolved, UnresolvedKind};
use super::steps::PlaceAnswer;
use super::{Gazetteer, PlaceNote};
use crate::address::{parse_forward_sortation_area, parse_postcode};
use crate::country::Country;
use crate::fold::fold;
use crate::point::{Distance, Point};

/// Maximum distance between a postcode and the middle of its town.
const BESIDE: Distance = Distance::miles(30.0);
/// Maximum distance between a postcode and the middle of its county or region without borders.
const IN_AREA: Distance = Distance::miles(60.0);
/// Maximum confidence of a place with a postcode of its country that is not known.
const UNKNOWN_CODE: f64 = 0.8;
/// Maximum confidence of a place with a postcode that lies elsewhere.
const CONTRADICTION: f64 = 0.5;

impl Gazetteer {
    /// Returns the postcode in a text with other words, if they name its area or nothing else; else the place that the
    /// words name, with a note that the postcode was not used.
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
                Ok(place) => Some(Ok(Self::with_foreign_code(place, found.code)?)),
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
            // Digits are exact, and the words are not.
            (Ok(place), Some(_)) if place.source == PlaceSource::FuzzyMatch && is_here(&place) => None,
            (Ok(place), _) if place.source == PlaceSource::Coordinates => None,
            (Ok(place), _) => {
                if let Some(place) = Self::with_foreign_code(place.clone(), found.code) {
                    return Some(Ok(place));
                }
                Some(Ok(with_contradiction(place, found.code)))
            }
            (Err(Unresolved { kind: UnresolvedKind::TooLarge, .. }), Some(postcode)) => {
                Self::postcode_in_area(location, found, postcode)
            }
            (Err(Unresolved { kind: UnresolvedKind::OwnPlace, .. }), Some(postcode)) => Some(Ok(postcode)),
            _ => None,
        }
    }

    /// Returns a place abroad with a postcode that has the shape of its country. `None` for other places.
    fn with_foreign_code(place: Resolved, code: &str) -> Option<Resolved> {
        let country = place.country.filter(|country| ![Country::UNITED_STATES, Country::CANADA].contains(country))?;
        let is_district = is_district_number(code) && place.source == PlaceSource::Place;
        if !(fits(country, code) || is_district) || place.source == PlaceSource::Coordinates {
            return None;
        }
        let note = PlaceNote::UnknownPostcode { code: code.to_owned(), place: place.label() };
        let mut place = place.cap_confidence(UNKNOWN_CODE).with_note(note);
        place.dropped.push(code.to_owned());
        Some(place)
    }

    /// Returns the postcode in a state or country that the words name.
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

    /// Returns `true` if a postcode lies beside the place of the words, or beside a namesake of this place.
    fn is_beside(&self, place: &Resolved, words: &str, postcode: Point) -> bool {
        let max = match place.source {
            PlaceSource::County | PlaceSource::Region | PlaceSource::Division => IN_AREA,
            _ => BESIDE,
        };
        if place.point.distance(postcode) <= max {
            return true;
        }
        if place.alternatives.iter().any(|other| other.point.distance(postcode) <= BESIDE) {
            return true;
        }
        let within = place.region.map_or(Within::Anywhere, Within::Region);
        let is_near = |candidate: Candidate| self.point(candidate.place()).distance(postcode) <= BESIDE;
        self.named(&fold(&place.name), within).any(is_near) || self.named(&fold(words), Within::Anywhere).any(is_near)
    }

    /// Returns the post town of a British postcode without other text.
    pub(super) fn british_postcode(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        /// Minimum characters of a code without a town. Shorter codes have other meanings, such as the motorway M1.
        const MIN_CHARS: usize = 3;
        let code = location.core;
        let town = uk_post_town(code).filter(|_| code.len() >= MIN_CHARS)?;
        let kingdom = Country::parse("GB")?;
        let place = self.named(&fold(town), Within::Country(kingdom)).next()?;
        let place = self.place_without_county(place.place());
        let resolved = Resolved::at(place.name.clone(), place.point, PlaceSource::Postcode, CONTRADICTION);
        let note = PlaceNote::UnknownPostcode { code: code.to_owned(), place: place.label() };
        let resolved = Resolved { division: place.division, country: Some(kingdom), ..resolved };
        Some(Ok(resolved.with_note(note)))
    }
}

fn is_here(place: &Resolved) -> bool {
    place.region.is_some()
}

/// Limits the confidence of a place with a postcode that lies elsewhere.
fn with_contradiction(place: Resolved, code: &str) -> Resolved {
    let note = PlaceNote::PostcodeElsewhere { code: code.to_owned(), place: place.label() };
    let mut place = place.cap_confidence(CONTRADICTION).with_note(note);
    place.dropped.push(code.to_owned());
    place
}
