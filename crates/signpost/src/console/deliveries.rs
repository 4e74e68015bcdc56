//! Deliveries: what waits, what failed, and one of them with every attempt and why it was refused.

use axum::Router;
use axum::extract::{Path, Query, Request};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use serde::Deserialize;
use signpost_login::domains;
use signpost_login::events::attempts::{PastAttempt, read_past_attempts};
use signpost_login::events::deliveries::{self, DeliveryRow, find_in_any_account};
use signpost_login::events::refusal::{RefusalReason, explain_refusal};
use signpost_login::events::{DeliveryListItem, RetryChoice};
use signpost_login::ids::{DomainId, EventId};
use signpost_platform::pages::icons::Sign;
use signpost_platform::web::problem::Problem;

use super::Console;
use super::dates::{moment, say_distance};
use super::document::{ConsolePage, Screen};
use super::tables::{DELIVERY_HEADS, chip, delivery_chip, delivery_rows, older, panel, table};
use super::todo::escape;
use super::visit::{OperatorVisit, failed, to};

/// How many a page has.
const SHOWN: u32 = 50;
/// How many that wait are looked through for one endpoint.
const LOOKED_THROUGH: u32 = 1_000;

/// What the address chooses.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DeliveryChoice {
    state: String,
    /// Scheme, host and port; of those that wait.
    endpoint: String,
    /// Of those that failed.
    domain: String,
    before: String,
}

pub(super) fn router() -> Router<Console> {
    Router::new()
        .route("/console/deliveries", get(show))
        .route("/console/deliveries/retry", post(retry_all))
        .route("/console/deliveries/{id}", get(show_one))
        .route("/console/deliveries/{id}/retry", post(retry))
}

/// `GET /console/deliveries`
async fn show(visit: OperatorVisit, Query(chosen): Query<DeliveryChoice>) -> Result<Response, Response> {
    let origin = &visit.console.origin;
    let (rows, next) = read(&visit, &chosen).await.map_err(failed)?;
    let domain = DomainId::parse(&chosen.domain);
    let is_failed = chosen.state == "failed";
    let none = match chosen.state.as_str() {
        "failed" => "No event failed for good.",
        "pending" => "No event waits.",
        _ => "No event was sent yet. Sites get one whenever somebody logs in.",
    };
    let listed = html! {
        (table("Deliveries", &DELIVERY_HEADS, &delivery_rows(origin, &rows, visit.now), &html! { p { (none) } }))
        (older(next))
    };
    let retry = html! {
        @if is_failed && !rows.is_empty() {
            form method="post" action=(origin.link("/console/deliveries/retry")) {
                (visit.token("retry failed"))
                input type="hidden" name="domain" value=(domain.as_ref().map_or("", DomainId::as_str));
                button.btn.small { "Send all of them again" }
            }
        }
    };
    let body = html! {
        nav.filter aria-label="State" {
            @for (state, name) in [("", "All"), ("pending", "Waiting"), ("failed", "Failed")] {
                a href=(origin.link(&format!("/console/deliveries?state={state}"))) aria-current=[(state == chosen.state).then_some("page")] { (name) }
            }
        }
        @if !chosen.endpoint.is_empty() { p.soft { "To " b { (signpost_text::line(&chosen.endpoint)) } " alone." } }
        @if let Some(domain) = &domain { p.soft { "Of the site " code { (domain) } " alone." } }
        (panel("list", "Deliveries", &retry, &listed))
    };
    let page = ConsolePage::new(&visit, Screen::Sites, "Deliveries", body);
    Ok(page.respond().await)
}

/// The rows that were chosen, and the address of the next ones.
async fn read(visit: &OperatorVisit, chosen: &DeliveryChoice) -> anyhow::Result<(Vec<DeliveryRow>, Option<String>)> {
    let (store, before) = (&visit.console.store, EventId::parse(&chosen.before));
    let domain = DomainId::parse(&chosen.domain);
    let rows = match chosen.state.as_str() {
        "pending" if chosen.endpoint.is_empty() => return Ok((deliveries::list_waiting(store, SHOWN).await?, None)),
        "pending" => {
            let waiting = deliveries::list_waiting(store, LOOKED_THROUGH).await?;
            let of_endpoint = waiting.into_iter().filter(|row| row.endpoint == chosen.endpoint);
            return Ok((of_endpoint.take(SHOWN as usize).collect(), None));
        }
        "failed" => deliveries::list_failed(store, domain.as_ref(), before.as_ref(), SHOWN).await?,
        _ => deliveries::list_newest(store, before.as_ref(), SHOWN).await?,
    };
    let next = rows.last().filter(|_| rows.len() == SHOWN as usize).map(|last| {
        let (state, domain) = (escape(&chosen.state), escape(&chosen.domain));
        visit.console.origin.link(&format!("/console/deliveries?state={state}&domain={domain}&before={}", last.id))
    });
    Ok((rows, next))
}

