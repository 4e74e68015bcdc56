//! The page that shows the audit log, newest entries first.

use axum::Router;
use axum::extract::Query;
use axum::response::Response;
use axum::routing::get;
use maud::{Markup, html};
use serde::Deserialize;
use signpost_platform::accounts::audit::{AuditEntry, AuditId, sql};

use super::Console;
use super::context::{ConsoleError, OperatorContext};
use super::dates::render_time;
use super::document::{ConsolePage, ConsoleSection};
use super::settings_list;
use super::tables::{older, panel, table};
use super::tasks::escape;

/// Number of entries on a page.
const PAGE_LEN: u32 = 100;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct LogQuery {
    action: String,
    before: String,
}

pub(super) fn router() -> Router<Console> {
    Router::new().route("/console/log", get(show)).route("/console/settings", get(settings_list::show))
}

/// `GET /console/log`: lists audit log entries.
async fn show(context: OperatorContext, Query(query): Query<LogQuery>) -> Result<Response, ConsoleError> {
    let origin = &context.origin;
    let LogQuery { action, before } = &query;
    let entries = sql::list_before(&context.store, AuditId::parse(before).as_ref(), action, PAGE_LEN).await?;
    let next = match entries.last() {
        Some(last) if entries.len() == PAGE_LEN as usize => {
            Some(origin.link(&format!("/console/log?action={}&before={}", escape(action), last.id)))
        }
        _ => None,
    };
    let rows = entries.iter().map(|entry| entry_row(&context, entry));
    let empty = html! { p { "Nothing was done yet" @if !action.is_empty() { " of this kind" } "." } };
    let body = html! {
        @if !action.is_empty() {
            p { "Only " code { (signpost_text::clean_line(action)) } ". " a href=(origin.link("/console/log")) { "Show all" } }
        }
        (panel("log", "Entries", &html! {}, &html! {
            (table("Audit log", &["When", "What", "Who", "On what"], rows, &empty))
            (older(next))
        }))
    };
    let note = html! { "Who did what, newest first. Nothing in the program changes an entry. " code { "signpost audit export" } " writes a file of it." };
    let page = ConsolePage { note, ..ConsolePage::new(&context, ConsoleSection::KeysAndLog, "Audit log", body) };
    page.respond().await
}

fn entry_row(context: &OperatorContext, entry: &AuditEntry) -> Vec<Markup> {
    let link = context.origin.link(&format!("/console/log?action={}", escape(&entry.action)));
    let has_details = entry.details.as_object().is_some_and(|details| !details.is_empty());
    vec![
        render_time(entry.at),
        html! { a href=(link) { (signpost_text::clean_line(&entry.action)) } },
        html! { (signpost_text::clean_line(&entry.actor)) @if !entry.account.is_empty() { br; "account " (signpost_text::clean_line(&entry.account)) } },
        html! { code { (signpost_text::clean_line(&entry.object)) } @if has_details { p.xs.soft { (signpost_text::clean_line(&entry.details.to_string())) } } },
    ]
}
