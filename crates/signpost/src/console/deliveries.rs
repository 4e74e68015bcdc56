//! Pages about deliveries: the lists by state, and the page of a delivery with its attempts and the
//! reason of a rejection.

use axum::Router;
use axum::extract::{Path, Query, Request};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use jiff::SignedDuration;
use maud::{Markup, html};
use serde::Deserialize;
use signpost_login::domains;
use signpost_login::events::attempts::{PastAttempt, read_past_attempts};
use signpost_login::events::deliveries::{self, DeliveryRow, find_in_any_account};
use signpost_login::events::refusal::{RefusalReason, explain_refusal};
use signpost_login::events::retries::{self, MAX_RETRIED};
use signpost_login::events::{DeliveryListItem, RetryScope};
use signpost_login::ids::{DomainId, EventId};
use signpost_platform::accounts::{Account, Environment};
use signpost_platform::pages::icons::PageIcon;
use signpost_platform::web::problem::Problem;

use super::Console;
use super::context::{ConsoleError, OperatorContext};
use super::dates::{format_distance, render_time};
use super::deployment_facts::{BoundedCount, MAX_COUNTED};
use super::document::{ConsolePage, ConsoleSection};
use super::tables::{DELIVERY_HEADS, chip, delivery_chip, delivery_rows, older, panel, table};
use super::tasks::escape;

/// Number of deliveries on a page.
const PAGE_LEN: u32 = 50;
/// Maximum age of a delivery with a page that reloads until the first attempt. For a disabled endpoint, the attempt may
/// be late.
const RELOAD_TIME: SignedDuration = SignedDuration::from_mins(1);

/// The query parameters of the list of deliveries.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DeliveryQuery {
    state: String,
    /// The scheme, host and port of an endpoint's URL.
    endpoint: String,
    /// The account and the environment of the endpoint.
    account: String,
    environment: String,
    /// The domain of the deliveries; only used for failed deliveries.
    domain: String,
    before: String,
    /// Number of events that were sent again before this page.
    sent: Option<usize>,
}

/// The deliveries that the query selects.
struct DeliverySelection<'a> {
    query: &'a DeliveryQuery,
    /// The endpoint of an account.
    endpoint: Option<(Account, &'a str)>,
    domain: Option<DomainId>,
}

impl<'a> DeliverySelection<'a> {
    fn parse(query: &'a DeliveryQuery) -> Self {
        let mut endpoint = None;
        if !query.endpoint.is_empty()
            && let Some(environment) = Environment::parse(&query.environment)
        {
            endpoint = Some((Account { name: query.account.clone(), environment }, query.endpoint.as_str()));
        }
        Self { query, endpoint, domain: DomainId::parse(&query.domain) }
    }

    /// Returns the path of this selection in another state.
    fn path(&self, state: &str) -> String {
        let DeliveryQuery { endpoint, account, environment, domain, .. } = self.query;
        let mut parameters = vec![
            ("state", state),
            ("account", account),
            ("environment", environment),
            ("endpoint", endpoint),
            ("domain", domain),
        ];
        parameters.retain(|(_, value)| !value.is_empty());
        let parameters: Vec<_> = parameters.iter().map(|(name, value)| format!("{name}={}", escape(value))).collect();
        format!("/console/deliveries?{}", parameters.join("&"))
    }
}

pub(super) fn router() -> Router<Console> {
    Router::new()
        .route("/console/deliveries", get(show))
        .route("/console/deliveries/retry", post(retry_all))
        .route("/console/deliveries/{id}", get(show_delivery))
        .route("/console/deliveries/{id}/body", get(download_body))
        .route("/console/deliveries/{id}/retry", post(retry))
}

