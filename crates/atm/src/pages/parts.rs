//! Parts that several pages have.

use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};

use super::addresses::{area_name, area_path, town_path};
use super::document::LocatorDocument;
use super::filters::ListFilter;
use super::ground::Ground;
use super::rows::MachineList;
use super::visit::LocatorVisit;
use crate::catalogue::{Town, TownArea};

/// The form that finds machines near a place.
pub(super) fn search_form(visit: &LocatorVisit, text: &str) -> Markup {
    let words = visit.words();
    html! {
        form.search.filters role="search" action=(visit.service.origin.link("/near")) {
            label.vh for="q" { (words.search_label) }
            input #q name="q" type="search" maxlength="200" autocomplete="off" placeholder=(words.search_label) value=(text);
            @if let Some(language) = visit.named_language { input type="hidden" name="lang" value=(language.tag()); }
            button.btn.primary { (magnifier()) (words.search) }
        }
    }
}

/// The sign beside the word.
fn magnifier() -> Markup {
    html! {
        svg width="20" height="20" viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="1.6"
            stroke-linecap="round" aria-hidden="true" {
            circle cx="9" cy="9" r="5.5" {}
            path d="m13.2 13.2 3.8 3.8" {}
        }
    }
}

/// A town with how many machines it has, as a link.
pub(super) fn town_pill(visit: &LocatorVisit, town: &Town) -> Markup {
    html! { a.pill href=(visit.link(&town_path(town))) { bdi { (town.name) } " " (town.len()) } }
}

/// How many machines there are, and of how many something was heard within a year.
pub(super) fn figures(visit: &LocatorVisit, list: &MachineList<'_>, middle: &str) -> Markup {
    let words = visit.words();
    let (all, checked) = (list.count(visit, ListFilter::All), list.count(visit, ListFilter::Checked));
    html! {
        p.figures {
            span { ((words.machines)(all)) }
            span { ((words.checked_lately)(checked)) }
            span { ((words.nearest_first)(middle)) }
        }
    }
}

/// That nothing is known of what an address names, and the way on.
pub(super) fn missing_page(visit: &LocatorVisit, ground: &Ground, area: Option<TownArea>) -> Response {
    let words = visit.words();
    let main = html! {
        main #main .wrap.stack {
            h1 { (words.no_such_page) }
            p.lead { (words.no_such_page_text) }
            (search_form(visit, ""))
            @if let Some(area) = area {
                p { a.btn href=(visit.link(&area_path(area))) { ((words.all_of_area)(area_name(visit.words(), area))) } }
            }
        }
    };
    let title = words.no_such_page.to_owned();
    LocatorDocument::new("/", title.clone(), title, main).personal(visit, ground, StatusCode::NOT_FOUND)
}
