//! Pages about sites: the list of the domains of all accounts, and the page of a domain with its
//! actions.

use axum::Router;
use axum::extract::{Path, Query, Request};
use axum::response::Response;
use axum::routing::{get, post};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::json;
use signpost_login::domains::{self, Domain, HandlerKind, overview};
use signpost_login::events::endpoints::{find_failing, list_failing};
use signpost_login::events::{self, FailingEndpoint, RetryScope, deliveries};
use signpost_login::ids::{DomainId, EventId};
use signpost_login::sessions;
use signpost_platform::accounts::audit::Action;
use signpost_platform::accounts::audit::sql::insert_entry;
use signpost_platform::accounts::{Environment, SERVER_ACCOUNT};
use signpost_platform::pages::icons::PageIcon;
use signpost_platform::web::problem::Problem;
use signpost_store::random;

use super::Console;
use super::context::{ConsoleError, OperatorContext};
use super::dates::{format_time, render_time};
use super::deliveries::retry_events;
use super::deployment_facts::{MAX_COUNTED, MAX_FAILING};
use super::document::{ConsolePage, ConsoleSection};
use super::site_form::{NEW_SITE_PATH, draw_proof};
use super::site_secrets::{draw_secrets, find_site};
use super::tables::{chip, older, panel, table};
use super::tasks::path_to_deliveries;

/// Number of domains on a page.
const PAGE_LEN: u32 = 50;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SitePage {
    before: String,
}

/// The query parameter with the result of the last action on a site.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SiteNotice {
    #[serde(rename = "said")]
    result: String,
}

pub(super) fn router() -> Router<Console> {
    Router::new()
        .route("/console/sites", get(show))
        .route("/console/sites/{id}", get(show_site))
        .route("/console/sites/{id}/test", post(send_test))
        .route("/console/sites/{id}/check", post(check_proof))
        .route("/console/sites/{id}/retry", post(retry_failed))
}

/// `GET /console/sites`: lists the sites and the failing endpoints.
async fn show(context: OperatorContext, Query(page): Query<SitePage>) -> Result<Response, ConsoleError> {
    let store = &context.store;
    let origin = &context.origin;
    let before = DomainId::parse(&page.before);
    let domains = overview::list_page(store, before.as_ref(), PAGE_LEN).await?;
    let rows = domains.iter().map(|domain| domain_row(&context, domain));
    let mut failing_rows = Vec::new();
    for failing in list_failing(store, MAX_FAILING).await? {
        failing_rows.push(failing_row(&context, &failing).await?);
    }
    let next = domains.last().filter(|_| domains.len() == PAGE_LEN as usize);
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
            &["Endpoint", "State", "Account", "Since", "Do"], failing_rows, &html! { p { "None: the last event to each arrived." } })))
        (panel("sites", "Sites", &html! {}, &html! {
            (table("Sites", &["Site", "Proof", "Account", "Registered"], rows, &none))
            (older(next))
        }))
    };
    let logins = sessions::sql::count_pending_of_newest(store, context.now, MAX_COUNTED).await?;
    let page = ConsolePage {
        note: html! { (describe_logins(logins)) },
        aside,
        ..ConsolePage::new(&context, ConsoleSection::Sites, "Sites and deliveries", body)
    };
    page.respond().await
}

fn describe_logins(pending: i64) -> String {
    match pending {
        0 => "Nobody is logging in at the moment".to_owned(),
        1 => "1 login is under way".to_owned(),
        more if more >= i64::from(MAX_COUNTED) => format!("{MAX_COUNTED} logins or more are under way"),
        more => format!("{more} logins are under way"),
    }
}

