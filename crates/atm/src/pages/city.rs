//! The page of a city: its machines, nearest to its middle first.

use axum::response::Response;
use maud::{Markup, html};
use serde_json::Value;
use signpost_locator::Distance;
use signpost_platform::web::path_id::PathTriple;

use super::addresses::{area_name, find_area, town_path};
use super::crumbs::{crumbs, crumbs_of};
use super::document::{LocatorDocument, draw_apart, find_kept};
use super::ground::Ground;
use super::linked_data::{crumb_list, item_list};
use super::notices::Notices;
use super::parts::{figures, missing_page, search_form, town_pill};
use super::rows::MachineList;
use super::visit::LocatorVisit;
use crate::catalogue::{Moment, Town, TownArea, Towns};
use crate::view::MachineView;

/// Which towns are close by, and how many of them are named.
const CLOSE: Distance = Distance::miles(40.0);
const MAX_CLOSE: usize = 8;
/// A page with fewer machines is not worth a search engine's while.
pub(super) const WORTH_LISTING: usize = 2;

pub(super) async fn show(visit: LocatorVisit, PathTriple(country, region, city): PathTriple) -> Response {
    let ground = visit.ground().await;
    if let Some(kept) = find_kept(&visit, &ground) {
        return kept;
    }
    let Some(area) = find_area(&country, Some(&region)) else { return missing_page(&visit, &ground, None) };
    draw_apart(visit, ground, move |visit, ground| show_town(visit, ground, area, &city)).await
}

/// The page of the town that a text names, at its own address.
pub(super) fn show_town(visit: &LocatorVisit, ground: &Ground, area: TownArea, city: &str) -> Response {
    let Some(town) = ground.towns().find(area, city) else {
        let is_known = ground.towns().of_area(area).next().is_some();
        return missing_page(visit, ground, is_known.then_some(area));
    };
    let path = town_path(town);
    if let Some(moved) = visit.moved(&path) {
        return moved;
    }
    let moment = ground.snapshot.at(visit.now);
    let place = format!("{}, {}", town.name, area_name(visit.words(), town.area));
    let all = machines_of(&moment, town);
    let list = MachineList::new(visit, path.clone(), String::new(), all);
    if !list.has_page(visit) {
        return missing_page(visit, ground, Some(area));
    }
    let words = visit.words();
    let (title, description) = ((words.city_title)(&place), (words.city_description)(town.len(), &place));
    let main = main(visit, ground, &moment, town, &list);
    let crumbs = crumb_list(visit, &crumbs_of(visit, town.area, Some(town)));
    let ids = list.shown(visit).into_iter().map(|(number, (view, _))| (number, view.entry.machine.id));
    let linked_data: Vec<Value> = vec![item_list(visit, &title, ids), crumbs];
    let is_listed = list.is_plain() && town.len() >= WORTH_LISTING;
    let document = LocatorDocument::new(&path, title, description, main);
    let document = LocatorDocument { has_address: list.is_plain(), is_listed, linked_data, ..document };
    LocatorDocument { kept_query: list.own_query(), ..document }.public(visit, ground)
}

/// The machines of a town with how far they are from its middle.
fn machines_of<'a>(moment: &Moment<'a>, town: &Town) -> Vec<(MachineView<'a>, Distance)> {
    let entries = moment.snapshot().entries();
    let view = |at: &u32| {
        let entry = &entries[*at as usize];
        (MachineView::of(moment, entry), town.center.distance(entry.machine.record.point))
    };
    town.machines().iter().map(view).collect()
}

fn main(visit: &LocatorVisit, ground: &Ground, moment: &Moment<'_>, town: &Town, list: &MachineList<'_>) -> Markup {
    let words = visit.words();
    let place = format!("{}, {}", town.name, area_name(visit.words(), town.area));
    let entries = ground.snapshot.entries();
    let machines: Vec<_> = town.machines().iter().map(|at| &entries[*at as usize]).collect();
    let notices = Notices::of(visit, Some(town.area.country), moment.told_of(&machines));
    html! {
        main #main .wrap {
            (crumbs(visit, &crumbs_of(visit, town.area, Some(town))))
            h1 { ((words.city_title)(&place)) }
            (figures(visit, list, &town.name))
            (search_form(visit, &place))
            div.split {
                div {
                    (notices.laws) (notices.scam)
                    (list.filters(visit))
                    (list.rows(visit, moment))
                    (towns_close_by(visit, ground.towns(), town))
                }
                div.sticky { (list.map(visit, ground, town.center, Some(&place))) }
            }
        }
    }
}

/// Other towns with machines around one.
fn towns_close_by(visit: &LocatorVisit, towns: &Towns, town: &Town) -> Markup {
    let near: Vec<_> = towns.near(town.center, CLOSE, MAX_CLOSE, Some(town)).collect();
    html! {
        @if !near.is_empty() {
            h2.gap-lg { (visit.words().towns_close_by) }
            p.row.gap-sm { @for town in near { (town_pill(visit, town)) } }
        }
    }
}
