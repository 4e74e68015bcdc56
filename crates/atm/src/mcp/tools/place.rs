//! The place of a search: coordinates, or a location that the gazetteer or the external geocoder resolves.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use signpost_locator::gazetteer::{
    ATTRIBUTION, Gazetteer, MAX_TEXT_CHARS, Place, PlacePreference, PlaceSource, Resolved, Unresolved, UnresolvedKind,
};
use signpost_locator::{Country, Point, Region};
use signpost_mcp::{CallError, Output, Structured};

use super::declare::{Argument, CallArguments, Declared};
use super::kinds::{Number, ParsedText, PlainText};
use super::resolved_location::ResolvedLocation;
use crate::catalogue::{Catalogue, Snapshot, country_of};
use crate::locator::Locator;
use crate::places::geocoder::GeocodeResult;
use crate::view::degrees;

pub(super) const LOCATION: Argument<PlainText> = Argument::new(
    "location",
    "A place: \"Austin, TX\", \"78701\", \"LAX\". No streets, businesses, 'near me'",
    PlainText { max: MAX_TEXT_CHARS },
);

pub(super) const LAT: Argument<Number> =
    Argument::new("lat", "Latitude; needs lon", Number { unit: "degrees", min: -90.0, max: 90.0 });

pub(super) const LON: Argument<Number> =
    Argument::new("lon", "Longitude; needs lat", Number { unit: "degrees", min: -180.0, max: 180.0 });

pub(super) const COUNTRY: Argument<ParsedText<Country>> = Argument::new(
    "country",
    "Prefer this country: DE",
    ParsedText {
        allowed: "a two-letter country code of ISO 3166-1, such as DE",
        length: Some(2),
        parse: Country::parse,
    },
);

/// Maximum other places of a name in a notice. The alternatives contain all of them.
const MAX_OTHERS: usize = 3;

/// The point of a search, and how it was resolved.
pub(crate) struct Center {
    pub(crate) point: Point,
    /// The name, such as `Austin, Texas` or `30.27, -97.74`.
    pub(crate) name: String,
    /// The region and country, of a location that has them.
    pub(crate) area: (Option<Region>, Option<Country>),
    /// The resolved location, if the request has a location.
    pub(crate) resolved: Option<ResolvedLocation>,
    /// A note about the choice for the caller.
    pub(crate) note: Option<String>,
    /// The attribution that the license of the place's source requires.
    pub(crate) attribution: Option<&'static str>,
}

impl Center {
    /// Reads `location`, `lat`, `lon` and `country`. Coordinates take precedence, with a note.
    pub(crate) fn from_arguments(
        catalogue: &Catalogue,
        snapshot: &Snapshot,
        places: &Gazetteer,
        arguments: &CallArguments<'_>,
    ) -> Result<Self, CallError> {
        let location = arguments.get(&LOCATION)?;
        let point = point(arguments)?;
        // The places of a territory are in the United States.
        let country = country_of(None, arguments.get(&COUNTRY)?);
        match (point, location) {
            (Some(point), None) => Ok(Self::at(point, None)),
            (Some(point), Some(_)) => {
                let note = "lat and lon were used; location was ignored because both were given.";
                Ok(Self::at(point, Some(note.to_owned())))
            }
            (None, Some(location)) => Self::resolve(catalogue, snapshot, places, &location, country),
            (None, None) => Err(arguments.bad("location, or lat together with lon, is required")),
        }
    }

    /// Adds notices about a converted `location` at the start of the note, unless the location was not used.
    pub(crate) fn with_notices(mut self, notices: &[String]) -> Self {
        if self.resolved.is_some() && !notices.is_empty() {
            let sentences: Vec<_> = notices.iter().map(String::as_str).chain(self.note.as_deref()).collect();
            self.note = Some(sentences.join(" "));
        }
        self
    }

    fn at(point: Point, note: Option<String>) -> Self {
        let [lat, lon] = degrees(point);
        let name = format!("{lat}, {lon}");
        Self { point, name, area: (None, None), resolved: None, note, attribution: None }
    }

