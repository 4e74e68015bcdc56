//! The result types of the resolver for location texts.

use super::{Place, PlaceNote};
use crate::country::Country;
use crate::division::Division;
use crate::point::Point;
use crate::region::Region;

/// Maximum length of a location text in characters, without surrounding white space.
pub const MAX_TEXT_CHARS: usize = 200;

/// The result of resolving a location text.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The main name of the place, the postcode, or the coordinates.
    pub name: String,
    /// The state, province or territory in the United States and Canada. `None` for coordinates.
    pub region: Option<Region>,
    /// The administrative division in other countries, if it is known.
    pub division: Option<Division>,
    /// The country. `None` for coordinates.
    pub country: Option<Country>,
    /// The full name of the county, such as `Cook County`, if an alternative has the same name and region.
    pub county: Option<String>,
    /// The point to search around.
    pub point: Point,
    /// The kind of text that was resolved.
    pub source: PlaceSource,
    /// The confidence, from 0 to 1. It is 1 for coordinates, and lower if several places share the name or the name was
    /// misspelt.
    pub confidence: f64,
    /// Other places with the name, at most five, sorted by descending likelihood.
    pub alternatives: Vec<Place>,
    /// Notes for users about the interpretation of the text.
    pub notes: Vec<PlaceNote>,
    /// The parts of the text that were not used, in their original order.
    pub dropped: Vec<String>,
    /// Whether the text is a name without a state or country.
    pub is_bare_name: bool,
}

/// The kind of text that was resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceSource {
    /// Coordinates.
    Coordinates,
    /// A plus code.
    PlusCode,
    /// A postcode.
    Postcode,
    /// The name or code of an airport.
    Airport,
    /// A landmark, such as a stadium, a park or a part of a city.
    Landmark,
    /// A region without official borders, such as the Bay Area.
    Region,
    /// A county.
    County,
    /// An administrative division outside the United States and Canada that is small enough to search from one point.
    Division,
    /// A place.
    Place,
    /// A place with a misspelt name.
    FuzzyMatch,
    /// A text with unknown details, such as a street. The result is the surrounding town.
    Fallback,
}

/// The error of a location text that cannot be resolved.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{reason}")]
pub struct Unresolved {
    /// The reason in English.
    pub reason: String,
    /// The reason for programs.
    pub kind: UnresolvedKind,
    /// Suggested places, at most five, sorted by descending likelihood.
    pub suggestions: Vec<Place>,
}

/// The reason why a location text cannot be resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnresolvedKind {
    /// The text is empty or too long.
    Invalid,
    /// The text refers to the user's own position or contains no place. The client must ask the user for a place.
    OwnPlace,
    /// The text names a state or country that is too large to search around.
    TooLarge,
    /// The text is coordinates, most likely with the longitude first.
    Swapped,
    /// The text names several counties.
    Ambiguous,
    /// The text names no known place.
    Unknown,
}

/// A trace of resolving a location text.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The executed steps in their order. The last step returned the result.
    pub steps: Vec<ExplainedStep>,
    /// The result.
    pub answer: Result<Resolved, Unresolved>,
}

/// A step of the resolver in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedStep {
    /// The name of the step.
    pub name: &'static str,
    /// The result of the step in English, or `None` if it had no result.
    pub gave: Option<String>,
}

impl Resolved {
    /// Creates a result without region, country, alternatives and notes.
    pub(super) fn at(name: String, point: Point, source: PlaceSource, confidence: f64) -> Self {
        Self {
            name,
            region: None,
            division: None,
            country: None,
            county: None,
            point,
            source,
            confidence: rounded(confidence),
            alternatives: Vec::new(),
            notes: Vec::new(),
            dropped: Vec::new(),
            is_bare_name: false,
        }
    }

    /// Returns the name with the region or country, such as `Miami, FL`. The label resolves to the place again.
    #[must_use]
    pub fn label(&self) -> String {
        match self.region.map(Region::code).or_else(|| self.country.map(Country::name)) {
            Some(area) => format!("{}, {area}", self.name),
            None => self.name.clone(),
        }
    }

    /// Multiplies the confidence by a factor.
    pub(super) fn scale_confidence(self, factor: f64) -> Self {
        Self { confidence: rounded(self.confidence * factor), ..self }
    }

    /// Limits the confidence to a maximum.
    pub(super) fn cap_confidence(self, confidence: f64) -> Self {
        Self { confidence: rounded(self.confidence.min(confidence)), ..self }
    }

    /// Adds a note.
    pub(super) fn with_note(mut self, note: PlaceNote) -> Self {
        self.notes.push(note);
        self
    }
}

impl Unresolved {
    /// Creates the error for a state or country that is too large to search around.
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

impl PlaceSource {
    /// Returns the name used in replies: `coordinates`, `plus_code`, `postcode`, `airport`, `landmark`, `region`,
    /// `county`, `division`, `place`, `misspelt` or `fallback`.
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
            Self::Division => "division",
            Self::Place => "place",
            Self::FuzzyMatch => "misspelt",
            Self::Fallback => "fallback",
        }
    }
}
