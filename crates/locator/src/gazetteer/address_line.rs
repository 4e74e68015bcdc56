//! Postal addresses on one line, in the notations of all countries.

use super::Gazetteer;
use super::address_pieces::{AddressPiece, has_digits, split_line, words_at_end};
use super::address_reader::{AddressParts, AddressReader, MAX_CANDIDATES, NEAR};
use super::east_asian_address::is_east_asian;
use super::query::Within;
use crate::address::Address;
use crate::country::Country;
use crate::fold::fold;
use crate::point::Point;
use crate::region::Region;

/// Maximum countries that an address without a country may be in.
const MAX_COUNTRIES: usize = 3;
/// Maximum bytes of a postcode.
const MAX_POSTCODE: usize = 10;
/// Countries that are cities, by code.
const CITY_STATES: [&str; 5] = ["GI", "HK", "MC", "MO", "SG"];

impl Gazetteer {
    /// Parses an address on one line: the United States and Canada like [`Address::parse`], other countries by their
    /// cities, divisions and postcodes. `country` is the country of the source, if it is known.
    ///
    /// A city that is more than 60 miles from the point is not returned. `None` if no part is found.
    ///
    /// ```
    /// # use signpost_locator::{Point, gazetteer::Gazetteer};
    /// # let gazetteer = Gazetteer::embedded();
    /// let point = Point::new(52.5219, 13.4132).unwrap();
    /// let address = gazetteer.parse_address("Alexanderplatz 1, 10178 Berlin, Germany", point, None).unwrap();
    /// assert_eq!(address.street.as_deref(), Some("Alexanderplatz 1"));
    /// assert_eq!((address.city.as_deref(), address.postcode.as_deref()), (Some("Berlin"), Some("10178")));
    /// assert_eq!(address.country.unwrap().code(), "DE");
    /// ```
    #[must_use]
    pub fn parse_address(&self, line: &str, point: Point, country: Option<Country>) -> Option<Address> {
        let american = Address::parse(line).filter(|address| country.is_none_or(|own| is_own(address, own)));
        let region = american.as_ref().and_then(|address| Region::parse(address.region.as_deref()?));
        if let Some(region) = region
            && self.is_near(point, NEAR, region.country(), Some(region))
        {
            return american.map(|address| self.without_distant_city(address, region, point));
        }
        if let Some(address) = self.parse_address_abroad(line, point, country) {
            return Some(address);
        }
        // The region shows in quality checks that the coordinates are wrong.
        Some(self.without_distant_city(american?, region?, point))
    }

    /// Removes the city if all places of this name in the region are far from the point.
    fn without_distant_city(&self, address: Address, region: Region, point: Point) -> Address {
        let Some(city) = address.city.as_deref() else { return address };
        let folded = fold(city);
        let mut named = self.named(&folded, Within::Region(region)).take(MAX_CANDIDATES).peekable();
        let is_known = named.peek().is_some();
        if is_known && !named.any(|candidate| self.point(candidate.place()).distance(point) <= NEAR) {
            return Address { city: None, ..address };
        }
        address
    }

    fn parse_address_abroad(&self, line: &str, point: Point, country: Option<Country>) -> Option<Address> {
        if is_east_asian(line)
            && let Some(address) = self.parse_address_in_east_asia(line, point, country, &self.countries_around(point))
        {
            return Some(address);
        }
        let mut pieces = split_line(line);
        let written = self.split_country(&mut pieces, point);
        let known = country.or(written);
        let countries = match known {
            Some(country) => vec![country],
            None => self.countries_around(point),
        };
        for country in countries {
            if country == Country::UNITED_STATES || country == Country::CANADA {
                continue;
            }
            let reader = AddressReader { gazetteer: self, country, is_country_known: known.is_some(), point };
            let parts = reader.read(&pieces);
            if parts.city.is_some() || known.is_some() {
                return Some(self.address_of(line, parts, country, point));
            }
        }
        None
    }

