//! Breadcrumb navigation of pages: country, region, town and ATM.

use maud::{Markup, html};

use super::addresses::{area_name, area_path, town_path};
use super::context::PageContext;
use crate::catalogue::{Town, TownArea};

/// A breadcrumb: the name and the path of a page. The breadcrumb of the current page may have no path.
pub(super) type Crumb = (String, Option<String>);

/// Returns the breadcrumbs of an area, or of a town in it.
pub(super) fn crumbs_of(context: &PageContext, area: TownArea, town: Option<&Town>) -> Vec<Crumb> {
    let country = TownArea { region: None, ..area };
    let words = context.words();
    let mut crumbs: Vec<Crumb> = vec![(words.start.to_owned(), Some("/".to_owned()))];
    crumbs.push((area_name(words, country).to_owned(), Some(area_path(country))));
    if area.region.is_some() {
        crumbs.push((area_name(words, area).to_owned(), Some(area_path(area))));
    }
    if let Some(town) = town {
        crumbs.push((town.name.to_string(), Some(town_path(town))));
    }
    crumbs
}

/// Renders the breadcrumbs as a list of links. The last one, the current page, is not a link.
pub(super) fn crumbs(context: &PageContext, steps: &[Crumb]) -> Markup {
    let last = steps.len().saturating_sub(1);
    html! {
        ol.crumbs {
            @for (at, (name, path)) in steps.iter().enumerate() {
                li {
                    @if let Some(path) = path.as_ref().filter(|_| at < last) { a href=(context.link(path)) { bdi { (name) } } }
                    @else { bdi { (name) } }
                }
            }
        }
    }
}