/// `GET /console/deliveries`: lists deliveries.
async fn show(context: OperatorContext, Query(query): Query<DeliveryQuery>) -> Result<Response, ConsoleError> {
    let origin = &context.origin;
    let selection = DeliverySelection::parse(&query);
    let (rows, next) = read(&context, &selection).await?;
    let none = match query.state.as_str() {
        "failed" => "No event failed for good.",
        "pending" => "No event waits.",
        _ => "No event was sent yet. Sites get one whenever somebody logs in.",
    };
    let listed = html! {
        (table("Deliveries", &DELIVERY_HEADS, delivery_rows(origin, &rows, context.now), &html! { p { (none) } }))
        (older(next))
    };
    let body = html! {
        @if let Some(sent) = query.sent {
            div.notice.ok role="status" { (PageIcon::Tick.draw(20)) p { (describe_sent(sent)) } }
        }
        nav.filter aria-label="State" {
            @for (state, name) in [("", "All"), ("pending", "Waiting"), ("failed", "Failed")] {
                a href=(origin.link(&selection.path(state))) aria-current=[(state == query.state).then_some("page")] { (name) }
            }
        }
        @if let Some((account, endpoint)) = &selection.endpoint {
            p.soft { "To " b { (signpost_text::clean_line(endpoint)) } " alone, of the account " (signpost_text::clean_line(&account.name)) ", " (account.environment.as_str()) ". "
                a href=(origin.link(&format!("/console/deliveries?state={}", escape(&query.state)))) { "Show all" } }
        }
        @if let Some(domain) = &selection.domain { p.soft { "Of the site " code { (domain) } " alone." } }
        (panel("list", "Deliveries", &retry_form(&context, &selection).await?, &listed))
    };
    ConsolePage::new(&context, ConsoleSection::Sites, "Deliveries", body).respond().await
}

fn describe_sent(sent: usize) -> String {
    match sent {
        0 => "Nothing failed for good: there is nothing to send again.".to_owned(),
        1 => "1 event is sent again within a second.".to_owned(),
        MAX_RETRIED.. => format!("{sent} events are sent again. More may be left: press the button again."),
        _ => format!("{sent} events are sent again within a second."),
    }
}

/// Draws the button that sends all failed events again, with their number.
async fn retry_form(context: &OperatorContext, selection: &DeliverySelection<'_>) -> anyhow::Result<Markup> {
    if selection.query.state != "failed" || selection.endpoint.is_some() {
        return Ok(html! {});
    }
    let domain = selection.domain.as_ref();
    let count = BoundedCount(match domain {
        Some(domain) => deliveries::count_failed_of_domain(&context.store, domain, MAX_COUNTED + 1).await?,
        None => deliveries::count_failed_up_to(&context.store, MAX_COUNTED + 1).await?,
    });
    Ok(html! {
        @if !count.is_zero() {
            form method="post" action=(context.origin.link("/console/deliveries/retry")) {
                (context.token("retry failed"))
                input type="hidden" name="domain" value=(domain.map_or("", DomainId::as_str));
                button.btn.small { "Send all of them again: " (count.text()) }
            }
        }
    })
}

/// Returns a page of the selected deliveries, and the link to the next page.
async fn read(
    context: &OperatorContext,
    selection: &DeliverySelection<'_>,
) -> anyhow::Result<(Vec<DeliveryRow>, Option<String>)> {
    let store = &context.store;
    let state = selection.query.state.as_str();
    let before = EventId::parse(&selection.query.before);
    let endpoint = selection.endpoint.as_ref().map(|(account, endpoint)| (account, *endpoint));
    let rows = match (state, endpoint) {
        ("failed", Some(endpoint)) => {
            deliveries::list_failed_at_endpoint(store, endpoint, before.as_ref(), PAGE_LEN).await?
        }
        ("failed", None) => {
            deliveries::list_failed(store, selection.domain.as_ref(), before.as_ref(), PAGE_LEN).await?
        }
        (_, Some(endpoint)) => return Ok((deliveries::list_waiting_for(store, endpoint, PAGE_LEN).await?, None)),
        ("pending", None) => return Ok((deliveries::list_waiting(store, PAGE_LEN).await?, None)),
        (_, None) => deliveries::list_newest(store, before.as_ref(), PAGE_LEN).await?,
    };
    let next = match rows.last() {
        Some(last) if rows.len() == PAGE_LEN as usize => {
            Some(context.origin.link(&format!("{}&before={}", selection.path(state), last.id)))
        }
        _ => None,
    };
    Ok((rows, next))
}

