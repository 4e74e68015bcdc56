//! Machines: search, one record with what each source says side by side, and keeping records apart.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::{Path, Query, Request};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;
use signpost_atm::catalogue::sql::SourceCount;
use signpost_atm::catalogue::{CatalogueEntry, Snapshot, StoredAtm, sql};
use signpost_atm::feeds::{self, Feed};
use signpost_atm::processor;
use signpost_locator::AtmId;
use signpost_locator::import::Stop;
use signpost_platform::accounts::audit::Action;
use signpost_platform::accounts::audit::sql::insert_entry;
use signpost_platform::pages::href::href;
use signpost_platform::web::problem::Problem;
use signpost_store::Store;

use super::Console;
use super::dates::moment;
use super::document::{ConsolePage, Screen};
use super::doubts::{draw_doubts, find_doubts};
use super::proof::{Confirmation, Question, receive_asked};
use super::reports::no_locator;
use super::tables::{chip, panel, table};
use super::todo::escape;
use super::visit::{OperatorVisit, failed, to};

/// After how many machines a search asks whether somebody still waits for it.
const LOOKED_THROUGH: usize = 1_000;
/// Maximum sources and feeds that are listed.
const MAX_LISTED: usize = 200;
/// How many machines a search shows.
const SHOWN: usize = 50;
/// The longest text that is searched for, in characters.
const MAX_QUERY: usize = 100;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Search {
    q: String,
}

pub(super) fn router() -> Router<Console> {
    Router::new()
        .route("/console/machines", get(show))
        .route("/console/machines/forget", post(forget))
        .route("/console/machines/{id}", get(show_one))
        .route("/console/machines/{id}/split", post(split))
        .route("/console/machines/{id}/join", post(join))
}

/// `GET /console/machines`
async fn show(visit: OperatorVisit, Query(search): Query<Search>) -> Result<Response, Response> {
    let Some(atm) = &visit.console.atm else { return Ok(no_locator(&visit, Screen::Machines, "Machines").await) };
    let (origin, snapshot) = (&visit.console.origin, atm.catalogue.snapshot());
    let query: String = signpost_text::line(search.q.trim()).chars().take(MAX_QUERY).collect();
    let found = {
        let (snapshot, query) = (snapshot.clone(), query.clone());
        processor::run(move |stop| find_machines(&snapshot, &query, stop)).await.map_err(failed)?
    };
    let rows: Vec<_> = found.iter().map(|id| machine_row(&visit, &snapshot, *id)).collect();
    let sources = visit.console.sources.count(&visit.console.store, snapshot.version()).await.map_err(failed)?;
    let feeds = feeds::sql::list(&visit.console.store).await.map_err(failed)?;
    let (all_sources, all_feeds) = (sources.len(), feeds.len());
    let sources = sources.iter().take(MAX_LISTED).map(|count| source_row(&visit, count));
    let doubts = find_doubts(&visit.console, visit.now);
    let body = html! {
        form.search role="search" method="get" action=(origin.link("/console/machines")) {
            div.field { label for="q" { "Name, address, operator or ID" } input #q name="q" value=(query) maxlength=(MAX_QUERY); }
            button.btn.primary { "Search" }
        }
        @if !query.is_empty() {
            (panel("found", &say_found(found.len()), &html! {}, &table("Machines", &["Machine", "Address", "Status", "Sources"],
                &rows, &html! { p { "No machine has this in its name, address, operator or ID." } })))
        }
        (panel("sources", "Sources", &html! {}, &table("Sources", &["Source", "Machines", "Gone", "Do"],
            &sources.collect::<Vec<_>>(), &html! { p { "Nothing was imported yet." } })))
        (left_out(all_sources, "signpost atms stats"))
        @if let Some(doubts) = &doubts { (draw_doubts(origin, doubts)) }
        (panel("feeds", "Feeds", &html! {}, &draw_feeds(&feeds)))
        (left_out(all_feeds, "signpost atms feeds list"))
    };
    let aside = html! { a.btn.small href=(origin.link("/console/machines/import")) { "Import a file" } };
    let note = html! { (snapshot.len()) " machines" @if snapshot.is_sample() { ", all of them fictional" } };
    let page = ConsolePage { note, aside, ..ConsolePage::new(&visit, Screen::Machines, "Machines", body) };
    Ok(page.respond().await)
}

/// How many rows of a list are not shown, and the command that lists all.
fn left_out(all: usize, command: &str) -> Markup {
    html! { @if all > MAX_LISTED { p.sm.soft { (all - MAX_LISTED) " more: " code { (command) } } } }
}

fn source_row(visit: &OperatorVisit, count: &SourceCount) -> Vec<Markup> {
    let action = visit.console.origin.link(&path_to_forget(&count.source));
    vec![
        html! { (signpost_text::line(&count.source)) },
        html! { (count.machines) },
        html! { (count.gone) },
        html! {
            form method="post" action=(action) { (visit.token(&forgetting(&count.source))) button.btn.small { "Forget" } }
        },
    ]
}

fn say_found(found: usize) -> String {
    match found {
        1 => "1 machine".to_owned(),
        SHOWN => format!("The first {SHOWN} machines"),
        more => format!("{more} machines"),
    }
}

/// How many machines each source has, as it was counted at a version of the catalogue: between two imports it stays so.
#[derive(Debug, Default)]
pub(super) struct SourceShelf(Mutex<Option<(i64, Arc<[SourceCount]>)>>);

impl SourceShelf {
    async fn count(&self, store: &Store, version: i64) -> anyhow::Result<Arc<[SourceCount]>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, counts)) = kept.filter(|(of, _)| *of == version) {
            return Ok(counts);
        }
        let counts: Arc<[SourceCount]> = sql::count_by_source(store).await?.into();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((version, Arc::clone(&counts)));
        Ok(counts)
    }
}

