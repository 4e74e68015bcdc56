//! What people mean by where: coordinates, a US postcode, or a name with or without its region and country.

use serde::Serialize;

use super::search::Hit;
use super::{Gazetteer, Place};
use crate::coordinates;
use crate::country::Country;
use crate::fold::fold;
use crate::point::Point;
use crate::region::Region;

/// The longest text that is looked at, in characters.
const LONGEST: usize = 200;
/// How many other places of the same name are told.
const ALTERNATIVES: usize = 5;
const SUGGESTIONS: usize = 3;
/// Who writes `Florida` means the state and not a town of that name; who writes `New York` may mean the city. So many
/// people must live in a place that has the name of a state or country.
const LEAST_NAMESAKE: u32 = 250_000;
/// How many readings of a text are searched with typos.
const MOST_SIMILAR: usize = 2;
/// How sure a name is that was spelled right, and one that was not.
const EXACT: f64 = 1.0;
const SIMILAR: f64 = 0.7;
/// The most words that a region's or country's name at the end of a text may have.
const QUALIFIER_WORDS: usize = 4;
/// What people write around a place and do not mean as a part of it.
const AROUND: [&str; 24] = [
    "a", "any", "around", "at", "atm", "atms", "bitcoin", "btc", "by", "close", "closest", "crypto", "find", "for",
    "in", "kiosk", "kiosks", "machine", "machines", "near", "nearest", "nearby", "the", "to",
];

/// A location that was understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The place's main name, the postcode, or the coordinates.
    pub name: String,
    /// The state, province or territory, where it is known.
    pub region: Option<Region>,
    /// The country, where it is known.
    pub country: Option<Country>,
    /// The place's centre.
    pub point: Point,
    /// How it was understood.
    pub source: Source,
    /// How sure that is: 1 for coordinates and full names, less for ambiguous names and typos.
    pub confidence: f64,
    /// Other places of the name, largest first, at most five.
    pub alternatives: Vec<Place>,
}

/// How a location was understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The text was coordinates.
    Coordinates,
    /// It was a postcode.
    Postcode,
    /// It was a place's name.
    Gazetteer,
}

/// A location that means nothing to us, and what may have been meant. Never a guess.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unresolved {
    /// Places that the text may mean.
    pub suggestions: Vec<Place>,
}

/// What narrows a name down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    Region(Region),
    Country(Country),
}

/// One way to read a text: a folded name, in all of these.
#[derive(Debug)]
struct Reading {
    name: String,
    within: Vec<Within>,
}

impl Source {
    /// Whether the answer comes from the place names, whose licence wants to be named.
    #[must_use]
    pub fn is_gazetteer(self) -> bool {
        self == Self::Gazetteer
    }
}

impl Resolved {
    /// The region's name.
    #[must_use]
    pub fn region_name(&self) -> Option<&'static str> {
        self.region.map(Region::name)
    }
}

impl Gazetteer {
    /// Understands where somebody means.
    ///
    /// ```
    /// # use signpost_locator::Gazetteer;
    /// let gazetteer = Gazetteer::embedded();
    /// for text in ["Austin, TX", "bitcoin atm near austin texas", "Austn, TX"] {
    ///     assert_eq!(gazetteer.resolve(text).unwrap().region_name(), Some("Texas"));
    /// }
    /// assert_eq!(gazetteer.resolve("Paris").unwrap().country.unwrap().code(), "FR");
    /// assert!(gazetteer.resolve("Xyzzyville, TX").is_err());
    /// ```
    ///
    /// # Errors
    /// [`Unresolved`], where the text is no place that we know.
    pub fn resolve(&self, text: &str) -> Result<Resolved, Unresolved> {
        let text = text.trim();
        if text.chars().count() > LONGEST {
            return Err(Unresolved::default());
        }
        let text = without_around(text);
        if let Some(postcode) = self.by_postcode(&text) {
            return postcode;
        }
        match coordinates::parse(&text) {
            Some(Ok(point)) => return Ok(at(point)),
            Some(Err(_)) => return Err(Unresolved::default()),
            None => {}
        }
        let readings = readings(&text);
        let mut exact: Vec<_> = readings.iter().map(|reading| self.exact(&reading.name)).collect();
        let area = ways(&text).first().copied();
        if area.is_some() {
            for hits in &mut exact {
                hits.retain(|hit| self.is_namesake(*hit));
            }
        }
        if let Some(found) = self.first(&readings, &exact, EXACT) {
            return Ok(found);
        }
        if let Some(area) = area {
            return Err(Unresolved { suggestions: self.largest(area) });
        }
        // Typos cost a thousand times an exact look-up: only the likeliest readings are given that chance.
        let similar: Vec<_> = readings.iter().take(MOST_SIMILAR).map(|reading| self.similar(&reading.name)).collect();
        let found = self.first(&readings, &similar, SIMILAR);
        found.ok_or_else(|| self.suggest([exact, similar].concat()))
    }

