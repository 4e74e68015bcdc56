//! Reports: what people say of machines, and the moderator's decision.

use axum::Router;
use axum::extract::{Path, Query, Request};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use serde::Deserialize;
use signpost_atm::catalogue::Snapshot;
use signpost_atm::reports::sql::{self, Moderation};
use signpost_atm::reports::{HoldReason, HowSeen, MachineReport, ReportId, ReportState, Weight};
use signpost_platform::pages::icons::Sign;
use signpost_platform::web::problem::Problem;
use signpost_store::WriteError;

use super::Console;
use super::dates::moment;
use super::document::{ConsolePage, Screen};
use super::tables::panel;
use super::todo::say_seen;
use super::visit::{OperatorVisit, failed, to};

/// How many are shown at a time.
const SHOWN: u32 = 50;

/// What the address chooses.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ReportChoice {
    state: String,
    /// The report that was decided on before this page was loaded.
    done: String,
}

pub(super) fn router() -> Router<Console> {
    Router::new().route("/console/reports", get(show)).route("/console/reports/{id}", post(decide))
}

/// `GET /console/reports`
async fn show(visit: OperatorVisit, Query(chosen): Query<ReportChoice>) -> Result<Response, Response> {
    let Some(atm) = &visit.console.atm else { return Ok(no_locator(&visit, Screen::Reports, "Reports").await) };
    let (store, snapshot) = (&visit.console.store, atm.catalogue.snapshot());
    let state = ReportState::parse(&chosen.state).unwrap_or(ReportState::New);
    let reports = sql::list(store, Some(state), None, SHOWN).await.map_err(failed)?;
    let done = match ReportId::parse(&chosen.done) {
        Some(id) => sql::find(store, &id).await.map_err(failed)?,
        None => None,
    };
    let body = html! {
        (draw_done(&visit, done.as_ref()))
        (filter(&visit, state))
        (panel("list", &say_state(state), &html! {}, &draw_list(&visit, &snapshot, &reports)))
    };
    let note = html! { "What people say of machines. Keys: " kbd { "A" } " accept, " kbd { "R" } " reject, " kbd { "S" }
    " show." };
    Ok(ConsolePage { note, ..ConsolePage::new(&visit, Screen::Reports, "Reports", body) }.respond().await)
}

/// `POST /console/reports/{id}`: `decision`.
async fn decide(visit: OperatorVisit, Path(id): Path<String>, request: Request) -> Result<Response, Response> {
    let form = visit.receive(request, &purpose(&id)).await?;
    let store = &visit.console.store;
    let what = match form.text("decision") {
        Some("accept") => Moderation::Accept,
        Some("reject") => Moderation::Reject,
        Some("show") => Moderation::Release,
        Some("undo") => Moderation::Undo,
        _ => return Err(Problem::field("decision", "must be accept, reject, show or undo").into_response()),
    };
    let found = match ReportId::parse(&id) {
        Some(id) => sql::find(store, &id).await.map_err(failed)?,
        None => None,
    };
    let report = found.ok_or_else(|| Problem::NotFound.into_response())?;
    match sql::moderate(store, &report, what, &visit.actor(), visit.now).await {
        Ok(()) => {}
        Err(WriteError::Conflict) => return explain_conflict(&visit, report).await,
        Err(WriteError::Internal(error)) => return Err(failed(error)),
    }
    Ok(to(&visit.console, &format!("/console/reports?done={id}")))
}

/// Returns the page for a report that was moderated before, with its state.
async fn explain_conflict(visit: &OperatorVisit, report: MachineReport) -> Result<Response, Response> {
    let now = sql::find(&visit.console.store, &report.id).await.map_err(failed)?.unwrap_or(report);
    let body = html! {
        div.notice.warn role="alert" {
            (Sign::Info.draw(20))
            div { p { b { "Somebody was first." } } p.sm { "The report is " (now.state.as_str()) " already. Nothing has changed." } }
        }
        p { a.btn href=(visit.console.origin.link("/console/reports")) { "Back to the reports" } }
    };
    let page = ConsolePage::new(visit, Screen::Reports, "Reports", body).respond().await;
    Ok((StatusCode::CONFLICT, page).into_response())
}

fn purpose(id: &str) -> String {
    format!("report {id}")
}

fn say_state(state: ReportState) -> String {
    match state {
        ReportState::New => "Waiting for you",
        ReportState::Shown => "Shown",
        ReportState::Accepted => "Accepted",
        ReportState::Rejected => "Rejected",
        ReportState::Duplicate => "Duplicates",
        ReportState::Expired => "Expired",
    }
    .to_owned()
}

