//! The machines near a place that somebody typed, or near coordinates. Where people are is theirs: nobody stores the page,
//! and no address of it is passed on or logged.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde_json::{Map, Value};
use signpost_locator::gazetteer::{MAX_TEXT_CHARS, Place, Resolved, Unresolved, UnresolvedKind};
use signpost_locator::{Country, Distance, Point, Region};
use url::form_urlencoded;

use super::addresses::{area_path, find_area, machine_path};
use super::document::{LocatorDocument, draw_apart};
use super::ground::Ground;
use super::notices::Notices;
use super::parts::{figures, missing_page, search_form, town_pill};
use super::rows::MachineList;
use super::visit::LocatorVisit;
use crate::advisories::Spot;
use crate::catalogue::{AtmFilter, Moment};
use crate::locator::{Deployment, Locator};
use crate::mcp::tools::ask_geocoder;
use crate::view::{MachineView, degrees};

/// How far around it looks, and how many machines it reads at most.
const RADIUS: Distance = Distance::miles(25.0);
const MAX_FOUND: usize = 500;
const FARTHEST: Distance = Distance::miles(12_500.0);
/// How many towns around are named, and how many places that may be meant.
const MAX_TOWNS: usize = 8;
const MAX_MEANT: usize = 6;

/// A place to look around.
struct NearPlace {
    point: Point,
    name: String,
    /// What a person should know about how it was understood.
    notes: Vec<String>,
    /// What else may be meant, as it can be asked for.
    others: Vec<String>,
}

pub(super) async fn show(visit: LocatorVisit) -> Response {
    let ground = visit.ground().await;
    let asked = visit.parameter("q").map(|text| signpost_text::line(&text).trim().to_owned());
    let asked = asked.filter(|text| !text.is_empty());
    let found = match (point_of(&visit), &asked) {
        (Some(found), _) => found,
        (None, Some(text)) if text.chars().count() > MAX_TEXT_CHARS => Err(nowhere(visit.words().too_long, &[])),
        (None, Some(text)) => find_place(&visit, &ground, text).await,
        (None, None) => Err(nowhere(visit.words().say_where, &[])),
    };
    // What is too long to be read is not sent back either.
    let asked: String = asked.unwrap_or_default().chars().take(MAX_TEXT_CHARS).collect();
    match found {
        Ok(place) => draw_apart(visit, ground, move |visit, ground| show_around(visit, ground, &asked, &place)).await,
        Err(Nowhere::Larger(path)) => visit.lead_to(StatusCode::SEE_OTHER, &path),
        Err(Nowhere::Said { text, meant }) => show_nowhere(&visit, &ground, &asked, &text, &meant),
    }
}

/// Why there is no place to look around.
enum Nowhere {
    /// It is an area that has a page of its own.
    Larger(String),
    Said {
        text: String,
        meant: Vec<String>,
    },
}

fn nowhere(text: &str, meant: &[Place]) -> Nowhere {
    let meant = meant.iter().take(MAX_MEANT).map(Place::label).collect();
    Nowhere::Said { text: text.to_owned(), meant }
}

/// The point of `lat` and `lon`; `None` where neither is there.
fn point_of(visit: &LocatorVisit) -> Option<Result<NearPlace, Nowhere>> {
    let (lat, lon) = (visit.parameter("lat"), visit.parameter("lon"));
    if lat.is_none() && lon.is_none() {
        return None;
    }
    let number = |text: Option<String>| text.and_then(|text| text.trim().parse::<f64>().ok());
    let point = number(lat).zip(number(lon)).and_then(|(lat, lon)| Point::new(lat, lon));
    let place = point.map(|point| {
        let [lat, lon] = degrees(point);
        NearPlace { point, name: format!("{lat}, {lon}"), notes: Vec::new(), others: Vec::new() }
    });
    Some(place.ok_or_else(|| nowhere(visit.words().bad_coordinates, &[])))
}

