//! The page `/map` with the interactive map of all ATMs.

use std::sync::Arc;

use axum::Extension;
use axum::response::Response;
use maud::{Markup, html};
use signpost_locator::gazetteer::ATTRIBUTION;
use signpost_locator::{Country, Point, Region};
use signpost_platform::web::problem::Problem;

use super::SCRIPTS;
use super::files::{DrawnMap, MapFiles};
use super::words::atlas_words;
use crate::catalogue::TownArea;
use crate::pages::context::PageContext;
use crate::pages::country::{countries, regions};
use crate::pages::data_date::data_date;
use crate::pages::document::{LocatorDocument, cached_or_drawn};
use crate::pages::parts::search_by_name;

const PATH: &str = "/map";

pub(super) async fn show(
    context: PageContext,
    Extension(files): Extension<Arc<MapFiles>>,
) -> Result<Response, Problem> {
    let drawn = files.of(&context.snapshot).await?;
    Ok(cached_or_drawn(context, move |context| draw(context, &drawn)).await)
}

fn draw(context: &PageContext, drawn: &DrawnMap) -> Response {
    let words = atlas_words(context.language);
    let title = words.title.to_owned();
    let document = LocatorDocument::new(PATH, title, words.description.to_owned(), main(context, drawn));
    LocatorDocument { head: head(context), ..document }.public(context)
}

fn head(context: &PageContext) -> Markup {
    let origin = &context.service.origin;
    html! {
        link rel="stylesheet" href=(SCRIPTS.link(origin, "map.css"));
        link rel="modulepreload" href=(SCRIPTS.link(origin, "map.js"));
        link rel="modulepreload" href=(SCRIPTS.link(origin, "above.js"));
        link rel="modulepreload" href=(SCRIPTS.link(origin, "lines.js"));
        script type="module" src=(SCRIPTS.link(origin, "points.js")) {}
        script type="module" src=(SCRIPTS.link(origin, "sight.js")) {}
    }
}

fn main(context: &PageContext, drawn: &DrawnMap) -> Markup {
    let words = atlas_words(context.language);
    let shared = context.words();
    html! {
        main #main .wrap.atlas-page {
            h1 { (words.title) }
            p.figures {
                span { ((shared.machines)(drawn.machines)) }
                @if let Some(sentence) = data_date(context, context.snapshot.dates()) { span { (sentence) } }
            }
            (search_by_name(context, "", &Markup::default()))
            div.atlas {
                div {
                    (canvas(context, drawn))
                    noscript {
                        div.atlas-map { img src=(context.service.origin.link("/map/overview.svg")) alt=((words.overview)(drawn.machines)); }
                        p.xs.soft { (credit(context)) }
                    }
                    (tools(context))
                    p #keys .sm.soft data-scripted hidden {
                        @if drawn.dots < drawn.machines { ((words.thinned)(drawn.dots)) " " }
                        (words.keys)
                    }
                }
                section.in-sight data-part="list" aria-label=(words.in_sight) {
                    (states(context))
                }
            }
        }
    }
}

/// Returns the canvas for the map scripts, with their parameters as attributes.
fn canvas(context: &PageContext, drawn: &DrawnMap) -> Markup {
    let words = atlas_words(context.language);
    let origin = &context.service.origin;
    // The scripts append a parameter to this URL.
    let separator = if context.named_language.is_some() { "&" } else { "?" };
    let view = drawn.view;
    html! {
        div.atlas-map data-scripted hidden {
            canvas tabindex="0" role="application" aria-label=((words.drawing)(drawn.machines)) aria-describedby="keys"
                data-near={ (context.link("/near")) (separator) } data-sight={ (context.link("/map/sight")) (separator) }
                data-lines=(SCRIPTS.link(origin, "states.txt")) data-world=(SCRIPTS.link(origin, "world.txt"))
                data-points=(origin.link("/map/points"))
                data-view={ (view.zoom) " " (format!("{:.4} {:.4}", view.lat, view.lon)) }
                data-unit=(words.unit_metres) {}
            i.ring data-unit=(words.unit) hidden {}
            i.ring data-unit=(words.unit) hidden {}
            div.names data-part="names" aria-hidden="true" { (area_names(context)) }
            span.place.you data-part="you" aria-hidden="true" hidden { (words.you) }
            p.credit { (credit(context)) }
        }
    }
}

/// Returns the attributions that are shown on the map.
fn credit(context: &PageContext) -> String {
    context.snapshot.attribution().chain([ATTRIBUTION]).collect::<Vec<_>>().join(" · ")
}

fn tools(context: &PageContext) -> Markup {
    let words = atlas_words(context.language);
    html! {
        p.tools data-scripted hidden {
            button.btn type="button" data-part="closer" { "+ " (words.closer) }
            button.btn type="button" data-part="farther" { "− " (words.farther) }
            button.btn type="button" data-part="here" { (words.here) }
        }
        p.sm role="status" data-part="says" data-asking=(words.asking) data-failed=(words.failed) data-insecure=(context.words().near_insecure) {}
    }
}

/// Returns the list of states next to the initial map of all ATMs.
fn states(context: &PageContext) -> Markup {
    let country = Country::UNITED_STATES;
    html! {
        (regions(context, TownArea { country, region: None }))
        (countries(context, country))
        @if context.towns().all().next().is_none() { h2 { (context.words().no_machines) } }
    }
}

/// Returns the area names on the initial map, each at the center of its ATMs, sorted by descending number of ATMs.
fn area_names(context: &PageContext) -> Markup {
    let mut areas = context.towns().areas();
    areas.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    html! {
        @for (area, _) in areas {
            @let name = area.region.map_or_else(|| (context.words().country)(area.country), Region::code);
            // The center of an area is weighted by the number of ATMs in each town.
            @let centers = context.towns().of_area(area).flat_map(|town| std::iter::repeat_n(town.center, town.len()));
            @if let Some(middle) = Point::centroid(centers) {
                span.place data-at=(format!("{:.3} {:.3}", middle.lat(), middle.lon())) { (name) }
            }
        }
    }
}
