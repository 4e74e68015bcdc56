//! Where a call wants to search: coordinates, or a location that the gazetteer understands.

use serde::Serialize;
use signpost_locator::gazetteer::{Place, Resolved, Source, Unresolved};
use signpost_locator::{Country, Point, Region};
use signpost_mcp::CallError;

use super::arguments::Arguments;
use crate::mcp::Locator;

/// A point to search from, and how it was understood.
pub(super) struct Center {
    pub(super) point: Point,
    /// How people would call it: `Austin, Texas` or `30.27, -97.74`.
    pub(super) name: String,
    /// How the location was understood, where one was used.
    pub(super) resolved: Option<Understood>,
    /// What the caller should know about the choice.
    pub(super) note: Option<String>,
    /// Whether the place names' licence wants to be named.
    pub(super) from_gazetteer: bool,
}

/// How a location was understood, as replies tell it.
#[derive(Serialize)]
pub(super) struct Understood {
    name: String,
    region: Option<&'static str>,
    country: Option<Country>,
    lat: f64,
    lon: f64,
    source: Source,
    confidence: f64,
    alternatives: Vec<Alternative>,
}

/// Another place of the same name.
#[derive(Serialize)]
struct Alternative {
    name: String,
    region: Option<&'static str>,
    country: Country,
    lat: f64,
    lon: f64,
}

impl Center {
    /// Takes `location`, `lat` and `lon`. Coordinates win, and the reply says so.
    pub(super) fn take(locator: &Locator, arguments: &mut Arguments<'_>) -> Result<Self, CallError> {
        let location = arguments.text("location", 200)?;
        match (arguments.point()?, location) {
            (Some(point), None) => Ok(Self::at(point, None)),
            (Some(point), Some(_)) => {
                let note = "lat and lon were used; location was ignored because both were given.";
                Ok(Self::at(point, Some(note.to_owned())))
            }
            (None, Some(location)) => Self::resolve(locator, location),
            (None, None) => Err(arguments.bad("location, or lat together with lon, is required")),
        }
    }

    fn at(point: Point, note: Option<String>) -> Self {
        let name = format!("{}, {}", point.lat(), point.lon());
        Self { point, name, resolved: None, note, from_gazetteer: false }
    }

    fn resolve(locator: &Locator, location: &str) -> Result<Self, CallError> {
        let resolved =
            locator.catalogue.gazetteer.resolve(location).map_err(|unresolved| not_found(location, &unresolved))?;
        let name = match resolved.region {
            Some(region) => format!("{}, {}", resolved.name, region.name()),
            None => resolved.name.clone(),
        };
        let note = (!resolved.alternatives.is_empty()).then(|| {
            let others: Vec<_> = resolved.alternatives.iter().map(Place::label).collect();
            format!("'{}' was taken for {name}; there is also {}.", shown(location), others.join("; "))
        });
        let from_gazetteer = resolved.source != Source::Coordinates;
        Ok(Self { point: resolved.point, name, resolved: Some(resolved.into()), note, from_gazetteer })
    }
}

/// A location that means nothing to us is an answer, with what to try instead.
fn not_found(location: &str, unresolved: &Unresolved) -> CallError {
    let suggestions: Vec<_> = unresolved.suggestions.iter().map(Place::label).collect();
    let meant = if suggestions.is_empty() {
        "Give a city and a state or country (\"Austin, TX\"), a US ZIP code (\"78701\")".to_owned()
    } else {
        format!("Did you mean {}? Otherwise give a city and a state or country", suggestions.join("; "))
    };
    let reason = &unresolved.reason;
    CallError::Failed(format!("'{}' was not understood: {reason}. {meant}, or lat together with lon.", shown(location)))
}

pub(super) fn shown(text: &str) -> String {
    text.chars().take(80).filter(|c| !c.is_control()).collect()
}

impl From<Resolved> for Understood {
    fn from(resolved: Resolved) -> Self {
        let alternatives = resolved.alternatives.into_iter().map(|place| Alternative {
            name: place.name,
            region: place.region.map(Region::name),
            country: place.country,
            lat: place.point.lat(),
            lon: place.point.lon(),
        });
        Self {
            name: resolved.name,
            region: resolved.region.map(Region::name),
            country: resolved.country,
            lat: resolved.point.lat(),
            lon: resolved.point.lon(),
            source: resolved.source,
            confidence: resolved.confidence,
            alternatives: alternatives.collect(),
        }
    }
}
