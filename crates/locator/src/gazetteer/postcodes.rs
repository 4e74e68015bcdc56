//! Postcodes, alone and at the end of addresses.

use super::asked::Asked;
use super::blob::StoredPostcode;
use super::build::{middle, number};
use super::resolve::{PlaceSource, Resolved, Unresolved, UnresolvedKind};
use super::steps::PlaceAnswer;
use super::{Gazetteer, PlaceNote};
use crate::address::{Address, parse_forward_sortation_area, parse_postcode, split_postcode};
use crate::country::Country;
use crate::point::Point;

impl Gazetteer {
    /// A text that is a postcode and nothing else; one that is not known is not looked for in other ways.
    pub(super) fn postcode_alone(&self, asked: &Asked<'_>) -> Option<PlaceAnswer> {
        let (code, country) = parse_postcode(asked.bare).or_else(|| parse_forward_sortation_area(asked.bare))?;
        Some(self.postcode(&code, country))
    }

    /// A city with its postcode, or a whole address: streets are not known, so that its postcode is the answer.
    pub(super) fn address_with_postcode(&self, asked: &Asked<'_>) -> Option<PlaceAnswer> {
        let (before, ended) = split_postcode(asked.bare);
        let address = || Address::parse(asked.bare).and_then(|address| parse_postcode(&address.postcode?));
        let is_at_the_end = ended.is_some();
        let (code, country) = ended.or_else(address)?;
        let found = self.postcode(&code, country).ok()?;
        let town = asked.part(before);
        let is_town =
            is_at_the_end && (before.is_empty() || self.place_by_name(&town).is_some() || !town.areas().is_empty());
        if is_town {
            return Some(Ok(found));
        }
        let place = found.name.clone();
        Some(Ok(found.at_most(0.5).with_note(PlaceNote::Street { place })))
    }

    pub(super) fn postcode(&self, code: &str, country: Country) -> PlaceAnswer {
        let found = if country == Country::UNITED_STATES { self.zip_code(code) } else { self.postal_code(code) };
        let (point, area, confidence) = found.ok_or_else(|| {
            let parts = if country == Country::UNITED_STATES { ("ZIP", "state") } else { ("postal", "province") };
            let reason = format!("the {} code {code} is not known; name the city and {}", parts.0, parts.1);
            Unresolved::new(UnresolvedKind::Unknown, reason)
        })?;
        let area = self.contents.areas[area as usize];
        let resolved = Resolved::at(code.to_owned(), point, PlaceSource::Postcode, confidence);
        let resolved = Resolved { region: area.region, country: Some(area.country), ..resolved };
        let is_guess = country == Country::UNITED_STATES && confidence < KNOWN;
        Ok(if is_guess { resolved.with_note(PlaceNote::NearbyPostcodes { code: code.to_owned() }) } else { resolved })
    }

    /// The centre of a ZIP code, its area, and how sure that is.
    fn zip_code(&self, code: &str) -> Option<(Point, u32, f64)> {
        let number = number(code)?;
        if let Some(known) = self.known_postcode(number) {
            return Some((known.point, known.area, KNOWN));
        }
        // Codes of post boxes have no area of their own, but share the first digits with those around them.
        let postcodes = &self.contents.postcodes;
        let start = postcodes.partition_point(|postcode| postcode.code / 100 < number / 100);
        let end = postcodes.partition_point(|postcode| postcode.code / 100 <= number / 100);
        let points: Vec<Point> = postcodes[start..end].iter().map(|postcode| postcode.point).collect();
        Some((middle(&points)?, postcodes[start].area, 0.6))
    }

    /// The same of a Canadian postal code, or else of the area that its first half stands for.
    fn postal_code(&self, code: &str) -> Option<(Point, u32, f64)> {
        let whole = || self.known_postcode(number(code)?).map(|known| (known, KNOWN));
        let area = || self.known_postcode(number(code.get(..3)?)?).map(|known| (known, 0.85));
        let (known, confidence) = whole().or_else(area)?;
        Some((known.point, known.area, confidence))
    }

    fn known_postcode(&self, number: u32) -> Option<&StoredPostcode> {
        let postcodes = &self.contents.postcodes;
        let at = postcodes.binary_search_by_key(&number, |postcode| postcode.code).ok()?;
        postcodes.get(at)
    }
}

/// How sure a postcode is that is known itself.
const KNOWN: f64 = 0.95;
