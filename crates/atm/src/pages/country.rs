//! The pages of countries, states, territories and provinces with their towns and the numbers of ATMs.

use axum::response::Response;
use maud::{Markup, html};
use signpost_locator::Country;
use signpost_platform::web::PathParams;

use super::addresses::{area_name, area_path, find_area, town_path};
use super::city::draw_town;
use super::context::PageContext;
use super::crumbs::{crumbs, crumbs_of};
use super::document::{LocatorDocument, cached_or_drawn};
use super::linked_data::crumb_list;
use super::notices::Notices;
use super::paging::ListPage;
use super::parts::{missing_page, search_form, town_pill};
use crate::advisories::Location;
use crate::catalogue::{Town, TownArea, Towns};

/// Maximum number of towns on a page.
const MAX_TOWNS: usize = 400;

pub(super) async fn show(context: PageContext, PathParams(country): PathParams<String>) -> Response {
    cached_or_drawn(context, move |context| match find_area(&country, None) {
        Some(area) => draw_area(context, area),
        None => missing_page(context, None),
    })
    .await
}

/// Serves the page of a region of a country, or of a town if the country has no known regions.
pub(super) async fn show_area(
    context: PageContext,
    PathParams((country, below)): PathParams<(String, String)>,
) -> Response {
    cached_or_drawn(context, move |context| {
        if let Some(region) = find_area(&country, Some(&below)) {
            return draw_area(context, region);
        }
        match find_area(&country, None) {
            Some(country) => draw_town(context, country, &below),
            None => missing_page(context, None),
        }
    })
    .await
}

/// Renders the page of an area, or a 404 page if it has no ATMs.
fn draw_area(context: &PageContext, area: TownArea) -> Response {
    let path = area_path(area);
    if let Some(redirect) = context.redirect_unless_at(&path) {
        return redirect;
    }
    let words = context.words();
    let count = machines_in(context.towns(), area);
    let all: Vec<&Town> = context.towns().of_area(area).collect();
    let page = match ListPage::new(context, &path, "", MAX_TOWNS, all.len()) {
        Some(page) if count > 0 => page,
        _ => return missing_page(context, None),
    };
    let name = area_name(words, area);
    let steps = crumbs_of(context, area, None);
    let main = html! {
        main #main .wrap {
            (crumbs(context, &steps))
            h1 { ((words.city_title)(name)) }
            p.figures { span { ((words.machines)(count)) } }
            (search_form(context, ""))
            @if page.is_first() {
                (notices(context, area, count))
                (regions(context, area))
                (largest_towns(context, &all))
            }
            (towns(context, &all, &page))
        }
    };
    let title = page.title((words.city_title)(name));
    let description = page.title((words.city_description)(count, name));
    let path = page.path();
    let document = LocatorDocument::new(&path, title, description, main);
    let linked_data = vec![crumb_list(context, &steps)];
    LocatorDocument { query_prefix: page.query_prefix(), linked_data, ..document }.public(context)
}

/// Renders the notices about laws and fraud that apply in an area with `count` ATMs.
fn notices(context: &PageContext, area: TownArea, count: usize) -> Markup {
    let location = Location { country: Some(area.country), region: area.region, ..Location::default() };
    let notices = Notices::at(context, Some(area.country), &location, None, count);
    html! { div.gap { (notices.folded) } }
}

/// Returns the number of ATMs in the towns of an area, including all regions of a country.
fn machines_in(towns: &Towns, area: TownArea) -> usize {
    let mut areas = towns.areas();
    areas.retain(|(other, _)| *other == area || (area.region.is_none() && other.country == area.country));
    areas.iter().map(|(_, count)| count).sum()
}

/// Renders the list of the regions of a country that have ATMs.
pub(super) fn regions(context: &PageContext, area: TownArea) -> Markup {
    let mut areas = context.towns().areas();
    areas.retain(|(one, _)| area.region.is_none() && one.country == area.country && one.region.is_some());
    areas.sort_by_key(|(one, _)| area_name(context.words(), *one));
    area_list(context, context.words().by_state, &areas)
}

/// Renders the list of the countries that have ATMs, without `except`.
pub(super) fn countries(context: &PageContext, except: Country) -> Markup {
    let mut areas: Vec<(TownArea, usize)> = Vec::new();
    for (area, count) in context.towns().areas().into_iter().filter(|(area, _)| area.country != except) {
        match areas.last_mut() {
            Some((last, sum)) if last.country == area.country => *sum += count,
            _ => areas.push((TownArea { region: None, ..area }, count)),
        }
    }
    areas.sort_by_key(|(one, _)| area_name(context.words(), *one));
    let words = context.words();
    let has_others = context.towns().all().any(|town| town.area.country == except);
    area_list(context, if has_others { words.other_countries } else { words.by_country }, &areas)
}

fn area_list(context: &PageContext, title: &str, areas: &[(TownArea, usize)]) -> Markup {
    html! {
        @if !areas.is_empty() {
            h2.gap-lg { (title) }
            ul.columns.gap-sm {
                @for (area, count) in areas {
                    li {
                        a href=(context.link(&area_path(*area))) { (area_name(context.words(), *area)) }
                        span.soft { ((context.words().number)(*count)) }
                    }
                }
            }
        }
    }
}

/// Renders the towns with the most ATMs, if the list of towns is long.
fn largest_towns(context: &PageContext, all: &[&Town]) -> Markup {
    let mut largest = all.to_vec();
    largest.sort_by_key(|town| std::cmp::Reverse(town.len()));
    largest.truncate(12);
    html! {
        @if all.len() > 24 {
            h2.gap-lg { (context.words().most_machines) }
            p.row.gap-sm { @for town in largest { (town_pill(context, town)) } }
        }
    }
}

/// Renders the towns of one page of the list.
fn towns(context: &PageContext, all: &[&Town], page: &ListPage) -> Markup {
    let shown = page.shown();
    html! {
        @if !all.is_empty() {
            h2.gap-lg { (context.words().all_towns) @if !shown.is_empty() { " " span.soft { (shown) } } }
            ul.columns.gap-sm {
                @for town in &all[page.range()] {
                    li {
                        a href=(context.link(&town_path(town))) { bdi { (town.name) } }
                        span.soft { ((context.words().number)(town.len())) }
                    }
                }
            }
            (page.links(context))
        }
    }
}