    /// Whether somebody who writes the name of a state or country may mean this place.
    fn is_namesake(&self, hit: Hit) -> bool {
        let is_known = hit.is_main || self.data.region(hit.place).is_some();
        is_known && self.data.population(hit.place) >= LEAST_NAMESAKE
    }

    /// The largest places of a region or country.
    fn largest(&self, within: Within) -> Vec<Place> {
        let all = (0..u32::try_from(self.len()).unwrap_or(u32::MAX)).filter(|place| self.is_within(*place, within));
        let mut all: Vec<_> = all.map(|place| (self.data.population(place), place)).collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        all.iter().take(SUGGESTIONS).map(|(_, place)| self.data.place(*place)).collect()
    }

    fn first(&self, readings: &[Reading], hits: &[Vec<Hit>], sureness: f64) -> Option<Resolved> {
        readings.iter().zip(hits).find_map(|(reading, hits)| self.read(reading, hits.clone(), sureness))
    }

    /// The heaviest place that a reading found.
    fn read(&self, reading: &Reading, mut hits: Vec<Hit>, sureness: f64) -> Option<Resolved> {
        hits.retain(|hit| reading.within.iter().all(|within| self.is_within(hit.place, *within)));
        let (best, others) = hits.split_first()?;
        let Place { name, region, country, point, .. } = self.data.place(best.place);
        // A name alone is the surer the more it outweighs its namesakes.
        let rivals: f64 = others.iter().map(|hit| hit.weight).sum();
        let share = if reading.within.is_empty() { 0.5 + 0.4 * best.weight / (best.weight + rivals) } else { 1.0 };
        let confidence = sureness * share * if best.is_main { 1.0 } else { 0.9 };
        // Behind an explicit region, or a typo, others of the name are not what was asked for.
        let told = if reading.within.is_empty() && sureness >= EXACT { ALTERNATIVES } else { 0 };
        Some(Resolved {
            name,
            region,
            country: Some(country),
            point,
            source: Source::Gazetteer,
            confidence: (confidence * 100.0).round() / 100.0,
            alternatives: self.places(others.iter().filter(|hit| hit.is_main).copied(), told),
        })
    }

    fn is_within(&self, place: u32, within: Within) -> bool {
        match within {
            Within::Region(region) => self.data.region(place) == Some(region),
            Within::Country(country) => {
                let region = self.data.region(place).map(Region::country);
                region == Some(country) || self.data.country(place) == country
            }
        }
    }

    /// The same name elsewhere, else names that are almost the same.
    fn suggest(&self, found: Vec<Vec<Hit>>) -> Unresolved {
        let hits = found.into_iter().find(|hits| !hits.is_empty()).unwrap_or_default();
        Unresolved { suggestions: self.places(hits, SUGGESTIONS) }
    }

    /// A ZIP code or ZIP+4, alone or behind the rest of an address. `None` where there is none in the text.
    fn by_postcode(&self, text: &str) -> Option<Result<Resolved, Unresolved>> {
        let last = text.rsplit([' ', ',']).next()?;
        let (zip, extra) = last.split_once('-').unwrap_or((last, "0000"));
        let is_digits = |text: &str, length| text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_digits(zip, 5) || !is_digits(extra, 4) {
            return None;
        }
        match self.data.postcode(zip.parse().ok()?) {
            Some((point, region)) => Some(Ok(Resolved {
                name: zip.to_owned(),
                region,
                country: Some(Country::UNITED_STATES),
                source: Source::Postcode,
                confidence: 0.95,
                ..at(point)
            })),
            // Alone it is no place; behind a city it is one that we do not know, and the city says enough.
            None if last == text => Some(Err(Unresolved::default())),
            None => None,
        }
    }
}

