//! Reads the parts of an address on one line in a country.

use super::address_pieces::{
    AddressPiece, code_splits, has_digits, split_parentheses, without_code_marks, without_district, words_at_end,
};
use super::query::Within;
use super::{Gazetteer, postal_code};
use crate::country::Country;
use crate::division::Division;
use crate::fold::fold;
use crate::point::{Distance, Point};

/// Maximum distance between an ATM and a place in its address.
pub(super) const NEAR: Distance = Distance::miles(60.0);
/// Maximum candidates for a name.
pub(super) const MAX_CANDIDATES: usize = 64;
/// Maximum unknown pieces between the city and the end of the line.
const MAX_UNKNOWN: usize = 2;
/// Minimum population of a city at the start of a line that continues with a street.
const MIN_POPULATION_AT_START: u32 = 1_000;
/// Minimum population of a city with numbered districts.
const MIN_POPULATION_WITH_DISTRICTS: u32 = 100_000;
/// Minimum bytes of a postcode after a longer name of a city. A shorter code may be the number of a house.
const MIN_CODE_AT_END: usize = 5;
/// Maximum words of the name of a city.
const MAX_CITY_WORDS: usize = 6;

/// A reader of addresses in one country, near one point.
pub(super) struct AddressReader<'g> {
    pub(super) gazetteer: &'g Gazetteer,
    pub(super) country: Country,
    /// Whether the address or its source names the country.
    pub(super) is_country_known: bool,
    pub(super) point: Point,
}

/// The parts of an address that are found so far.
#[derive(Clone, Copy, Default)]
pub(super) struct AddressParts<'a> {
    pub(super) city: Option<&'a str>,
    pub(super) region: Option<&'a str>,
    pub(super) postcode: Option<&'a str>,
    /// The start and end of the text outside of the other parts.
    pub(super) street: (usize, usize),
}

/// The meaning of a piece of an address without its postcode.
#[derive(Clone, Copy)]
enum PieceMeaning<'a> {
    /// The piece has only a postcode.
    Nothing,
    City(&'a str),
    Region(&'a str),
    /// The name of a city and of a division.
    CityOrRegion {
        name: &'a str,
        place: u32,
        is_city_division: bool,
    },
    CityAndRegion(&'a str, &'a str),
    Unknown,
}

/// A piece of an address with its postcode and the meaning of its other words.
#[derive(Clone, Copy)]
struct PieceReading<'a> {
    postcode: Option<&'a str>,
    meaning: PieceMeaning<'a>,
}

