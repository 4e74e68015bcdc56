//! From a text to a place.

use super::blob::StoredPostcode;
use super::build::{middle, number};
use super::query::{Query, Within, is_around, queries, without_words_around};
use super::spelling::Mistakes;
use super::{Gazetteer, Place, coordinates, likelihood, map_link};
use crate::address::{Address, parse_forward_sortation_area, parse_postcode, split_postcode};
use crate::country::Country;
use crate::fold::fold;
use crate::point::Point;
use crate::region::Region;

/// Most characters of a text, without the white space around it.
pub const MAX_TEXT_CHARS: usize = 200;
/// Most other places that an answer names.
pub(super) const MAX_ALTERNATIVES: usize = 5;
/// How likely a place must be for a name that is also that of a state or country, if it lies elsewhere.
const LARGE: u32 = 100_000;
/// How likely a place must be for a misspelt name, or for the name of the state or country it lies in.
const LEAST_LIKELY: u32 = 10_000;

/// Most questions of a text that are asked with mistakes allowed, which is slow.
const MAX_MISSPELT: usize = 8;

/// What a text means.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The main name of the place, the postcode, or the coordinates.
    pub name: String,
    /// The state, province or territory, in the United States and Canada; not of coordinates.
    pub region: Option<Region>,
    /// The country; not of coordinates.
    pub country: Option<Country>,
    /// Where to search from.
    pub point: Point,
    /// How it was found.
    pub source: PlaceSource,
    /// How sure it is, 0 to 1: 1 for coordinates; less the more places share the name, or the name was misspelt.
    pub confidence: f64,
    /// The other places of that name, at most five, the likeliest first.
    pub alternatives: Vec<Place>,
}

/// How a text was understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceSource {
    /// It gives coordinates.
    Coordinates,
    /// It is a postcode.
    Postcode,
    /// It names a place.
    Place,
    /// It names a place with a typing mistake.
    Misspelt,
}

/// A text that means no known place.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{reason}")]
pub struct Unresolved {
    /// Why, in words.
    pub reason: String,
    /// Places that may be meant, at most five, the likeliest first.
    pub suggestions: Vec<Place>,
}

impl Gazetteer {
    /// What a text for a location means: coordinates in the usual notations or in a link to a map, a US ZIP code, `City, ST`, `City ST`,
    /// `City, Country`, or a city, of which the largest counts; in any case, with or without accents, with words like
    /// `bitcoin atms near` before it and with one typing mistake. A region or country that is named is respected.
    ///
    /// ```
    /// # use signpost_locator::gazetteer::{Gazetteer, PlaceSource};
    /// # let gazetteer = Gazetteer::embedded();
    /// for text in ["Austin, TX", "austin texas", "30.26715, -97.74306", "near Autsin TX"] {
    ///     assert!(gazetteer.resolve(text).unwrap().point.distance(gazetteer.resolve("Austin").unwrap().point).in_miles() < 1.0);
    /// }
    /// assert_eq!(gazetteer.resolve("78701").unwrap().source, PlaceSource::Postcode);
    /// ```
    ///
    /// # Errors
    /// [`Unresolved`], if the text is empty, longer than [`MAX_TEXT_CHARS`], or means nothing known.
    pub fn resolve(&self, text: &str) -> Result<Resolved, Unresolved> {
        let text = text.trim();
        if text.is_empty() || text.chars().count() > MAX_TEXT_CHARS {
            return Err(Unresolved::new(format!("a location is 1 to {MAX_TEXT_CHARS} characters")));
        }
        let bare = without_words_around(text);
        if let Some(point) = coordinates::parse(bare).or_else(|| map_link::parse(bare)) {
            return Ok(Resolved::coordinates(point));
        }
        if let Some((code, country)) = parse_postcode(bare).or_else(|| parse_forward_sortation_area(bare)) {
            return self.postcode(&code, country);
        }
        let areas: Vec<Within> = Within::named(bare).collect();
        let queries = queries(text);
        let named = queries.iter().find_map(|query| self.exactly(query, &areas));
        named
            .or_else(|| self.address(text))
            .or_else(|| if areas.is_empty() && !is_around(bare) { self.nearly(&queries) } else { None })
            .ok_or_else(|| self.unresolved(bare, &queries, &areas))
    }

    fn exactly(&self, query: &Query, areas: &[Within]) -> Option<Resolved> {
        let meant = |named: &u32| {
            let at = named / 2;
            let area = self.contents.areas[self.contents.places[at as usize].area as usize];
            let is_area = query.within == Within::Anywhere && !areas.is_empty();
            let inside = areas.iter().any(|within| within.holds(area));
            !is_area || likelihood(self.population(at), *named) >= if inside { LEAST_LIKELY } else { LARGE }
        };
        let found: Vec<u32> = self.named(&query.name, query.within).filter(meant).take(1 + MAX_ALTERNATIVES).collect();
        self.resolved(&found, query, PlaceSource::Place)
    }

