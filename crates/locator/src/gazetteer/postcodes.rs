//! Resolver steps for postcodes of the United States and Canada, with or without an address.

use super::blob::StoredPostcode;
use super::build::{middle, number};
use super::location_text::LocationText;
use super::resolve::{PlaceSource, Resolved, Unresolved, UnresolvedKind};
use super::steps::PlaceAnswer;
use super::{Gazetteer, PlaceNote};
use crate::address::{Address, parse_forward_sortation_area, parse_postcode, split_postcode};
use crate::country::Country;
use crate::point::Point;

impl Gazetteer {
    /// Resolves a postcode without other text. An unknown postcode is rejected.
    pub(super) fn postcode_only(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        let (code, country) = parse_postcode(location.core).or_else(|| parse_forward_sortation_area(location.core))?;
        Some(self.postcode(&code, country))
    }

    /// Resolves an address or city that ends in a postcode to the postcode, because streets are not known.
    pub(super) fn address_with_postcode(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        let (before, at_the_end) = split_postcode(location.core);
        let Some((code, country)) = at_the_end else {
            let (code, country) = parse_postcode(&Address::parse(location.core)?.postcode?)?;
            let found = self.postcode(&code, country).ok()?;
            return Some(Ok(Self::without_street(found)));
        };
        let found = self.postcode(&code, country).ok()?;
        let town = location.part(before);
        let is_town = before.is_empty() || self.place_by_name(&town).is_some() || !town.areas().is_empty();
        Some(Ok(if is_town { found } else { Self::without_street(found) }))
    }

    /// Limits the confidence of a postcode that stands for an address, and adds a note that streets are not known.
    pub(super) fn without_street(postcode: Resolved) -> Resolved {
        let place = postcode.name.clone();
        postcode.cap_confidence(0.5).with_note(PlaceNote::Street { place })
    }

    /// Resolves a postcode of the United States or Canada.
    pub(super) fn postcode(&self, code: &str, country: Country) -> PlaceAnswer {
        let is_zip_code = country == Country::UNITED_STATES;
        let found = if is_zip_code { self.zip_code(code) } else { self.postal_code(code) };
        let Some((point, area, confidence)) = found else {
            let reason = if is_zip_code {
                format!("the ZIP code {code} is not known; name the city and state")
            } else {
                format!("the postal code {code} is not known; name the city and province")
            };
            return Err(Unresolved::new(UnresolvedKind::Unknown, reason));
        };
        let area = self.contents.areas[area as usize];
        let resolved = Resolved::at(code.to_owned(), point, PlaceSource::Postcode, confidence);
        let resolved = Resolved { region: area.region, country: Some(area.country), ..resolved };
        if is_zip_code && confidence < KNOWN_POSTCODE_CONFIDENCE {
            return Ok(resolved.with_note(PlaceNote::NearbyPostcodes { code: code.to_owned() }));
        }
        Ok(resolved)
    }

    /// Returns the centre, the area and the confidence of a ZIP code.
    fn zip_code(&self, code: &str) -> Option<(Point, u32, f64)> {
        let number = number(code)?;
        if let Some(known) = self.known_postcode(number) {
            return Some((known.point, known.area, KNOWN_POSTCODE_CONFIDENCE));
        }
        // Codes of post office boxes have no area, but share their first digits with nearby codes.
        let postcodes = &self.contents.postcodes;
        let start = postcodes.partition_point(|postcode| postcode.code / 100 < number / 100);
        let end = postcodes.partition_point(|postcode| postcode.code / 100 <= number / 100);
        let points: Vec<Point> = postcodes[start..end].iter().map(|postcode| postcode.point).collect();
        Some((middle(&points)?, postcodes[start].area, 0.6))
    }

    /// Returns the centre, the area and the confidence of a Canadian postal code or of its first half.
    fn postal_code(&self, code: &str) -> Option<(Point, u32, f64)> {
        if let Some(number) = number(code)
            && let Some(known) = self.known_postcode(number)
        {
            return Some((known.point, known.area, KNOWN_POSTCODE_CONFIDENCE));
        }
        let first_half = self.known_postcode(number(code.get(..3)?)?)?;
        Some((first_half.point, first_half.area, 0.85))
    }

    fn known_postcode(&self, number: u32) -> Option<&StoredPostcode> {
        let postcodes = &self.contents.postcodes;
        let at = postcodes.binary_search_by_key(&number, |postcode| postcode.code).ok()?;
        postcodes.get(at)
    }
}

/// Confidence of a known postcode.
const KNOWN_POSTCODE_CONFIDENCE: f64 = 0.95;
