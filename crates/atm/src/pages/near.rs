//! The search page with the ATMs near a typed place or near coordinates. The location of a user is private, so the page
//! is not cached, and its URL is neither sent to other sites nor logged.

use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use signpost_locator::gazetteer::{MAX_TEXT_CHARS, Place, PlacePreference, Resolved, Unresolved, UnresolvedKind};
use signpost_locator::{Country, Distance, Division, Point};
use url::form_urlencoded;

use super::addresses::{area_path, atm_path, find_area};
use super::context::PageContext;
use super::document::{LocatorDocument, draw_apart};
use super::notices::Notices;
use super::parts::{missing_page, nearby_towns, search_form};
use super::rows::MachineList;
use crate::advisories::Location;
use crate::catalogue::{AtmFilter, TownArea, country_of};
use crate::map::FigureCenter;
use crate::mcp::tools::geocode;
use crate::places::geocoder::GeocodeResult;
use crate::view::degrees;

/// Radius of a search.
const RADIUS: Distance = Distance::miles(25.0);
/// Maximum number of ATMs in a search result.
const MAX_FOUND: usize = 500;
/// Maximum distance on the earth: half of its circumference.
const MAX_DISTANCE: Distance = Distance::miles(12_500.0);
/// Maximum number of suggested places on the page.
const MAX_SUGGESTIONS: usize = 6;

/// The place that a search is centred on.
struct NearPlace {
    point: Point,
    name: String,
    /// Notes about the interpretation of the search text.
    notes: Vec<String>,
    /// Other places with the name, as search texts.
    others: Vec<String>,
    /// Whether the place is the location of the user.
    is_user: bool,
}