    /// The queries that say where come first: they leave less to choose from.
    fn nearly(&self, queries: &[Query]) -> Option<Resolved> {
        let (anywhere, within): (Vec<&Query>, Vec<_>) =
            queries.iter().partition(|query| query.within == Within::Anywhere);
        let ordered: Vec<&Query> = within.into_iter().chain(anywhere).take(MAX_MISSPELT).collect();
        let with = |mistakes: Mistakes| {
            ordered.iter().find_map(|query| {
                self.resolved(&self.misspelt(query, mistakes, LEAST_LIKELY), query, PlaceSource::Misspelt)
            })
        };
        with(Mistakes::One).or_else(|| with(Mistakes::Two))
    }

    /// An address on one line: the postcode at its end, else its city.
    fn address(&self, text: &str) -> Option<Resolved> {
        let postcode = split_postcode(text).1;
        postcode.and_then(|(code, country)| self.postcode(&code, country).ok()).or_else(|| {
            let address = Address::parse(text)?;
            let within = Within::Region(Region::parse(&address.region?)?);
            self.exactly(&Query { name: fold(&address.city?), within }, &[])
        })
    }

    fn postcode(&self, code: &str, country: Country) -> Result<Resolved, Unresolved> {
        let found = if country == Country::UNITED_STATES { self.zip_code(code) } else { self.postal_code(code) };
        let (point, area, confidence) = found.ok_or_else(|| {
            let parts = if country == Country::UNITED_STATES { ("ZIP", "state") } else { ("postal", "province") };
            Unresolved::new(format!("the {} code {code} is not known; name the city and {}", parts.0, parts.1))
        })?;
        let area = self.contents.areas[area as usize];
        let (region, country, alternatives) = (area.region, Some(area.country), Vec::new());
        Ok(Resolved {
            name: code.to_owned(),
            region,
            country,
            point,
            source: PlaceSource::Postcode,
            confidence,
            alternatives,
        })
    }

    /// The centre of a ZIP code, its area, and how sure that is.
    fn zip_code(&self, code: &str) -> Option<(Point, u32, f64)> {
        let number = number(code)?;
        if let Some(known) = self.known_postcode(number) {
            return Some((known.point, known.area, 0.95));
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
        let whole = || self.known_postcode(number(code)?).map(|known| (known, 0.95));
        let area = || self.known_postcode(number(code.get(..3)?)?).map(|known| (known, 0.85));
        let (known, confidence) = whole().or_else(area)?;
        Some((known.point, known.area, confidence))
    }

    fn known_postcode(&self, number: u32) -> Option<&StoredPostcode> {
        let postcodes = &self.contents.postcodes;
        let at = postcodes.binary_search_by_key(&number, |postcode| postcode.code).ok()?;
        postcodes.get(at)
    }

    /// The first of some places as an answer, with the others as alternatives.
    fn resolved(&self, found: &[u32], query: &Query, source: PlaceSource) -> Option<Resolved> {
        let places = distinct(found.iter().copied(), 1 + MAX_ALTERNATIVES);
        let (first, others) = places.split_first()?;
        let people: f64 = places.iter().map(|at| f64::from(self.population(*at)) + 1.0).sum();
        let share = (f64::from(self.population(*first)) + 1.0) / people;
        let sure = if query.within == Within::Anywhere { 0.5 + 0.4 * share } else { 0.8 + 0.15 * share };
        let by_main_name = found[0].is_multiple_of(2);
        let confidence =
            sure * if source == PlaceSource::Misspelt { 0.7 } else { 1.0 } * if by_main_name { 1.0 } else { 0.9 };
        let place = self.place(*first);
        Some(Resolved {
            name: place.name,
            region: place.region,
            country: Some(place.country),
            point: place.point,
            source,
            confidence: (confidence * 100.0).round() / 100.0,
            alternatives: others.iter().map(|at| self.place(*at)).collect(),
        })
    }
}

impl Resolved {
    fn coordinates(point: Point) -> Self {
        let name = format!("{:.5}, {:.5}", point.lat(), point.lon());
        let (region, country, alternatives) = (None, None, Vec::new());
        Self { name, region, country, point, source: PlaceSource::Coordinates, confidence: 1.0, alternatives }
    }
}

impl Unresolved {
    fn new(reason: String) -> Self {
        Self { reason, suggestions: Vec::new() }
    }
}

/// The places of some names, each once, at most `most`.
pub(super) fn distinct(named: impl IntoIterator<Item = u32>, most: usize) -> Vec<u32> {
    let mut places = Vec::new();
    for at in named.into_iter().map(|named| named / 2) {
        if places.len() < most && !places.contains(&at) {
            places.push(at);
        }
    }
    places
}

impl PlaceSource {
    /// As it is written in replies: `coordinates`, `postcode`, `place` or `misspelt`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Coordinates => "coordinates",
            Self::Postcode => "postcode",
            Self::Place => "place",
            Self::Misspelt => "misspelt",
        }
    }
}
