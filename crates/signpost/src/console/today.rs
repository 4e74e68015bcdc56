//! The start page of the console, with the list of tasks, counts, and the last deliveries.

use axum::Json;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use signpost_platform::origin::PublicOrigin;

use super::badges::Badges;
use super::context::{ConsoleError, OperatorContext};
use super::dates::render_time;
use super::deployment_facts::DeploymentFacts;
use super::document::{ConsolePage, ConsoleSection};
use super::site_form::NEW_SITE_PATH;
use super::tables::{DELIVERY_HEADS, delivery_rows, panel, table, tile};
use super::tasks::{draw_tasks, list_tasks};

/// `GET /console`: shows the start page.
pub(super) async fn show(context: OperatorContext) -> Result<Response, ConsoleError> {
    let now = context.now;
    let facts = DeploymentFacts::read(&context.console, now).await?;
    let origin = &context.origin;
    let deliveries = delivery_rows(origin, &facts.last_deliveries, now);
    let all = html! { a.sm href=(origin.link("/console/deliveries")) { "All deliveries" } };
    let none = html! { p { "No event was sent yet. Sites get one whenever somebody logs in." } };
    let body = html! {
        (first_steps(origin, &facts))
        (draw_tasks(origin, &list_tasks(&facts, now)))
        (tiles(&facts))
        (panel("last", "Last deliveries", &all, &table("Last deliveries", &DELIVERY_HEADS, deliveries, &none)))
    };
    let aside = html! { a.btn.small href=(origin.link("/console/health")) { "Check this server" } };
    let page = ConsolePage {
        note: render_time(now),
        aside,
        ..ConsolePage::new(&context, ConsoleSection::Today, "Today", body)
    };
    Ok(page.render(&Badges::from_facts(&facts, now)).into_response())
}

/// `GET /console/counts`: returns the counts of the menu for the page's script.
pub(super) async fn count(context: OperatorContext) -> Result<Response, ConsoleError> {
    let badges = Badges::read(&context.console, context.now).await?;
    Ok(([("cache-control", "no-store")], Json(badges)).into_response())
}

/// Draws the first steps of a new installation, until all are done.
fn first_steps(origin: &PublicOrigin, facts: &DeploymentFacts) -> Markup {
    let has_event = !facts.last_deliveries.is_empty();
    let steps = [
        (facts.has_key, "Create an API key", "/console/keys", "A site's server calls the API with it."),
        (facts.has_domain, "Add a site", NEW_SITE_PATH, "Its people log in by wallet or passkey."),
        (has_event, "Send a test event", "/console/sites", "It shows that the site can check signatures."),
    ];
    if steps.iter().all(|(is_done, ..)| *is_done) {
        return html! {};
    }
    html! {
        section.panel aria-labelledby="steps" {
            header { h2 #steps { "First steps" } }
            ol.todo {
                @for (is_done, title, path, why) in steps {
                    li {
                        span class=(if is_done { "info" } else { "warn" }) {
                            ((if is_done { signpost_platform::pages::icons::PageIcon::Tick } else { signpost_platform::pages::icons::PageIcon::Info }).draw(20))
                        }
                        div { h3 { (title) @if is_done { " · done" } } p.sm.soft { (why) } }
                        @if !is_done { a.btn.small href=(origin.link(path)) { (title) } }
                    }
                }
            }
        }
    }
}

fn tiles(facts: &DeploymentFacts) -> Markup {
    html! {
        h2.vh { "Counts" }
        dl.tiles {
            (tile("Events waiting", &facts.waiting.text(), "to be sent or sent again"))
            (tile("Events failed", &facts.failed.text(), "until somebody sends them again"))
            @if let Some(locator) = &facts.locator {
                (tile("Machines", &locator.machines.to_string(), if locator.is_sample { "fictional" } else { "from your sources" }))
                (tile("Reports waiting", &locator.reports_waiting.to_string(), "for your decision"))
            }
        }
    }
}
