//! Where a call wants to search: coordinates, or a location that the gazetteer understands.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use signpost_locator::gazetteer::{ATTRIBUTION, MAX_TEXT_CHARS, Place, PlaceSource, Resolved, Unresolved};
use signpost_locator::{Country, Point, Region};
use signpost_mcp::{Call, CallError, Output};

use super::declare::{Argument, CallArguments, Declared};
use super::kinds::{Number, PlainText};
use crate::locator::Locator;
use crate::places::geocoder::{self, GeocodeResult};

pub(super) const LOCATION: Argument<PlainText> = Argument::new(
    "location",
    "A place as people write it: \"Austin, TX\", \"78701\", \"Toronto, Canada\". Either this, or lat and lon",
    PlainText { most: MAX_TEXT_CHARS },
);

pub(super) const LAT: Argument<Number> =
    Argument::new("lat", "Latitude in degrees; needs lon", Number { unit: "degrees", least: -90.0, most: 90.0 });

pub(super) const LON: Argument<Number> =
    Argument::new("lon", "Longitude in degrees; needs lat", Number { unit: "degrees", least: -180.0, most: 180.0 });

/// A point to search from, and how it was understood.
pub(crate) struct Center {
    pub(crate) point: Point,
    /// How people would call it: `Austin, Texas` or `30.27, -97.74`.
    pub(crate) name: String,
    /// How the location was understood, where one was used.
    pub(crate) resolved: Option<Understood>,
    /// What the caller should know about the choice.
    pub(crate) note: Option<String>,
    /// What the licence of whoever knew the place wants to be said.
    pub(crate) attribution: Option<&'static str>,
}

/// How a location was understood, as replies tell it.
#[derive(Serialize)]
pub(crate) struct Understood {
    name: String,
    region: Option<&'static str>,
    country: Option<Country>,
    lat: f64,
    lon: f64,
    source: &'static str,
    confidence: f64,
    alternatives: Vec<Alternative>,
}

/// Another place of the same name.
#[derive(Serialize)]
struct Alternative {
    name: String,
    #[serde(serialize_with = "name_of")]
    region: Option<Region>,
    country: Option<Country>,
    lat: f64,
    lon: f64,
}

impl Center {
    /// From `location`, `lat` and `lon`. Coordinates win, and the reply says so.
    pub(crate) fn from_arguments(locator: &Locator, arguments: &mut CallArguments<'_>) -> Result<Self, CallError> {
        let location = arguments.take(&LOCATION)?;
        match (point(arguments)?, location) {
            (Some(point), None) => Ok(Self::at(point, None)),
            (Some(point), Some(_)) => {
                let note = "lat and lon were used; location was ignored because both were given.";
                Ok(Self::at(point, Some(note.to_owned())))
            }
            (None, Some(location)) => Self::resolve(locator, &location),
            (None, None) => Err(arguments.bad("location, or lat together with lon, is required")),
        }
    }

    fn at(point: Point, note: Option<String>) -> Self {
        let name = format!("{}, {}", point.lat(), point.lon());
        Self { point, name, resolved: None, note, attribution: None }
    }

    fn resolve(locator: &Locator, location: &str) -> Result<Self, CallError> {
        if let Some(geocoder) = &locator.catalogue.geocoder
            && let Some(found) = geocoder.cached_result(location)
        {
            let attribution = Some(geocoder.attribution());
            return Ok(Self::understood(location, Understood::geocoded(geocoder.name(), found), attribution));
        }
        let resolved = locator.catalogue.places.now().resolve(location);
        let resolved = resolved.map_err(|unresolved| not_found(location, &unresolved))?;
        let attribution = (resolved.source != PlaceSource::Coordinates).then_some(ATTRIBUTION);
        Ok(Self::understood(location, Understood::named(resolved), attribution))
    }

    fn understood(location: &str, (point, resolved): (Point, Understood), attribution: Option<&'static str>) -> Self {
        let name = match resolved.region {
            Some(region) => format!("{}, {region}", resolved.name),
            None => resolved.name.clone(),
        };
        let note = (!resolved.alternatives.is_empty()).then(|| {
            let others: Vec<_> = resolved.alternatives.iter().map(Alternative::label).collect();
            format!("'{}' was taken for {name}; there is also {}.", shorten(location), others.join("; "))
        });
        Self { point, name, resolved: Some(resolved), note, attribution }
    }
}