    fn resolve(
        catalogue: &Catalogue,
        snapshot: &Snapshot,
        places: &Gazetteer,
        location: &str,
        country: Option<Country>,
    ) -> Result<Self, CallError> {
        if let Some(geocoder) = &catalogue.geocoder
            && let Some(found) = geocoder.cached_result(location)
        {
            let found = found.preferring(country);
            let point = found.place.point;
            let resolved = ResolvedLocation::geocoded(geocoder.name(), found);
            return Ok(Self::resolved(location, point, resolved, Vec::new(), Some(geocoder.attribution())));
        }
        let has_atms_near = &|point| snapshot.has_atms_near(point);
        let preference = PlacePreference { country, likely_country: None, has_atms_near };
        let resolved =
            places.resolve_preferring(location, &preference).map_err(|unresolved| not_found(location, &unresolved))?;
        let point = resolved.point;
        let attribution = (resolved.source != PlaceSource::Coordinates).then_some(ATTRIBUTION);
        let notes =
            resolved.notes.iter().map(|note| signpost_text::clean_line(&note.to_string()).into_owned()).collect();
        Ok(Self::resolved(location, point, ResolvedLocation::named(resolved), notes, attribution))
    }

    /// Creates the place of a location, with a note about other places of the name.
    fn resolved(
        location: &str,
        point: Point,
        resolved: ResolvedLocation,
        mut notes: Vec<String>,
        attribution: Option<&'static str>,
    ) -> Self {
        let name = resolved.title();
        let mut others = resolved.others();
        others.retain(|other| !notes.iter().any(|note| note.contains(other.as_str())));
        others.truncate(MAX_OTHERS);
        if !others.is_empty() {
            let others = others.join("; ");
            notes.push(if notes.is_empty() {
                format!("'{}' was taken for {name}; there is also {others}.", shorten(location))
            } else {
                format!("There is also {others}.")
            });
        }
        let note = (!notes.is_empty()).then(|| notes.join(" "));
        let area = (resolved.place.region, resolved.place.country);
        Self { point, name, area, resolved: Some(resolved), note, attribution }
    }
}

/// Returns the point of `lat` and `lon`. A single coordinate is an error, even with a location.
fn point(arguments: &CallArguments<'_>) -> Result<Option<Point>, CallError> {
    if let Some(lat) = arguments.sent(&LAT).and_then(Value::as_f64)
        && let Some(lon) = arguments.sent(&LON).and_then(Value::as_f64)
        && Point::new(lat, lon).is_none()
        && Point::new(lon, lat).is_some()
    {
        return Err(arguments.bad(&format!(
            "lat must be a number of degrees from -90 to 90, received {lat:?}; did you mean lat {lon:?}, lon {lat:?}?"
        )));
    }
    match (arguments.get(&LAT)?, arguments.get(&LON)?) {
        (Some(lat), Some(lon)) => Ok(Point::new(lat, lon)),
        (None, None) => Ok(None),
        (Some(_), None) => Err(arguments.bad("lat requires lon")),
        (None, Some(_)) => Err(arguments.bad("lon requires lat")),
    }
}

/// Asks the external geocoder about the location of a call, unless the call has coordinates. [`Center::from_arguments`]
/// finds the cached result.
pub async fn ask_geocoder(locator: &Locator, given: &Map<String, Value>) {
    if given.contains_key(LAT.name()) || given.contains_key(LON.name()) {
        return;
    }
    if let Some(location) = given.get(LOCATION.name()).and_then(Value::as_str) {
        geocode(&locator.catalogue, &locator.catalogue.places.now(), location.trim()).await;
    }
}

