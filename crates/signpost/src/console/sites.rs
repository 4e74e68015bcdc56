//! Sites: the domains of all accounts with their proof, and one of them with what can be done about it.

use axum::Router;
use axum::extract::{Path, Query, Request};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::json;
use signpost_login::domains::{self, Domain, HandlerKind, overview};
use signpost_login::events::endpoints::{find_failing, list_failing};
use signpost_login::events::{self, FailingEndpoint, RetryChoice, deliveries};
use signpost_login::ids::{DomainId, EventId};
use signpost_login::sessions;
use signpost_platform::accounts::audit::Action;
use signpost_platform::accounts::audit::sql::insert_entry;
use signpost_platform::accounts::{Environment, SERVER_ACCOUNT};
use signpost_platform::pages::icons::Sign;
use signpost_platform::web::problem::Problem;
use signpost_store::random;

use super::Console;
use super::dates::{moment, say_moment};
use super::deliveries::retry_events;
use super::document::{ConsolePage, Screen};
use super::facts::{COUNTED_TO, FAILING};
use super::site_form::{NEW_SITE_PATH, draw_proof};
use super::site_secrets::{draw_secrets, find_site};
use super::tables::{chip, older, panel, table};
use super::todo::path_to_reason;
use super::visit::{OperatorVisit, failed, to};

/// How many domains a page has.
const SHOWN: u32 = 50;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SitePage {
    before: String,
}

/// What the address of one says was done before it was loaded.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SiteDeed {
    said: String,
}

pub(super) fn router() -> Router<Console> {
    Router::new()
        .route("/console/sites", get(show))
        .route("/console/sites/{id}", get(show_one))
        .route("/console/sites/{id}/test", post(send_test))
        .route("/console/sites/{id}/check", post(check_proof))
        .route("/console/sites/{id}/retry", post(retry_failed))
}

/// `GET /console/sites`
async fn show(visit: OperatorVisit, Query(page): Query<SitePage>) -> Result<Response, Response> {
    let (store, origin) = (&visit.console.store, &visit.console.origin);
    let before = DomainId::parse(&page.before);
    let domains = overview::list_page(store, before.as_ref(), SHOWN).await.map_err(failed)?;
    let failing = list_failing(store, FAILING).await.map_err(failed)?;
    let rows: Vec<_> = domains.iter().map(|domain| domain_row(&visit, domain)).collect();
    let mut failing_rows = Vec::new();
    for one in &failing {
        failing_rows.push(failing_row(&visit, one).await.map_err(failed)?);
    }
    let next = domains.last().filter(|_| domains.len() == SHOWN as usize);
    let next = next.map(|last| origin.link(&format!("/console/sites?before={}", last.id)));
    let none = html! {
        p { "No site is registered yet. Add one here, or let its server do it by " code { "POST /v1/domains" } "." }
        p { a.btn.primary href=(origin.link(NEW_SITE_PATH)) { "Add a site" } }
    };
    let aside = html! {
        div.row {
            a.btn.small href=(origin.link(NEW_SITE_PATH)) { "Add a site" }
            a.btn.small href=(origin.link("/console/deliveries")) { "All deliveries" }
        }
    };
    let body = html! {
        (panel("failing", "Endpoints that fail", &html! {}, &table("Endpoints that fail",
            &["Endpoint", "State", "Account", "Since", "Do"], &failing_rows, &html! { p { "None: the last event to each arrived." } })))
        (panel("sites", "Sites", &html! {}, &html! {
            (table("Sites", &["Site", "Proof", "Account", "Registered"], &rows, &none))
            (older(next))
        }))
    };
    let logins = sessions::sql::count_pending_of_newest(store, visit.now, COUNTED_TO).await.map_err(failed)?;
    let page = ConsolePage {
        note: html! { (say_logins(logins)) },
        aside,
        ..ConsolePage::new(&visit, Screen::Sites, "Sites and deliveries", body)
    };
    Ok(page.respond().await)
}

/// How many people are at a login just now.
fn say_logins(waiting: i64) -> String {
    match waiting {
        0 => "Nobody is logging in at the moment".to_owned(),
        1 => "1 login is under way".to_owned(),
        more if more >= i64::from(COUNTED_TO) => format!("{COUNTED_TO} logins or more are under way"),
        more => format!("{more} logins are under way"),
    }
}