/// The point of `lat` and `lon`; one of them alone is a mistake even beside a location.
fn point(arguments: &mut CallArguments<'_>) -> Result<Option<Point>, CallError> {
    match (arguments.take(&LAT)?, arguments.take(&LON)?) {
        (Some(lat), Some(lon)) => Ok(Point::new(lat, lon)),
        (None, None) => Ok(None),
        (Some(_), None) => Err(arguments.bad("lat requires lon")),
        (None, Some(_)) => Err(arguments.bad("lon requires lat")),
    }
}

/// Asks the external geocoder, if there is one, about a location that the place names do not know, or know less
/// exactly than it is given. What it answers is remembered, for [`Center::from_arguments`] to find.
pub async fn ask_geocoder(locator: &Locator, given: &Map<String, Value>) {
    let Some(geocoder) = &locator.catalogue.geocoder else { return };
    let Some(location) = given.get(LOCATION.name()).and_then(Value::as_str).map(str::trim) else { return };
    let has_point = [LAT, LON].iter().any(|one| given.contains_key(one.name()));
    if has_point || !(1..=MAX_TEXT_CHARS).contains(&location.chars().count()) {
        return;
    }
    // A house in a street: the place names know no more than the city.
    let is_address = location.starts_with(|first: char| first.is_ascii_digit()) && location.contains(' ');
    let known = locator.catalogue.places.now().resolve(location);
    let is_enough = |resolved: &Resolved| !is_address || resolved.source == PlaceSource::Coordinates;
    if !known.as_ref().is_ok_and(is_enough) {
        geocoder.ask(location).await;
    }
}

/// A tool, as a function over the catalogue.
type ToolFunction = fn(&Locator, &Map<String, Value>, &Call<'_>) -> Result<Output, CallError>;

/// What a tool answers once the external geocoder was asked.
pub(crate) fn after_geocoder<'a>(
    locator: &'a Locator,
    given: &'a Map<String, Value>,
    call: &'a Call<'a>,
    handle: ToolFunction,
) -> BoxFuture<'a, Result<Output, CallError>> {
    async move {
        ask_geocoder(locator, given).await;
        handle(locator, given, call)
    }
    .boxed()
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
    CallError::Failed(format!(
        "'{}' was not understood: {reason}. {meant}, or lat together with lon.",
        shorten(location)
    ))
}

pub(crate) fn shorten(text: &str) -> String {
    signpost_text::line(text).chars().take(80).collect()
}

impl Understood {
    /// What the place names know.
    fn named(resolved: Resolved) -> (Point, Self) {
        let alternative = |place: Place| Alternative {
            name: place.name,
            region: place.region,
            country: Some(place.country),
            lat: place.point.lat(),
            lon: place.point.lon(),
        };
        let understood = Self {
            name: resolved.name,
            region: resolved.region.map(Region::name),
            country: resolved.country,
            lat: resolved.point.lat(),
            lon: resolved.point.lon(),
            source: resolved.source.name(),
            confidence: resolved.confidence,
            alternatives: resolved.alternatives.into_iter().map(alternative).collect(),
        };
        (resolved.point, understood)
    }

    /// What a geocoder of this name found.
    fn geocoded(source: &'static str, found: GeocodeResult) -> (Point, Self) {
        let alternative = |place: geocoder::GeocodedPlace| Alternative {
            name: place.name,
            region: place.region,
            country: place.country,
            lat: place.point.lat(),
            lon: place.point.lon(),
        };
        let GeocodeResult { place, confidence, alternatives } = found;
        let understood = Self {
            name: place.name,
            region: place.region.map(Region::name),
            country: place.country,
            lat: place.point.lat(),
            lon: place.point.lon(),
            source,
            confidence,
            alternatives: alternatives.into_iter().map(alternative).collect(),
        };
        (place.point, understood)
    }
}

impl Alternative {
    /// Its name with its region or country, as it can be asked for.
    fn label(&self) -> String {
        let area = self.region.map(Region::code).or_else(|| self.country.map(Country::name));
        area.map_or_else(|| self.name.clone(), |area| format!("{}, {area}", self.name))
    }
}

/// The region's name.
#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn name_of<S: Serializer>(region: &Option<Region>, serializer: S) -> Result<S::Ok, S::Error> {
    region.map(Region::name).serialize(serializer)
}
