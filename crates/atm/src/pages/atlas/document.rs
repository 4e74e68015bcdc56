//! The page of the map.

use std::sync::Arc;

use axum::Extension;
use axum::response::Response;
use maud::{Markup, html};
use signpost_locator::gazetteer::ATTRIBUTION;
use signpost_locator::{Country, Point};
use signpost_platform::pages::DeviceUse;
use signpost_platform::web::problem::Problem;

use super::SCRIPTS;
use super::files::{DrawnMap, MapFiles};
use super::words::atlas_words;
use crate::catalogue::{TownArea, Towns};
use crate::pages::country::{countries, regions};
use crate::pages::document::{LocatorDocument, draw_apart, find_kept};
use crate::pages::ground::Ground;
use crate::pages::parts::search_form;
use crate::pages::visit::LocatorVisit;

const PATH: &str = "/map";

pub(super) async fn show(visit: LocatorVisit, Extension(files): Extension<Arc<MapFiles>>) -> Result<Response, Problem> {
    let ground = visit.ground().await;
    if let Some(kept) = find_kept(&visit, &ground) {
        return Ok(kept);
    }
    let drawn = files.of(&ground.snapshot).await?;
    Ok(draw_apart(visit, ground, move |visit, ground| draw(visit, ground, &drawn)).await)
}

fn draw(visit: &LocatorVisit, ground: &Ground, drawn: &DrawnMap) -> Response {
    let words = atlas_words(visit.language);
    let title = words.title.to_owned();
    let document = LocatorDocument::new(PATH, title, words.description.to_owned(), main(visit, ground, drawn));
    let device_use = Some(DeviceUse::Location);
    let document = LocatorDocument { head: head(visit), device_use, ..document };
    document.public(visit, ground)
}

fn head(visit: &LocatorVisit) -> Markup {
    let link = |name| SCRIPTS.link(&visit.service.origin, name);
    html! {
        link rel="stylesheet" href=(link("map.css"));
        link rel="modulepreload" href=(link("map.js"));
        link rel="modulepreload" href=(link("above.js"));
        script type="module" src=(link("points.js")) {}
        script type="module" src=(link("sight.js")) {}
    }
}

fn main(visit: &LocatorVisit, ground: &Ground, drawn: &DrawnMap) -> Markup {
    let (words, shared) = (atlas_words(visit.language), visit.words());
    html! {
        main #main .wrap.atlas-page {
            h1 { (words.title) }
            p.figures {
                span { ((shared.machines)(drawn.machines)) }
                @if let Some(at) = ground.snapshot.data_as_of() {
                    span { ((shared.data_of)(&(shared.long_date)(shared.day_of(at)))) }
                }
            }
            (search_form(visit, ""))
            div.atlas {
                div {
                    (canvas(visit, ground, drawn))
                    noscript {
                        div.atlas-map { img src=(visit.service.origin.link("/map/overview.svg")) alt=((words.overview)(drawn.machines)); }
                        p.xs.soft { (credit(ground)) }
                    }
                    (tools(visit))
                    p #keys .sm.soft data-scripted hidden {
                        @if drawn.dots < drawn.machines { ((words.thinned)(drawn.dots)) " " }
                        (words.keys)
                    }
                }
                section.in-sight data-part="list" aria-label=(words.in_sight) {
                    (states(visit, ground.towns()))
                }
            }
        }
    }
}

/// What the scripts draw on, with all that they have to know.
fn canvas(visit: &LocatorVisit, ground: &Ground, drawn: &DrawnMap) -> Markup {
    let (words, origin) = (atlas_words(visit.language), &visit.service.origin);
    let asking = |path| visit.link(path) + if visit.named_language.is_some() { "&" } else { "?" };
    let view = drawn.view;
    html! {
        div.atlas-map data-scripted hidden {
            canvas tabindex="0" role="application" aria-label=((words.drawing)(drawn.machines)) aria-describedby="keys"
                data-near=(asking("/near")) data-sight=(asking("/map/sight"))
                data-lines=(SCRIPTS.link(origin, "states.txt")) data-points=(origin.link("/map/points"))
                data-view={ (view.zoom) " " (format!("{:.4} {:.4}", view.lat, view.lon)) }
                data-unit=(words.unit_metres) {}
            i.ring data-unit=(words.unit) hidden {}
            i.ring data-unit=(words.unit) hidden {}
            div.names data-part="names" aria-hidden="true" { (state_names(ground.towns())) }
            p.credit { (credit(ground)) }
        }
    }
}

/// Whom to thank for what is on the map.
fn credit(ground: &Ground) -> String {
    ground.snapshot.attribution().chain([ATTRIBUTION]).collect::<Vec<_>>().join(" · ")
}

fn tools(visit: &LocatorVisit) -> Markup {
    let words = atlas_words(visit.language);
    html! {
        p.tools data-scripted hidden {
            button.btn type="button" data-part="closer" { "+ " (words.closer) }
            button.btn type="button" data-part="farther" { "− " (words.farther) }
            button.btn type="button" data-part="here" { (words.here) }
        }
        p.sm role="status" data-part="says" data-asking=(words.asking) data-failed=(words.failed) {}
    }
}

/// The list of a map of everything.
fn states(visit: &LocatorVisit, towns: &Towns) -> Markup {
    let country = Country::UNITED_STATES;
    html! {
        (regions(visit, towns, TownArea { country, region: None }))
        (countries(visit, towns, country))
        @if towns.all().next().is_none() { h2 { (visit.words().no_machines) } }
    }
}

/// What a map of everything names: each area in the middle of its machines, those with most machines first.
fn state_names(towns: &Towns) -> Markup {
    let mut areas = towns.areas();
    areas.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let middle = |area: TownArea| {
        // Weighed by machines.
        let middle = Point::middle(towns.of_area(area).flat_map(|town| std::iter::repeat_n(town.center, town.len())));
        middle.map(|middle| format!("{:.3} {:.3}", middle.lat(), middle.lon()))
    };
    html! {
        @for (area, _) in areas {
            @let name = area.region.map_or(area.country.name(), |region| region.code());
            @if let Some(at) = middle(area) { span.place data-at=(at) { (name) } }
        }
    }
}