impl AddressReader<'_> {
    /// Returns the parts of an address without its country: most countries write the city at the end of the line, some
    /// at its start.
    pub(super) fn read<'a>(&self, pieces: &[AddressPiece<'a>]) -> AddressParts<'a> {
        let parts = self.read_end(pieces);
        if parts.city.is_some() { parts } else { self.read_start(pieces, parts) }
    }

    /// Reads the pieces from the end of a line up to the city.
    fn read_end<'a>(&self, pieces: &[AddressPiece<'a>]) -> AddressParts<'a> {
        let end = pieces.last().map_or(0, |last| last.start + last.text.len());
        let mut parts = AddressParts { street: (0, end), ..AddressParts::default() };
        let mut unknown = 0;
        for (at, piece) in pieces.iter().enumerate().rev() {
            let reading = self.read_piece(piece.text, parts.postcode.is_none());
            let before = parts;
            parts.postcode = parts.postcode.or(reading.postcode);
            parts.street.1 = piece.start;
            match reading.meaning {
                PieceMeaning::Nothing => {}
                PieceMeaning::Region(region) => parts.region = Some(region),
                PieceMeaning::City(city) if !self.has_city_with_postcode_before(&pieces[..at], &parts) => {
                    return AddressParts { city: Some(city), ..parts };
                }
                PieceMeaning::City(city) => parts.region = Some(city),
                PieceMeaning::CityAndRegion(city, region) => {
                    return AddressParts { city: Some(city), region: Some(region), ..parts };
                }
                PieceMeaning::CityOrRegion { name, place, is_city_division } => {
                    let is_region = parts.region.is_none()
                        && (self.has_city_with_postcode_before(&pieces[..at], &parts)
                            || (!is_city_division && self.has_city_before(&pieces[..at], name, place)));
                    if !is_region {
                        return AddressParts { city: Some(name), ..parts };
                    }
                    parts.region = Some(name);
                }
                PieceMeaning::Unknown => {
                    if at > 0
                        && parts.postcode.is_none()
                        && let Some((code, city)) = self.unknown_city(piece.text)
                    {
                        return AddressParts { city: Some(city), postcode: Some(code), ..parts };
                    }
                    unknown += 1;
                    if unknown > MAX_UNKNOWN || has_digits(piece.text) {
                        return before;
                    }
                }
            }
        }
        // Without a city, unknown pieces belong to the street.
        if unknown > 0 { AddressParts { street: (0, end), ..parts } } else { parts }
    }

    /// Reads a city at the start of a line, in front of the street.
    fn read_start<'a>(&self, pieces: &[AddressPiece<'a>], end: AddressParts<'a>) -> AddressParts<'a> {
        let mut parts = end;
        for (at, piece) in pieces.iter().enumerate() {
            if piece.start >= end.street.1 {
                break;
            }
            let reading = self.read_piece(piece.text, parts.postcode.is_none());
            parts.postcode = parts.postcode.or(reading.postcode);
            match reading.meaning {
                PieceMeaning::Nothing => {}
                PieceMeaning::Region(region) => parts.region = parts.region.or(Some(region)),
                PieceMeaning::City(city) | PieceMeaning::CityAndRegion(city, _) => parts.city = Some(city),
                PieceMeaning::CityOrRegion { name, .. } => parts.city = Some(name),
                PieceMeaning::Unknown => break,
            }
            if let Some(city) = parts.city {
                let place = self.place_called(city);
                if place.is_none_or(|place| self.gazetteer.population(place) < MIN_POPULATION_AT_START) {
                    return end;
                }
                parts.street.0 = pieces.get(at + 1).map_or(end.street.1, |next| next.start.min(end.street.1));
                return parts;
            }
        }
        end
    }

    /// Reads a piece, with its postcode if `with_postcode` is set.
    fn read_piece<'a>(&self, text: &'a str, with_postcode: bool) -> PieceReading<'a> {
        if with_postcode {
            for (code, rest) in code_splits(text) {
                if !postal_code::fits(self.country, code) {
                    continue;
                }
                let meaning = self.meaning(rest);
                if !matches!(meaning, PieceMeaning::Unknown) {
                    return PieceReading { postcode: Some(code), meaning };
                }
                if (text.starts_with(code) || code.len() >= MIN_CODE_AT_END)
                    && let Some(city) = self.large_city_at_end(rest)
                {
                    return PieceReading { postcode: Some(code), meaning: PieceMeaning::City(city) };
                }
            }
        }
        PieceReading { postcode: None, meaning: self.meaning(text) }
    }

    /// Returns the meaning of a text without a postcode.
    fn meaning<'a>(&self, text: &'a str) -> PieceMeaning<'a> {
        let text = without_code_marks(text);
        if text.is_empty() {
            return PieceMeaning::Nothing;
        }
        if let Some((city, region)) = split_parentheses(text)
            && self.place_called(city).is_some()
        {
            let has_region = !self.divisions_called(region).is_empty();
            return if has_region { PieceMeaning::CityAndRegion(city, region) } else { PieceMeaning::City(city) };
        }
        // `Kadıköy/İstanbul`: the district, which the gazetteer may lack, and its province.
        if let Some((city, region)) = text.split_once('/')
            && !has_digits(city)
            && city.trim().chars().count() > 1
            && city.split_whitespace().count() <= MAX_CITY_WORDS
            && !self.divisions_called(region.trim()).is_empty()
        {
            return PieceMeaning::CityAndRegion(city.trim(), region.trim());
        }
        let divisions = self.divisions_called(text);
        let is_code = text.len() <= 3 && text.bytes().all(|letter| letter.is_ascii_uppercase());
        if is_code && !divisions.is_empty() {
            return PieceMeaning::Region(text);
        }
        let place = self.place_called(text);
        match (place, divisions.is_empty()) {
            (Some(place), false) => {
                let is_city_division = divisions.iter().any(|division| Gazetteer::is_city_division(*division));
                return PieceMeaning::CityOrRegion { name: without_district(text), place, is_city_division };
            }
            (Some(_), true) => return PieceMeaning::City(without_district(text)),
            (None, false) => return PieceMeaning::Region(text),
            (None, true) => {}
        }
        for (city, region) in words_at_end(text) {
            let region = without_code_marks(region);
            if self.place_called(city).is_some() && !self.divisions_called(region).is_empty() {
                return PieceMeaning::CityAndRegion(without_district(city), region);
            }
        }
        PieceMeaning::Unknown
    }

    /// Returns the divisions of the country with this name or code if they have a place near the point.
    fn divisions_called(&self, text: &str) -> &'static [Division] {
        let named = Division::of_country(Division::named(&fold(text)), self.country);
        let coded = Division::of_country(Division::with_iso_code(text), self.country);
        let divisions = if named.is_empty() { coded } else { named };
        if divisions.is_empty() {
            return divisions;
        }
        let within = Within::Divisions(divisions);
        let gazetteer = self.gazetteer;
        let is_near = gazetteer.index.any_within(self.point, NEAR, |at| within.contains(gazetteer.area(at)));
        if is_near { divisions } else { &[] }
    }

    /// Returns the likeliest place with this name near the point.
    fn place_called(&self, text: &str) -> Option<u32> {
        let gazetteer = self.gazetteer;
        let name = without_district(text);
        if has_digits(name) || name.chars().count() < 2 || name.split_whitespace().count() > MAX_CITY_WORDS {
            return None;
        }
        let is_near = |at: u32| gazetteer.point(at).distance(self.point) <= NEAR;
        let place = gazetteer.candidates_called(self.country, name, is_near).first()?.place();
        // Else the number is that of a house.
        let is_plausible = name.len() == text.len() || gazetteer.population(place) >= MIN_POPULATION_WITH_DISTRICTS;
        is_plausible.then_some(place)
    }

    /// Returns the large city at the end of a longer name, as in `Cdad. Autónoma de Buenos Aires`.
    fn large_city_at_end<'a>(&self, text: &'a str) -> Option<&'a str> {
        if has_digits(text) {
            return None;
        }
        for (_, name) in words_at_end(text) {
            let place = self.place_called(name);
            if place.is_some_and(|place| self.gazetteer.population(place) >= MIN_POPULATION_WITH_DISTRICTS) {
                return Some(name);
            }
        }
        None
    }

    /// Checks for a city with the postcode before another name, if no postcode follows.
    fn has_city_with_postcode_before(&self, before: &[AddressPiece<'_>], after: &AddressParts<'_>) -> bool {
        let Some(piece) = before.last() else { return false };
        if after.postcode.is_some() || !has_digits(piece.text) {
            return false;
        }
        let reading = self.read_piece(piece.text, true);
        let is_city = matches!(
            reading.meaning,
            PieceMeaning::City(_) | PieceMeaning::CityAndRegion(..) | PieceMeaning::CityOrRegion { .. }
        );
        is_city && reading.postcode.is_some_and(|code| piece.text.starts_with(code))
    }

    /// Checks whether the name of a city and division means the division, because a city precedes it: the city has the
    /// name too, or the point is outside of the city of the name.
    fn has_city_before(&self, before: &[AddressPiece<'_>], name: &str, place: u32) -> bool {
        let Some(piece) = before.last() else { return false };
        let city = match self.read_piece(piece.text, true).meaning {
            PieceMeaning::City(city) | PieceMeaning::CityAndRegion(city, _) => city,
            PieceMeaning::CityOrRegion { name, .. } => name,
            _ => return false,
        };
        fold(city) == fold(name) || !self.gazetteer.is_inside(place, self.point)
    }

    /// Returns the postcode and the city of a piece such as `79999 Kleinstdorf` if the country has no place of this
    /// name. A place of the name would be too far away.
    fn unknown_city<'a>(&self, text: &'a str) -> Option<(&'a str, &'a str)> {
        if !self.is_country_known {
            return None;
        }
        for (code, rest) in code_splits(text) {
            let is_first = text.starts_with(code);
            let is_distinct = code.contains(|letter: char| letter.is_alphabetic() || letter == '-');
            let is_name = !has_digits(rest)
                && rest.starts_with(char::is_alphabetic)
                && rest.split_whitespace().count() <= MAX_CITY_WORDS;
            if is_name
                && (is_first || is_distinct)
                && postal_code::fits(self.country, code)
                && self.gazetteer.named(&fold(rest), Within::Country(self.country)).next().is_none()
            {
                return Some((code, rest));
            }
        }
        None
    }
}
