//! Pages that show and moderate reports about ATMs.

use axum::Router;
use axum::extract::{Path, Query, Request};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use serde::Deserialize;
use signpost_atm::catalogue::Snapshot;
use signpost_atm::reports::sql::{self, Moderation};
use signpost_atm::reports::{EvidenceSource, MachineReport, ModerationReason, ReportId, ReportState, Weight};
use signpost_platform::pages::icons::PageIcon;
use signpost_platform::web::problem::Problem;
use signpost_store::WriteError;

use super::Console;
use super::context::{ConsoleError, OperatorContext};
use super::dates::render_time;
use super::document::{ConsolePage, ConsoleSection};
use super::tables::panel;
use super::tasks::describe_finding;

/// Maximum number of reports that are shown.
const MAX_SHOWN: u32 = 50;

/// The query parameters of the list of reports.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ReportQuery {
    state: String,
    /// The report that was moderated before this page.
    done: String,
}

pub(super) fn router() -> Router<Console> {
    Router::new().route("/console/reports", get(show)).route("/console/reports/{id}", post(decide))
}

/// `GET /console/reports`: lists reports in a state.
async fn show(context: OperatorContext, Query(query): Query<ReportQuery>) -> Result<Response, ConsoleError> {
    let Some(atm) = &context.atm else { return no_locator(&context, ConsoleSection::Reports, "Reports").await };
    let snapshot = atm.catalogue.snapshot();
    let state = ReportState::parse(&query.state).unwrap_or(ReportState::New);
    let reports = sql::list(&context.store, Some(state), None, MAX_SHOWN).await?;
    let mut done = None;
    if let Some(id) = ReportId::parse(&query.done) {
        done = sql::find(&context.store, &id).await?;
    }
    let body = html! {
        (draw_done(&context, done.as_ref()))
        (filter(&context, state))
        (panel("list", describe_state(state), &html! {}, &draw_list(&context, &snapshot, &reports)))
    };
    let note = html! { "What people say of machines. Keys: " kbd { "A" } " accept, " kbd { "R" } " reject, " kbd { "S" }
    " show." };
    ConsolePage { note, ..ConsolePage::new(&context, ConsoleSection::Reports, "Reports", body) }.respond().await
}

/// `POST /console/reports/{id}`: applies the moderation in the form field `decision`.
async fn decide(context: OperatorContext, Path(id): Path<String>, request: Request) -> Result<Response, ConsoleError> {
    let form = context.receive(request, &purpose(&id)).await?;
    let store = &context.store;
    let decision = match form.text("decision") {
        Some("accept") => Moderation::Accept,
        Some("reject") => Moderation::Reject,
        Some("show") => Moderation::Release,
        Some("undo") => Moderation::Undo,
        _ => return Err(Problem::field("decision", "must be accept, reject, show or undo").into()),
    };
    let report_id = ReportId::parse(&id).ok_or(Problem::NotFound)?;
    let report = sql::find(store, &report_id).await?.ok_or(Problem::NotFound)?;
    match sql::moderate(store, &report, decision, &context.actor(), context.now).await {
        Ok(()) => {}
        Err(WriteError::Conflict) => return explain_conflict(&context, report).await,
        Err(WriteError::Internal(error)) => return Err(error.into()),
    }
    Ok(context.redirect_to(&format!("/console/reports?done={id}")))
}

/// Returns the page for a report that was moderated already, with its state.
async fn explain_conflict(context: &OperatorContext, report: MachineReport) -> Result<Response, ConsoleError> {
    let now = sql::find(&context.store, &report.id).await?.unwrap_or(report);
    let body = html! {
        div.notice.warn role="alert" {
            (PageIcon::Info.draw(20))
            div { p { b { "Somebody was first." } } p.sm { "The report is " (now.state.as_str()) " already. Nothing has changed." } }
        }
        p { a.btn href=(context.origin.link("/console/reports")) { "Back to the reports" } }
    };
    let page = ConsolePage::new(context, ConsoleSection::Reports, "Reports", body).respond().await?;
    Ok((StatusCode::CONFLICT, page).into_response())
}

fn purpose(id: &str) -> String {
    format!("report {id}")
}

fn describe_state(state: ReportState) -> &'static str {
    match state {
        ReportState::New => "Waiting for you",
        ReportState::Shown => "Shown",
        ReportState::Accepted => "Accepted",
        ReportState::Rejected => "Rejected",
        ReportState::Duplicate => "Duplicates",
        ReportState::Expired => "Expired",
    }
}

fn filter(context: &OperatorContext, chosen: ReportState) -> Markup {
    html! {
        nav.filter aria-label="State" {
            @for state in ReportState::ALL {
                a href=(context.origin.link(&format!("/console/reports?state={}", state.as_str())))
                    aria-current=[(state == chosen).then_some("page")] { (describe_state(state)) }
            }
        }
    }
}