/// The reason why a search has no place to search around.
enum NoPlace {
    /// The text names an area that has its own page.
    Area(TownArea),
    /// The text names no known place, or several places.
    Unresolved { message: &'static str, suggestions: Vec<String> },
}

pub(super) async fn show(context: PageContext) -> Response {
    let text = context.parameter("q").unwrap_or_default();
    let text = signpost_text::clean_line(&text).trim().to_owned();
    let geocoded = if has_coordinates(&context) {
        None
    } else {
        geocode(&context.service.catalogue, &context.places, &text).await
    };
    draw_apart(context, move |context| draw(context, &text, geocoded)).await
}

fn draw(context: &PageContext, text: &str, geocoded: Option<GeocodeResult>) -> Response {
    let found = find_place(context, text, geocoded);
    // A text that is too long is not repeated in the form.
    let shown: String = text.chars().take(MAX_TEXT_CHARS).collect();
    match found {
        Ok(place) => draw_around(context, &shown, &place),
        Err(NoPlace::Area(area)) => context.redirect(StatusCode::SEE_OTHER, &area_path(area)),
        Err(NoPlace::Unresolved { message, suggestions }) => draw_unresolved(context, &shown, message, &suggestions),
    }
}

/// Returns `true` for searches around the location of the user.
fn is_near_user(context: &PageContext) -> bool {
    context.parameter("here").is_some()
}

fn has_coordinates(context: &PageContext) -> bool {
    context.parameter("lat").is_some() || context.parameter("lon").is_some()
}

/// Returns the place at the coordinates in `lat` and `lon`, or the place of the text: from the external geocoder if it
/// has a result, otherwise from the gazetteer.
fn find_place(context: &PageContext, text: &str, geocoded: Option<GeocodeResult>) -> Result<NearPlace, NoPlace> {
    if has_coordinates(context) {
        return place_at_coordinates(context);
    }
    if is_near_user(context) {
        return Err(no_place(context.words().near_scriptless, &[]));
    }
    let country = named_country(context);
    if let Some(found) = geocoded {
        let GeocodeResult { place, alternatives, .. } = found.preferring(country);
        let others = alternatives.into_iter().map(|other| other.name).take(MAX_SUGGESTIONS).collect();
        return Ok(NearPlace { point: place.point, name: place.name, notes: Vec::new(), others, is_user: false });
    }
    if text.is_empty() {
        return Err(no_place(context.words().say_where, &[]));
    }
    if text.chars().count() > MAX_TEXT_CHARS {
        return Err(no_place(context.words().too_long, &[]));
    }
    let preference = PlacePreference {
        country,
        likely_country: context.likely_country,
        has_atms_near: &|point| context.snapshot.has_atms_near(point),
    };
    match context.places.resolve_preferring(text, &preference) {
        Ok(resolved) => Ok(named_place(context, &resolved)),
        Err(unresolved) => Err(explain(context, text, &unresolved)),
    }
}

fn place_at_coordinates(context: &PageContext) -> Result<NearPlace, NoPlace> {
    let point = match (number(context, "lat"), number(context, "lon")) {
        (Some(lat), Some(lon)) => Point::new(lat, lon),
        _ => None,
    };
    let Some(point) = point else { return Err(no_place(context.words().bad_coordinates, &[])) };
    let [lat, lon] = degrees(point);
    let at = format!("{lat}, {lon}");
    let words = context.words();
    let is_user = is_near_user(context);
    let notes = if is_user { vec![(words.near_rounded)(&at)] } else { Vec::new() };
    let name = if is_user { words.near_you.to_owned() } else { at };
    Ok(NearPlace { point, name, notes, others: Vec::new(), is_user })
}

/// Returns the country in the URL parameter `country`. Invalid values are ignored.
fn named_country(context: &PageContext) -> Option<Country> {
    let code = context.parameter("country")?;
    let code = code.trim();
    if code.len() == 2 { country_of(None, Country::parse(code)) } else { None }
}

fn number(context: &PageContext, parameter: &str) -> Option<f64> {
    context.parameter(parameter)?.trim().parse().ok()
}

fn named_place(context: &PageContext, found: &Resolved) -> NearPlace {
    let label = found.label();
    let is_shared = found.alternatives.iter().any(|other| other.label() == label);
    let name = match (found.region, found.division, found.country) {
        (Some(region), ..) => format!("{}, {}", found.name, region.name()),
        (None, Some(division), Some(country)) if is_shared => label_in_division(&found.name, division, country),
        (None, _, Some(country)) => format!("{}, {}", found.name, country.name()),
        (None, _, None) => found.name.clone(),
    };
    let notes = found.notes.iter().map(|note| (context.words().place_note)(note)).collect();
    let others = found.alternatives.iter().map(|other| other_label(found, other)).filter(|other| *other != label);
    NearPlace { point: found.point, name, notes, others: others.take(MAX_SUGGESTIONS).collect(), is_user: false }
}

/// Returns the search text of an alternative, including its division if another place has the same label.
fn other_label(found: &Resolved, other: &Place) -> String {
    let label = other.label();
    let sharing = found.alternatives.iter().filter(|place| place.label() == label).count();
    match other.division {
        Some(division) if sharing > 1 || label == found.label() => {
            label_in_division(&other.name, division, other.country)
        }
        _ => label,
    }
}

fn label_in_division(name: &str, division: Division, country: Country) -> String {
    format!("{name}, {}, {}", division.name(), country.name())
}

fn explain(context: &PageContext, text: &str, unresolved: &Unresolved) -> NoPlace {
    let words = context.words();
    let message = match unresolved.kind {
        UnresolvedKind::TooLarge => match find_listed_area(context, text) {
            Some(area) => return NoPlace::Area(area),
            None => words.too_large,
        },
        UnresolvedKind::OwnPlace => words.say_where,
        UnresolvedKind::Swapped => words.swapped,
        UnresolvedKind::Ambiguous => words.which_one,
        UnresolvedKind::Unknown | UnresolvedKind::Invalid => words.place_unknown,
    };
    no_place(message, &unresolved.suggestions)
}

fn no_place(message: &'static str, suggestions: &[Place]) -> NoPlace {
    let suggestions = suggestions.iter().take(MAX_SUGGESTIONS).map(Place::label).collect();
    NoPlace::Unresolved { message, suggestions }
}

/// Returns the state, province or country with this name, if its country has ATMs.
fn find_listed_area(context: &PageContext, text: &str) -> Option<TownArea> {
    let state = find_area("US", Some(text)).or_else(|| find_area("CA", Some(text)));
    let area = state.or_else(|| find_area(text, None))?;
    let is_listed = context.towns().all().any(|town| town.area.country == area.country);
    is_listed.then_some(area)
}

fn draw_around(context: &PageContext, text: &str, place: &NearPlace) -> Response {
    let words = context.words();
    let found = context.moment().nearest(place.point, RADIUS, MAX_FOUND, &AtmFilter::default());
    let entries = found.iter().map(|near| (context.snapshot.found(*near), near.distance));
    let Some(list) = MachineList::new(context, "/near".to_owned(), query(context, text, place.point), entries) else {
        return missing_page(context, None);
    };
    let location = Location::around(place.point, &context.places);
    let notices = if found.is_empty() {
        let zone = context.places.time_zone(place.point, location.region);
        Notices::at(context, location.country, &location, zone, 0)
    } else {
        Notices::of_atms(context, location.country, &list.entries())
    };
    let center = if place.is_user { FigureCenter::User } else { FigureCenter::Place };
    let main = html! {
        main #main .wrap.results {
            h1 { ((words.near_title)(&html! { bdi { (place.name) } })) }
            @if !found.is_empty() { (list.figures()) }
            (search_form(context, text))
            @for note in &place.notes { p.sm.soft.note { (note) } }
            @if !place.others.is_empty() { p.others { span.soft { (words.did_you_mean) } (search_links(context, &place.others)) } }
            div.split {
                div {
                    (notices.folded)
                    @if found.is_empty() { (nothing_near(context, place)) }
                    @else { (list.filters()) (list.rows()) }
                    (nearby_towns(context, place.point, None))
                }
                @if !found.is_empty() { div.sticky { (list.map(place.point, &place.name, center)) } }
            }
        }
    };
    let title = (words.near_title)(&html! { (place.name) }).into_string();
    let document = LocatorDocument::new("/near", title.clone(), title, main);
    LocatorDocument { query_prefix: list.query_prefix(), dates: list.dates(), ..document }
        .personal(context, StatusCode::OK)
}