/// Draws a failing endpoint, with a button that sends a test event to the site of its last event.
async fn failing_row(context: &OperatorContext, failing: &FailingEndpoint) -> anyhow::Result<Vec<Markup>> {
    let origin = &context.origin;
    let owner = failing.owner();
    let endpoint = (&owner, failing.endpoint.as_str());
    let mut last = deliveries::list_waiting_for(&context.store, endpoint, 1).await?;
    if last.is_empty() {
        last = deliveries::list_failed_at_endpoint(&context.store, endpoint, None, 1).await?;
    }
    Ok(vec![
        html! { (signpost_text::clean_line(&failing.endpoint)) },
        failing_chip(Some(failing)),
        html! { (signpost_text::clean_line(&failing.account)) ", " (failing.environment.as_str()) },
        render_time(failing.failing_since),
        html! {
            div.row {
                a.btn.small href=(origin.link(&path_to_deliveries(&owner, &failing.endpoint))) { "See why" }
                @if let Some(id) = last.first().map(|row| &row.domain_id) {
                    form method="post" action=(origin.link(&format!("/console/sites/{id}/test"))) {
                        (context.token(&format!("test {id}"))) button.btn.small { "Send a test" }
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

/// Draws the endpoint of a site's events, with its state.
async fn draw_endpoint(context: &OperatorContext, domain: &Domain) -> anyhow::Result<Markup> {
    let url = domain.event_url.as_ref().unwrap_or(&domain.webhook_url);
    let endpoint = events::endpoint_from_url(url);
    let failing = find_failing(&context.store, &domain.account, &endpoint).await?;
    let deliveries_link = context.origin.link(&path_to_deliveries(&domain.account, &endpoint));
    let row = vec![
        html! { (signpost_text::clean_line(&endpoint)) },
        failing_chip(failing.as_ref()),
        html! { @if let Some(one) = &failing { (render_time(one.failing_since)) } @else { "none" } },
        html! { @if failing.is_some() { a.btn.small href=(deliveries_link) { "See why" } } @else { a.btn.small href=(deliveries_link) { "See what waits" } } },
    ];
    let heads = ["Endpoint", "State", "Fails since", "Do"];
    Ok(panel("endpoint", "Where its events go", &html! {}, &table("Endpoints", &heads, [row], &html! {})))
}

fn domain_row(context: &OperatorContext, domain: &Domain) -> Vec<Markup> {
    let link = context.origin.link(&format!("/console/sites/{}", domain.id));
    let Domain { name, account, created_at, .. } = domain;
    vec![
        html! { a href=(link) { (name.as_str()) } },
        proof_chip(domain),
        html! { (signpost_text::clean_line(&account.name)) ", " (account.environment.as_str()) },
        render_time(*created_at),
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

/// `GET /console/sites/{id}`: shows a site.
async fn show_site(
    context: OperatorContext,
    Path(id): Path<String>,
    Query(notice): Query<SiteNotice>,
) -> Result<Response, ConsoleError> {
    let domain = find_site(&context, &id).await?;
    let origin = &context.origin;
    let is_live = domain.account.environment == Environment::Live;
    let body = html! {
        (draw_notice(&notice.result))
        (panel("facts", "What is registered", &html! {}, &facts(&domain)))
        @if is_live && domain.verified_at.is_none() { (panel("proof", "Show that it is yours", &html! {}, &draw_proof(&domain))) }
        (panel("doing", "What you can do", &html! {}, &html! {
            div.inset.stack {
                div.row {
                    (site_form(&context, &id, "test", &html! { button.btn.primary { "Send a test event" } }))
                    (site_form(&context, &id, "retry", &html! { button.btn { "Send again what failed" } }))
                    @if is_live { (site_form(&context, &id, "check", &html! { button.btn { "Look for the proof now" } })) }
                }
                p.sm.soft { "A test event goes to its event URL within a second. It shows whether the site can check signatures." }
            }
        }))
        (draw_endpoint(&context, &domain).await?)
        @if domain.account.name != SERVER_ACCOUNT { (draw_secrets(&context, &domain).await) }
    };
    let aside = html! { a.btn.small href=(origin.link(&format!("/console/deliveries?state=failed&domain={id}"))) { "Failed events" } };
    let page = ConsolePage { aside, ..ConsolePage::new(&context, ConsoleSection::Sites, domain.name.as_str(), body) };
    page.respond().await
}

fn site_form(context: &OperatorContext, id: &str, action: &str, button: &Markup) -> Markup {
    let path = context.origin.link(&format!("/console/sites/{id}/{action}"));
    html! { form method="post" action=(path) { (context.token(&format!("{action} {id}"))) (button) } }
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
            dt { "Account" } dd { (signpost_text::clean_line(&account.name)) ", " (account.environment.as_str()) }
            dt { "Wallets answer" } dd { (signpost_text::clean_line(wallets)) }
            dt { "Events go to" } dd { (signpost_text::clean_line(event_url.as_ref().unwrap_or(webhook_url).as_str())) }
            dt { "Registered" } dd { (render_time(*created_at)) }
            dt { "Proof" } dd { (proof_chip(domain)) }
            @if let Some(at) = domain.verified_at { dt { "Proven since" } dd { (render_time(at)) } }
            @if let Some(at) = domain.last_checked_at { dt { "Last checked" } dd { (render_time(at)) } }
            @if let Some(at) = domain.failing_since { dt { "Missing since" } dd { (format_time(at)) } }
            @if account.environment == Environment::Live {
                dt { "TXT record" } dd { "at " code { "_svc-challenge." (domain.name.as_str()) } ": " code { (verification_token.as_str()) } }
            }
        }
    }
}

/// Draws the result of the last action.
fn draw_notice(result: &str) -> Markup {
    let (class, icon, text) = match result {
        "proven" => ("ok", PageIcon::Tick, "The proof is there."),
        "unproven" => {
            ("warn", PageIcon::Info, "No proof was found, neither as a TXT record nor as a file of the site.")
        }
        "activated" => ("ok", PageIcon::Tick, "The next secret signs alone from now on."),
        "retried" => ("ok", PageIcon::Tick, "What failed is sent again within a second."),
        "nothing" => ("", PageIcon::Info, "Nothing failed for good: there is nothing to send again."),
        _ => return html! {},
    };
    html! { div class={ "notice " (class) } role="status" { (icon.draw(20)) p { (text) } } }
}

/// `POST /console/sites/{id}/test`: queues a test event, and redirects to its delivery.
async fn send_test(
    context: OperatorContext,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ConsoleError> {
    context.receive(request, &format!("test {id}")).await?;
    let domain = find_site(&context, &id).await?;
    let event = EventId::new(context.now, random());
    let by = context.actor();
    let event = deliveries::send_test_event(&context.store, &domain, event, &by, context.now).await?;
    context.login.outbox.notify_one();
    Ok(context.redirect_to(&format!("/console/deliveries/{event}")))
}

/// `POST /console/sites/{id}/retry`: sends all failed events again.
async fn retry_failed(
    context: OperatorContext,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ConsoleError> {
    context.receive(request, &format!("retry {id}")).await?;
    let domain = find_site(&context, &id).await?;
    let sent = retry_events(&context, RetryScope::FailedOfDomain(&domain.id)).await?;
    let message = if sent > 0 { "retried" } else { "nothing" };
    Ok(context.redirect_to(&format!("/console/sites/{id}?said={message}")))
}

/// `POST /console/sites/{id}/check`: checks the proof, as the recurring job does.
async fn check_proof(
    context: OperatorContext,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ConsoleError> {
    context.receive(request, &format!("check {id}")).await?;
    let domain = find_site(&context, &id).await?;
    let Domain { id, account, name, verification_token, .. } = &domain;
    let login = &context.login;
    let egress = login.settings.egress_policy(account.environment, context.is_loopback_only);
    let by = context.actor();
    let mut result = "proven";
    if login.domain_verifier.find_proof(name, verification_token, egress).await.is_ok() {
        let verified = domains::sql::set_verified(&context.store, account, id, &by, context.now).await;
        verified.map_err(|error| error.on_conflict(Problem::NotFound))?;
    } else {
        let entry = insert_entry(&by, Some(account), Action::ProofMissing, id.as_str(), &json!({}), context.now);
        context.store.write([entry]).await?;
        result = "unproven";
    }
    Ok(context.redirect_to(&format!("/console/sites/{id}?said={result}")))
}
