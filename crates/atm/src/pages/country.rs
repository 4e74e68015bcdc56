//! The pages of countries, states, territories and provinces: their towns, and how many machines each has.

use axum::response::Response;
use maud::{Markup, html};
use signpost_locator::Country;
use signpost_platform::web::path_id::PathId;
use signpost_platform::web::path_id::PathPair;

use super::addresses::{area_name, area_path, find_area, town_path};
use super::city::show_town;
use super::crumbs::{crumbs, crumbs_of};
use super::document::{LocatorDocument, draw_apart, find_kept};
use super::ground::Ground;
use super::linked_data::crumb_list;
use super::notices::Notices;
use super::paging::ListPage;
use super::parts::{missing_page, search_form, town_pill};
use super::visit::LocatorVisit;
use crate::advisories::Spot;
use crate::catalogue::{Town, TownArea, Towns};

/// Maximum towns on a page.
const MAX_TOWNS: usize = 400;

pub(super) async fn show(visit: LocatorVisit, PathId(country): PathId) -> Response {
    let ground = visit.ground().await;
    if let Some(kept) = find_kept(&visit, &ground) {
        return kept;
    }
    match find_area(&country, None) {
        Some(area) => draw_apart(visit, ground, move |visit, ground| show_listed(visit, ground, area)).await,
        None => missing_page(&visit, &ground, None),
    }
}

/// Below a country stands a region of it, or a town where regions are not known.
pub(super) async fn show_area(visit: LocatorVisit, PathPair(country, below): PathPair) -> Response {
    let ground = visit.ground().await;
    if let Some(kept) = find_kept(&visit, &ground) {
        return kept;
    }
    if let Some(area) = find_area(&country, Some(&below)) {
        return draw_apart(visit, ground, move |visit, ground| show_listed(visit, ground, area)).await;
    }
    match find_area(&country, None) {
        Some(area) => draw_apart(visit, ground, move |visit, ground| show_town(visit, ground, area, &below)).await,
        None => missing_page(&visit, &ground, None),
    }
}

/// The page of an area that has machines.
fn show_listed(visit: &LocatorVisit, ground: &Ground, area: TownArea) -> Response {
    let path = area_path(area);
    if let Some(moved) = visit.moved(&path) {
        return moved;
    }
    let words = visit.words();
    let count = machines_in(ground.towns(), area);
    let all: Vec<&Town> = ground.towns().of_area(area).collect();
    let Some(page) = ListPage::new(visit, &path, MAX_TOWNS, all.len()).filter(|_| count > 0) else {
        return missing_page(visit, ground, None);
    };
    let (name, steps) = (area_name(visit.words(), area), crumbs_of(visit, area, None));
    let main = html! {
        main #main .wrap {
            (crumbs(visit, &steps))
            h1 { ((words.city_title)(name)) }
            p.figures { span { ((words.machines)(count)) } }
            (search_form(visit, ""))
            @if page.is_first() {
                (notices(visit, ground, area, count))
                (regions(visit, ground.towns(), area))
                (largest_towns(visit, &all))
            }
            (towns(visit, &all, &page))
        }
    };
    let title = page.title((words.city_title)(name));
    let description = page.title((words.city_description)(count, name));
    let (address, kept_query) = (page.address(), page.kept_query());
    let linked_data = vec![crumb_list(visit, &steps)];
    let document = LocatorDocument::new(&address, title, description, main);
    LocatorDocument { kept_query, linked_data, ..document }.public(visit, ground)
}

/// The laws and the warning of fraud that hold in an area.
fn notices(visit: &LocatorVisit, ground: &Ground, area: TownArea, count: usize) -> Markup {
    let spot = Spot { country: Some(area.country), region: area.region, ..Spot::default() };
    let moment = ground.snapshot.at(visit.now);
    let told = moment.told_at(&spot, None).into_iter().map(|(advisory, standing)| (advisory, standing, count));
    let notices = Notices::of(visit, Some(area.country), told.collect());
    html! { div.stack.gap-lg { (notices.laws) (notices.scam) } }
}

/// How many machines the towns of an area have; those of a country with all of its regions.
fn machines_in(towns: &Towns, area: TownArea) -> usize {
    let is_inside = |one: &TownArea| *one == area || (area.region.is_none() && one.country == area.country);
    towns.areas().iter().filter(|(one, _)| is_inside(one)).map(|(_, count)| count).sum()
}

/// The regions of a country that have machines.
pub(super) fn regions(visit: &LocatorVisit, towns: &Towns, area: TownArea) -> Markup {
    let mut areas = towns.areas();
    areas.retain(|(one, _)| area.region.is_none() && one.country == area.country && one.region.is_some());
    areas.sort_by_key(|(one, _)| area_name(visit.words(), *one));
    area_list(visit, visit.words().by_state, &areas)
}

/// The countries that have machines, but for one.
pub(super) fn countries(visit: &LocatorVisit, towns: &Towns, but: Country) -> Markup {
    let mut areas: Vec<(TownArea, usize)> = Vec::new();
    for (area, count) in towns.areas().into_iter().filter(|(area, _)| area.country != but) {
        match areas.last_mut() {
            Some((last, sum)) if last.country == area.country => *sum += count,
            _ => areas.push((TownArea { region: None, ..area }, count)),
        }
    }
    areas.sort_by_key(|(one, _)| area_name(visit.words(), *one));
    area_list(visit, visit.words().other_countries, &areas)
}

fn area_list(visit: &LocatorVisit, title: &str, areas: &[(TownArea, usize)]) -> Markup {
    html! {
        @if !areas.is_empty() {
            h2.gap-lg { (title) }
            ul.columns.gap-sm {
                @for (area, count) in areas {
                    li {
                        a href=(visit.link(&area_path(*area))) { (area_name(visit.words(), *area)) }
                        span.soft { ((visit.words().number)(*count)) }
                    }
                }
            }
        }
    }
}

/// The towns with most machines, if the list is too long to look them up.
fn largest_towns(visit: &LocatorVisit, all: &[&Town]) -> Markup {
    let mut largest = all.to_vec();
    largest.sort_by_key(|town| std::cmp::Reverse(town.len()));
    largest.truncate(12);
    html! {
        @if all.len() > 24 {
            h2.gap-lg { (visit.words().most_machines) }
            p.row.gap-sm { @for town in largest { (town_pill(visit, town)) } }
        }
    }
}

/// The towns of a page of the list.
fn towns(visit: &LocatorVisit, all: &[&Town], page: &ListPage<'_>) -> Markup {
    let shown = page.shown();
    html! {
        @if !all.is_empty() {
            h2.gap-lg { (visit.words().all_towns) @if !shown.is_empty() { " " span.soft { (shown) } } }
            ul.columns.gap-sm {
                @for town in &all[page.range()] {
                    li {
                        a href=(visit.link(&town_path(town))) { bdi { (town.name) } }
                        span.soft { ((visit.words().number)(town.len())) }
                    }
                }
            }
            (page.links(visit))
        }
    }
}
