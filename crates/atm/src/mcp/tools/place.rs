//! Where a call wants to search: coordinates, or a location that the gazetteer understands.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use signpost_locator::gazetteer::{
    ATTRIBUTION, MAX_TEXT_CHARS, Place, PlaceSource, Resolved, Unresolved, UnresolvedKind,
};
use signpost_locator::{Country, Point, Region};
use signpost_mcp::{Call, CallError, Output};

use super::declare::{Argument, CallArguments, Declared};
use super::kinds::{Number, PlainText};
use super::understood::Understood;
use crate::locator::Locator;
use crate::view::degrees;

pub(super) const LOCATION: Argument<PlainText> = Argument::new(
    "location",
    "A place as people write it: \"Austin, TX\", \"78701\", \"LAX\". No streets, businesses, 'near me'. Either this, or lat \
     and lon",
    PlainText { most: MAX_TEXT_CHARS },
);

pub(super) const LAT: Argument<Number> =
    Argument::new("lat", "Latitude in degrees; needs lon", Number { unit: "degrees", least: -90.0, most: 90.0 });

pub(super) const LON: Argument<Number> =
    Argument::new("lon", "Longitude in degrees; needs lat", Number { unit: "degrees", least: -180.0, most: 180.0 });

/// How many other places of a name a notice names: the alternatives have all of them.
const MAX_OTHERS_SAID: usize = 3;

/// A point to search from, and how it was understood.
pub(crate) struct Center {
    pub(crate) point: Point,
    /// How people would call it: `Austin, Texas` or `30.27, -97.74`.
    pub(crate) name: String,
    /// The region and country, of a location that has them.
    pub(crate) area: (Option<Region>, Option<Country>),
    /// How the location was understood, where one was used.
    pub(crate) resolved: Option<Understood>,
    /// What the caller should know about the choice.
    pub(crate) note: Option<String>,
    /// What the licence of whoever knew the place wants to be said.
    pub(crate) attribution: Option<&'static str>,
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
        let [lat, lon] = degrees(point);
        let name = format!("{lat}, {lon}");
        Self { point, name, area: (None, None), resolved: None, note, attribution: None }
    }

    fn resolve(locator: &Locator, location: &str) -> Result<Self, CallError> {
        if let Some(geocoder) = &locator.catalogue.geocoder
            && let Some(found) = geocoder.cached_result(location)
        {
            let attribution = Some(geocoder.attribution());
            let understood = Understood::geocoded(geocoder.name(), found);
            return Ok(Self::understood(location, understood, Vec::new(), attribution));
        }
        let resolved = locator.catalogue.places.now().resolve(location);
        let resolved = resolved.map_err(|unresolved| not_found(location, &unresolved))?;
        let attribution = (resolved.source != PlaceSource::Coordinates).then_some(ATTRIBUTION);
        let notes: Vec<String> =
            resolved.notes.iter().map(|note| signpost_text::line(&note.to_string()).into_owned()).collect();
        Ok(Self::understood(location, Understood::named(resolved), notes, attribution))
    }

    /// `notes` are what the place names have to say; what else could be meant is added.
    fn understood(
        location: &str,
        (point, resolved): (Point, Understood),
        mut notes: Vec<String>,
        attribution: Option<&'static str>,
    ) -> Self {
        let name = resolved.title();
        let mut others = resolved.others();
        others.truncate(MAX_OTHERS_SAID);
        if let (false, others) = (others.is_empty(), others.join("; ")) {
            notes.push(if notes.is_empty() {
                format!("'{}' was taken for {name}; there is also {others}.", shorten(location))
            } else {
                format!("There is also {others}.")
            });
        }
        let note = (!notes.is_empty()).then(|| notes.join(" "));
        Self { point, name, area: (resolved.region, resolved.country), resolved: Some(resolved), note, attribution }
    }
}

/// The point of `lat` and `lon`; one of them alone is a mistake even beside a location.
fn point(arguments: &mut CallArguments<'_>) -> Result<Option<Point>, CallError> {
    let number = |one| arguments.sent(one).and_then(Value::as_f64);
    if let (Some(lat), Some(lon)) = (number(&LAT), number(&LON))
        && Point::new(lat, lon).is_none()
        && Point::new(lon, lat).is_some()
    {
        return Err(arguments.bad(&format!(
            "lat must be a number of degrees from -90 to 90, received {lat:?}; did you mean lat {lon:?}, lon {lat:?}?"
        )));
    }
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
    let can_know_more = match &locator.catalogue.places.now().resolve(location) {
        Ok(Resolved { source: PlaceSource::Coordinates | PlaceSource::PlusCode, .. }) => false,
        Ok(resolved) => is_address || resolved.source == PlaceSource::Fallback,
        // Of where somebody is nobody knows more, and a state is not a point.
        Err(unresolved) => unresolved.kind == UnresolvedKind::Unknown,
    };
    if can_know_more {
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
    let (asked, reason) = (shorten(location), &unresolved.reason);
    let suggestions: Vec<_> = unresolved.suggestions.iter().map(Place::label).collect();
    let suggestions = suggestions.join("; ");
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
            format!("'{asked}' was not understood: {reason}. {meant}, or lat together with lon.")
        }
    })
}

pub(crate) fn shorten(text: &str) -> String {
    signpost_text::line(text).chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use signpost_locator::gazetteer::Gazetteer;

    use super::*;

    #[test]
    fn a_text_that_is_no_place_is_answered_by_its_kind() {
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
            let told = not_found("x", &of(kind, reason)).to_string();
            assert!(told.starts_with(expected), "{told}");
        }
        let nothing = Unresolved { suggestions: Vec::new(), ..of(UnresolvedKind::Unknown, "not known") };
        assert!(not_found("x", &nothing).to_string().contains("a US ZIP code"));
    }
}
