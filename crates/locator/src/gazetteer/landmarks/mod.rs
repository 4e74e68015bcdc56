//! Names that people type and that are no populated places: airports, landmarks, regions, and what cities are called.
//!
//! Two tables are part of the program: `data/landmarks.tsv` is written by hand, `data/airports.tsv` is made by
//! `data/airports.sh`.

mod mistakes;
mod names;
mod rows;

use std::borrow::Cow;

use crate::country::Country;
use crate::point::{Distance, Point};
use crate::region::Region;

use names::LandmarkNames;
pub use rows::UnreadableRow;
use rows::{airport_rows, landmark_rows};

const LANDMARKS: &str = include_str!("../../../data/landmarks.tsv");
const AIRPORTS: &str = include_str!("../../../data/airports.tsv");

/// What stands behind the name of an airport, folded: the longest first.
const AIRPORT_ENDINGS: [&str; 12] = [
    "internationalairport",
    "municipalairport",
    "regionalairport",
    "intlairport",
    "international",
    "airports",
    "regional",
    "airport",
    "jetport",
    "airfield",
    "flughafen",
    "intl",
];

/// What stands before the name of an airport in other languages, folded: the longest first.
const AIRPORT_BEGINNINGS: [&str; 14] = [
    "aeropuertointernacionalde",
    "aeroportointernacionalde",
    "aeroportinternationalde",
    "aeropuertointernacional",
    "aeroportointernacional",
    "aeroportinternational",
    "aeropuertode",
    "aeroportode",
    "aeroportde",
    "flughafen",
    "aeropuerto",
    "aeroporto",
    "aeroport",
    "airport",
];

/// Words that are written short at the end of a name, folded: a `St` behind a name is no saint.
const SHORT_ENDINGS: [(&str, &str); 7] = [
    ("ave", "avenue"),
    ("bldg", "building"),
    ("blvd", "boulevard"),
    ("saint", "street"),
    ("sq", "square"),
    ("univ", "university"),
    ("uni", "university"),
];

/// A place with a name that is no populated place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Landmark {
    /// The name to show.
    pub name: &'static str,
    /// What it is.
    pub kind: LandmarkKind,
    /// The city it lies in or next to; of a region the one where most people are.
    pub city: &'static str,
    /// The state, province or territory of that city, in the United States and Canada.
    pub region: Option<Region>,
    /// The country of that city.
    pub country: Country,
    /// Where to search from.
    pub point: Point,
    /// How far it reaches from there, roughly.
    pub radius: Distance,
    /// The codes of an airport.
    pub codes: Option<AirportCodes>,
}

/// What a [`Landmark`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LandmarkKind {
    /// An airport that people fly from.
    Airport,
    /// A sight, stadium, park, campus, station, mall, base or district.
    Landmark,
    /// A part of the country without borders, small enough to search from one point: the Bay Area.
    Region,
    /// What people call a city: the Big Apple.
    Nickname,
    /// A part of the country in which one point says nothing: New England.
    TooLarge,
}

/// The two codes of an airport, in capitals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AirportCodes {
    /// Three letters, as on tickets: `LAX`.
    pub iata: &'static str,
    /// Four letters, as pilots use: `KLAX`.
    pub icao: &'static str,
}

/// All landmarks, ready to be looked up; never changed once read.
pub struct Landmarks {
    all: Vec<Landmark>,
    names: LandmarkNames,
    /// Airports by what stands before an ending such as `International Airport`: a name, a city or the code.
    airports: LandmarkNames,
    /// Sorted; three letters are followed by a zero.
    codes: Vec<([u8; 4], u16)>,
}

