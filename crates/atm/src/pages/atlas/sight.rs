//! The content for the visible part of the map: the list next to the map, and the names on it.

use std::cmp::Ordering;

use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use signpost_locator::{Distance, Point};
use signpost_platform::pages::HtmlPage;
use signpost_platform::web::problem::Problem;

use super::words::atlas_words;
use crate::catalogue::{AtmFilter, CatalogueEntry, Moment, Town};
use crate::map::StatusShape;
use crate::pages::addresses::{atm_path, town_path};
use crate::pages::context::PageContext;
use crate::pages::row::MachineRow;
use crate::processor;
use crate::view::AtmView;

/// Maximum width and height of the requested bounding box, in degrees.
const MAX_SIDE: f64 = 40.0;
/// Maximum height of a bounding box that lists ATMs, in degrees. Larger boxes list towns.
const MAX_ATM_HEIGHT: f64 = 0.7;
const MAX_ATMS: usize = 30;
const MAX_TOWNS: usize = 25;
const MAX_PLACES: usize = 30;
/// Maximum distance on the earth: half of its circumference.
const MAX_DISTANCE: Distance = Distance::miles(12_500.0);

/// A bounding box on the earth, at most [`MAX_SIDE`] wide and high.
#[derive(Clone, Copy, Debug, PartialEq)]
struct MapBox {
    middle: Point,
    /// Half of the height and half of the width, in degrees.
    half: [f64; 2],
}

pub(super) async fn show(context: PageContext) -> Result<Response, Problem> {
    let visible = context.parameter("box").as_deref().and_then(MapBox::parse).ok_or_else(invalid_box)?;
    // Drawn on a blocking thread, because tens of thousands of ATMs may be visible.
    let fragment = processor::run(move |_| draw(&context, &visible)).await?;
    Ok(HtmlPage::personal(fragment.into_string()).into_response())
}

/// Renders the list and the names for the visible part of the map.
fn draw(context: &PageContext, visible: &MapBox) -> Markup {
    let words = atlas_words(context.language);
    let moment = context.moment();
    let entries: Vec<&CatalogueEntry> = moment
        .within(visible.middle, visible.radius(), &AtmFilter::default())
        .filter(|entry| visible.contains(entry.atm.record.point))
        .collect();
    let (list, names) = if visible.half[0] * 2.0 <= MAX_ATM_HEIGHT {
        draw_atms(context, visible, &moment, &entries)
    } else {
        draw_towns(context, visible)
    };
    html! {
        div data-part="names" { (names) }
        section data-part="list" {
            h2 { ((words.count)(entries.len())) }
            @if entries.is_empty() { (nearest(context, visible.middle, &moment)) p { (words.go_farther) } } @else { (list) }
            (street_map_links(context, visible))
        }
    }
}

/// Renders a link to the ATM nearest to the middle of a map without any.
fn nearest(context: &PageContext, middle: Point, moment: &Moment<'_>) -> Markup {
    let words = context.words();
    let found = moment.nearest(middle, MAX_DISTANCE, 1, &AtmFilter::default());
    html! {
        @if let Some(near) = found.first() {
            @let atm = &context.snapshot.found(*near).atm;
            @let link = html! { a href=(context.link(&atm_path(atm.id))) { bdi { (atm.record.title()) } } };
            p { ((words.nearest_is)(&link, &(words.distance)(near.distance))) }
        }
    }
}

/// Renders the list of the ATMs nearest to the middle, and the labels on the map: their marks and the place names.
fn draw_atms(
    context: &PageContext,
    visible: &MapBox,
    moment: &Moment<'_>,
    entries: &[&CatalogueEntry],
) -> (Markup, Markup) {
    let nearest = nearest_of(entries, visible.middle).into_iter();
    let views: Vec<_> = (1..).zip(nearest.map(|entry| AtmView::of(moment, entry))).collect();
    let row = MachineRow { context, moment, unknown_for_all: &[] };
    let list = html! {
        @if views.len() < entries.len() { p.sm.soft { ((atlas_words(context.language).nearest)(views.len())) } }
        ol.machines {
            @for (number, view) in &views {
                (row.draw(*number, view, visible.middle.distance(view.record.point)))
            }
        }
    };
    (list, html! { (atm_marks(context, &views)) (places(context, visible)) })
}