/// The place that a text names: as the external geocoder knows it, where there is one, else as the place names do.
async fn find_place(visit: &LocatorVisit, ground: &Ground, text: &str) -> Result<NearPlace, Nowhere> {
    let service = &visit.service;
    if let Some(geocoder) = &service.catalogue.geocoder {
        let catalogue = service.catalogue.clone();
        let (clock, public_url) = (service.clock.clone(), service.public_url.clone());
        let locator = Locator { catalogue, clock, deployment: Deployment::Remote, public_url };
        ask_geocoder(&locator, &Map::from_iter([("location".to_owned(), Value::from(text))])).await;
        if let Some(found) = geocoder.cached_result(text) {
            let others = found.alternatives.iter().map(|place| place.name.clone()).take(MAX_MEANT).collect();
            return Ok(NearPlace { point: found.place.point, name: found.place.name, notes: Vec::new(), others });
        }
    }
    ground.places.resolve(text).map(|found| named(visit, &found)).map_err(|why| unresolved(visit, ground, text, &why))
}

fn named(visit: &LocatorVisit, found: &Resolved) -> NearPlace {
    let area = found.region.map(Region::name).or_else(|| found.country.map(Country::name));
    let name = area.map_or_else(|| found.name.clone(), |area| format!("{}, {area}", found.name));
    let notes = found.notes.iter().map(|note| (visit.words().place_note)(note)).collect();
    let others = found.alternatives.iter().map(Place::label).filter(|label| *label != found.label());
    NearPlace { point: found.point, name, notes, others: others.take(MAX_MEANT).collect() }
}

fn unresolved(visit: &LocatorVisit, ground: &Ground, text: &str, why: &Unresolved) -> Nowhere {
    let words = visit.words();
    let area = || find_area("US", Some(text)).or_else(|| find_area("CA", Some(text))).or_else(|| find_area(text, None));
    match why.kind {
        UnresolvedKind::TooLarge => match area() {
            Some(area) if ground.towns().areas().iter().any(|(one, _)| one.country == area.country) => {
                Nowhere::Larger(area_path(area))
            }
            _ => nowhere(words.too_large, &why.suggestions),
        },
        UnresolvedKind::OwnPlace => nowhere(words.say_where, &why.suggestions),
        UnresolvedKind::Swapped => nowhere(words.swapped, &why.suggestions),
        UnresolvedKind::Ambiguous => nowhere(words.which_one, &why.suggestions),
        UnresolvedKind::Unknown | UnresolvedKind::Invalid => nowhere(words.place_unknown, &why.suggestions),
    }
}

fn show_around(visit: &LocatorVisit, ground: &Ground, asked: &str, place: &NearPlace) -> Response {
    let words = visit.words();
    let moment = ground.snapshot.at(visit.now);
    let found = moment.nearest(place.point, RADIUS, MAX_FOUND, &AtmFilter::default());
    let views = found.iter().map(|near| (MachineView::of(&moment, ground.snapshot.found(*near)), near.distance));
    let list = MachineList::new(visit, "/near".to_owned(), query(asked, place.point), views.collect());
    if !list.has_page(visit) {
        return missing_page(visit, ground, None);
    }
    let entries: Vec<_> = found.iter().map(|near| ground.snapshot.found(*near)).collect();
    let spot = Spot::around(place.point, &ground.places);
    let country = spot.country;
    let told = if entries.is_empty() {
        let zone = ground.places.time_zone(place.point, spot.region);
        moment.told_at(&spot, zone).into_iter().map(|(advisory, standing)| (advisory, standing, 0)).collect()
    } else {
        moment.told_of(&entries)
    };
    let notices = Notices::of(visit, country, told);
    let main = html! {
        main #main .wrap {
            h1 { ((words.near_title)(&html! { bdi { (place.name) } })) }
            @if !found.is_empty() { (figures(visit, &list, &place.name)) }
            (search_form(visit, asked))
            @for note in &place.notes { div.notice.gap { p { (note) } } }
            @if !place.others.is_empty() { p.row.gap-sm { span.soft { (words.did_you_mean) } (meant(visit, &place.others)) } }
            div.split {
                div {
                    (notices.laws) (notices.scam)
                    @if found.is_empty() { (nothing_near(visit, &moment, place)) }
                    @else { (list.filters(visit)) (list.rows(visit, &moment)) }
                    (towns_around(visit, ground, place.point))
                }
                @if !found.is_empty() { div.sticky { (list.map(visit, ground, place.point, Some(&place.name))) } }
            }
        }
    };
    let title = (words.near_title)(&html! { (place.name) }).into_string();
    let document = LocatorDocument::new("/near", title.clone(), title, main);
    LocatorDocument { kept_query: list.own_query(), ..document }.personal(visit, ground, StatusCode::OK)
}