impl Landmarks {
    /// The landmarks that are part of the program. Reading them takes milliseconds: do it once.
    ///
    /// ```
    /// # use signpost_locator::gazetteer::Landmarks;
    /// # use signpost_locator::fold;
    /// let landmarks = Landmarks::embedded();
    /// let names = |text: &str| landmarks.named(&fold(text)).map(|found| found.name).collect::<Vec<_>>();
    /// assert_eq!(names("the Empire State Building"), ["Empire State Building"]);
    /// assert_eq!(names("LAX airport"), ["Los Angeles International Airport"]);
    /// assert_eq!(landmarks.by_code("EGLL").unwrap().city, "London");
    /// ```
    ///
    /// # Panics
    /// Never: the tables are part of the program, and a test reads them.
    #[must_use]
    pub fn embedded() -> Self {
        Self::read(LANDMARKS, AIRPORTS).expect("the embedded tables are read by a test")
    }

    fn read(landmarks: &'static str, airports: &'static str) -> Result<Self, UnreadableRow> {
        let (mut all, mut names, mut airport_names, mut codes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for row in landmark_rows(landmarks) {
            let (landmark, called) = row?;
            let at = next(&all)?;
            names.extend(called.into_iter().map(|name| (name, at)));
            all.push(landmark);
        }
        for row in airport_rows(airports) {
            let (airport, called) = row?;
            let at = next(&all)?;
            if let Some(AirportCodes { iata, icao }) = airport.codes {
                codes.extend([iata, icao].into_iter().filter_map(code_bytes).map(|code| (code, at)));
                airport_names.push((iata.to_ascii_lowercase(), at));
            }
            airport_names.extend(called.before.into_iter().map(|name| (name, at)));
            airport_names.extend(called.names.iter().map(|name| (without_ending(name).unwrap_or(name).to_owned(), at)));
            names.extend(called.names.into_iter().map(|name| (name, at)));
            all.push(airport);
        }
        codes.sort_unstable();
        Ok(Self { all, names: LandmarkNames::new(names), airports: LandmarkNames::new(airport_names), codes })
    }

    /// All of them: what is written by hand first, then the airports, the largest of a city first.
    #[must_use]
    pub fn all(&self) -> &[Landmark] {
        &self.all
    }

    /// Those of a name, as [`fold`](crate::fold()) gives it, the likeliest first. `The` before a name does not matter
    /// unless the name is nothing without it, nor does `campus` behind it or `St` for `Street`. An airport is also found
    /// by its city or code and an ending such as `Airport` or `Intl`, and by its terminals.
    pub fn named(&self, folded: &str) -> impl Iterator<Item = &Landmark> {
        let found = spellings(folded).find_map(|name| {
            let mut rows: Vec<u16> = self.names.get(&name).collect();
            let more = airport_stems(&name).flat_map(|name| self.airports.get(name));
            rows.extend(more.filter(|row| !rows.contains(row)).collect::<Vec<_>>());
            (!rows.is_empty()).then_some(rows)
        });
        found.unwrap_or_default().into_iter().map(|row| &self.all[usize::from(row)])
    }

    /// The same of exactly this name: a name of one word has no article and no ending.
    pub fn called(&self, folded: &str) -> impl Iterator<Item = &Landmark> {
        self.names.get(folded).map(|row| &self.all[usize::from(row)])
    }

    /// The one whose name is one typing mistake away from a name as [`fold`](crate::fold()) gives it, or two in a long
    /// name, of those that a condition holds for. `None` if several that lie apart are equally like it.
    ///
    /// ```
    /// # use signpost_locator::gazetteer::Landmarks;
    /// # let landmarks = Landmarks::embedded();
    /// assert_eq!(landmarks.nearly("heathrw", |_| true).unwrap().city, "London");
    /// assert_eq!(landmarks.nearly("heathrow", |_| true), None);
    /// ```
    pub fn nearly(&self, folded: &str, holds: impl Fn(&Landmark) -> bool) -> Option<&Landmark> {
        /// So near to each other they are one place for who searches around it.
        const TOGETHER: Distance = Distance::miles(5.0);
        let of_airports = airport_stems(folded).flat_map(|name| self.airports.near(name));
        let near = self.names.near(folded).chain(of_airports);
        let mut near: Vec<(usize, u16)> = near.filter(|(_, row)| holds(&self.all[usize::from(*row)])).collect();
        near.sort_unstable();
        let landmark = |(_, row): &(usize, u16)| &self.all[usize::from(*row)];
        let (fewest, first) = near.first().map(|first| (first.0, landmark(first)))?;
        let mut others = near.iter().filter(|(made, _)| *made == fewest).map(landmark);
        others.all(|other| other.point.distance(first.point) <= TOGETHER).then_some(first)
    }

    /// The airport of an IATA or ICAO code, in any case. Many codes are words too: ask only where a code is meant.
    #[must_use]
    pub fn by_code(&self, code: &str) -> Option<&Landmark> {
        let code = code_bytes(code)?;
        let at = self.codes.binary_search_by_key(&code, |(code, _)| *code).ok()?;
        self.all.get(usize::from(self.codes[at].1))
    }
}

impl LandmarkKind {
    /// As the tables and replies write it: `airport`, `landmark`, `region`, `nickname` or `too_large`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Airport => "airport",
            Self::Landmark => "landmark",
            Self::Region => "region",
            Self::Nickname => "nickname",
            Self::TooLarge => "too_large",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        let all = [Self::Airport, Self::Landmark, Self::Region, Self::Nickname, Self::TooLarge];
        all.into_iter().find(|kind| kind.name() == name)
    }
}