/// The machine of this number, or those that have the text in what people know them by, as far as was looked until nobody
/// waits for it any more. Takes a processor for a moment.
fn find_machines(snapshot: &Snapshot, query: &str, stop: &Stop) -> Vec<AtmId> {
    if query.is_empty() {
        return Vec::new();
    }
    let numbered = query.parse().ok().and_then(AtmId::new).and_then(|id| snapshot.get(id));
    if let Some(entry) = numbered {
        return vec![entry.machine.id];
    }
    let wanted = query.to_lowercase();
    let matches = |entry: &&CatalogueEntry| {
        let record = &entry.machine.record;
        has_text(record.title(), &wanted)
            || record.operator.as_deref().is_some_and(|operator| has_text(operator, &wanted))
            || record.address.one_line().is_some_and(|line| has_text(&line, &wanted))
    };
    let chunks = snapshot.entries().chunks(LOOKED_THROUGH).take_while(|_| stop.check().is_ok());
    chunks.flatten().filter(matches).take(SHOWN).map(|entry| entry.machine.id).collect()
}

/// Whether a text has another in it, which is in small letters. Most are plain, and no copy is made of these.
fn has_text(text: &str, wanted: &str) -> bool {
    if !text.is_ascii() {
        return text.to_lowercase().contains(wanted);
    }
    text.as_bytes().windows(wanted.len()).any(|part| part.eq_ignore_ascii_case(wanted.as_bytes()))
}

fn machine_row(visit: &OperatorVisit, snapshot: &Snapshot, id: AtmId) -> Vec<Markup> {
    let Some(entry) = snapshot.get(id) else { return Vec::new() };
    let record = &entry.machine.record;
    let link = visit.console.origin.link(&format!("/console/machines/{id}"));
    let sources: Vec<&str> = entry.machine.claims.iter().map(|claim| &*claim.source).collect();
    let status = snapshot.at(visit.now).status(entry).status;
    vec![
        html! { a href=(link) { (signpost_text::line(record.title())) } },
        html! { (signpost_text::line(&record.address.one_line().unwrap_or("not known".into()))) },
        html! { (status.as_str()) },
        html! { (signpost_text::line(&sources.join(", "))) },
    ]
}

fn draw_feeds(feeds: &[Feed]) -> Markup {
    let row = |feed: &Feed| {
        let state = match &feed.last_error {
            Some(error) => html! { (chip("fail", "Failed")) p.xs.soft { (signpost_text::line(error)) } },
            None if feed.fetched_at.is_some() => chip("ok", "Fetched"),
            None => chip("wait", "Not fetched yet"),
        };
        let fetched = feed.fetched_at.map_or_else(|| html! { "never" }, moment);
        vec![html! { (signpost_text::line(&feed.name)) }, state, fetched]
    };
    let rows: Vec<_> = feeds.iter().take(MAX_LISTED).map(row).collect();
    let none =
        html! { p { "No source is fetched by itself. Add one with " code { "signpost atms feeds add NAME URL" } "." } };
    table("Feeds", &["Feed", "Last run", "Fetched"], &rows, &none)
}

