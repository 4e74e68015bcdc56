//! The signing secret of a site: a next one is made, the site gets it, and from then on it signs alone. By the functions of
//! `signpost domains secret`.

use axum::Router;
use axum::extract::{Path, Request};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use maud::{Markup, html};
use signpost_auth::WebhookSecret;
use signpost_login::domains::{self, Domain};
use signpost_login::ids::DomainId;
use signpost_platform::accounts::SERVER_ACCOUNT;
use signpost_platform::pages::icons::Sign;
use signpost_platform::web::problem::Problem;
use signpost_store::{WriteError, random};

use super::Console;
use super::document::{ConsolePage, Screen};
use super::proof::{Confirmation, Question, receive_asked};
use super::tables::panel;
use super::visit::{OperatorVisit, failed, to};

pub(super) fn router() -> Router<Console> {
    Router::new()
        .route("/console/sites/{id}/secret", post(rotate))
        .route("/console/sites/{id}/secret/activate", post(activate))
}

/// What a site's page says of its secrets.
pub(super) async fn draw_secrets(visit: &OperatorVisit, domain: &Domain) -> Markup {
    let seal = visit.console.login.settings.seal();
    let secrets = domains::sql::find_secrets(&visit.console.store, &seal, &domain.id).await;
    let action = |what: &str| visit.console.origin.link(&format!("/console/sites/{}/{what}", domain.id));
    let rotate = |name: &str| {
        html! { form method="post" action=(action("secret")) { (visit.token(&format!("secret {}", domain.id))) button.btn.small { (name) } } }
    };
    let body = match secrets {
        Ok(Some(secrets)) if secrets.next.is_some() => html! {
            p { "Two secrets sign its events. Once the site has the next one, let it sign alone." }
            div.row {
                form method="post" action=(action("secret/activate")) {
                    (visit.token(&format!("activate {}", domain.id)))
                    button.btn.primary.small { "The site has it: use the next one alone" }
                }
                (rotate("Make another next secret"))
            }
        },
        Ok(Some(_)) => html! {
            p { "One secret signs its events." }
            (rotate("Make the next secret"))
        },
        Ok(None) => html! { p { "It has no secret." } },
        Err(_) => {
            html! { p { "This server cannot decrypt its secret: the key in " code { "SIGNPOST_SEAL_KEY" } " is another one." } }
        }
    };
    panel("secret", "Signing secret", &html! {}, &html! { div.inset.stack-sm { (body) } })
}

/// `POST /console/sites/{id}/secret`: asks first; the button of the question makes the next secret, which is on the page that
/// answers and nowhere else.
async fn rotate(visit: OperatorVisit, Path(id): Path<String>, request: Request) -> Result<Response, Response> {
    let (purpose, back) = (format!("secret {id}"), format!("/console/sites/{id}"));
    let asked = receive_asked(&visit, request, &purpose, &back).await?;
    let domain = find_owned(&visit, &id).await?;
    if asked == Confirmation::First {
        let question = Question {
            screen: Screen::Sites,
            title: "Make the next secret?",
            text: "Both sign until you say that the site has the next one. A next secret that there is already is replaced.",
            action: &format!("{back}/secret"),
            purpose: &purpose,
            button: "Make it",
            back: &back,
        };
        return Ok(question.ask(&visit).await);
    }
    let (seal, next) = (visit.console.login.settings.seal(), WebhookSecret::from_bytes(&random()));
    let (store, by) = (&visit.console.store, visit.actor());
    let rotated = domains::sql::rotate_secret(store, &seal, &domain.id, &next, &by, visit.now).await;
    rotated.map_err(|error| error.on_conflict(Problem::NotFound).into_response())?;
    let body = html! {
        div.notice.ok role="status" {
            (Sign::Tick.draw(20))
            div.stack-sm {
                p { b { "The next secret is made." } " Give it to the site beside the current one. It is not shown again." }
                code.address #new-secret { (next.reveal()) }
            }
        }
        p { "Both sign from now on. When the site has it, come back and let it sign alone." }
        p { a.btn.primary href=(visit.console.origin.link(&back)) { "To the site" } }
    };
    Ok(ConsolePage::new(&visit, Screen::Sites, domain.name.as_str(), body).respond().await)
}

/// `POST /console/sites/{id}/secret/activate`: asks first.
async fn activate(visit: OperatorVisit, Path(id): Path<String>, request: Request) -> Result<Response, Response> {
    let (purpose, back) = (format!("activate {id}"), format!("/console/sites/{id}"));
    let asked = receive_asked(&visit, request, &purpose, &back).await?;
    let domain = find_owned(&visit, &id).await?;
    if asked == Confirmation::First {
        let question = Question {
            screen: Screen::Sites,
            title: "Does the site have the next secret?",
            text: "From then on it signs alone. A site that has only the old one refuses every event.",
            action: &format!("{back}/secret/activate"),
            purpose: &purpose,
            button: "Yes, use it alone",
            back: &back,
        };
        return Ok(question.ask(&visit).await);
    }
    let (store, by) = (&visit.console.store, visit.actor());
    match domains::sql::activate_secret(store, &domain.id, &by, visit.now).await {
        Ok(()) => Ok(to(&visit.console, &format!("{back}?said=activated"))),
        Err(WriteError::Conflict) => {
            let body = html! {
                div.notice.warn role="alert" { (Sign::Info.draw(20)) p { "There is no next secret any more: it signs alone already. Nothing has changed." } }
                p { a.btn href=(visit.console.origin.link(&back)) { "Back to the site" } }
            };
            let page = ConsolePage::new(&visit, Screen::Sites, domain.name.as_str(), body).respond().await;
            Ok((StatusCode::CONFLICT, page).into_response())
        }
        Err(WriteError::Internal(error)) => Err(failed(error)),
    }
}

/// The site with this id, whosever it is.
pub(super) async fn find_site(visit: &OperatorVisit, id: &str) -> Result<Domain, Response> {
    let found = match DomainId::parse(id) {
        Some(id) => domains::sql::find_in_any_account(&visit.console.store, &id).await.map_err(failed)?,
        None => None,
    };
    found.ok_or_else(|| Problem::NotFound.into_response())
}

/// A site that somebody registered: the server's own domain signs nothing.
async fn find_owned(visit: &OperatorVisit, id: &str) -> Result<Domain, Response> {
    let domain = find_site(visit, id).await?;
    if domain.account.name == SERVER_ACCOUNT {
        return Err(Problem::NotFound.into_response());
    }
    Ok(domain)
}
