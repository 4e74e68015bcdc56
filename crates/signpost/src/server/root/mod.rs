//! Serves the front page of a deployment, and the documents for crawlers and assistants.

mod documents;
mod english;
mod spanish;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use maud::{Markup, html};
use signpost_atm::pages::home;
use signpost_platform::pages::accept::prefers_json;
use signpost_platform::pages::assets::FAVICON;
use signpost_platform::pages::{Frame, HtmlPage, Language, Layout};
use signpost_platform::web::problem::Problem;

use super::App;
use crate::config::Service;

/// Lifetime of the front page in caches.
const CACHE_MAX_AGE: Duration = Duration::from_mins(5);

/// The texts of the front page.
struct RootWords {
    title: &'static str,
    lead: &'static str,
    login: &'static str,
    login_text: &'static str,
    accounts: &'static str,
    live_api: &'static str,
    sandbox_api: &'static str,
    reference: &'static str,
    description: &'static str,
    locator: &'static str,
    locator_text: &'static str,
    mcp_address: &'static str,
    add_to_assistant: &'static str,
    mcp_document: &'static str,
}

fn root_words(language: Language) -> &'static RootWords {
    match language {
        Language::English => &english::ROOT,
        Language::Spanish => &spanish::ROOT,
    }
}

pub(crate) fn router() -> Router<Arc<App>> {
    let icon = ([(header::CONTENT_TYPE, "image/x-icon"), (header::CACHE_CONTROL, "public, max-age=86400")], FAVICON);
    Router::new()
        .route("/", get(show))
        .route("/favicon.ico", get(async move || icon))
        .route("/robots.txt", get(documents::robots))
        .route("/sitemap.xml", get(documents::sitemap))
        .route("/llms.txt", get(documents::guide))
}

async fn show(State(app): State<Arc<App>>, language: Language, request: Request) -> Response {
    if prefers_json(request.headers()) {
        return ([(header::VARY, "accept")], Problem::NotFound).into_response();
    }
    if !app.config.services.contains(&Service::Atm) {
        return HtmlPage::public(render(&app, language), CACHE_MAX_AGE).into_response();
    }
    let (head, _) = request.into_parts();
    let service = app.atm.clone();
    home::show(head, service, Box::new(move || service_links(&app, root_words(language)))).await
}

/// Renders the page of a deployment without the locator.
fn render(app: &App, language: Language) -> String {
    let words = root_words(language);
    let main = html! {
        main #main .wrap.stack {
            div.stack-sm {
                h1 { (words.title) " " bdi { (app.origin.host()) } }
                p.lead { (words.lead) }
            }
            div.grid2 {
                @if app.config.services.contains(&Service::Auth) { (login(app, words)) }
            }
        }
    };
    let title = format!("{} {}", words.title, app.origin.host());
    Frame::new(language, &title, &app.origin, Layout::Column, main).render()
}

/// Draws the services for the locator's front page.
fn service_links(app: &App, words: &RootWords) -> Markup {
    html! {
        section.gap-lg aria-labelledby="others" {
            h2 #others { (words.title) " " bdi { (app.origin.host()) } }
            div.grid2.gap {
                (locator(app, words))
                @if app.config.services.contains(&Service::Auth) { (login(app, words)) }
            }
        }
    }
}

fn login(app: &App, words: &RootWords) -> Markup {
    let origin = &app.origin;
    html! {
        section.card.stack aria-labelledby="login" {
            h3 #login { (words.login) }
            p { (words.login_text) }
            p { a href=(origin.link("/account")) { (words.accounts) } }
            dl.facts {
                dt { (words.live_api) }
                dd { code { (app.public_address) "/v1" } }
                dt { (words.sandbox_api) }
                dd { code { (app.public_address) "/sandbox/v1" } }
            }
            p.row {
                a.btn href=(origin.link("/v1/reference")) lang="en" hreflang="en" { (words.reference) }
                a.btn href=(origin.link("/v1/openapi.yaml")) { (words.description) }
            }
        }
    }
}

fn locator(app: &App, words: &RootWords) -> Markup {
    html! {
        section.card.stack aria-labelledby="locator" {
            h3 #locator { (words.locator) }
            p { (words.locator_text) }
            dl.facts {
                dt { (words.mcp_address) }
                dd { code { (app.public_address) "/mcp" } }
            }
            p.row {
                a.btn href=(app.origin.link("/mcp")) { (words.add_to_assistant) }
                a.btn href=(app.origin.link("/.well-known/mcp-server")) { (words.mcp_document) }
            }
        }
    }
}