/// Returns the external geocoder's result for a location. The geocoder is used only if the place names do not contain
/// the location, or only less exactly.
pub(crate) async fn geocode(catalogue: &Catalogue, places: &Gazetteer, location: &str) -> Option<GeocodeResult> {
    let geocoder = catalogue.geocoder.as_ref()?;
    if !(1..=MAX_TEXT_CHARS).contains(&location.chars().count()) {
        return None;
    }
    if let Some(found) = geocoder.cached_result(location) {
        return Some(found);
    }
    // For a house in a street, the place names only have the city.
    let is_address = location.starts_with(|first: char| first.is_ascii_digit()) && location.contains(' ');
    let is_worthwhile = match places.resolve(location) {
        Ok(Resolved { source: PlaceSource::Coordinates | PlaceSource::PlusCode, .. }) => false,
        Ok(resolved) => is_address || resolved.source == PlaceSource::Fallback,
        // A geocoder cannot resolve the caller's own location, and a state is not a point.
        Err(unresolved) => unresolved.kind == UnresolvedKind::Unknown,
    };
    if !is_worthwhile {
        return None;
    }
    geocoder.ask(location).await;
    geocoder.cached_result(location)
}

/// A search of a tool: its arguments, and the notices about their conversion.
type NormalizedSearch = fn(&Locator, &Map<String, Value>, &[String]) -> Result<Structured, CallError>;

/// Runs the search of a tool after the external geocoder was asked.
pub(crate) fn after_geocoder<'a>(
    locator: &'a Locator,
    given: &'a Map<String, Value>,
    notices: &'a [String],
    search: NormalizedSearch,
) -> BoxFuture<'a, Result<Output, CallError>> {
    async move {
        ask_geocoder(locator, given).await;
        search(locator, given, notices).map(Output::Structured)
    }
    .boxed()
}

/// Returns the reply for an unknown location, with a suggestion.
fn not_found(location: &str, unresolved: &Unresolved) -> CallError {
    let reason = &unresolved.reason;
    let suggestions = unresolved.suggestions.iter().map(Place::label).collect::<Vec<_>>().join("; ");
    CallError::Failed(match unresolved.kind {
        UnresolvedKind::OwnPlace | UnresolvedKind::Swapped => format!("{reason}."),
        UnresolvedKind::TooLarge if !suggestions.is_empty() => format!("{reason}, such as {suggestions}."),
        UnresolvedKind::Ambiguous if !suggestions.is_empty() => format!("{reason}. Did you mean {suggestions}?"),
        _ => {
            let meant = if suggestions.is_empty() {
                "Give a city and a state or country (\"Austin, TX\"), a US ZIP code (\"78701\")".to_owned()
            } else {
                format!("Did you mean {suggestions}? Otherwise give a city and a state or country")
            };
            format!("'{}' was not understood: {reason}. {meant}, or lat together with lon.", shorten(location))
        }
    })
}

/// Returns at most 80 characters of a text of the caller, on one line.
pub(crate) fn shorten(text: &str) -> String {
    signpost_text::clean_line(text).chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use signpost_locator::gazetteer::Gazetteer;

    use super::*;

    #[test]
    fn text_without_a_place_has_a_specific_error() {
        let texas = Gazetteer::embedded().resolve("Texas").expect_err("a state");
        let of = |kind: UnresolvedKind, reason: &str| Unresolved { reason: reason.to_owned(), kind, ..texas.clone() };
        for (kind, reason, expected) in [
            (UnresolvedKind::OwnPlace, "ask them where", "ask them where."),
            (
                UnresolvedKind::Swapped,
                "did you mean 1, 2? The latitude comes first",
                "did you mean 1, 2? The latitude comes first.",
            ),
            (UnresolvedKind::TooLarge, "too large", "too large, such as Houston, TX; "),
            (UnresolvedKind::Unknown, "not known", "'x' was not understood: not known. Did you mean Houston, TX; "),
        ] {
            let message = not_found("x", &of(kind, reason)).to_string();
            assert!(message.starts_with(expected), "{message}");
        }
        let nothing = Unresolved { suggestions: Vec::new(), ..of(UnresolvedKind::Unknown, "not known") };
        assert!(not_found("x", &nothing).to_string().contains("a US ZIP code"));
    }
}
