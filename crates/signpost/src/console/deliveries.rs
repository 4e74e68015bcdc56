//! Deliveries: what waits, what failed, and one of them with every attempt and why it was refused.

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
use signpost_login::events::retries::{self, MOST_RETRIED};
use signpost_login::events::{DeliveryListItem, RetryChoice};
use signpost_login::ids::{DomainId, EventId};
use signpost_platform::accounts::{Account, Environment};
use signpost_platform::pages::icons::Sign;
use signpost_platform::web::problem::Problem;

use super::Console;
use super::dates::{moment, say_distance};
use super::document::{ConsolePage, Screen};
use super::facts::{COUNTED_TO, CountUpTo};
use super::tables::{DELIVERY_HEADS, chip, delivery_chip, delivery_rows, older, panel, table};
use super::todo::escape;
use super::visit::{OperatorVisit, failed, to};

/// How many a page has.
const SHOWN: u32 = 50;
/// How long a page that waits for a first attempt loads itself again: an endpoint that is left alone may have none for long.
const RELOADS_FOR: SignedDuration = SignedDuration::from_mins(1);

/// What the address chooses.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DeliveryChoice {
    state: String,
    /// Scheme, host and port, of the account.
    endpoint: String,
    account: String,
    environment: String,
    /// Of those that failed.
    domain: String,
    before: String,
    /// How many were sent again before the page was loaded.
    sent: Option<usize>,
}

impl DeliveryChoice {
    /// The endpoint of an account that was chosen.
    fn place(&self) -> Option<(Account, &str)> {
        let environment = Environment::parse(&self.environment).filter(|_| !self.endpoint.is_empty())?;
        Some((Account { name: self.account.clone(), environment }, &self.endpoint))
    }

    fn domain(&self) -> Option<DomainId> {
        DomainId::parse(&self.domain)
    }

    /// The address of the same choice in another state.
    fn path(&self, state: &str) -> String {
        let Self { endpoint, account, environment, domain, .. } = self;
        let chosen = [
            ("state", state),
            ("account", account),
            ("environment", environment),
            ("endpoint", endpoint),
            ("domain", domain),
        ];
        let chosen = chosen.iter().filter(|(_, value)| !value.is_empty());
        let chosen: Vec<_> = chosen.map(|(name, value)| format!("{name}={}", escape(value))).collect();
        format!("/console/deliveries?{}", chosen.join("&"))
    }
}

pub(super) fn router() -> Router<Console> {
    Router::new()
        .route("/console/deliveries", get(show))
        .route("/console/deliveries/retry", post(retry_all))
        .route("/console/deliveries/{id}", get(show_one))
        .route("/console/deliveries/{id}/body", get(download_body))
        .route("/console/deliveries/{id}/retry", post(retry))
}

/// `GET /console/deliveries`
async fn show(visit: OperatorVisit, Query(chosen): Query<DeliveryChoice>) -> Result<Response, Response> {
    let origin = &visit.console.origin;
    let (rows, next) = read(&visit, &chosen).await.map_err(failed)?;
    let none = match chosen.state.as_str() {
        "failed" => "No event failed for good.",
        "pending" => "No event waits.",
        _ => "No event was sent yet. Sites get one whenever somebody logs in.",
    };
    let listed = html! {
        (table("Deliveries", &DELIVERY_HEADS, &delivery_rows(origin, &rows, visit.now), &html! { p { (none) } }))
        (older(next))
    };
    let body = html! {
        @if let Some(sent) = chosen.sent {
            div.notice.ok role="status" { (Sign::Tick.draw(20)) p { (say_sent(sent)) } }
        }
        nav.filter aria-label="State" {
            @for (state, name) in [("", "All"), ("pending", "Waiting"), ("failed", "Failed")] {
                a href=(origin.link(&chosen.path(state))) aria-current=[(state == chosen.state).then_some("page")] { (name) }
            }
        }
        @if let Some((account, endpoint)) = chosen.place() {
            p.soft { "To " b { (signpost_text::line(endpoint)) } " alone, of the account " (signpost_text::line(&account.name)) ", " (account.environment.as_str()) ". "
                a href=(origin.link(&format!("/console/deliveries?state={}", escape(&chosen.state)))) { "Show all" } }
        }
        @if let Some(domain) = chosen.domain() { p.soft { "Of the site " code { (domain) } " alone." } }
        (panel("list", "Deliveries", &retry_form(&visit, &chosen).await.map_err(failed)?, &listed))
    };
    let page = ConsolePage::new(&visit, Screen::Sites, "Deliveries", body);
    Ok(page.respond().await)
}

