//! Page elements that several pages share: the search form, links to towns, the map figure, and the 404 page.

use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use signpost_locator::gazetteer::ATTRIBUTION;
use signpost_locator::{Distance, Point};

use super::addresses::{area_name, area_path, town_path};
use super::context::PageContext;
use super::document::LocatorDocument;
use crate::catalogue::{Town, TownArea};
use crate::map::{FigureAtm, FigureCenter, FigureScene, StatusShape, draw_figure};
use crate::view::AtmView;

/// Maximum distance of a nearby town.
const NEARBY_RADIUS: Distance = Distance::miles(40.0);
/// Maximum number of nearby towns on a page.
const MAX_NEARBY: usize = 8;

/// Renders the search form for ATMs near a place, and near the user. Without scripts, its button for the user's location
/// leads to a page that asks for a place.
pub(super) fn search_form(context: &PageContext, text: &str) -> Markup {
    let words = context.words();
    let near_me = html! {
        button #near-me .btn name="here" value="1" { (words.near_me) }
    };
    html! {
        (search_by_name(context, text, &near_me))
        p #near-says .sm role="status" data-asking=(words.near_asking) data-denied=(words.near_denied)
            data-failed=(words.near_failed) data-insecure=(words.near_insecure) {}
    }
}

/// Renders the search form for ATMs near a place. The first button is used if the user presses Enter, so `more` follows
/// it.
pub(super) fn search_by_name(context: &PageContext, text: &str, more: &Markup) -> Markup {
    let words = context.words();
    html! {
        form.search.filters role="search" action=(context.service.origin.link("/near")) {
            label.vh for="q" { (words.search_label) }
            input #q name="q" type="search" maxlength="200" autocomplete="off" placeholder=(words.search_label) value=(text);
            @if let Some(language) = context.named_language { input type="hidden" name="lang" value=(language.tag()); }
            button.btn.primary { (magnifier()) span { (words.search) } }
            (more)
        }
    }
}

fn magnifier() -> Markup {
    html! {
        svg width="20" height="20" viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="1.6"
            stroke-linecap="round" aria-hidden="true" {
            circle cx="9" cy="9" r="5.5" {}
            path d="m13.2 13.2 3.8 3.8" {}
        }
    }
}

/// Renders a link to a town with its number of ATMs.
pub(super) fn town_pill(context: &PageContext, town: &Town) -> Markup {
    html! { a.pill href=(context.link(&town_path(town))) { bdi { (town.name) } " " (town.len()) } }
}

/// Renders links to the towns with ATMs around a point.
pub(super) fn nearby_towns(context: &PageContext, from: Point, except: Option<&Town>) -> Markup {
    let near: Vec<_> = context.towns().near(from, NEARBY_RADIUS, MAX_NEARBY, except).collect();
    html! {
        @if !near.is_empty() {
            h2.gap-lg { (context.words().towns_close_by) }
            p.row.gap-sm { @for town in near { (town_pill(context, town)) } }
        }
    }
}

/// Renders a map of numbered ATMs around a named point, with the mark of the point.
pub(super) fn figure<'v>(
    context: &PageContext,
    (middle, middle_name, center): (Point, &str, FigureCenter),
    views: impl Iterator<Item = (usize, &'v AtmView<'v>)>,
) -> Markup {
    let machines: Vec<_> = views
        .map(|(number, view)| FigureAtm {
            number: u32::try_from(number).unwrap_or(u32::MAX),
            point: view.record.point,
            shape: StatusShape::of(view.status.status),
        })
        .collect();
    let attribution: Vec<_> = context.snapshot.attribution().chain([ATTRIBUTION]).collect();
    draw_figure(&FigureScene {
        language: context.language,
        unit: context.ring_unit(),
        origin: &context.service.origin,
        middle,
        middle_name: Some(middle_name),
        center,
        machines: &machines,
        gazetteer: &context.places,
        attribution: &attribution,
    })
}

/// Renders a 404 page with the search form, and with a link to the area if it is known.
pub(super) fn missing_page(context: &PageContext, area: Option<TownArea>) -> Response {
    let words = context.words();
    let main = html! {
        main #main .wrap.stack {
            h1 { (words.no_such_page) }
            p.lead { (words.no_such_page_text) }
            (search_form(context, ""))
            @if let Some(area) = area {
                p { a.btn href=(context.link(&area_path(area))) { ((words.all_of_area)(area_name(words, area))) } }
            }
        }
    };
    let title = words.no_such_page.to_owned();
    LocatorDocument::new("/", title.clone(), title, main).personal(context, StatusCode::NOT_FOUND)
}
