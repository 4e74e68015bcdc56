//! Resolver steps for texts with a postcode and other words. If they contradict each other, the words take precedence.

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
const MAX_TOWN_DISTANCE: Distance = Distance::miles(30.0);
/// Maximum distance between a postcode and the middle of its county or informal region.
const MAX_AREA_DISTANCE: Distance = Distance::miles(60.0);
/// Maximum confidence of a place if the postcode of its country is unknown.
const MAX_UNKNOWN_CODE_CONFIDENCE: f64 = 0.8;
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
            // The postcode is exact, but the words were not.
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

    /// Returns a place abroad if the postcode has the format of its country, with a note that the postcode was not
    /// used.
    fn with_foreign_code(place: Resolved, code: &str) -> Option<Resolved> {
        let country = place.country.filter(|country| ![Country::UNITED_STATES, Country::CANADA].contains(country))?;
        let is_district = is_district_number(code) && place.source == PlaceSource::Place;
        if !(fits(country, code) || is_district) || place.source == PlaceSource::Coordinates {
            return None;
        }
        let note = PlaceNote::UnknownPostcode { code: code.to_owned(), place: place.label() };
        let mut place = place.cap_confidence(MAX_UNKNOWN_CODE_CONFIDENCE).with_note(note);
        place.dropped.push(code.to_owned());
        Some(place)
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
        let within = place.region.map_or(Within::Anywhere, Within::Region);
        let is_near = |candidate: Candidate| self.point(candidate.place()).distance(postcode) <= MAX_TOWN_DISTANCE;
        self.named(&fold(&place.name), within).any(is_near) || self.named(&fold(words), Within::Anywhere).any(is_near)
    }

    /// Resolves a British postcode without other text to its post town.
    pub(super) fn british_postcode(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        /// Minimum length of a postcode without a town. Shorter codes have other meanings, such as the motorway M1.
        const MIN_CHARS: usize = 3;
        let code = location.core;
        let town = uk_post_town(code).filter(|_| code.len() >= MIN_CHARS)?;
        let kingdom = Country::parse("GB")?;
        let place = self.named(&fold(town), Within::Country(kingdom)).next()?;
        let place = self.place_without_county(place.place());
        let resolved =
            Resolved::at(place.name.clone(), place.point, PlaceSource::Postcode, MAX_CONTRADICTION_CONFIDENCE);
        let note = PlaceNote::UnknownPostcode { code: code.to_owned(), place: place.label() };
        let resolved = Resolved { division: place.division, country: Some(kingdom), ..resolved };
        Some(Ok(resolved.with_note(note)))
    }
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