/// `GET /console/machines/{id}`
async fn show_one(visit: OperatorVisit, Path(id): Path<String>) -> Result<Response, Response> {
    let Some(atm) = &visit.console.atm else { return Ok(no_locator(&visit, Screen::Machines, "Machines").await) };
    let snapshot = atm.catalogue.snapshot();
    let id = id.parse().ok().and_then(AtmId::new).ok_or_else(|| Problem::NotFound.into_response())?;
    let entry = snapshot.get(id).ok_or_else(|| Problem::NotFound.into_response())?;
    let mut rows = Vec::new();
    for claim in &entry.machine.claims {
        rows.extend(sql::find_history(&visit.console.store, claim.id).await.map_err(failed)?);
    }
    let (title, report) = (entry.machine.record.title(), snapshot.at(visit.now).status(entry));
    let page = visit.console.origin.link(&format!("/atm/{}", entry.machine.id));
    let body = html! {
        (panel("facts", "What people are told", &html! { a.sm href=(page) { "Its page" } }, &html! {
            dl.facts.inset {
                dt { "ID" } dd { (entry.machine.id) }
                dt { "Status" } dd { (report.status.as_str()) ": " (report.reason.text()) }
                dt { "Address" } dd { (signpost_text::line(&entry.machine.record.address.one_line().unwrap_or("not known".into()))) }
                @if let Some(reports) = snapshot.reports(entry) { dt { "Reports" } dd { (signpost_text::line(&reports.summary)) } }
            }
        }))
        (panel("sources", "What each source says", &html! {}, &side_by_side(entry, &rows)))
        (forms(&visit, entry))
    };
    Ok(ConsolePage::new(&visit, Screen::Machines, title, body).respond().await)
}

/// A column for each source, a row for each fact that any of them states.
fn side_by_side(entry: &CatalogueEntry, rows: &[StoredAtm]) -> Markup {
    let says = |row: &StoredAtm| -> BTreeMap<String, Value> { serde_json::from_str(&row.record).unwrap_or_default() };
    let columns: Vec<_> = rows.iter().map(says).collect();
    let mut facts: Vec<&String> = columns.iter().flat_map(BTreeMap::keys).collect();
    facts.sort();
    facts.dedup();
    let links = entry.machine.claims.iter().map(|claim| claim.url.as_deref().and_then(href));
    html! {
        div.scroll tabindex="0" role="group" aria-label="Sources side by side" {
            table.table {
                thead { tr { th scope="col" { "Fact" } @for row in rows { th scope="col" { (signpost_text::line(&row.source)) } } } }
                tbody {
                    tr { th scope="row" { "first seen" } @for row in rows { td { (moment(row.first_seen)) } } }
                    tr { th scope="row" { "changed" } @for row in rows { td { (moment(row.updated_at)) } } }
                    tr { th scope="row" { "its ID there" } @for row in rows { td { (signpost_text::line(&row.reference)) } } }
                    tr { th scope="row" { "its page there" } @for link in links { td { @if let Some(link) = link { a href=(link) rel="noreferrer" { (link) } } @else { "none" } } } }
                    @for fact in facts {
                        tr {
                            th scope="row" { (signpost_text::line(fact)) }
                            @for column in &columns { td { (signpost_text::line(&column.get(fact).map_or_else(|| "not said".to_owned(), say_value))) } }
                        }
                    }
                }
            }
        }
    }
}

fn say_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(members) => {
            let says = members.iter().map(|(name, value)| format!("{name} {}", say_value(value)));
            says.collect::<Vec<_>>().join(", ")
        }
        Value::Array(items) => items.iter().map(say_value).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

