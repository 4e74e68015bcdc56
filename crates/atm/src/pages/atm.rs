//! The page of an ATM: its status with its date, its location, and its sources.

use std::borrow::Cow;

use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use signpost_locator::{AtmId, AtmStatus};
use signpost_platform::pages::href::href;
use signpost_platform::web::PathParams;
use signpost_platform::web::problem::Problem;

use super::addresses::{area_name, atm_path};
use super::context::PageContext;
use super::crumbs::{Crumb, crumbs, crumbs_of};
use super::document::{LocatorDocument, cached_or_drawn};
use super::facts::facts;
use super::install::COPY_SCRIPT;
use super::linked_data::{atm_data, crumb_list};
use super::notices::Notices;
use super::parts::{figure, missing_page, search_form};
use super::report_form::quote;
use super::sources::{corrections_card, sources};
use super::status::{since, status_shape, status_text};
use super::unlisted::show_unlisted;
use super::week::{AtmWeek, hours_card, local_time};
use super::words::{capitalized, utc_date};
use crate::catalogue::{CatalogueEntry, Moment, Town, find_successor, sql};
use crate::map::StatusShape;
use crate::view::AtmView;

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
    let head = html! {
        @if can_copy(&view) { script type="module" src=(COPY_SCRIPT.link(&context.service.origin)) {} }
    };
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
                    (notices.laws)
                    (verdict(context, moment, view))
                    (reports(context, view))
                    @if !view.is_gone() { (ways(context, view)) }
                    (facts(context, view))
                    (corrections_card(context, view))
                    (sources(context, view))
                }
                div.stack {
                    @if !view.is_gone() { (hours_card(context, view, week)) }
                    (notices.scam)
                    @if !view.is_gone() { (map(context, view)) }
                }
            }
        }
    }
}

/// Returns the address on one line, or the text for an unknown address.
fn address<'a>(context: &PageContext, view: &AtmView<'a>) -> Cow<'a, str> {
    if view.record.address.is_empty() { context.words().no_address.into() } else { view.address() }
}

/// Returns `true` if the page has the button that copies the address.
fn can_copy(view: &AtmView<'_>) -> bool {
    !view.is_gone() && !view.record.address.is_empty()
}

/// Returns the status with its reason and date, and the local time.
fn verdict(context: &PageContext, moment: &Moment<'_>, view: &AtmView<'_>) -> Markup {
    let words = context.words();
    let status = view.status.status;
    html! {
        section.verdict aria-label=(words.status) {
            span.mark.(StatusShape::of(status).class()) { (status_shape(status, 24)) }
            div {
                p { (status_text(words, moment, view)) }
                p.soft {
                    // For an unknown status the first line contains the reason.
                    @if status != AtmStatus::Unknown { ((words.status_reason)(view.status.reason)) " " }
                    @if let Some(since) = since(words, view) { (capitalized(&since)) "." }
                    @if let Some((day, time)) = local_time(view.record, context.now) {
                        " " ((words.there_it_is)((words.weekday)(day), &(words.time)(time)))
                    }
                }
            }
        }
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
    figure(context, town.center, &place, std::iter::once((1, view)))
}

/// Returns the summary of the reports.
fn reports(context: &PageContext, view: &AtmView<'_>) -> Markup {
    let words = context.words();
    let Some(reports) = view.reports else { return Markup::default() };
    let Some(newest) = reports.verdict.newest_at else { return Markup::default() };
    quote(&reports.verdict, context.language, &(words.date)(utc_date(newest)))
}

/// Returns the links to directions and contact.
fn ways(context: &PageContext, view: &AtmView<'_>) -> Markup {
    let words = context.words();
    let [lat, lon] = view.degrees();
    let at = format!("{lat:.6},{lon:.6}");
    let record = view.record;
    let phone_link = record.phone.as_deref().and_then(phone_link);
    let website = record.website.as_deref().and_then(href);
    html! {
        div.row {
            a.btn.primary href={ "geo:" (at) "?q=" (at) } { (words.directions) }
            @if let Some((phone, link)) = phone_link { a.btn href=(link) { (words.call) " " bdi { (phone) } } }
            @if let Some(website) = website {
                a.btn href=(website) rel="nofollow noopener ugc" { (words.website) }
            }
            // A script shows it if the browser allows copying.
            @if can_copy(view) {
                button #copy .btn type="button" hidden data-copied=(words.address_copied) { (words.copy_address) }
            }
        }
        p #copied .vh role="status" {}
        p.sm.soft {
            (words.directions_by) " "
            a href={ "https://www.openstreetmap.org/?mlat=" (format!("{lat:.6}")) "&mlon=" (format!("{lon:.6}")) "#map=18/" (format!("{lat:.6}")) "/" (format!("{lon:.6}")) } { "OpenStreetMap" } " · "
            a href={ "https://www.google.com/maps/dir/?api=1&destination=" (format!("{lat:.6}")) "%2C" (format!("{lon:.6}")) } { "Google Maps" } " · "
            a href={ "https://maps.apple.com/?daddr=" (format!("{lat:.6}")) "%2C" (format!("{lon:.6}")) } { "Apple Maps" } " · "
            (words.coordinates) " " span.num { (format!("{lat:.6}, {lon:.6}")) }
        }
    }
}

/// Returns a phone number with its link.
fn phone_link(phone: &str) -> Option<(&str, String)> {
    let digits: String = phone.chars().filter(|letter| letter.is_ascii_digit() || *letter == '+').collect();
    Some((phone, href(&format!("tel:{digits}"))?))
}