fn say_sent(sent: usize) -> String {
    match sent {
        0 => "Nothing failed for good: there is nothing to send again.".to_owned(),
        1 => "1 event is sent again within a second.".to_owned(),
        MOST_RETRIED.. => format!("{sent} events are sent again. More may be left: press the button again."),
        _ => format!("{sent} events are sent again within a second."),
    }
}

/// The button that sends all again that failed, and how many that is.
async fn retry_form(visit: &OperatorVisit, chosen: &DeliveryChoice) -> anyhow::Result<Markup> {
    if chosen.state != "failed" || chosen.place().is_some() {
        return Ok(html! {});
    }
    let (store, most) = (&visit.console.store, COUNTED_TO + 1);
    let domain = chosen.domain();
    let found = match &domain {
        Some(domain) => deliveries::count_failed_of_up_to(store, domain, most).await?,
        None => deliveries::count_failed_up_to(store, most).await?,
    };
    let found = CountUpTo(found);
    Ok(html! {
        @if !found.is_none() {
            form method="post" action=(visit.console.origin.link("/console/deliveries/retry")) {
                (visit.token("retry failed"))
                input type="hidden" name="domain" value=(domain.as_ref().map_or("", DomainId::as_str));
                button.btn.small { "Send all of them again: " (found.say()) }
            }
        }
    })
}

/// The rows that were chosen, and the address of the next ones.
async fn read(visit: &OperatorVisit, chosen: &DeliveryChoice) -> anyhow::Result<(Vec<DeliveryRow>, Option<String>)> {
    let (store, before) = (&visit.console.store, EventId::parse(&chosen.before));
    let (domain, place) = (chosen.domain(), chosen.place());
    let place = place.as_ref().map(|(account, endpoint)| (account, *endpoint));
    let rows = match (chosen.state.as_str(), place) {
        ("failed", Some(place)) => deliveries::list_failed_to(store, place, before.as_ref(), SHOWN).await?,
        ("failed", None) => deliveries::list_failed(store, domain.as_ref(), before.as_ref(), SHOWN).await?,
        (_, Some(place)) => return Ok((deliveries::list_waiting_for(store, place, SHOWN).await?, None)),
        ("pending", None) => return Ok((deliveries::list_waiting(store, SHOWN).await?, None)),
        (_, None) => deliveries::list_newest(store, before.as_ref(), SHOWN).await?,
    };
    let next = rows.last().filter(|_| rows.len() == SHOWN as usize);
    let next =
        next.map(|last| visit.console.origin.link(&format!("{}&before={}", chosen.path(&chosen.state), last.id)));
    Ok((rows, next))
}

/// `GET /console/deliveries/{id}`
async fn show_one(visit: OperatorVisit, Path(id): Path<String>) -> Result<Response, Response> {
    let found = find_delivery(&visit, &id).await?;
    render_delivery(&visit, &found, html! {}).await
}

