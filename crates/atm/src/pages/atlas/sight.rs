//! What is in sight on the map: a list for beside it, and the names on it.

use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use signpost_locator::{Distance, Point};
use signpost_platform::pages::HtmlPage;
use signpost_platform::web::problem::Problem;

use super::words::atlas_words;
use crate::catalogue::{AtmFilter, CatalogueEntry, Town};
use crate::map::StatusShape;
use crate::pages::addresses::{machine_path, town_path};
use crate::pages::ground::Ground;
use crate::pages::rows::row;
use crate::pages::visit::{LocatorVisit, MapDataVisit};
use crate::processor;
use crate::view::MachineView;

/// How wide and how high a map may be that is asked about, in degrees.
const WIDEST: f64 = 40.0;
/// How high a map is that shows machines; a higher one shows towns.
const CITY: f64 = 0.7;
const MOST_MACHINES: usize = 30;
const MOST_TOWNS: usize = 25;
const MOST_PLACES: usize = 30;

/// A part of the earth between two latitudes and two longitudes, at most [`WIDEST`] wide and high.
#[derive(Clone, Copy, Debug, PartialEq)]
struct MapBox {
    middle: Point,
    /// Degrees from the middle to the sides.
    half: [f64; 2],
}

pub(super) async fn show(MapDataVisit(visit): MapDataVisit) -> Result<Response, Problem> {
    let asked = visit.parameter("box").as_deref().and_then(MapBox::parse).ok_or_else(wrong_box)?;
    let ground = visit.ground().await;
    // Tens of thousands of machines may be in sight.
    let fragment = processor::run(move |_| draw(&visit, &ground, &asked)).await?;
    Ok(HtmlPage::personal(fragment.into_string()).into_response())
}

/// The list and the names of a part of the earth.
fn draw(visit: &LocatorVisit, ground: &Ground, asked: &MapBox) -> Markup {
    let moment = ground.snapshot.at(visit.now);
    let seen: Vec<&CatalogueEntry> = moment
        .within(asked.middle, asked.reach(), &AtmFilter::default())
        .filter(|entry| asked.has(entry.machine.record.point))
        .collect();
    let words = atlas_words(visit.language);
    let (list, names) = if asked.half[0] * 2.0 <= CITY {
        let nearest = nearest_of(&seen, asked.middle).into_iter();
        let views: Vec<_> = (1..).zip(nearest.map(|entry| MachineView::of(&moment, entry))).collect();
        let rows = html! {
            @if views.len() < seen.len() { p.sm.soft { ((words.nearest)(views.len())) } }
            ol.machines {
                @for (number, view) in &views {
                    (row(visit, &moment, *number, view, asked.middle.distance(view.record.point)))
                }
            }
        };
        (rows, html! { (pins(visit, &views)) (places(ground, asked)) })
    } else {
        let mut towns: Vec<_> = towns(ground, asked);
        towns.sort_by_key(|town| std::cmp::Reverse(town.len()));
        towns.truncate(MOST_TOWNS);
        (town_list(visit, &towns), html! { @for town in &towns { (name(&town.name, town.center)) } })
    };
    html! {
        div data-part="names" { (names) }
        section data-part="list" {
            h2 { ((words.count)(seen.len())) }
            @if seen.is_empty() { p { (words.go_farther) } } @else { (list) }
            (streets(visit, asked))
        }
    }
}

/// The machines nearest to a point, nearest first, then by id. Of a city's thousands only these are put in order.
fn nearest_of<'a>(seen: &[&'a CatalogueEntry], from: Point) -> Vec<&'a CatalogueEntry> {
    let away = |entry: &&'a CatalogueEntry| (from.distance(entry.machine.record.point).in_metres(), *entry);
    let mut all: Vec<_> = seen.iter().map(away).collect();
    let by_distance = |one: &(f64, &CatalogueEntry), other: &(f64, &CatalogueEntry)| {
        one.0.total_cmp(&other.0).then(one.1.machine.id.cmp(&other.1.machine.id))
    };
    if all.len() > MOST_MACHINES {
        all.select_nth_unstable_by(MOST_MACHINES, by_distance);
        all.truncate(MOST_MACHINES);
    }
    all.sort_unstable_by(by_distance);
    all.into_iter().map(|(_, entry)| entry).collect()
}

fn wrong_box() -> Problem {
    let reason = format!(
        "must be south, west, north and east in degrees with commas between them, at most {WIDEST} degrees wide and high"
    );
    Problem::field("box", reason)
}

