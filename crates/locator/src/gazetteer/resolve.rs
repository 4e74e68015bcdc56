//! The result of resolving a location text.

use super::{Place, PlaceNote};
use crate::country::Country;
use crate::division::Division;
use crate::point::Point;
use crate::region::Region;

/// Maximum characters of a text, without the white space around it.
pub const MAX_TEXT_CHARS: usize = 200;

/// A resolved location.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The main name of the place, the postcode, or the coordinates.
    pub name: String,
    /// The state, province or territory, in the United States and Canada; not of coordinates.
    pub region: Option<Region>,
    /// The administrative division elsewhere, if it is known.
    pub division: Option<Division>,
    /// The country; not of coordinates.
    pub country: Option<Country>,
    /// The county with its kind, as in `Cook County`, if an alternative has equal name and region.
    pub county: Option<String>,
    /// The point from which to search.
    pub point: Point,
    /// The kind of text.
    pub source: PlaceSource,
    /// The confidence, 0 to 1: 1 for coordinates; less if several places share the name, or it was misspelt.
    pub confidence: f64,
    /// The other places of that name, at most five, the likeliest first.
    pub alternatives: Vec<Place>,
    /// Notes about this answer for users.
    pub notes: Vec<PlaceNote>,
    /// The parts of the text that were not used, in their order.
    pub dropped: Vec<String>,
    /// `true` if the text is a name without a state or country.
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
    /// A landmark: a stadium, a park, a part of a city.
    Landmark,
    /// A region without official borders, such as the Bay Area.
    Region,
    /// A county.
    County,
    /// An administrative division outside the United States and Canada that is small enough to search from one point.
    Division,
    /// A place.
    Place,
    /// A place with a typing mistake.
    FuzzyMatch,
    /// A text with unknown details, such as a street: the answer is the town around it.
    Fallback,
}

/// A text that names no known place.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{reason}")]
pub struct Unresolved {
    /// The reason in English.
    pub reason: String,
    /// The kind of reason.
    pub kind: UnresolvedKind,
    /// Suggested places, at most five, the likeliest first.
    pub suggestions: Vec<Place>,
}

/// The reason why a text was not resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnresolvedKind {
    /// The text is empty or too long.
    Invalid,
    /// The text refers to the user's own position, or contains no place: the client must ask the user for one.
    OwnPlace,
    /// The text is a state or a country.
    TooLarge,
    /// The text is coordinates, most likely with the longitude first.
    Swapped,
    /// The text names several counties.
    Ambiguous,
    /// The text names no known place.
    Unknown,
}

/// The steps of resolving a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The steps in their order; the last step returned the result.
    pub steps: Vec<ExplainedStep>,
    /// The answer.
    pub answer: Result<Resolved, Unresolved>,
}

/// A step of the resolver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedStep {
    /// The name of the step: the kind of its search.
    pub name: &'static str,
    /// The answer in English; `None` if the step has none.
    pub gave: Option<String>,
}

impl Resolved {
    /// Creates an answer without region, country, alternatives and notes.
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

    /// Returns the name with the region or country, sufficient to resolve to the place: `Miami, FL`.
    #[must_use]
    pub fn label(&self) -> String {
        match self.region.map(Region::code).or_else(|| self.country.map(Country::name)) {
            Some(area) => format!("{}, {area}", self.name),
            None => self.name.clone(),
        }
    }

    /// Multiplies the confidence.
    pub(super) fn scale_confidence(self, factor: f64) -> Self {
        Self { confidence: rounded(self.confidence * factor), ..self }
    }

    /// Limits the confidence.
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
    /// Creates the error for a state or country.
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
    /// Returns the name in replies: `coordinates`, `plus_code`, `postcode`, `airport`, `landmark`, `region`, `county`,
    /// `division`, `place`, `misspelt` or `fallback`.
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
