//! The way to a page, from the first one on.

use maud::{Markup, html};

use super::addresses::{area_name, area_path, town_path};
use super::visit::LocatorVisit;
use crate::catalogue::{Town, TownArea};

/// One step on the way to a page: its name, and its address where it is not the page itself.
pub(super) type Crumb = (String, Option<String>);

/// The way to an area, or to a town of it.
pub(super) fn crumbs_of(visit: &LocatorVisit, area: TownArea, town: Option<&Town>) -> Vec<Crumb> {
    let country = TownArea { region: None, ..area };
    let mut crumbs: Vec<Crumb> = vec![(visit.words().start.to_owned(), Some("/".to_owned()))];
    for one in [Some(country), area.region.map(|_| area)].into_iter().flatten() {
        crumbs.push((area_name(visit.words(), one).to_owned(), Some(area_path(one))));
    }
    crumbs.extend(town.map(|town| (town.name.to_string(), Some(town_path(town)))));
    crumbs
}

/// The same for readers: the last step is the page itself.
pub(super) fn crumbs(visit: &LocatorVisit, steps: &[Crumb]) -> Markup {
    let last = steps.len().saturating_sub(1);
    html! {
        ol.crumbs {
            @for (at, (name, path)) in steps.iter().enumerate() {
                li {
                    @if let Some(path) = path.as_ref().filter(|_| at < last) { a href=(visit.link(path)) { bdi { (name) } } }
                    @else { bdi { (name) } }
                }
            }
        }
    }
}
