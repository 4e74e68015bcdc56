//! The page of an ATM: its status with its date, its location, and its sources.

use std::borrow::Cow;

use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use signpost_locator::{AtmId, AtmStatus, Distance};
use signpost_platform::web::PathParams;
use signpost_platform::web::problem::Problem;

use super::addresses::{area_name, atm_path};
use super::confirmation::Confirmation;
use super::context::PageContext;
use super::crumbs::{Crumb, crumbs, crumbs_of};
use super::document::{LocatorDocument, cached_or_drawn};
use super::facts::facts;
use super::linked_data::{atm_data, crumb_list};
use super::notices::Notices;
use super::parts::{figure, missing_page, search_form};
use super::row::MachineRow;
use super::sources::{corrections_card, sources};
use super::status::{status_shape, status_text};
use super::unlisted::show_unlisted;
use super::ways::{scripts, ways};
use super::week::{AtmWeek, hours_card, local_time};
use crate::catalogue::{AtmFilter, CatalogueEntry, Moment, Town, find_successor, sql};
use crate::map::{FigureCenter, StatusShape};
use crate::view::AtmView;

/// Maximum distance and number of the other ATMs on the page.
const NEARBY_RADIUS: Distance = Distance::miles(25.0);
const MAX_NEARBY: usize = 5;

pub(super) async fn show(context: PageContext, PathParams(id): PathParams<String>) -> Result<Response, Problem> {
    let Some(id) = id.parse().ok().and_then(AtmId::new) else { return Ok(missing_page(&context, None)) };
    if context.snapshot.get(id).is_none() {
        return show_absent(&context, id).await;
    }
    let page = cached_or_drawn(context, move |context| match context.snapshot.get(id) {
        Some(entry) => draw_entry(context, entry),
        None => missing_page(context, None),
    });
    Ok(page.await)
}

/// Returns a redirect to the ATM that a removed row was part of. Another removed row has a page, and later gets 410; an
/// unknown number gets 404.
async fn show_absent(context: &PageContext, id: AtmId) -> Result<Response, Problem> {
    let row = match sql::find_history(&context.service.store, id).await.map_err(Problem::from)? {
        Some(row) if row.removed_at.is_some() => row,
        _ => return Ok(missing_page(context, None)),
    };
    if let Some(successor) = find_successor(&context.moment(), &row) {
        return Ok(context.redirect(StatusCode::MOVED_PERMANENTLY, &atm_path(successor)));
    }
    if let Some(page) = show_unlisted(context, &row) {
        return Ok(page);
    }
    let words = context.words();
    let main = html! {
        main #main .wrap.stack {
            h1 { (words.machine_gone) }
            p.lead { (words.machine_gone_text) }
            (search_form(context, ""))
        }
    };
    let title = words.machine_gone.to_owned();
    Ok(LocatorDocument::new("/", title.clone(), title, main).personal(context, StatusCode::GONE))
}

/// Returns the page of an ATM; a redirect if the request has the number of another of its rows, or another spelling of
/// it.
fn draw_entry(context: &PageContext, entry: &CatalogueEntry) -> Response {
    let path = atm_path(entry.atm.id);
    if let Some(redirect) = context.redirect_unless_at(&path) {
        return redirect;
    }
    let words = context.words();
    let moment = context.moment();
    let view = AtmView::of(&moment, entry);
    let town = town_of(context, entry);
    let week = AtmWeek::of(&view, context.now);
    let steps = steps(context, &view, town);
    let main = main(context, &moment, &view, &week, &steps);
    let place = town.map_or_else(String::new, |town| format!(", {}", town.name));
    let title = (words.machine_title)(view.record.title(), &place);
    let description = format!("{}. {}.", address(context, &view), status_text(words, &moment, &view));
    let linked_data = if view.is_gone() {
        Vec::new()
    } else {
        vec![atm_data(context, &view, &week, town), crumb_list(context, &steps)]
    };
    let head = scripts(context, &view);
    let document = LocatorDocument::new(&path, title, description, main);
    let dates = Some([entry.atm.known_at()].into_iter().collect());
    LocatorDocument { is_listed: !view.is_gone(), dates, linked_data, head, ..document }.public(context)
}

/// Returns the breadcrumbs of the ATM, through its town if it is known.
fn steps(context: &PageContext, view: &AtmView<'_>, town: Option<&Town>) -> Vec<Crumb> {
    let mut steps = match town {
        Some(town) => crumbs_of(context, town.area, Some(town)),
        None => vec![(context.words().start.to_owned(), Some("/".to_owned()))],
    };
    steps.push((view.record.title().to_owned(), Some(atm_path(view.entry.atm.id))));
    steps
}