/// Returns the query of a search: the text and the country, or the coordinates.
fn query(context: &PageContext, text: &str, point: Point) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    if text.is_empty() {
        let [lat, lon] = degrees(point);
        query.append_pair("lat", &lat.to_string()).append_pair("lon", &lon.to_string());
        if is_near_user(context) {
            query.append_pair("here", "1");
        }
    } else {
        query.append_pair("q", text);
        if let Some(country) = named_country(context) {
            query.append_pair("country", country.code());
        }
    }
    query.finish() + "&"
}

/// Renders the notice of an empty result, with the nearest ATM beyond the radius.
fn nothing_near(context: &PageContext, place: &NearPlace) -> Markup {
    let words = context.words();
    let nearest = context.moment().nearest(place.point, MAX_DISTANCE, 1, &AtmFilter::default());
    html! {
        div.empty {
            h2 { ((words.none_near)(&(words.distance)(RADIUS))) }
            @if let Some(near) = nearest.first() {
                @let machine = &context.snapshot.found(*near).atm;
                p { ((words.nearest_is)(&html! { bdi { (machine.record.title()) } }, &(words.distance)(near.distance))) }
                p.gap-sm { a.btn href=(context.link(&atm_path(machine.id))) { (words.show_it) } }
            } @else {
                p { (words.no_machines) }
            }
        }
    }
}

/// Renders links to searches for these places.
fn search_links(context: &PageContext, places: &[String]) -> Markup {
    html! {
        @for place in places {
            @let query: String = form_urlencoded::byte_serialize(place.as_bytes()).collect();
            " " a href=(context.link(&format!("/near?q={query}"))) { bdi { (place) } }
        }
    }
}

fn draw_unresolved(context: &PageContext, text: &str, message: &str, suggestions: &[String]) -> Response {
    let words = context.words();
    let main = html! {
        main #main .wrap.stack {
            h1 { (words.near_what) }
            div.notice.warn role="alert" { p { @if !text.is_empty() { bdi { b { (text) } } ": " } (message) } }
            @if !suggestions.is_empty() { p.others { span.soft { (words.did_you_mean) } (search_links(context, suggestions)) } }
            (search_form(context, text))
            p.sm.soft { (words.search_examples) }
        }
    };
    let title = words.near_what.to_owned();
    let mut query = form_urlencoded::Serializer::new(String::new());
    let query_prefix = if text.is_empty() { String::new() } else { query.append_pair("q", text).finish() + "&" };
    let document = LocatorDocument::new("/near", title.clone(), title, main);
    LocatorDocument { query_prefix, ..document }.personal(context, StatusCode::OK)
}