/// An endpoint that fails, why, and a test of it: to the site that its last event is of.
async fn failing_row(visit: &OperatorVisit, one: &FailingEndpoint) -> anyhow::Result<Vec<Markup>> {
    let (store, origin, owner) = (&visit.console.store, &visit.console.origin, one.owner());
    let place = (&owner, one.endpoint.as_str());
    let mut last = deliveries::list_waiting_for(store, place, 1).await?;
    if last.is_empty() {
        last = deliveries::list_failed_to(store, place, None, 1).await?;
    }
    Ok(vec![
        html! { (signpost_text::line(&one.endpoint)) },
        failing_chip(Some(one)),
        html! { (signpost_text::line(&one.account)) ", " (one.environment.as_str()) },
        moment(one.failing_since),
        html! {
            div.row {
                a.btn.small href=(origin.link(&path_to_reason(&owner, &one.endpoint))) { "See why" }
                @if let Some(id) = last.first().map(|row| &row.domain_id) {
                    form method="post" action=(origin.link(&format!("/console/sites/{id}/test"))) {
                        (visit.token(&format!("test {id}"))) button.btn.small { "Send a test" }
                    }
                }
            }
        },
    ])
}

fn failing_chip(failing: Option<&FailingEndpoint>) -> Markup {
    match failing {
        Some(one) if one.disabled_at.is_some() => chip("fail", "One attempt an hour"),
        Some(_) => chip("wait", "Sent again"),
        None => chip("ok", "No failure"),
    }
}

/// Where the events of a site go, and whether they arrive.
async fn draw_endpoint(visit: &OperatorVisit, domain: &Domain) -> anyhow::Result<Markup> {
    let url = domain.event_url.as_ref().unwrap_or(&domain.webhook_url);
    let endpoint = events::endpoint_from_url(url);
    let failing = find_failing(&visit.console.store, &domain.account, &endpoint).await?;
    let why = visit.console.origin.link(&path_to_reason(&domain.account, &endpoint));
    let row = vec![
        html! { (signpost_text::line(&endpoint)) },
        failing_chip(failing.as_ref()),
        html! { @if let Some(one) = &failing { (moment(one.failing_since)) } @else { "none" } },
        html! { @if failing.is_some() { a.btn.small href=(why) { "See why" } } @else { a.btn.small href=(why) { "See what waits" } } },
    ];
    let heads = ["Endpoint", "State", "Fails since", "Do"];
    Ok(panel("endpoint", "Where its events go", &html! {}, &table("Endpoints", &heads, &[row], &html! {})))
}

fn domain_row(visit: &OperatorVisit, domain: &Domain) -> Vec<Markup> {
    let link = visit.console.origin.link(&format!("/console/sites/{}", domain.id));
    let Domain { name, account, created_at, .. } = domain;
    vec![
        html! { a href=(link) { (name.as_str()) } },
        proof_chip(domain),
        html! { (signpost_text::line(&account.name)) ", " (account.environment.as_str()) },
        moment(*created_at),
    ]
}

fn proof_chip(domain: &Domain) -> Markup {
    match (domain.verified_at, domain.failing_since, domain.account.environment) {
        (_, Some(_), _) => chip("fail", "Proof is missing"),
        (Some(_), None, _) => chip("ok", "Proven"),
        (None, None, Environment::Sandbox) => chip("wait", "Sandbox: none needed"),
        (None, None, Environment::Live) => chip("wait", "No proof yet"),
    }
}

/// `GET /console/sites/{id}`
async fn show_one(
    visit: OperatorVisit,
    Path(id): Path<String>,
    Query(done): Query<SiteDeed>,
) -> Result<Response, Response> {
    let domain = find_site(&visit, &id).await?;
    let origin = &visit.console.origin;
    let action = |what: &str| origin.link(&format!("/console/sites/{id}/{what}"));
    let form = |what: &str, button: Markup| {
        html! { form method="post" action=(action(what)) { (visit.token(&format!("{what} {id}"))) (button) } }
    };
    let is_live = domain.account.environment == Environment::Live;
    let body = html! {
        (say_done(&done.said))
        (panel("facts", "What is registered", &html! {}, &facts(&domain)))
        @if is_live && domain.verified_at.is_none() { (panel("proof", "Show that it is yours", &html! {}, &draw_proof(&domain))) }
        (panel("doing", "What you can do", &html! {}, &html! {
            div.inset.stack {
                div.row {
                    (form("test", html! { button.btn.primary { "Send a test event" } }))
                    (form("retry", html! { button.btn { "Send again what failed" } }))
                    @if is_live { (form("check", html! { button.btn { "Look for the proof now" } })) }
                }
                p.sm.soft { "A test event goes to its event URL within a second. It shows whether the site can check signatures." }
            }
        }))
        (draw_endpoint(&visit, &domain).await.map_err(failed)?)
        @if domain.account.name != SERVER_ACCOUNT { (draw_secrets(&visit, &domain).await) }
    };
    let aside = html! { a.btn.small href=(origin.link(&format!("/console/deliveries?state=failed&domain={id}"))) { "Failed events" } };
    let page = ConsolePage { aside, ..ConsolePage::new(&visit, Screen::Sites, domain.name.as_str(), body) };
    Ok(page.respond().await)
}