fn forms(visit: &OperatorVisit, entry: &CatalogueEntry) -> Markup {
    let id = entry.machine.id;
    let action = |what: &str| visit.console.origin.link(&format!("/console/machines/{id}/{what}"));
    html! {
        @if entry.machine.claims.len() > 1 {
            (panel("split", "Are these two machines?", &html! {}, &html! {
                form.inset.stack-sm method="post" action=(action("split")) {
                    (visit.token(&format!("split {id}")))
                    p.sm.soft { "Keep the records apart: each becomes a machine of its own, and no import merges them again." }
                    button.btn.danger { "Keep them apart" }
                }
            }))
        } @else {
            (panel("join", "Was it kept apart?", &html! {}, &html! {
                form.inset.stack-sm method="post" action=(action("join")) {
                    (visit.token(&format!("join {id}")))
                    p.sm.soft { "If an operator kept this record apart from another, it may be merged again." }
                    button.btn.small { "Let it be merged again" }
                }
            }))
        }
    }
}

/// Which source is forgotten.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ForgottenSource {
    source: String,
}

fn path_to_forget(source: &str) -> String {
    format!("/console/machines/forget?source={}", escape(source))
}

fn forgetting(source: &str) -> String {
    format!("forget {source}")
}

/// `POST /console/machines/forget`: asks first, and wants a login of a moment ago, for nothing brings the machines back but
/// another import.
async fn forget(
    visit: OperatorVisit,
    Query(of): Query<ForgottenSource>,
    request: Request,
) -> Result<Response, Response> {
    let (source, purpose, back) = (&of.source, forgetting(&of.source), "/console/machines");
    let asked = receive_asked(&visit, request, &purpose, back).await?;
    let store = &visit.console.store;
    let counts = sql::count_by_source(store).await.map_err(failed)?;
    let count = counts.iter().find(|count| count.source == *source).ok_or_else(|| Problem::NotFound.into_response())?;
    if asked == Confirmation::First {
        let text = format!(
            "Its {} machines go, unless another source has them too. The next fetch of a feed of this name imports all of them again.",
            count.machines
        );
        let question = Question {
            screen: Screen::Machines,
            title: &format!("Forget {}?", signpost_text::line(source)),
            text: &text,
            action: &path_to_forget(source),
            purpose: &purpose,
            button: "Forget it",
            back,
        };
        return Ok(question.ask(&visit).await);
    }
    sql::forget_source(store, source, &visit.actor(), count.machines, visit.now).await.map_err(failed)?;
    Ok(to(&visit.console, back))
}

/// `POST /console/machines/{id}/split`
async fn split(visit: OperatorVisit, Path(id): Path<String>, request: Request) -> Result<Response, Response> {
    set_apart(&visit, &id, request, true).await
}

/// `POST /console/machines/{id}/join`
async fn join(visit: OperatorVisit, Path(id): Path<String>, request: Request) -> Result<Response, Response> {
    set_apart(&visit, &id, request, false).await
}

async fn set_apart(visit: &OperatorVisit, id: &str, request: Request, is_apart: bool) -> Result<Response, Response> {
    let (word, action) = if is_apart { ("split", Action::AtmSplit) } else { ("join", Action::AtmJoined) };
    visit.receive(request, &format!("{word} {id}")).await?;
    let found = visit.console.atm.as_ref().map(|atm| atm.catalogue.snapshot());
    let machine = id.parse().ok().and_then(AtmId::new);
    let (snapshot, machine) = found.zip(machine).ok_or_else(|| Problem::NotFound.into_response())?;
    let entry = snapshot.get(machine).ok_or_else(|| Problem::NotFound.into_response())?;
    let rows: Vec<AtmId> = entry.machine.claims.iter().map(|claim| claim.id).collect();
    let told = insert_entry(&visit.actor(), None, action, id, &serde_json::json!({ "rows": rows }), visit.now);
    sql::set_apart(&visit.console.store, &rows, is_apart, told).await.map_err(failed)?;
    Ok(to(&visit.console, &format!("/console/machines/{id}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_in_capital_letters_and_in_other_scripts() {
        for (text, wanted, expected) in [
            ("Corner Store", "corner", true),
            ("Corner Store", "store", true),
            ("CORNER", "corners", false),
            ("", "a", false),
            ("ÉPICERIE", "épicerie", true),
            ("Plain", "é", false),
        ] {
            assert_eq!(has_text(text, wanted), expected, "{text} {wanted}");
        }
    }
}