    /// Creates the address of its parts.
    fn address_of(&self, line: &str, parts: AddressParts<'_>, country: Country, point: Point) -> Address {
        let city_state = CITY_STATES.contains(&country.code()) && self.is_near(point, NEAR, country, None);
        let city = parts.city.or(if city_state { Some(country.name()) } else { None });
        let has_end = city.is_some() || parts.postcode.is_some() || parts.region.is_some();
        let street = line.get(parts.street.0..parts.street.1).unwrap_or_default();
        let street = street.trim_matches(|letter: char| letter.is_whitespace() || ",;，、-–—|".contains(letter));
        Address {
            street: if has_end && !street.is_empty() { Some(street.into()) } else { None },
            city: city.map(Into::into),
            region: parts.region.map(Into::into),
            postcode: parts.postcode.map(Into::into),
            country: Some(country),
            formatted: Some(line.trim().into()),
        }
    }

    /// Splits the country off the last or the first piece of a line.
    fn split_country(&self, pieces: &mut Vec<AddressPiece<'_>>, point: Point) -> Option<Country> {
        let last = *pieces.last()?;
        // A postcode may follow the country.
        let is_postcode = has_digits(last.text) && last.text.len() <= MAX_POSTCODE;
        let before_postcode = if is_postcode { pieces.len().checked_sub(2) } else { None };
        for at in [Some(pieces.len() - 1), before_postcode, Some(0)].into_iter().flatten() {
            if let Some(country) = self.country_near(pieces[at].text, point) {
                pieces.remove(at);
                return Some(country);
            }
        }
        if self.is_name_near(last.text, point) {
            return None;
        }
        for (before, name) in words_at_end(last.text) {
            let is_word = name.len() <= 3 && !name.bytes().all(|letter| letter.is_ascii_uppercase());
            // In `L-1234 Luxembourg`, it is the city.
            let is_city = has_digits(before) && self.is_name_near(name, point);
            if is_word || is_city || ends_in_preposition(before) {
                continue;
            }
            if let Some(country) = self.country_near(name, point) {
                pieces.pop();
                pieces.push(AddressPiece { text: before, start: last.start });
                return Some(country);
            }
        }
        None
    }

    /// Returns the country that a text names if it has a place near a point. A code such as `DE` is also a region of
    /// the United States.
    fn country_near(&self, text: &str, point: Point) -> Option<Country> {
        let country = Country::parse(text.trim_end_matches('.')).or_else(|| Country::parse(text))?;
        if self.is_near(point, NEAR, country, None) { Some(country) } else { None }
    }

    fn is_name_near(&self, text: &str, point: Point) -> bool {
        let folded = fold(text);
        let mut named = self.named(&folded, Within::Anywhere).take(MAX_CANDIDATES);
        named.any(|candidate| self.point(candidate.place()).distance(point) <= NEAR)
    }

    /// Returns the countries of the places around a point, the nearest first.
    fn countries_around(&self, point: Point) -> Vec<Country> {
        let mut found: Vec<Country> = Vec::new();
        while found.len() < MAX_COUNTRIES {
            let other = self.index.nearest(point, NEAR, 1, |at| !found.contains(&self.area(at).country));
            let Some(other) = other.first() else { break };
            found.push(self.area(other.at).country);
        }
        found
    }
}

/// Checks whether an address of the United States or Canada is in the country of its source.
fn is_own(address: &Address, own: Country) -> bool {
    let territory = Region::of_territory(own).map(Region::code);
    address.country == Some(own) || (territory.is_some() && address.region.as_deref() == territory)
}

/// Checks for a short word at the end that joins the next word, as in `Ciudad de`.
fn ends_in_preposition(text: &str) -> bool {
    let last = text.split_whitespace().next_back().unwrap_or_default();
    last.chars().count() <= 3 && last.chars().all(char::is_lowercase)
}
