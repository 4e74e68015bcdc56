//! The answer to what a text for a location means.

use super::{Place, PlaceNote};
use crate::country::Country;
use crate::point::Point;
use crate::region::Region;

/// Most characters of a text, without the white space around it.
pub const MAX_TEXT_CHARS: usize = 200;

/// What a text means.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The main name of the place, the postcode, or the coordinates.
    pub name: String,
    /// The state, province or territory, in the United States and Canada; not of coordinates.
    pub region: Option<Region>,
    /// The country; not of coordinates.
    pub country: Option<Country>,
    /// The county with its kind, as in `Cook County`, where an alternative is called the same.
    pub county: Option<String>,
    /// Where to search from.
    pub point: Point,
    /// How it was found.
    pub source: PlaceSource,
    /// How sure it is, 0 to 1: 1 for coordinates; less the more places share the name, or the name was misspelt.
    pub confidence: f64,
    /// The other places of that name, at most five, the likeliest first.
    pub alternatives: Vec<Place>,
    /// What a person should be told about this answer.
    pub notes: Vec<PlaceNote>,
}

/// How a text was understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceSource {
    /// It gives coordinates.
    Coordinates,
    /// It is a plus code.
    PlusCode,
    /// It is a postcode.
    Postcode,
    /// It names an airport or gives its code.
    Airport,
    /// It names something that many people know: a stadium, a park, a part of a city.
    Landmark,
    /// It names a region that has no borders of its own, such as the Bay Area.
    Region,
    /// It names a county.
    County,
    /// It names a place.
    Place,
    /// It names a place with a typing mistake.
    Misspelt,
    /// It says more than is known, such as a street: the answer is the town around it.
    Fallback,
}

/// A text that means no known place.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{reason}")]
pub struct Unresolved {
    /// Why, in words.
    pub reason: String,
    /// What kind of text it is.
    pub kind: UnresolvedKind,
    /// Places that may be meant, at most five, the likeliest first.
    pub suggestions: Vec<Place>,
}

/// Why a text means no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnresolvedKind {
    /// It is empty or too long.
    Invalid,
    /// It says where the asker is, which is not known here, or nothing of where: they have to be asked.
    OwnPlace,
    /// It is a state or a country.
    TooLarge,
    /// It gives coordinates, most likely with the longitude first.
    Swapped,
    /// It may be any of several counties.
    Ambiguous,
    /// It means nothing known.
    Unknown,
}

/// How a text was understood, step by step.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The steps that were tried, in their order; the last of them gave the answer.
    pub steps: Vec<ExplainedStep>,
    /// The answer.
    pub answer: Result<Resolved, Unresolved>,
}

/// A step that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedStep {
    /// What it looks for.
    pub name: &'static str,
    /// What it gave, in words; `None` if nothing.
    pub gave: Option<String>,
}

impl Resolved {
    /// A point as an answer.
    pub(super) fn at(name: String, point: Point, source: PlaceSource, confidence: f64) -> Self {
        let confidence = rounded(confidence);
        let (region, country, alternatives, notes) = (None, None, Vec::new(), Vec::new());
        Self { name, region, country, county: None, point, source, confidence, alternatives, notes }
    }

    /// Its name with its region or country, as it can be asked for: `Miami, FL`.
    #[must_use]
    pub fn label(&self) -> String {
        let area = self.region.map(Region::code).or_else(|| self.country.map(Country::name));
        area.map_or_else(|| self.name.clone(), |area| format!("{}, {area}", self.name))
    }

    /// The same, less sure by a factor.
    pub(super) fn less_sure(self, factor: f64) -> Self {
        Self { confidence: rounded(self.confidence * factor), ..self }
    }

    /// The same, at most so sure.
    pub(super) fn at_most(self, confidence: f64) -> Self {
        Self { confidence: rounded(self.confidence.min(confidence)), ..self }
    }

    /// The same with one more thing to say.
    pub(super) fn with_note(mut self, note: PlaceNote) -> Self {
        self.notes.push(note);
        self
    }
}

impl Unresolved {
    /// That a text is a state or a country.
    pub(super) fn too_large(text: &str) -> Self {
        let reason = format!("{text:?} is too large an area to search around; name a city in it");
        Self::new(UnresolvedKind::TooLarge, reason)
    }

    pub(super) fn new(kind: UnresolvedKind, reason: String) -> Self {
        Self { reason, kind, suggestions: Vec::new() }
    }
}

fn rounded(confidence: f64) -> f64 {
    (confidence * 100.0).round() / 100.0
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
    /// As it is written in replies: `coordinates`, `plus_code`, `postcode`, `airport`, `landmark`, `region`, `county`,
    /// `place`, `misspelt` or `fallback`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Coordinates => "coordinates",
            Self::PlusCode => "plus_code",
            Self::Postcode => "postcode",
            Self::Airport => "airport",
            Self::Landmark => "landmark",
            Self::Region => "region",
            Self::County => "county",
            Self::Place => "place",
            Self::Misspelt => "misspelt",
            Self::Fallback => "fallback",
        }
    }
}
