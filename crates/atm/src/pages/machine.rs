//! The page of a machine: whether it can be used and since when, where it is, and who says so.

use std::borrow::Cow;
use std::collections::BTreeSet;

use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use signpost_locator::gazetteer::ATTRIBUTION;
use signpost_locator::{Atm, AtmId, AtmStatus, Distance, Record, merge};
use signpost_platform::pages::href::href;
use signpost_platform::web::path_id::PathId;
use signpost_platform::web::problem::Problem;

use super::addresses::{area_name, machine_path};
use super::crumbs::{Crumb, crumbs, crumbs_of};
use super::document::{LocatorDocument, draw_apart, find_kept};
use super::facts::facts;
use super::ground::Ground;
use super::install::COPY_SCRIPT;
use super::linked_data::{crumb_list, machine_data};
use super::notices::Notices;
use super::parts::{missing_page, search_form};
use super::sources::{correct_it, sources};
use super::status::{since, status_shape, status_text};
use super::visit::LocatorVisit;
use super::week::{MachineWeek, hours_card, local_time};
use crate::catalogue::{AtmFilter, CatalogueEntry, Moment, StoredAtm, Town, sql};
use crate::map::{FigureMachine, FigureScene, StatusShape, draw_figure};
use crate::report_form::quote;
use crate::view::MachineView;

/// Rows of one machine are at most this far apart, but for those that name it by a number of their own.
const SAME_MACHINE: Distance = Distance::metres(25.0);

pub(super) async fn show(visit: LocatorVisit, PathId(id): PathId) -> Result<Response, Problem> {
    let ground = visit.ground().await;
    if let Some(kept) = find_kept(&visit, &ground) {
        return Ok(kept);
    }
    let Some(id) = id.parse().ok().and_then(AtmId::new) else { return Ok(missing_page(&visit, &ground, None)) };
    let Some(entry) = ground.snapshot.get(id) else { return show_absent(&visit, &ground, id).await };
    // One of several rows that are one machine, or a number that is spelt otherwise.
    let path = machine_path(entry.machine.id);
    if let Some(moved) = visit.moved(&path) {
        return Ok(moved);
    }
    let id = entry.machine.id;
    let draw = move |visit: &LocatorVisit, ground: &Ground| match ground.snapshot.get(id) {
        Some(entry) => show_entry(visit, ground, entry, &path),
        None => missing_page(visit, ground, None),
    };
    Ok(draw_apart(visit, ground, draw).await)
}

/// A machine that was known is gone for good; of any other number there never was one.
async fn show_absent(visit: &LocatorVisit, ground: &Ground, id: AtmId) -> Result<Response, Problem> {
    let history = sql::find_history(&visit.service.store, id).await.map_err(Problem::from)?;
    let Some(row) = history.filter(|row| row.removed_at.is_some()) else {
        return Ok(missing_page(visit, ground, None));
    };
    if let Some(heir) = find_heir(&ground.snapshot.at(visit.now), &row) {
        return Ok(visit.lead_to(StatusCode::MOVED_PERMANENTLY, &machine_path(heir)));
    }
    let words = visit.words();
    let main = html! {
        main #main .wrap.stack {
            h1 { (words.machine_gone) }
            p.lead { (words.machine_gone_text) }
            (search_form(visit, ""))
        }
    };
    let title = words.machine_gone.to_owned();
    Ok(LocatorDocument::new("/", title.clone(), title, main).personal(visit, ground, StatusCode::GONE))
}

/// The machine that a row which its source dropped was a part of, where other sources still know it.
fn find_heir(moment: &Moment<'_>, gone: &StoredAtm) -> Option<AtmId> {
    let record: Record = serde_json::from_str(&gone.record).ok()?;
    let near = moment.nearest(record.point, SAME_MACHINE, 1, &AtmFilter::default());
    let heir = &moment.snapshot().found(*near.first()?).machine;
    let claim = heir.claims.iter().find(|claim| *claim.source != *gone.source)?;
    let rows = [
        Atm { id: gone.id, source: gone.source.as_str().into(), record: record.into() },
        Atm { id: claim.id, source: claim.source.clone(), record: heir.record.clone() },
    ];
    (merge(rows.into(), &BTreeSet::new()).len() == 1).then_some(heir.id)
}

fn show_entry(visit: &LocatorVisit, ground: &Ground, entry: &CatalogueEntry, path: &str) -> Response {
    let words = visit.words();
    let moment = ground.snapshot.at(visit.now);
    let view = MachineView::of(&moment, entry);
    let at = ground.snapshot.position(entry.machine.id);
    let town = at.and_then(|at| ground.towns().of_machine(at));
    let week = MachineWeek::of(&view, visit.now);
    let steps = steps(visit, &view, town);
    let main = main(visit, ground, &moment, &view, &week, &steps);
    let place = town.map_or_else(String::new, |town| format!(", {}", town.name));
    let title = (words.machine_title)(view.record.title(), &place);
    let description = format!("{}. {}.", address(visit, &view), status_text(words, &moment, &view));
    let linked_data = if view.is_gone() {
        Vec::new()
    } else {
        vec![machine_data(visit, &view, &week, town), crumb_list(visit, &steps)]
    };
    let document = LocatorDocument::new(path, title, description, main);
    let is_listed = !view.is_gone();
    let head = html! {
        @if can_copy(&view) { script type="module" src=(COPY_SCRIPT.link(&visit.service.origin)) {} }
    };
    LocatorDocument { is_listed, linked_data, head, ..document }.public(visit, ground)
}

