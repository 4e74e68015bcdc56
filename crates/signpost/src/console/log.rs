//! The audit log, newest first, and the settings with where each is from.

use axum::Router;
use axum::extract::Query;
use axum::response::Response;
use axum::routing::get;
use maud::{Markup, html};
use serde::Deserialize;
use signpost_platform::accounts::audit::{AuditEntry, AuditId, sql};

use super::Console;
use super::dates::moment;
use super::document::{ConsolePage, Screen};
use super::settings_list;
use super::tables::{older, panel, table};
use super::todo::escape;
use super::visit::{OperatorVisit, failed};

/// How many entries a page has.
const SHOWN: u32 = 100;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct LogChoice {
    action: String,
    before: String,
}

pub(super) fn router() -> Router<Console> {
    Router::new().route("/console/log", get(show)).route("/console/settings", get(settings_list::show))
}

/// `GET /console/log`
async fn show(visit: OperatorVisit, Query(chosen): Query<LogChoice>) -> Result<Response, Response> {
    let (store, origin) = (&visit.console.store, &visit.console.origin);
    let before = AuditId::parse(&chosen.before);
    let entries = sql::list_before(store, before.as_ref(), &chosen.action, SHOWN).await.map_err(failed)?;
    let next = entries
        .last()
        .filter(|_| entries.len() == SHOWN as usize)
        .map(|last| origin.link(&format!("/console/log?action={}&before={}", escape(&chosen.action), last.id)));
    let rows: Vec<_> = entries.iter().map(|entry| entry_row(&visit, entry)).collect();
    let empty = html! { p { "Nothing was done yet" @if !chosen.action.is_empty() { " of this kind" } "." } };
    let body = html! {
        @if !chosen.action.is_empty() {
            p { "Only " code { (signpost_text::line(&chosen.action)) } ". " a href=(origin.link("/console/log")) { "Show all" } }
        }
        (panel("log", "Entries", &html! {}, &html! {
            (table("Audit log", &["When", "What", "Who", "On what"], &rows, &empty))
            (older(next))
        }))
    };
    let note = html! { "Who did what, newest first. Nothing in the program changes an entry. " code { "signpost audit export" } " writes a file of it." };
    let page = ConsolePage { note, ..ConsolePage::new(&visit, Screen::Keys, "Audit log", body) };
    Ok(page.respond().await)
}

fn entry_row(visit: &OperatorVisit, entry: &AuditEntry) -> Vec<Markup> {
    let link = visit.console.origin.link(&format!("/console/log?action={}", escape(&entry.action)));
    let has_details = entry.details.as_object().is_some_and(|details| !details.is_empty());
    vec![
        moment(entry.at),
        html! { a href=(link) { (signpost_text::line(&entry.action)) } },
        html! { (signpost_text::line(&entry.actor)) @if !entry.account.is_empty() { br; "account " (signpost_text::line(&entry.account)) } },
        html! { code { (signpost_text::line(&entry.object)) } @if has_details { p.xs.soft { (signpost_text::line(&entry.details.to_string())) } } },
    ]
}