fn filter(visit: &OperatorVisit, chosen: ReportState) -> Markup {
    html! {
        nav.filter aria-label="State" {
            @for state in ReportState::ALL {
                a href=(visit.console.origin.link(&format!("/console/reports?state={}", state.as_str())))
                    aria-current=[(state == chosen).then_some("page")] { (say_state(state)) }
            }
        }
    }
}

/// What was decided a moment ago, and the way back.
fn draw_done(visit: &OperatorVisit, done: Option<&MachineReport>) -> Markup {
    let Some(report) = done else { return html! {} };
    let can_undo = matches!(report.state, ReportState::Accepted | ReportState::Rejected) && report.decided_at.is_some();
    html! {
        div.notice.ok role="status" {
            (Sign::Tick.draw(20))
            div {
                p { b { "The report is " (report.state.as_str()) "." } }
                @if can_undo { (buttons(visit, report, &[("undo", "Undo", "small")])) }
            }
        }
    }
}

fn draw_list(visit: &OperatorVisit, snapshot: &Snapshot, reports: &[MachineReport]) -> Markup {
    html! {
        @if reports.is_empty() {
            div.empty { p { "No report is in this state. People report machines on their pages, and assistants by the API." } }
        } @else {
            ul.todo.reports {
                @for report in reports { li { (draw_report(visit, snapshot, report)) } }
            }
        }
    }
}

fn draw_report(visit: &OperatorVisit, snapshot: &Snapshot, report: &MachineReport) -> Markup {
    let entry = snapshot.get(report.atm_id);
    let name = entry.map_or_else(|| format!("ATM {}", report.atm_id), |entry| entry.machine.record.title().to_owned());
    let address = entry.and_then(|entry| entry.machine.record.address.one_line());
    let link = visit.console.origin.link(&format!("/console/machines/{}", report.atm_id));
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
        span.warn { (Sign::Flag.draw(20)) }
        div.stack-sm {
            h3 { a href=(link) { (signpost_text::line(&name)) } ": " (say_seen(report.seen)) }
            @if let Some(address) = address { p.sm.soft { (signpost_text::line(&address)) } }
            @if let Some(text) = &report.text { blockquote { p { (signpost_text::line(text)) } } }
            p.sm.soft {
                (say_who(report)) ", " (moment(report.created_at)) @if let Some(how) = report.how { " · " (say_how(how)) }
                @if let Some(held) = report.held { " · " (say_held(held)) }
            }
            (buttons(visit, report, choices))
        }
    }
}

fn say_who(report: &MachineReport) -> String {
    match (&report.reporter, report.weight) {
        (Some(reporter), _) if reporter.starts_with("key_") => "Said by the operator of the machine".to_owned(),
        (Some(reporter), Weight::Signed) => format!("Said by {reporter}, who logs in here for more than a week"),
        (Some(reporter), Weight::Light) => format!("Said by {reporter}, who is new here"),
        (None, _) => "Said without a name".to_owned(),
    }
}

fn say_how(how: HowSeen) -> &'static str {
    match how {
        HowSeen::Used => "they used it",
        HowSeen::Saw => "they saw it",
        HowSeen::Asked => "they asked there",
        HowSeen::Phoned => "they phoned",
    }
}

fn say_held(held: HoldReason) -> &'static str {
    match held {
        HoldReason::Flood => "it waits because many reports came within an hour",
        HoldReason::Burst => "it waits because many machines of one operator are reported",
    }
}

fn buttons(visit: &OperatorVisit, report: &MachineReport, choices: &[(&str, &str, &str)]) -> Markup {
    let action = visit.console.origin.link(&format!("/console/reports/{}", report.id));
    html! {
        @if !choices.is_empty() {
            form.row method="post" action=(action) {
                (visit.token(&purpose(report.id.as_str())))
                @for (word, name, class) in choices {
                    button class={ "btn " (class) } name="decision" value=(word) data-key=(&word[..1]) { (name) }
                }
            }
        }
    }
}

/// The page of a screen that needs the locator, where it does not run.
pub(super) async fn no_locator(visit: &OperatorVisit, screen: Screen, title: &str) -> Response {
    let body = html! { div.empty { p { "The ATM locator does not run on this server. It does with " code { "services = [\"atm\", \"auth\"]" } "." } } };
    ConsolePage::new(visit, screen, title, body).respond().await
}
