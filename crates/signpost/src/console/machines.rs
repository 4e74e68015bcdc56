//! Pages about ATMs: the search, and the page of an ATM with the records of all its sources.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::{Path, Query, Request};
use axum::response::Response;
use axum::routing::{get, post};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;
use signpost_atm::catalogue::sql::SourceCount;
use signpost_atm::catalogue::{CatalogueEntry, Snapshot, StoredAtm, sql};
use signpost_atm::feeds::{self, Feed};
use signpost_atm::processor;
use signpost_locator::AtmId;
use signpost_locator::import::CancelFlag;
use signpost_platform::accounts::audit::Action;
use signpost_platform::accounts::audit::sql::insert_entry;
use signpost_platform::pages::href::href;
use signpost_platform::web::problem::Problem;
use signpost_store::Store;

use super::Console;
use super::concerns::{check_machines, draw_concerns};
use super::context::{ConsoleError, OperatorContext};
use super::dates::{render_dates, render_time};
use super::document::{ConsolePage, ConsoleSection};
use super::proof::{ConfirmationStep, Question, receive_confirmation};
use super::reports::no_locator;
use super::tables::{chip, panel, table};
use super::tasks::escape;

/// Number of ATMs between two checks of a search for its cancellation.
const CHUNK_LEN: usize = 1_000;
/// Maximum sources and feeds that are listed.
const MAX_LISTED: usize = 200;
/// Maximum number of ATMs that a search shows.
const MAX_FOUND: usize = 50;
/// Maximum length of a search text, in characters.
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
        .route("/console/machines/{id}", get(show_machine))
        .route("/console/machines/{id}/split", post(split))
        .route("/console/machines/{id}/join", post(join))
}