/// Draws the result of the last moderation, with a button to undo it.
fn draw_done(context: &OperatorContext, done: Option<&MachineReport>) -> Markup {
    let Some(report) = done else { return html! {} };
    let can_undo = matches!(report.state, ReportState::Accepted | ReportState::Rejected) && report.decided_at.is_some();
    html! {
        div.notice.ok role="status" {
            (PageIcon::Tick.draw(20))
            div {
                p { b { "The report is " (report.state.as_str()) "." } }
                @if can_undo { (buttons(context, report, &[("undo", "Undo", "small")])) }
            }
        }
    }
}

fn draw_list(context: &OperatorContext, snapshot: &Snapshot, reports: &[MachineReport]) -> Markup {
    html! {
        @if reports.is_empty() {
            div.empty { p { "No report is in this state. People report machines on their pages, and assistants by the API." } }
        } @else {
            ul.todo.reports {
                @for report in reports { li { (draw_report(context, snapshot, report)) } }
            }
        }
    }
}

fn draw_report(context: &OperatorContext, snapshot: &Snapshot, report: &MachineReport) -> Markup {
    let entry = snapshot.get(report.atm_id);
    let name = entry.map_or_else(|| format!("ATM {}", report.atm_id), |entry| entry.atm.record.title().to_owned());
    let address = entry.and_then(|entry| entry.atm.record.address.one_line());
    let link = context.origin.link(&format!("/console/machines/{}", report.atm_id));
    let choices: &[_] = match report.state {
        ReportState::New => {
            &[("accept", "Accept", "small"), ("reject", "Reject", "small danger"), ("show", "Only show", "small quiet")]
        }
        ReportState::Shown | ReportState::Duplicate => {
            &[("accept", "Accept", "small"), ("reject", "Reject", "small danger")]
        }
        ReportState::Accepted | ReportState::Rejected => &[("undo", "Undo", "small")],
        ReportState::Expired => &[],
    };
    html! {
        span.warn { (PageIcon::Flag.draw(20)) }
        div.stack-sm {
            h3 { a href=(link) { (signpost_text::clean_line(&name)) } ": " (describe_finding(report.seen)) }
            @if let Some(address) = address { p.sm.soft { (signpost_text::clean_line(&address)) } }
            @if let Some(text) = &report.text { blockquote { p { (signpost_text::clean_line(text)) } } }
            p.sm.soft {
                (describe_reporter(report)) ", " (render_time(report.created_at)) @if let Some(how) = report.how { " · " (describe_evidence(how)) }
                @if let Some(held) = report.held { " · " (describe_hold(held)) }
            }
            (buttons(context, report, choices))
        }
    }
}

fn describe_reporter(report: &MachineReport) -> String {
    match (&report.reporter, report.weight) {
        (Some(reporter), _) if reporter.starts_with("key_") => "Said by the operator of the machine".to_owned(),
        (Some(reporter), Weight::High) => format!("Said by {reporter}, who logs in here for more than a week"),
        (Some(reporter), Weight::Low) => format!("Said by {reporter}, who is new here"),
        (None, _) => "Said without a name".to_owned(),
    }
}

fn describe_evidence(how: EvidenceSource) -> &'static str {
    match how {
        EvidenceSource::Used => "they used it",
        EvidenceSource::Saw => "they saw it",
        EvidenceSource::Asked => "they asked there",
        EvidenceSource::Phoned => "they phoned",
    }
}

fn describe_hold(held: ModerationReason) -> &'static str {
    match held {
        ModerationReason::Flood => "it waits because many reports came within an hour",
        ModerationReason::Burst => "it waits because many machines of one operator are reported",
    }
}

fn buttons(context: &OperatorContext, report: &MachineReport, choices: &[(&str, &str, &str)]) -> Markup {
    let action = context.origin.link(&format!("/console/reports/{}", report.id));
    html! {
        @if !choices.is_empty() {
            form.row method="post" action=(action) {
                (context.token(&purpose(report.id.as_str())))
                @for (word, name, class) in choices {
                    button class={ "btn " (class) } name="decision" value=(word) data-key=(&word[..1]) { (name) }
                }
            }
        }
    }
}

/// Returns the page of a screen that needs the locator, if the locator is disabled.
pub(super) async fn no_locator(
    context: &OperatorContext,
    section: ConsoleSection,
    title: &str,
) -> Result<Response, ConsoleError> {
    let body = html! { div.empty { p { "The ATM locator does not run on this server. It does with " code { "services = [\"atm\", \"auth\"]" } "." } } };
    ConsolePage::new(context, section, title, body).respond().await
}
