//! The page of a town with its ATMs, sorted by distance from the center.

use axum::response::Response;
use maud::{Markup, html};
use signpost_platform::web::PathParams;

use super::addresses::{area_name, find_area, town_path};
use super::context::PageContext;
use super::crumbs::{Crumb, crumbs, crumbs_of};
use super::document::{LocatorDocument, cached_or_drawn};
use super::linked_data::{crumb_list, item_list};
use super::notices::Notices;
use super::parts::{missing_page, nearby_towns, search_form};
use super::rows::MachineList;
use crate::catalogue::{Town, TownArea};
use crate::map::FigureCenter;

/// Minimum number of ATMs of a town for search engines to index its page.
pub(super) const MIN_LISTED: usize = 2;

pub(super) async fn show(
    context: PageContext,
    PathParams((country, region, city)): PathParams<(String, String, String)>,
) -> Response {
    cached_or_drawn(context, move |context| match find_area(&country, Some(&region)) {
        Some(area) => draw_town(context, area, &city),
        None => missing_page(context, None),
    })
    .await
}

/// Renders the page of the town with this name, or redirects to its canonical path.
pub(super) fn draw_town(context: &PageContext, area: TownArea, city: &str) -> Response {
    let Some(town) = find_town(context, area, city) else {
        let is_known = context.towns().of_area(area).next().is_some();
        return missing_page(context, is_known.then_some(area));
    };
    let path = town_path(town);
    if let Some(redirect) = context.redirect_unless_at(&path) {
        return redirect;
    }
    let entries = town.machines().iter().map(|at| &context.snapshot.entries()[*at as usize]);
    let entries = entries.map(|entry| (entry, town.center.distance(entry.atm.record.point)));
    let Some(list) = MachineList::new(context, path.clone(), String::new(), entries) else {
        return missing_page(context, Some(area));
    };
    let words = context.words();
    let place = format!("{}, {}", town.name, area_name(words, town.area));
    let steps = crumbs_of(context, town.area, Some(town));
    let title = (words.city_title)(&place);
    let ids = list.shown().into_iter().map(|(number, (view, _))| (number, view.entry.atm.id));
    let linked_data = vec![item_list(context, &title, ids), crumb_list(context, &steps)];
    let description = (words.city_description)(town.len(), &place);
    let document = LocatorDocument::new(&path, title, description, main(context, town, &place, &list, &steps));
    LocatorDocument {
        query_prefix: list.query_prefix(),
        has_address: list.is_plain(),
        is_listed: list.is_plain() && town.len() >= MIN_LISTED,
        dates: list.dates(),
        linked_data,
        ..document
    }
    .public(context)
}

/// Finds a town by its name, in any spelling that addresses or the gazetteer use.
fn find_town<'a>(context: &'a PageContext, area: TownArea, city: &str) -> Option<&'a Town> {
    if let Some(town) = context.towns().find(area, city) {
        return Some(town);
    }
    let name = match area.region {
        Some(region) => context.places.city(region, city)?.name,
        None => context.places.town_name(area.country, city)?,
    };
    context.towns().find(area, &name)
}

fn main(context: &PageContext, town: &Town, place: &str, list: &MachineList<'_>, steps: &[Crumb]) -> Markup {
    let notices = Notices::of_atms(context, Some(town.area.country), &list.entries());
    html! {
        main #main .wrap.results {
            (crumbs(context, steps))
            h1 { ((context.words().city_title)(place)) }
            (list.figures())
            (search_form(context, place))
            div.split {
                div {
                    (notices.folded)
                    (list.filters())
                    (list.rows())
                    (nearby_towns(context, town.center, Some(town)))
                }
                div.sticky { (list.map(town.center, place, FigureCenter::Place)) }
            }
        }
    }
}