fn main(context: &PageContext, moment: &Moment<'_>, view: &AtmView<'_>, week: &AtmWeek, steps: &[Crumb]) -> Markup {
    let words = context.words();
    let notices = Notices::of_atms(context, view.record.address.country, &[view.entry]);
    html! {
        main #main .wrap {
            (crumbs(context, steps))
            h1 { bdi { (view.record.title()) } }
            p.lead {
                @match view.record.operator.as_deref() {
                    Some(operator) => ((words.machine_of)(&html! { bdi { (operator) } })),
                    None => (words.machine_kind),
                }
                ", " bdi #address { (address(context, view)) }
            }
            div.split {
                div.stack {
                    (verdict(context, moment, view))
                    @if !notices.whole.0.is_empty() { div.notices { (notices.whole) } }
                    @if !view.is_gone() { (ways(context, view)) }
                    (facts(context, view))
                }
                div.stack {
                    @if !view.is_gone() { (hours_card(context, view, week)) (map(context, view)) }
                }
            }
            div.grid2.gap-lg { (corrections_card(context, view)) (sources(context, view)) }
            (nearby(context, moment, view))
            (search_form(context, ""))
        }
    }
}

/// Returns the address on one line, or the text for an unknown address.
fn address<'a>(context: &PageContext, view: &AtmView<'a>) -> Cow<'a, str> {
    if view.record.address.is_empty() { context.words().no_address.into() } else { view.address() }
}

/// Returns the status with its last confirmation, which includes the reports of visitors, and the local time.
fn verdict(context: &PageContext, moment: &Moment<'_>, view: &AtmView<'_>) -> Markup {
    let words = context.words();
    let status = view.status.status;
    let confirmation = Confirmation::of(context, view);
    let (heading, rest) =
        sentences(&confirmation, &confirmation.sentence(context), status_text(words, moment, view), status);
    html! {
        section.verdict id=[view.reports.map(|_| "reports")] aria-label=(words.status) {
            span.mark.(StatusShape::of(status).class()) { (status_shape(status, 24)) }
            div {
                p { (heading) }
                p.soft {
                    @if let Some(rest) = rest { (rest) ". " }
                    @if let Some((day, time)) = local_time(view.record, context.now) {
                        ((words.local_time)((words.short_weekday)(day), &(words.time)(time))) "."
                    }
                }
            }
        }
    }
}

/// Returns the status and the sentence that follows it. For an unknown status, the reason of a doubt belongs to the
/// status, and a sentence that repeats the status is omitted.
fn sentences(
    confirmation: &Confirmation,
    sentence: &str,
    status_text: String,
    status: AtmStatus,
) -> (String, Option<String>) {
    match confirmation {
        Confirmation::Doubted(_) if status == AtmStatus::Unknown => (format!("{status_text}: {sentence}"), None),
        _ if sentence == status_text => (status_text, None),
        _ => (status_text, Some(sentence.to_owned())),
    }
}

/// Returns the town of an ATM.
fn town_of<'a>(context: &'a PageContext, entry: &CatalogueEntry) -> Option<&'a Town> {
    context.towns().of_atm(context.snapshot.position(entry.atm.id)?)
}

/// Returns a map of the ATM around the center of its town.
fn map(context: &PageContext, view: &AtmView<'_>) -> Markup {
    let Some(town) = town_of(context, view.entry) else { return Markup::default() };
    let place = format!("{}, {}", town.name, area_name(context.words(), town.area));
    figure(context, (town.center, &place, FigureCenter::Unmarked), std::iter::once((1, view)))
}

/// Returns the list of the other ATMs around the ATM, or nothing if there are none.
fn nearby(context: &PageContext, moment: &Moment<'_>, view: &AtmView<'_>) -> Markup {
    let found = moment.nearest(view.record.point, NEARBY_RADIUS, MAX_NEARBY + 1, &AtmFilter::default());
    let others = found.iter().map(|near| (context.snapshot.found(*near), near.distance));
    let others: Vec<_> = others.filter(|(entry, _)| entry.atm.id != view.entry.atm.id).take(MAX_NEARBY).collect();
    let row = MachineRow { context, moment, unknown_for_all: &[] };
    html! {
        @if !others.is_empty() {
            section.nearby aria-labelledby="nearby" {
                h2 #nearby { (context.words().machines_close_by) }
                ol.machines {
                    @for (number, (entry, away)) in (1..).zip(others) { (row.draw(number, &AtmView::of(moment, entry), away)) }
                }
            }
        }
    }
}