impl MapBox {
    /// Reads south, west, north and east in degrees; across the date line west or east may go beyond 180.
    fn parse(text: &str) -> Option<Self> {
        let sides: Vec<f64> = text.split(',').map(|side| side.trim().parse().ok()).collect::<Option<_>>()?;
        let [south, west, north, east] = sides[..] else { return None };
        let half = [(north - south) / 2.0, (east - west) / 2.0];
        if !half.iter().all(|half| *half > 0.0 && *half <= WIDEST / 2.0) || !(-360.0..=360.0).contains(&west) {
            return None;
        }
        let lon = (west + half[1] + 180.0).rem_euclid(360.0) - 180.0;
        Some(Self { middle: Point::new(south + half[0], lon)?, half })
    }

    fn has(&self, point: Point) -> bool {
        let turn = (point.lon() - self.middle.lon() + 180.0).rem_euclid(360.0) - 180.0;
        (point.lat() - self.middle.lat()).abs() <= self.half[0] && turn.abs() <= self.half[1]
    }

    /// How far its corners are at most, and its sides where it has a pole in it.
    fn reach(&self) -> Distance {
        let north_or_south =
            [-1.0, 0.0, 1.0].map(|times| (self.middle.lat() + times * self.half[0]).clamp(-90.0, 90.0));
        let lon = (self.middle.lon() + self.half[1] + 180.0).rem_euclid(360.0) - 180.0;
        let corners = north_or_south.into_iter().filter_map(|lat| Point::new(lat, lon));
        let metres = corners.map(|corner| self.middle.distance(corner).in_metres()).fold(0.0, f64::max);
        // A corner that rounding puts outside is still in.
        Distance::metres(metres + 1.0)
    }
}

/// The towns with machines whose middles are in sight.
fn towns<'a>(ground: &'a Ground, asked: &MapBox) -> Vec<&'a Town> {
    let near = ground.towns().near(asked.middle, asked.reach(), usize::MAX, None);
    near.filter(|town| asked.has(town.center)).collect()
}

fn town_list(visit: &LocatorVisit, towns: &[&Town]) -> Markup {
    html! {
        @if !towns.is_empty() {
            h3 { (visit.words().most_machines) }
            ul.columns {
                @for town in towns {
                    li {
                        a href=(visit.link(&town_path(town))) { bdi { (town.name) } }
                        span.soft { ((visit.words().number)(town.len())) }
                    }
                }
            }
        }
    }
}

/// The marks of the machines in the list: their links are there, so no key leads to these.
fn pins(visit: &LocatorVisit, views: &[(usize, MachineView<'_>)]) -> Markup {
    html! {
        @for (number, view) in views {
            @let [lat, lon] = view.degrees();
            a tabindex="-1" href=(visit.link(&machine_path(view.entry.machine.id))) data-at={ (lat) " " (lon) } {
                span.pin.(StatusShape::of(view.status.status).class()) { span { (number) } }
            }
        }
    }
}

fn places(ground: &Ground, asked: &MapBox) -> Markup {
    let all = ground.places.largest_within(asked.middle, asked.reach(), MOST_PLACES);
    html! { @for place in all.iter().filter(|place| asked.has(place.point)) { (name(&place.name, place.point)) } }
}

fn name(text: &str, point: Point) -> Markup {
    html! { span.place data-at={ (format!("{:.4} {:.4}", point.lat(), point.lon())) } { (text) } }
}

/// Where streets are shown.
fn streets(visit: &LocatorVisit, asked: &MapBox) -> Markup {
    let [lat, lon] = [asked.middle.lat(), asked.middle.lon()].map(|degrees| format!("{degrees:.5}"));
    let zoom = format!("{:.0}", (360.0 / asked.half[1]).log2().clamp(4.0, 17.0));
    html! {
        p.sm.soft {
            (atlas_words(visit.language).streets) " "
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
    fn only_a_part_of_the_earth_is_a_box() {
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
    fn a_box_goes_across_the_date_line() {
        for text in ["50,175,55,185", "50,-185,55,-175"] {
            let found = MapBox::parse(text).expect("a box");
            assert!(found.has(point(52.0, 179.0)) && found.has(point(52.0, -179.0)), "{text}");
            assert!(!found.has(point(52.0, 174.0)) && !found.has(point(52.0, 0.0)), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_in_a_box_is_within_its_reach(
            lat in -90.0f64..=90.0, lon in -180.0f64..=180.0, half in (0.001f64..=20.0, 0.001f64..=20.0),
            at in (-1.0f64..=1.0, -1.0f64..=1.0),
        ) {
            let asked = MapBox { middle: point(lat, lon), half: [half.0, half.1] };
            let turned = (lon + at.1 * half.1 + 180.0).rem_euclid(360.0) - 180.0;
            let inside = point((lat + at.0 * half.0).clamp(-90.0, 90.0), turned.clamp(-180.0, 180.0));
            prop_assert!(asked.middle.distance(inside) <= asked.reach(), "{:?} {:?}", asked, inside);
        }
    }
}