/// The way to the machine by its town.
fn steps(visit: &LocatorVisit, view: &MachineView<'_>, town: Option<&Town>) -> Vec<Crumb> {
    let start = || vec![(visit.words().start.to_owned(), Some("/".to_owned()))];
    let mut steps = town.map_or_else(start, |town| crumbs_of(visit, town.area, Some(town)));
    steps.push((view.record.title().to_owned(), Some(machine_path(view.entry.machine.id))));
    steps
}

fn main(
    visit: &LocatorVisit,
    ground: &Ground,
    moment: &Moment<'_>,
    view: &MachineView<'_>,
    week: &MachineWeek,
    steps: &[Crumb],
) -> Markup {
    let words = visit.words();
    let notices = Notices::of(visit, view.record.address.country, moment.told_of(&[view.entry]));
    html! {
        main #main .wrap {
            (crumbs(visit, steps))
            h1 { bdi { (view.record.title()) } }
            p.lead {
                @match view.record.operator.as_deref() {
                    Some(operator) => ((words.machine_of)(&html! { bdi { (operator) } })),
                    None => (words.machine_kind),
                }
                ", " bdi #address { (address(visit, view)) }
            }
            div.split {
                div.stack {
                    (notices.laws)
                    (verdict(visit, moment, view))
                    (reports(visit, view))
                    @if !view.is_gone() { (ways(visit, view)) }
                    (facts(visit, view))
                    (correct_it(visit, view))
                    (sources(visit, &ground.snapshot, view))
                }
                div.stack {
                    @if !view.is_gone() { (hours_card(visit, view, week)) }
                    (notices.scam)
                    // Nobody should go to one that is gone.
                    @if !view.is_gone() { (map(visit, ground, view)) }
                }
            }
        }
    }
}

/// Its address on one line, or that it is not known.
fn address<'a>(visit: &LocatorVisit, view: &MachineView<'a>) -> Cow<'a, str> {
    if view.record.address.is_empty() { visit.words().no_address.into() } else { view.address() }
}

/// Whether somebody may want to take its address along.
fn can_copy(view: &MachineView<'_>) -> bool {
    !view.is_gone() && !view.record.address.is_empty()
}

/// Whether it can be used, why, and since when that is known.
fn verdict(visit: &LocatorVisit, moment: &Moment<'_>, view: &MachineView<'_>) -> Markup {
    let words = visit.words();
    let status = view.status.status;
    html! {
        section.verdict aria-label=(words.status) {
            span.mark.(StatusShape::of(status).class()) { (status_shape(status, 24)) }
            div {
                p { (status_text(words, moment, view)) }
                p.soft {
                    // The first line says already why it is unknown.
                    @if status != AtmStatus::Unknown { ((words.why)(view.status.reason)) " " }
                    @if let Some(since) = since(words, view) { (words.sentence(&since)) }
                    @if let Some((day, time)) = local_time(view.record, visit.now) {
                        " " ((words.there_it_is)((words.weekday)(day), &(words.time)(time)))
                    }
                }
            }
        }
    }
}

/// Where it is, seen from the middle of its town.
fn map(visit: &LocatorVisit, ground: &Ground, view: &MachineView<'_>) -> Markup {
    let at = ground.snapshot.position(view.entry.machine.id);
    let Some(town) = at.and_then(|at| ground.towns().of_machine(at)) else { return Markup::default() };
    let place = format!("{}, {}", town.name, area_name(visit.words(), town.area));
    let machine = FigureMachine { number: 1, point: view.record.point, shape: StatusShape::of(view.status.status) };
    let attribution: Vec<_> = ground.snapshot.attribution().chain([ATTRIBUTION]).collect();
    draw_figure(&FigureScene {
        language: visit.language,
        unit: visit.ring_unit(),
        origin: &visit.service.origin,
        middle: town.center,
        middle_name: Some(&place),
        machines: &[machine],
        gazetteer: &ground.places,
        attribution: &attribution,
    })
}

/// What people report of it.
fn reports(visit: &LocatorVisit, view: &MachineView<'_>) -> Markup {
    let words = visit.words();
    let newest = view.reports.and_then(|reports| Some((reports, reports.verdict.newest_at?)));
    html! {
        @if let Some((reports, newest)) = newest {
            (quote(&reports.verdict, visit.language, &(words.date)(words.day_of(newest))))
        }
    }
}

/// How to get there, and whom to call.
fn ways(visit: &LocatorVisit, view: &MachineView<'_>) -> Markup {
    let words = visit.words();
    let [lat, lon] = view.degrees();
    let at = format!("{lat:.6},{lon:.6}");
    let record = view.record;
    let phone =
        record.phone.as_deref().and_then(|phone| href(&format!("tel:{}", dialled(phone))).map(|to| (phone, to)));
    let website = record.website.as_deref().and_then(href);
    html! {
        div.row {
            a.btn.primary href={ "geo:" (at) "?q=" (at) } { (words.directions) }
            @if let Some((phone, to)) = phone { a.btn href=(to) { (words.call) " " bdi { (phone) } } }
            @if let Some(website) = website {
                a.btn href=(website) rel="nofollow noopener ugc" { (words.website) }
            }
            // Its script shows it, where a browser lets a page copy.
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

/// What a telephone dials of a number as a source writes it.
fn dialled(phone: &str) -> String {
    phone.chars().filter(|letter| letter.is_ascii_digit() || *letter == '+').collect()
}