/// The query of the same search: what was typed, else the coordinates.
fn query(asked: &str, point: Point) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    if asked.is_empty() {
        let [lat, lon] = degrees(point);
        query.append_pair("lat", &lat.to_string()).append_pair("lon", &lon.to_string());
    } else {
        query.append_pair("q", asked);
    }
    query.finish() + "&"
}

/// The nearest machine beyond what was searched.
fn nothing_near(visit: &LocatorVisit, moment: &Moment<'_>, place: &NearPlace) -> Markup {
    let words = visit.words();
    let next = moment.nearest(place.point, FARTHEST, 1, &AtmFilter::default());
    let next = next.first().map(|near| (&moment.snapshot().found(*near).machine, near.distance));
    html! {
        div.empty {
            h2 { ((words.none_near)(&(words.distance)(RADIUS))) }
            @if let Some((machine, away)) = next {
                p { ((words.nearest_is)(&html! { bdi { (machine.record.title()) } }, &(words.distance)(away))) }
                p.gap-sm { a.btn href=(visit.link(&machine_path(machine.id))) { (words.show_it) } }
            } @else {
                p { (words.no_machines) }
            }
        }
    }
}

fn towns_around(visit: &LocatorVisit, ground: &Ground, point: Point) -> Markup {
    let near: Vec<_> = ground.towns().near(point, Distance::miles(40.0), MAX_TOWNS, None).collect();
    html! {
        @if !near.is_empty() {
            h2.gap-lg { (visit.words().towns_close_by) }
            p.row.gap-sm { @for town in near { (town_pill(visit, town)) } }
        }
    }
}

/// Places that may be meant, as searches.
fn meant(visit: &LocatorVisit, places: &[String]) -> Markup {
    html! {
        @for place in places {
            @let query: String = form_urlencoded::byte_serialize(place.as_bytes()).collect();
            a.pill href=(visit.link(&format!("/near?q={query}"))) { bdi { (place) } }
        }
    }
}

fn show_nowhere(visit: &LocatorVisit, ground: &Ground, asked: &str, text: &str, places: &[String]) -> Response {
    let words = visit.words();
    let main = html! {
        main #main .wrap.stack {
            h1 { (words.near_what) }
            div.notice.warn role="alert" { p { @if !asked.is_empty() { bdi { b { (asked) } } ": " } (text) } }
            @if !places.is_empty() { p.row { span.soft { (words.did_you_mean) } (meant(visit, places)) } }
            (search_form(visit, asked))
            p.sm.soft { (words.search_examples) }
        }
    };
    let title = words.near_what.to_owned();
    let mut kept = form_urlencoded::Serializer::new(String::new());
    let kept_query = if asked.is_empty() { String::new() } else { kept.append_pair("q", asked).finish() + "&" };
    let document = LocatorDocument::new("/near", title.clone(), title, main);
    LocatorDocument { kept_query, ..document }.personal(visit, ground, StatusCode::OK).into_response()
}