/// Renders the list of the visible towns with the most ATMs, and the labels with their names.
fn draw_towns(context: &PageContext, visible: &MapBox) -> (Markup, Markup) {
    let near = context.towns().near(visible.middle, visible.radius(), usize::MAX, None);
    let mut towns: Vec<_> = near.filter(|town| visible.contains(town.center)).collect();
    towns.sort_by_key(|town| std::cmp::Reverse(town.len()));
    towns.truncate(MAX_TOWNS);
    (town_list(context, &towns), html! { @for town in &towns { (name(&town.name, town.center)) } })
}

/// Returns the ATMs nearest to a point, sorted by distance and then by ID. Only the selected ATMs are sorted, because a
/// city may have thousands.
fn nearest_of<'a>(entries: &[&'a CatalogueEntry], from: Point) -> Vec<&'a CatalogueEntry> {
    let mut all: Vec<(f64, &'a CatalogueEntry)> =
        entries.iter().map(|entry| (from.distance(entry.atm.record.point).in_metres(), *entry)).collect();
    if all.len() > MAX_ATMS {
        all.select_nth_unstable_by(MAX_ATMS, by_distance);
        all.truncate(MAX_ATMS);
    }
    all.sort_unstable_by(by_distance);
    all.into_iter().map(|(_, entry)| entry).collect()
}

fn by_distance(one: &(f64, &CatalogueEntry), other: &(f64, &CatalogueEntry)) -> Ordering {
    one.0.total_cmp(&other.0).then(one.1.atm.id.cmp(&other.1.atm.id))
}

fn invalid_box() -> Problem {
    let reason = format!(
        "must be south, west, north and east in degrees with commas between them, at most {MAX_SIDE} degrees wide and high"
    );
    Problem::field("box", reason)
}

impl MapBox {
    /// Parses a box from south, west, north and east in degrees. West or east may exceed 180 if the box crosses the
    /// date line.
    fn parse(text: &str) -> Option<Self> {
        let sides: Vec<f64> = text.split(',').map(|side| side.trim().parse().ok()).collect::<Option<_>>()?;
        let [south, west, north, east] = sides[..] else { return None };
        let half = [(north - south) / 2.0, (east - west) / 2.0];
        if !half.iter().all(|half| *half > 0.0 && *half <= MAX_SIDE / 2.0) || !(-360.0..=360.0).contains(&west) {
            return None;
        }
        let lon = (west + half[1] + 180.0).rem_euclid(360.0) - 180.0;
        Some(Self { middle: Point::new(south + half[0], lon)?, half })
    }

    fn contains(&self, point: Point) -> bool {
        let delta_lon = (point.lon() - self.middle.lon() + 180.0).rem_euclid(360.0) - 180.0;
        (point.lat() - self.middle.lat()).abs() <= self.half[0] && delta_lon.abs() <= self.half[1]
    }

    /// Returns the maximum distance between the middle and any point of the box.
    fn radius(&self) -> Distance {
        let north_or_south =
            [-1.0, 0.0, 1.0].map(|times| (self.middle.lat() + times * self.half[0]).clamp(-90.0, 90.0));
        let lon = (self.middle.lon() + self.half[1] + 180.0).rem_euclid(360.0) - 180.0;
        let corners = north_or_south.into_iter().filter_map(|lat| Point::new(lat, lon));
        let metres = corners.map(|corner| self.middle.distance(corner).in_metres()).fold(0.0, f64::max);
        // The margin prevents rounding errors from excluding a corner.
        Distance::metres(metres + 1.0)
    }
}

fn town_list(context: &PageContext, towns: &[&Town]) -> Markup {
    html! {
        @if !towns.is_empty() {
            h3 { (context.words().most_machines) }
            ul.columns {
                @for town in towns {
                    li {
                        a href=(context.link(&town_path(town))) { bdi { (town.name) } }
                        span.soft { ((context.words().number)(town.len())) }
                    }
                }
            }
        }
    }
}