/// `GET /console/machines`: searches ATMs, and lists sources and feeds.
async fn show(context: OperatorContext, Query(search): Query<Search>) -> Result<Response, ConsoleError> {
    let Some(atm) = &context.atm else { return no_locator(&context, ConsoleSection::Machines, "Machines").await };
    let origin = &context.origin;
    let snapshot = atm.catalogue.snapshot();
    let query: String = signpost_text::clean_line(search.q.trim()).chars().take(MAX_QUERY).collect();
    let found = {
        let snapshot = Arc::clone(&snapshot);
        let query = query.clone();
        processor::run(move |cancel| find_machines(&snapshot, &query, cancel)).await?
    };
    let rows = found.iter().map(|id| machine_row(&context, &snapshot, *id));
    let sources = context.sources.count(&context.store, snapshot.version()).await?;
    let source_rows = sources.iter().take(MAX_LISTED).map(|count| source_row(&context, &snapshot, count));
    let feeds = feeds::sql::list(&context.store).await?;
    let concerns = check_machines(&context.console, &snapshot, context.now);
    let body = html! {
        form.search role="search" method="get" action=(origin.link("/console/machines")) {
            div.field { label for="q" { "Name, address, operator or ID" } input #q name="q" value=(query) maxlength=(MAX_QUERY); }
            button.btn.primary { "Search" }
        }
        @if !query.is_empty() {
            (panel("found", &describe_found(found.len()), &html! {}, &table("Machines", &["Machine", "Address", "Status", "Sources"],
                rows, &html! { p { "No machine has this in its name, address, operator or ID." } })))
        }
        (panel("sources", "Sources", &html! {}, &table("Sources", &["Source", "Machines", "Gone", "Data of", "Imported", "Do"],
            source_rows, &html! { p { "Nothing was imported yet." } })))
        (left_out(sources.len(), "signpost atms stats"))
        @if let Some(concerns) = &concerns { (draw_concerns(origin, concerns)) }
        (panel("feeds", "Feeds", &html! {}, &draw_feeds(&feeds)))
        (left_out(feeds.len(), "signpost atms feeds list"))
    };
    let aside = html! { a.btn.small href=(origin.link("/console/machines/import")) { "Import a file" } };
    let note = html! {
        (snapshot.len()) " machines"
        @if snapshot.is_sample() { ", all of them fictional" } @else { ", data of " (render_dates(snapshot.dates())) }
    };
    let page = ConsolePage { note, aside, ..ConsolePage::new(&context, ConsoleSection::Machines, "Machines", body) };
    page.respond().await
}

/// Draws the number of rows that are not shown, and the command that lists all.
fn left_out(all: usize, command: &str) -> Markup {
    html! { @if all > MAX_LISTED { p.sm.soft { (all - MAX_LISTED) " more: " code { (command) } } } }
}

fn source_row(context: &OperatorContext, snapshot: &Snapshot, count: &SourceCount) -> Vec<Markup> {
    let imported_at = snapshot.source(&count.source).map(|source| source.imported_at);
    let action = context.origin.link(&path_to_forget(&count.source));
    vec![
        html! { (signpost_text::clean_line(&count.source)) },
        html! { (count.machines) },
        html! { (count.gone) },
        html! { (render_dates(snapshot.dates_of_source(&count.source))) },
        html! { @if let Some(at) = imported_at { (render_time(at)) } },
        html! {
            form method="post" action=(action) { (context.token(&forget_purpose(&count.source))) button.btn.small { "Forget" } }
        },
    ]
}

fn describe_found(found: usize) -> String {
    match found {
        1 => "1 machine".to_owned(),
        MAX_FOUND => format!("The first {MAX_FOUND} machines"),
        more => format!("{more} machines"),
    }
}

/// The number of ATMs per source at a version of the catalogue, because it changes only with imports.
#[derive(Debug, Default)]
pub(super) struct SourceCountCache(Mutex<Option<(i64, Arc<[SourceCount]>)>>);

impl SourceCountCache {
    async fn count(&self, store: &Store, version: i64) -> anyhow::Result<Arc<[SourceCount]>> {
        let cached = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((cached_version, counts)) = cached
            && cached_version == version
        {
            return Ok(counts);
        }
        let counts: Arc<[SourceCount]> = sql::count_by_source(store).await?.into();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((version, Arc::clone(&counts)));
        Ok(counts)
    }
}

/// Finds the ATM with this ID, or the ATMs with the text in their name, operator or address, until the search is
/// cancelled. CPU-bound.
fn find_machines(snapshot: &Snapshot, query: &str, cancel: &CancelFlag) -> Vec<AtmId> {
    if query.is_empty() {
        return Vec::new();
    }
    if let Ok(number) = query.parse()
        && let Some(id) = AtmId::new(number)
        && let Some(entry) = snapshot.get(id)
    {
        return vec![entry.atm.id];
    }
    let pattern = query.to_lowercase();
    let chunks = snapshot.entries().chunks(CHUNK_LEN).take_while(|_| cancel.check().is_ok());
    let matching = chunks.flatten().filter(|entry| {
        let record = &entry.atm.record;
        has_text(record.title(), &pattern)
            || record.operator.as_deref().is_some_and(|operator| has_text(operator, &pattern))
            || record.address.one_line().is_some_and(|line| has_text(&line, &pattern))
    });
    matching.take(MAX_FOUND).map(|entry| entry.atm.id).collect()
}

/// Returns true if a text contains `pattern`, given in lower case. ASCII texts are not copied.
fn has_text(text: &str, pattern: &str) -> bool {
    if !text.is_ascii() {
        return text.to_lowercase().contains(pattern);
    }
    text.as_bytes().windows(pattern.len()).any(|part| part.eq_ignore_ascii_case(pattern.as_bytes()))
}

fn machine_row(context: &OperatorContext, snapshot: &Snapshot, id: AtmId) -> Vec<Markup> {
    let Some(entry) = snapshot.get(id) else { return Vec::new() };
    let record = &entry.atm.record;
    let link = context.origin.link(&format!("/console/machines/{id}"));
    let sources: Vec<&str> = entry.atm.claims.iter().map(|claim| &*claim.source).collect();
    let status = snapshot.at(context.now).status(entry).status;
    vec![
        html! { a href=(link) { (signpost_text::clean_line(record.title())) } },
        html! { (signpost_text::clean_line(&record.address.one_line().unwrap_or("not known".into()))) },
        html! { (status.as_str()) },
        html! { (signpost_text::clean_line(&sources.join(", "))) },
    ]
}

fn draw_feeds(feeds: &[Feed]) -> Markup {
    let rows = feeds.iter().take(MAX_LISTED).map(|feed| {
        let state = match &feed.last_error {
            Some(error) => html! { (chip("fail", "Failed")) p.xs.soft { (signpost_text::clean_line(error)) } },
            None if feed.fetched_at.is_some() => chip("ok", "Fetched"),
            None => chip("wait", "Not fetched yet"),
        };
        let fetched = feed.fetched_at.map_or_else(|| html! { "never" }, render_time);
        vec![html! { (signpost_text::clean_line(&feed.name)) }, state, fetched]
    });
    let none =
        html! { p { "No source is fetched by itself. Add one with " code { "signpost atms feeds add btcmap" } "." } };
    table("Feeds", &["Feed", "Last run", "Fetched"], rows, &none)
}

/// `GET /console/machines/{id}`: shows an ATM with the records of its sources.
async fn show_machine(context: OperatorContext, Path(id): Path<String>) -> Result<Response, ConsoleError> {
    let Some(atm) = &context.atm else { return no_locator(&context, ConsoleSection::Machines, "Machines").await };
    let snapshot = atm.catalogue.snapshot();
    let id = id.parse().ok().and_then(AtmId::new).ok_or(Problem::NotFound)?;
    let entry = snapshot.get(id).ok_or(Problem::NotFound)?;
    let mut rows = Vec::new();
    for claim in &entry.atm.claims {
        rows.extend(sql::find_history(&context.store, claim.id).await?);
    }
    let status = snapshot.at(context.now).status(entry);
    let page = context.origin.link(&format!("/atm/{}", entry.atm.id));
    let body = html! {
        (panel("facts", "What people are told", &html! { a.sm href=(page) { "Its page" } }, &html! {
            dl.facts.inset {
                dt { "ID" } dd { (entry.atm.id) }
                dt { "Status" } dd { (status.status.as_str()) ": " (status.reason.text()) }
                dt { "Address" } dd { (signpost_text::clean_line(&entry.atm.record.address.one_line().unwrap_or("not known".into()))) }
                @if let Some(reports) = snapshot.reports(entry) { dt { "Reports" } dd { (signpost_text::clean_line(&reports.summary)) } }
            }
        }))
        (panel("sources", "What each source says", &html! {}, &side_by_side(entry, &rows)))
        (forms(&context, entry))
    };
    ConsolePage::new(&context, ConsoleSection::Machines, entry.atm.record.title(), body).respond().await
}

/// Draws a column per source, and a row per fact of any source.
fn side_by_side(entry: &CatalogueEntry, rows: &[StoredAtm]) -> Markup {
    let mut columns: Vec<BTreeMap<String, Value>> = Vec::with_capacity(rows.len());
    for row in rows {
        columns.push(serde_json::from_str(&row.record).unwrap_or_default());
    }
    let mut facts: Vec<&String> = columns.iter().flat_map(BTreeMap::keys).collect();
    facts.sort();
    facts.dedup();
    let links = entry.atm.claims.iter().map(|claim| claim.url.as_deref().and_then(href));
    html! {
        div.scroll tabindex="0" role="group" aria-label="Sources side by side" {
            table.table {
                thead { tr { th scope="col" { "Fact" } @for row in rows { th scope="col" { (signpost_text::clean_line(&row.source)) } } } }
                tbody {
                    tr { th scope="row" { "first seen" } @for row in rows { td { (render_time(row.first_seen)) } } }
                    tr { th scope="row" { "changed" } @for row in rows { td { (render_time(row.updated_at)) } } }
                    tr { th scope="row" { "its ID there" } @for row in rows { td { (signpost_text::clean_line(&row.reference)) } } }
                    tr { th scope="row" { "its page there" } @for link in links { td { @if let Some(link) = link { a href=(link) rel="noreferrer" { (link) } } @else { "none" } } } }
                    @for fact in facts {
                        tr {
                            th scope="row" { (signpost_text::clean_line(fact)) }
                            @for column in &columns { td { (signpost_text::clean_line(&column.get(fact).map_or_else(|| "not said".to_owned(), format_value))) } }
                        }
                    }
                }
            }
        }
    }
}

fn format_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| format!("{name} {}", format_value(value)));
            members.collect::<Vec<_>>().join(", ")
        }
        Value::Array(items) => items.iter().map(format_value).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