/// The page of a delivery, with what stands above all of it.
pub(super) async fn render_delivery(
    visit: &OperatorVisit,
    found: &DeliveryListItem,
    above: Markup,
) -> Result<Response, Response> {
    let (row, id) = (&found.delivery, &found.delivery.id);
    let attempts = read_past_attempts(row.past_attempts.as_deref()).map_err(failed)?;
    let (store, seal) = (&visit.console.store, visit.console.config.login.seal());
    // Without the key that encrypts them, all else can still be told.
    let secrets = domains::sql::find_secrets(store, &seal, &row.domain_id).await.ok().flatten();
    let reason = explain_refusal(&attempts, secrets.as_ref()).filter(|_| row.state != "delivered");
    let origin = &visit.console.origin;
    let exact =
        html! { a.sm href=(origin.link(&format!("/console/deliveries/{id}/body"))) { "Download the exact bytes" } };
    let is_asked_again = row.state == "pending" && row.attempts == 0 && above.0.is_empty();
    let body = html! {
        (above)
        @if let Some(reason) = &reason { (draw_reason(reason)) }
        (panel("facts", "The event", &html! {}, &facts(visit, found)))
        (panel("attempts", "Attempts", &html! {}, &draw_attempts(&attempts)))
        (panel("body", "What every attempt sends", &exact, &html! { pre.inset { (draw_exact(&row.body)) } }))
    };
    let aside = html! {
        div.row {
            @if row.state != "delivered" && row.attempts > 0 {
                form method="post" action=(origin.link(&format!("/console/deliveries/{id}/compare"))) {
                    (visit.token(&format!("compare {id}")))
                    button.btn { "Find out why" }
                }
            }
            form method="post" action=(origin.link(&format!("/console/deliveries/{id}/retry"))) {
                (visit.token(&format!("retry {id}")))
                button.btn.primary { "Send it again" }
            }
        }
    };
    // The first attempt of what was just created ends within a moment.
    let reload_after = is_asked_again.then_some(2).filter(|_| visit.now.duration_since(row.created_at) < RELOADS_FOR);
    let page = ConsolePage { aside, reload_after, ..ConsolePage::new(visit, Screen::Sites, "One delivery", body) };
    Ok(page.respond().await)
}

/// `GET /console/deliveries/{id}/body`: what is signed, byte by byte, as a file that no browser shows.
async fn download_body(visit: OperatorVisit, Path(id): Path<String>) -> Result<Response, Response> {
    let found = find_delivery(&visit, &id).await?;
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{}.json\"", found.delivery.id)),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    Ok((headers, found.delivery.body).into_response())
}

/// A text with every character that it has: what cannot be seen, or turns the others round, by its number.
fn draw_exact(text: &str) -> Markup {
    let is_plain = |letter: char| {
        let mut bytes = [0; 4];
        let alone: &str = letter.encode_utf8(&mut bytes);
        signpost_text::line(alone) == alone
    };
    html! {
        @for part in text.split_inclusive(|letter| !is_plain(letter)) {
            @match part.chars().next_back().filter(|last| !is_plain(*last)) {
                Some(last) => { (&part[..part.len() - last.len_utf8()]) mark { (format!("U+{:04X}", u32::from(last))) } }
                None => { (part) }
            }
        }
    }
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

pub(super) async fn find_delivery(visit: &OperatorVisit, id: &str) -> Result<DeliveryListItem, Response> {
    let found = match EventId::parse(id) {
        Some(id) => find_in_any_account(&visit.console.store, &id).await.map_err(failed)?,
        None => None,
    };
    found.ok_or_else(|| Problem::NotFound.into_response())
}

/// `POST /console/deliveries/{id}/retry`
async fn retry(visit: OperatorVisit, Path(id): Path<String>, request: Request) -> Result<Response, Response> {
    visit.receive(request, &format!("retry {id}")).await?;
    let found = find_delivery(&visit, &id).await?;
    let which = RetryChoice::One(&found.delivery.id, None);
    // Where it is being sent just now, that is the attempt that was asked for.
    retry_events(&visit, which).await?;
    Ok(to(&visit.console, &format!("/console/deliveries/{id}")))
}

/// Sends events again, and says how many those are.
pub(super) async fn retry_events(visit: &OperatorVisit, which: RetryChoice<'_>) -> Result<usize, Response> {
    let sent = retries::retry(&visit.console.store, which, &visit.actor(), visit.now).await.map_err(failed)?;
    visit.console.login.outbox.notify_one();
    Ok(sent)
}

/// `POST /console/deliveries/retry`: all that failed, of the site `domain` or of all.
async fn retry_all(visit: OperatorVisit, request: Request) -> Result<Response, Response> {
    let form = visit.receive(request, "retry failed").await?;
    let domain = match form.text("domain").unwrap_or_default() {
        "" => None,
        id => Some(DomainId::parse(id).ok_or_else(|| Problem::NotFound.into_response())?),
    };
    let which = domain.as_ref().map_or(RetryChoice::Failed, RetryChoice::FailedOfDomain);
    let sent = retry_events(&visit, which).await?;
    Ok(to(&visit.console, &format!("/console/deliveries?state=pending&sent={sent}")))
}