fn facts(domain: &Domain) -> Markup {
    let Domain { id, account, webhook_url, event_url, handler, verification_token, created_at, .. } = domain;
    let wallets = match handler {
        HandlerKind::Direct => webhook_url.as_str(),
        HandlerKind::Hosted => "this server",
    };
    html! {
        dl.facts.inset {
            dt { "ID" } dd { code { (id) } }
            dt { "Account" } dd { (signpost_text::line(&account.name)) ", " (account.environment.as_str()) }
            dt { "Wallets answer" } dd { (signpost_text::line(wallets)) }
            dt { "Events go to" } dd { (signpost_text::line(event_url.as_ref().unwrap_or(webhook_url).as_str())) }
            dt { "Registered" } dd { (moment(*created_at)) }
            dt { "Proof" } dd { (proof_chip(domain)) }
            @if let Some(at) = domain.verified_at { dt { "Proven since" } dd { (moment(at)) } }
            @if let Some(at) = domain.last_checked_at { dt { "Last checked" } dd { (moment(at)) } }
            @if let Some(at) = domain.failing_since { dt { "Missing since" } dd { (say_moment(at)) } }
            @if account.environment == Environment::Live {
                dt { "TXT record" } dd { "at " code { "_svc-challenge." (domain.name.as_str()) } ": " code { (verification_token.as_str()) } }
            }
        }
    }
}

fn say_done(said: &str) -> Markup {
    let (class, sign, text) = match said {
        "proven" => ("ok", Sign::Tick, "The proof is there."),
        "unproven" => ("warn", Sign::Info, "No proof was found, neither as a TXT record nor as a file of the site."),
        "activated" => ("ok", Sign::Tick, "The next secret signs alone from now on."),
        "retried" => ("ok", Sign::Tick, "What failed is sent again within a second."),
        "nothing" => ("", Sign::Info, "Nothing failed for good: there is nothing to send again."),
        _ => return html! {},
    };
    html! { div class={ "notice " (class) } role="status" { (sign.draw(20)) p { (text) } } }
}

/// `POST /console/sites/{id}/test`: to the event that it made.
async fn send_test(visit: OperatorVisit, Path(id): Path<String>, request: Request) -> Result<Response, Response> {
    visit.receive(request, &format!("test {id}")).await?;
    let domain = find_site(&visit, &id).await?;
    let event = EventId::new(visit.now, random());
    let (store, by) = (&visit.console.store, visit.actor());
    let sent = events::deliveries::send_test_event(store, &domain, event, &by, visit.now);
    let event = sent.await.map_err(failed)?;
    visit.console.login.outbox.notify_one();
    Ok(to(&visit.console, &format!("/console/deliveries/{event}")))
}

/// `POST /console/sites/{id}/retry`: all that failed.
async fn retry_failed(visit: OperatorVisit, Path(id): Path<String>, request: Request) -> Result<Response, Response> {
    visit.receive(request, &format!("retry {id}")).await?;
    let domain = find_site(&visit, &id).await?;
    let sent = retry_events(&visit, RetryChoice::FailedOfDomain(&domain.id)).await?;
    let said = if sent > 0 { "retried" } else { "nothing" };
    Ok(to(&visit.console, &format!("/console/sites/{id}?said={said}")))
}

/// `POST /console/sites/{id}/check`: looks for the proof, as the job does that repeats it.
async fn check_proof(visit: OperatorVisit, Path(id): Path<String>, request: Request) -> Result<Response, Response> {
    visit.receive(request, &format!("check {id}")).await?;
    let (domain, login) = (find_site(&visit, &id).await?, &visit.console.login);
    let reach = login.settings.reach(domain.account.environment, visit.console.serves_only_its_machine);
    let is_proven = login.prover.find_proof(&domain.name, &domain.verification_token, reach).await.is_ok();
    let (store, by) = (&visit.console.store, visit.actor());
    if is_proven {
        let verified = domains::sql::set_verified(store, &domain.account, &domain.id, &by, visit.now).await;
        verified.map_err(|error| error.on_conflict(Problem::NotFound).into_response())?;
    } else {
        let entry =
            insert_entry(&by, Some(&domain.account), Action::ProofMissing, domain.id.as_str(), &json!({}), visit.now);
        store.write([entry]).await.map_err(failed)?;
    }
    let said = if is_proven { "proven" } else { "unproven" };
    Ok(to(&visit.console, &format!("/console/sites/{id}?said={said}")))
}