fn forms(context: &OperatorContext, entry: &CatalogueEntry) -> Markup {
    let id = entry.atm.id;
    html! {
        @if entry.atm.claims.len() > 1 {
            (panel("split", "Are these two machines?", &html! {}, &html! {
                form.inset.stack-sm method="post" action=(context.origin.link(&format!("/console/machines/{id}/split"))) {
                    (context.token(&format!("split {id}")))
                    p.sm.soft { "Keep the records apart: each becomes a machine of its own, and no import merges them again." }
                    button.btn.danger { "Keep them apart" }
                }
            }))
        } @else {
            (panel("join", "Was it kept apart?", &html! {}, &html! {
                form.inset.stack-sm method="post" action=(context.origin.link(&format!("/console/machines/{id}/join"))) {
                    (context.token(&format!("join {id}")))
                    p.sm.soft { "If an operator kept this record apart from another, it may be merged again." }
                    button.btn.small { "Let it be merged again" }
                }
            }))
        }
    }
}

/// The query of a source to be removed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ForgottenSource {
    source: String,
}

fn path_to_forget(source: &str) -> String {
    format!("/console/machines/forget?source={}", escape(source))
}

fn forget_purpose(source: &str) -> String {
    format!("forget {source}")
}

/// `POST /console/machines/forget`: removes all ATMs of a source, after a confirmation and with a
/// recent login. Only another import restores the ATMs.
async fn forget(
    context: OperatorContext,
    Query(ForgottenSource { source }): Query<ForgottenSource>,
    request: Request,
) -> Result<Response, ConsoleError> {
    let source = source.as_str();
    let purpose = forget_purpose(source);
    let back = "/console/machines";
    let step = receive_confirmation(&context, request, &purpose, back).await?;
    let counts = sql::count_by_source(&context.store).await?;
    let count = counts.iter().find(|count| count.source == source).ok_or(Problem::NotFound)?;
    if step == ConfirmationStep::Requested {
        let text = format!(
            "Its {} machines go, unless another source has them too. The next fetch of a feed of this name imports all of them again.",
            count.machines
        );
        let question = Question {
            section: ConsoleSection::Machines,
            title: &format!("Forget {}?", signpost_text::clean_line(source)),
            text: &text,
            action: &path_to_forget(source),
            purpose: &purpose,
            button: "Forget it",
            back,
        };
        return question.ask(&context).await;
    }
    sql::delete_source(&context.store, source, &context.actor(), count.machines, context.now).await?;
    Ok(context.redirect_to(back))
}