/// `GET /console/deliveries/{id}`
async fn show_one(visit: OperatorVisit, Path(id): Path<String>) -> Result<Response, Response> {
    let found = find(&visit, &id).await?;
    let row = &found.delivery;
    let attempts = read_past_attempts(row.past_attempts.as_deref()).map_err(failed)?;
    let (store, seal) = (&visit.console.store, visit.console.config.login.seal());
    // Without the key that encrypts them, all else can still be told.
    let secrets = domains::sql::find_secrets(store, &seal, &row.domain_id).await.ok().flatten();
    let reason = explain_refusal(&attempts, secrets.as_ref()).filter(|_| row.state != "delivered");
    let origin = &visit.console.origin;
    let body = html! {
        @if let Some(reason) = &reason { (draw_reason(reason)) }
        (panel("facts", "The event", &html! {}, &facts(&visit, &found)))
        (panel("attempts", "Attempts", &html! {}, &draw_attempts(&attempts)))
        (panel("body", "What every attempt sends", &html! {}, &html! { pre.inset { (signpost_text::line(&row.body)) } }))
    };
    let aside = html! {
        form method="post" action=(origin.link(&format!("/console/deliveries/{id}/retry"))) {
            (visit.token(&format!("retry {id}")))
            button.btn.primary { "Send it again" }
        }
    };
    // The first attempt of what was just created ends within a moment.
    let reload_after = (row.state == "pending" && row.attempts == 0).then_some(2);
    let page = ConsolePage { aside, reload_after, ..ConsolePage::new(&visit, Screen::Sites, "One delivery", body) };
    Ok(page.respond().await)
}

fn facts(visit: &OperatorVisit, found: &DeliveryListItem) -> Markup {
    let DeliveryListItem { delivery: row, endpoint_disabled_at } = found;
    let site = visit.console.origin.link(&format!("/console/sites/{}", row.domain_id));
    html! {
        dl.facts.inset {
            dt { "ID" } dd { code { (row.id) } }
            dt { "State" } dd { (delivery_chip(row)) }
            dt { "To" } dd { (signpost_text::line(&row.url)) }
            dt { "Site" } dd { a href=(site) { (row.domain_id) } ", account " (signpost_text::line(&row.account)) ", " (row.environment.as_str()) }
            dt { "Created" } dd { (moment(row.created_at)) }
            @if row.state == "pending" { dt { "Next attempt" } dd { (say_distance(row.next_attempt_at, visit.now)) } }
            @if let Some(at) = row.ended_at { dt { "Ended" } dd { (moment(at)) } }
            @if let Some(at) = endpoint_disabled_at { dt { "Endpoint" } dd { "one attempt an hour since " (moment(*at)) } }
        }
    }
}

fn draw_reason(reason: &RefusalReason) -> Markup {
    let text = reason.text();
    let (name, why) = text.split_once(": ").unwrap_or(("refused", &text));
    html! {
        div.notice.danger {
            (Sign::Stop.draw(20))
            div {
                h2 { "Why it was refused: " (name) }
                p { "As far as its last answer shows, " (signpost_text::line(why)) "." }
                ul.points { @for line in reason.mending() { li { (signpost_text::line(&line)) "." } } }
            }
        }
    }
}

fn draw_attempts(attempts: &[PastAttempt]) -> Markup {
    let row = |attempt: &PastAttempt| {
        let result = match (attempt.status, &attempt.error) {
            (Some(status @ 200..=299), _) => chip("ok", &format!("Taken, {status}")),
            (Some(status), _) => chip("fail", &format!("Refused, {status}")),
            (None, _) => chip("fail", "No answer"),
        };
        let said = attempt.error.as_deref().or(attempt.answer.as_deref()).unwrap_or("nothing");
        let took = html! { span.took { (attempt.duration_ms) " ms" } };
        vec![moment(attempt.started_at), result, html! { (signpost_text::line(said)) }, took]
    };
    let rows: Vec<_> = attempts.iter().rev().map(row).collect();
    table("Attempts", &["When", "Result", "What it said", "Took"], &rows, &html! { p { "There was no attempt yet." } })
}

async fn find(visit: &OperatorVisit, id: &str) -> Result<DeliveryListItem, Response> {
    let found = match EventId::parse(id) {
        Some(id) => find_in_any_account(&visit.console.store, &id).await.map_err(failed)?,
        None => None,
    };
    found.ok_or_else(|| Problem::NotFound.into_response())
}

/// `POST /console/deliveries/{id}/retry`
async fn retry(visit: OperatorVisit, Path(id): Path<String>, request: Request) -> Result<Response, Response> {
    visit.receive(request, &format!("retry {id}")).await?;
    let found = find(&visit, &id).await?;
    let which = RetryChoice::One(&found.delivery.id);
    // Where it is being sent just now, that is the attempt that was asked for.
    deliveries::retry(&visit.console.store, None, which, &visit.actor(), visit.now).await.map_err(failed)?;
    Ok(to(&visit.console, &format!("/console/deliveries/{id}")))
}

/// `POST /console/deliveries/retry`: all that failed, of the site `domain` or of all.
async fn retry_all(visit: OperatorVisit, request: Request) -> Result<Response, Response> {
    let form = visit.receive(request, "retry failed").await?;
    let domain = match form.text("domain").unwrap_or_default() {
        "" => None,
        id => Some(DomainId::parse(id).ok_or_else(|| Problem::NotFound.into_response())?),
    };
    let which = RetryChoice::Failed(domain.as_ref());
    deliveries::retry(&visit.console.store, None, which, &visit.actor(), visit.now).await.map_err(failed)?;
    Ok(to(&visit.console, "/console/deliveries?state=pending"))
}