/// `GET /console/deliveries/{id}`: shows a delivery.
async fn show_delivery(context: OperatorContext, Path(id): Path<String>) -> Result<Response, ConsoleError> {
    let found = find_delivery(&context, &id).await?;
    render_delivery(&context, &found, html! {}).await
}

/// Returns the page of a delivery, with `above` as its first part.
pub(super) async fn render_delivery(
    context: &OperatorContext,
    found: &DeliveryListItem,
    above: Markup,
) -> Result<Response, ConsoleError> {
    let row = &found.delivery;
    let id = &row.id;
    let attempts = read_past_attempts(row.past_attempts.as_deref())?;
    let seal = context.config.login.seal();
    // The delivery is shown even if the secrets cannot be decrypted.
    let secrets = domains::sql::find_secrets(&context.store, &seal, &row.domain_id).await.ok().flatten();
    let origin = &context.origin;
    let exact =
        html! { a.sm href=(origin.link(&format!("/console/deliveries/{id}/body"))) { "Download the exact bytes" } };
    // The first attempt of a new delivery ends within a moment.
    let waits_for_attempt = row.state == "pending"
        && row.attempts == 0
        && above.0.is_empty()
        && context.now.duration_since(row.created_at) < RELOAD_TIME;
    let body = html! {
        (above)
        @if row.state != "delivered" {
            @if let Some(reason) = explain_refusal(&attempts, secrets.as_ref()) { (draw_reason(&reason)) }
        }
        (panel("facts", "The event", &html! {}, &facts(context, found)))
        (panel("attempts", "Attempts", &html! {}, &draw_attempts(&attempts)))
        (panel("body", "What every attempt sends", &exact, &html! { pre.inset { (draw_exact(&row.body)) } }))
    };
    let aside = html! {
        div.row {
            @if row.state != "delivered" && row.attempts > 0 {
                form method="post" action=(origin.link(&format!("/console/deliveries/{id}/compare"))) {
                    (context.token(&format!("compare {id}")))
                    button.btn { "Find out why" }
                }
            }
            form method="post" action=(origin.link(&format!("/console/deliveries/{id}/retry"))) {
                (context.token(&format!("retry {id}")))
                button.btn.primary { "Send it again" }
            }
        }
    };
    let reload_after = waits_for_attempt.then_some(2);
    let page =
        ConsolePage { aside, reload_after, ..ConsolePage::new(context, ConsoleSection::Sites, "One delivery", body) };
    page.respond().await
}

/// `GET /console/deliveries/{id}/body`: returns the signed bytes as a file that browsers do not
/// render.
async fn download_body(context: OperatorContext, Path(id): Path<String>) -> Result<Response, ConsoleError> {
    let found = find_delivery(&context, &id).await?;
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{}.json\"", found.delivery.id)),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    Ok((headers, found.delivery.body).into_response())
}

/// Draws a text with all its characters: invisible characters, and characters that change the direction, as code
/// points.
fn draw_exact(text: &str) -> Markup {
    html! {
        @for part in text.split_inclusive(|letter| !is_visible(letter)) {
            @match part.chars().next_back().filter(|last| !is_visible(*last)) {
                Some(last) => { (&part[..part.len() - last.len_utf8()]) mark { (format!("U+{:04X}", u32::from(last))) } }
                None => { (part) }
            }
        }
    }
}

fn is_visible(letter: char) -> bool {
    let mut bytes = [0; 4];
    let shown: &str = letter.encode_utf8(&mut bytes);
    signpost_text::clean_line(shown) == shown
}