fn at(point: Point) -> Resolved {
    Resolved {
        name: format!("{}, {}", point.lat(), point.lon()),
        region: None,
        country: None,
        point,
        source: Source::Coordinates,
        confidence: 1.0,
        alternatives: Vec::new(),
    }
}

/// The text without the words that lead up to the place.
fn without_around(text: &str) -> String {
    let is_around = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        AROUND.contains(&word.as_str())
    };
    let words: Vec<_> = text.split_whitespace().collect();
    let begin = words.iter().position(|word| !is_around(word)).unwrap_or(0);
    // "a coruna" begins with such a word and is a place: one alone is left where it stands.
    let begin = if begin == 1 && words[0].chars().count() == 1 { 0 } else { begin };
    let end = words.iter().rposition(|word| !is_behind(word)).map_or(words.len(), |last| last + 1);
    words[begin.min(end)..end].join(" ").trim_end_matches([',', '.', '?', '!']).to_owned()
}

/// What people write behind a place.
fn is_behind(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    ["atm", "atms", "bitcoin", "btc", "area", "please"].contains(&word.as_str())
}

/// The ways to read a text, likeliest first.
fn readings(text: &str) -> Vec<Reading> {
    // A ZIP behind the region says nothing that the region does not.
    let is_zip = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') && part.len() >= 5;
    let parts: Vec<_> = text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    let [name, rest @ ..] = &parts[..] else { return Vec::new() };
    if rest.is_empty() {
        return without_commas(name);
    }
    // Each part behind a comma may mean a region or a country ("CA"); a county says nothing that we know.
    let mut choices: Vec<Vec<Within>> = Vec::new();
    for part in rest {
        let words: Vec<_> = part.split_whitespace().filter(|word| !is_zip(word)).collect();
        if words.is_empty() || words.last().is_some_and(|word| word.eq_ignore_ascii_case("county")) {
            continue;
        }
        match qualifiers(&words) {
            Some(sets) => choices.extend(sets),
            // Behind a name that we cannot place, any place of the name would be a guess.
            None => return Vec::new(),
        }
    }
    let name = fold(name);
    let combined = choices.iter().fold(vec![Vec::new()], |sets: Vec<Vec<Within>>, choice| {
        sets.iter().flat_map(|set| choice.iter().map(|one| [set.clone(), vec![*one]].concat())).collect()
    });
    combined.into_iter().take(16).map(|within| Reading { name: name.clone(), within }).collect()
}

/// The ways to read `Austin TX`, `Paris France` and `New York`.
fn without_commas(text: &str) -> Vec<Reading> {
    let words: Vec<_> = text.split_whitespace().collect();
    let mut readings = Vec::new();
    for length in (1..=QUALIFIER_WORDS.min(words.len().saturating_sub(1))).rev() {
        let (name, behind) = words.split_at(words.len() - length);
        let Some(sets) = qualifiers(behind) else { continue };
        let name = fold(&name.join(" "));
        let [first, rest @ ..] = &sets[..] else { continue };
        for one in first {
            let within = std::iter::once(*one).chain(rest.iter().filter_map(|set| set.first().copied())).collect();
            readings.push(Reading { name: name.clone(), within });
        }
    }
    readings.push(Reading { name: fold(text), within: Vec::new() });
    readings
}

/// What the words name: a region, a country, or a region and its country ("TX USA"). For each of them the ways to
/// take it; `None` where they name neither.
fn qualifiers(words: &[&str]) -> Option<Vec<Vec<Within>>> {
    let whole = ways(&words.join(" "));
    if !whole.is_empty() {
        return Some(vec![whole]);
    }
    let (last, before) = words.split_last()?;
    let (region, country) = (ways(&before.join(" ")), ways(last));
    (!region.is_empty() && !country.is_empty()).then(|| vec![region, country])
}

fn ways(text: &str) -> Vec<Within> {
    let plain: String = text.chars().filter(|c| *c != '.').collect();
    let region = Region::parse(&plain).map(Within::Region);
    let country = Country::parse(&plain).map(Within::Country);
    region.into_iter().chain(country).collect()
}