/// Renders the marks of the listed ATMs. They are not focusable, because the list contains the links.
fn atm_marks(context: &PageContext, views: &[(usize, AtmView<'_>)]) -> Markup {
    html! {
        @for (number, view) in views {
            @let [lat, lon] = view.degrees();
            a tabindex="-1" href=(context.link(&atm_path(view.entry.atm.id))) data-at={ (lat) " " (lon) } {
                span.pin.(StatusShape::of(view.status.status).class()) { span { (number) } }
            }
        }
    }
}

fn places(context: &PageContext, visible: &MapBox) -> Markup {
    let all = context.places.largest_within(visible.middle, visible.radius(), MAX_PLACES);
    html! { @for place in all.iter().filter(|place| visible.contains(place.point)) { (name(&place.name, place.point)) } }
}

fn name(text: &str, point: Point) -> Markup {
    html! { span.place data-at={ (format!("{:.4} {:.4}", point.lat(), point.lon())) } { (text) } }
}

/// Renders links to external maps with streets.
fn street_map_links(context: &PageContext, visible: &MapBox) -> Markup {
    let [lat, lon] = [visible.middle.lat(), visible.middle.lon()].map(|degrees| format!("{degrees:.5}"));
    let zoom = format!("{:.0}", (360.0 / visible.half[1]).log2().clamp(4.0, 17.0));
    html! {
        p.sm.soft {
            (atlas_words(context.language).streets) " "
            a href={ "https://www.openstreetmap.org/#map=" (zoom) "/" (lat) "/" (lon) } { "OpenStreetMap" } " · "
            a href={ "https://www.google.com/maps/@" (lat) "," (lon) "," (zoom) "z" } { "Google Maps" } " · "
            a href={ "https://maps.apple.com/?ll=" (lat) "," (lon) "&z=" (zoom) } { "Apple Maps" }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn point(lat: f64, lon: f64) -> Point {
        Point::new(lat, lon).expect("on the earth")
    }

    #[test]
    fn box_must_be_a_part_of_the_earth() {
        for text in [
            "",
            "1,2,3",
            "1,2,3,4,5",
            "a,b,c,d",
            "NaN,0,1,1",
            "0,0,0,1",
            "1,0,0,1",
            "0,1,1,0",
            "0,0,41,1",
            "0,0,1,41",
            "80,0,101,1",
            "0,inf,1,inf",
            "0,-400,1,-399",
        ] {
            assert_eq!(MapBox::parse(text), None, "{text}");
        }
        let found = MapBox::parse("30,-98, 31,-97").expect("a box");
        assert_eq!((found.middle, found.half), (point(30.5, -97.5), [0.5, 0.5]));
    }

    #[test]
    fn box_may_cross_the_date_line() {
        for text in ["50,175,55,185", "50,-185,55,-175"] {
            let found = MapBox::parse(text).expect("a box");
            assert!(found.contains(point(52.0, 179.0)) && found.contains(point(52.0, -179.0)), "{text}");
            assert!(!found.contains(point(52.0, 174.0)) && !found.contains(point(52.0, 0.0)), "{text}");
        }
    }

    proptest! {
        #[test]
        fn points_in_a_box_are_within_its_radius(
            lat in -90.0f64..=90.0, lon in -180.0f64..=180.0, half in (0.001f64..=20.0, 0.001f64..=20.0),
            at in (-1.0f64..=1.0, -1.0f64..=1.0),
        ) {
            let asked = MapBox { middle: point(lat, lon), half: [half.0, half.1] };
            let turned = (lon + at.1 * half.1 + 180.0).rem_euclid(360.0) - 180.0;
            let inside = point((lat + at.0 * half.0).clamp(-90.0, 90.0), turned.clamp(-180.0, 180.0));
            prop_assert!(asked.middle.distance(inside) <= asked.radius(), "{:?} {:?}", asked, inside);
        }
    }
}