impl std::fmt::Debug for Landmarks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Landmarks").field("all", &self.all.len()).finish_non_exhaustive()
    }
}

fn next(all: &[Landmark]) -> Result<u16, UnreadableRow> {
    u16::try_from(all.len()).map_err(|_| UnreadableRow { line: all.len(), reason: "too many rows" })
}

/// The names that a folded one may stand for, as it is written first.
fn spellings(folded: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let without_article = folded.strip_prefix("the");
    let bare = without_article.unwrap_or(folded);
    let terminal = bare.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let whole = [bare.strip_suffix("campus"), terminal.strip_suffix("terminal")];
    let written = [Some(folded), without_article].into_iter().chain(whole).flatten().map(Cow::Borrowed);
    let long =
        SHORT_ENDINGS.iter().filter_map(|(short, long)| Some(Cow::Owned(bare.strip_suffix(short)?.to_owned() + long)));
    written.chain(long)
}

/// The name of an airport without the words for an airport.
fn airport_stems(folded: &str) -> impl Iterator<Item = &str> {
    let beginning = || AIRPORT_BEGINNINGS.iter().filter_map(|beginning| folded.strip_prefix(beginning));
    without_ending(folded).into_iter().chain(beginning())
}

fn without_ending(folded: &str) -> Option<&str> {
    let before = AIRPORT_ENDINGS.iter().find_map(|ending| folded.strip_suffix(ending))?;
    (!before.is_empty()).then_some(before)
}

fn code_bytes(code: &str) -> Option<[u8; 4]> {
    let letters = code.as_bytes();
    let is_code = matches!(letters.len(), 3 | 4) && letters.iter().all(u8::is_ascii_alphanumeric);
    let mut bytes = [0; 4];
    for (byte, letter) in bytes.iter_mut().zip(letters) {
        *byte = letter.to_ascii_uppercase();
    }
    is_code.then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_tables_can_be_read() {
        let landmarks = Landmarks::read(LANDMARKS, AIRPORTS).unwrap_or_else(|row| panic!("{row}"));
        let airports = landmarks.all().iter().filter(|landmark| landmark.kind == LandmarkKind::Airport).count();
        assert!(airports < landmarks.all().len() && airports > 500, "{airports} of {}", landmarks.all().len());
    }

    #[test]
    fn endings_of_airports_are_cut_once() {
        for (name, stem) in [
            ("miamiinternationalairport", Some("miami")),
            ("miamiintl", Some("miami")),
            ("laxairport", Some("lax")),
            ("airport", None),
            ("miami", None),
        ] {
            assert_eq!(without_ending(name), stem, "{name}");
        }
    }

    #[test]
    fn what_is_no_code_is_none() {
        for text in ["", "LA", "LAXXX", "L-X", "ÄB", "日"] {
            assert_eq!(code_bytes(text), None, "{text}");
        }
    }
}