fn facts(context: &OperatorContext, found: &DeliveryListItem) -> Markup {
    let DeliveryListItem { delivery: row, endpoint_disabled_at } = found;
    let site = context.origin.link(&format!("/console/sites/{}", row.domain_id));
    html! {
        dl.facts.inset {
            dt { "ID" } dd { code { (row.id) } }
            dt { "State" } dd { (delivery_chip(row)) }
            dt { "To" } dd { (signpost_text::clean_line(&row.url)) }
            dt { "Site" } dd { a href=(site) { (row.domain_id) } ", account " (signpost_text::clean_line(&row.account)) ", " (row.environment.as_str()) }
            dt { "Created" } dd { (render_time(row.created_at)) }
            @if row.state == "pending" { dt { "Next attempt" } dd { (format_distance(row.next_attempt_at, context.now)) } }
            @if let Some(at) = row.ended_at { dt { "Ended" } dd { (render_time(at)) } }
            @if let Some(at) = endpoint_disabled_at { dt { "Endpoint" } dd { "one attempt an hour since " (render_time(*at)) } }
        }
    }
}

fn draw_reason(reason: &RefusalReason) -> Markup {
    let text = reason.text();
    let (name, why) = text.split_once(": ").unwrap_or(("refused", &text));
    html! {
        div.notice.danger {
            (PageIcon::Stop.draw(20))
            div {
                h2 { "Why it was refused: " (name) }
                p { "As far as its last answer shows, " (signpost_text::clean_line(why)) "." }
                ul.points { @for line in reason.remedies() { li { (signpost_text::clean_line(&line)) "." } } }
            }
        }
    }
}

fn draw_attempts(attempts: &[PastAttempt]) -> Markup {
    let rows = attempts.iter().rev().map(|attempt| {
        let result = match attempt.status {
            Some(status @ 200..=299) => chip("ok", &format!("Taken, {status}")),
            Some(status) => chip("fail", &format!("Refused, {status}")),
            None => chip("fail", "No answer"),
        };
        let answer = attempt.error.as_deref().or(attempt.answer.as_deref()).unwrap_or("nothing");
        let took = html! { span.took { (attempt.duration_ms) " ms" } };
        vec![render_time(attempt.started_at), result, html! { (signpost_text::clean_line(answer)) }, took]
    });
    let none = html! { p { "There was no attempt yet." } };
    table("Attempts", &["When", "Result", "What it said", "Took"], rows, &none)
}

pub(super) async fn find_delivery(context: &OperatorContext, id: &str) -> Result<DeliveryListItem, ConsoleError> {
    let id = EventId::parse(id).ok_or(Problem::NotFound)?;
    Ok(find_in_any_account(&context.store, &id).await?.ok_or(Problem::NotFound)?)
}

/// `POST /console/deliveries/{id}/retry`: sends the event of a delivery again.
async fn retry(context: OperatorContext, Path(id): Path<String>, request: Request) -> Result<Response, ConsoleError> {
    context.receive(request, &format!("retry {id}")).await?;
    let found = find_delivery(&context, &id).await?;
    // An event that is being sent now is not sent again.
    retry_events(&context, RetryScope::One(&found.delivery.id, None)).await?;
    Ok(context.redirect_to(&format!("/console/deliveries/{id}")))
}

/// Sends events again, and returns their number.
pub(super) async fn retry_events(context: &OperatorContext, scope: RetryScope<'_>) -> Result<usize, ConsoleError> {
    let sent = retries::retry(&context.store, scope, &context.actor(), context.now).await?;
    context.login.outbox.notify_one();
    Ok(sent)
}

/// `POST /console/deliveries/retry`: sends all failed events again, of the site `domain` or of all sites.
async fn retry_all(context: OperatorContext, request: Request) -> Result<Response, ConsoleError> {
    let form = context.receive(request, "retry failed").await?;
    let domain = match form.text("domain").unwrap_or_default() {
        "" => None,
        id => Some(DomainId::parse(id).ok_or(Problem::NotFound)?),
    };
    let scope = domain.as_ref().map_or(RetryScope::Failed, RetryScope::FailedOfDomain);
    let sent = retry_events(&context, scope).await?;
    Ok(context.redirect_to(&format!("/console/deliveries?state=pending&sent={sent}")))
}