/// `POST /console/machines/{id}/split`: splits the records of an ATM.
async fn split(context: OperatorContext, Path(id): Path<String>, request: Request) -> Result<Response, ConsoleError> {
    split_or_join(&context, &id, request, true).await
}

/// `POST /console/machines/{id}/join`: lets split records be merged again.
async fn join(context: OperatorContext, Path(id): Path<String>, request: Request) -> Result<Response, ConsoleError> {
    split_or_join(&context, &id, request, false).await
}

async fn split_or_join(
    context: &OperatorContext,
    id: &str,
    request: Request,
    is_apart: bool,
) -> Result<Response, ConsoleError> {
    let (word, action) = if is_apart { ("split", Action::AtmSplit) } else { ("join", Action::AtmJoined) };
    context.receive(request, &format!("{word} {id}")).await?;
    let atm = context.atm.as_ref().ok_or(Problem::NotFound)?;
    let machine = id.parse().ok().and_then(AtmId::new).ok_or(Problem::NotFound)?;
    let snapshot = atm.catalogue.snapshot();
    let entry = snapshot.get(machine).ok_or(Problem::NotFound)?;
    let rows: Vec<AtmId> = entry.atm.claims.iter().map(|claim| claim.id).collect();
    let log = insert_entry(&context.actor(), None, action, id, &serde_json::json!({ "rows": rows }), context.now);
    sql::set_apart(&context.store, &rows, is_apart, log).await?;
    Ok(context.redirect_to(&format!("/console/machines/{id}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_ignores_case_in_any_script() {
        for (text, pattern, expected) in [
            ("Corner Store", "corner", true),
            ("Corner Store", "store", true),
            ("CORNER", "corners", false),
            ("", "a", false),
            ("ÉPICERIE", "épicerie", true),
            ("Plain", "é", false),
        ] {
            assert_eq!(has_text(text, pattern), expected, "{text} {pattern}");
        }
    }
}
