//! Shows the state of a site's signing secrets and rotates them, like `signpost domains secret`.

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
use signpost_platform::pages::icons::PageIcon;
use signpost_platform::web::problem::Problem;
use signpost_store::{WriteError, random};

use super::Console;
use super::context::{ConsoleError, OperatorContext};
use super::document::{ConsolePage, ConsoleSection};
use super::proof::{ConfirmationStep, Question, receive_confirmation};
use super::tables::panel;

pub(super) fn router() -> Router<Console> {
    Router::new()
        .route("/console/sites/{id}/secret", post(rotate))
        .route("/console/sites/{id}/secret/activate", post(activate))
}

/// Draws the state of a site's secrets, with the buttons of a rotation.
pub(super) async fn draw_secrets(context: &OperatorContext, domain: &Domain) -> Markup {
    let id = &domain.id;
    let seal = context.login.settings.seal();
    let body = match domains::sql::find_secrets(&context.store, &seal, id).await {
        Ok(Some(secrets)) if secrets.next.is_some() => html! {
            p { "Two secrets sign its events. Once the site has the next one, let it sign alone." }
            div.row {
                form method="post" action=(context.origin.link(&format!("/console/sites/{id}/secret/activate"))) {
                    (context.token(&format!("activate {id}")))
                    button.btn.primary.small { "The site has it: use the next one alone" }
                }
                (rotation_form(context, domain, "Make another next secret"))
            }
        },
        Ok(Some(_)) => html! {
            p { "One secret signs its events." }
            (rotation_form(context, domain, "Make the next secret"))
        },
        Ok(None) => html! { p { "It has no secret." } },
        Err(_) => {
            html! { p { "This server cannot decrypt its secret: the key in " code { "SIGNPOST_SEAL_KEY" } " is another one." } }
        }
    };
    panel("secret", "Signing secret", &html! {}, &html! { div.inset.stack-sm { (body) } })
}

fn rotation_form(context: &OperatorContext, domain: &Domain, text: &str) -> Markup {
    let action = context.origin.link(&format!("/console/sites/{}/secret", domain.id));
    html! { form method="post" action=(action) { (context.token(&format!("secret {}", domain.id))) button.btn.small { (text) } } }
}

/// `POST /console/sites/{id}/secret`: creates the next secret after a confirmation. Only the
/// response contains the secret.
async fn rotate(context: OperatorContext, Path(id): Path<String>, request: Request) -> Result<Response, ConsoleError> {
    let purpose = format!("secret {id}");
    let back = format!("/console/sites/{id}");
    let step = receive_confirmation(&context, request, &purpose, &back).await?;
    let domain = find_registered(&context, &id).await?;
    if step == ConfirmationStep::Requested {
        let question = Question {
            section: ConsoleSection::Sites,
            title: "Make the next secret?",
            text: "Both sign until you say that the site has the next one. A next secret that there is already is replaced.",
            action: &format!("{back}/secret"),
            purpose: &purpose,
            button: "Make it",
            back: &back,
        };
        return question.ask(&context).await;
    }
    let seal = context.login.settings.seal();
    let next = WebhookSecret::from_bytes(&random());
    let by = context.actor();
    let rotated = domains::sql::rotate_secret(&context.store, &seal, &domain.id, &next, &by, context.now).await;
    rotated.map_err(|error| error.on_conflict(Problem::NotFound))?;
    let body = html! {
        div.notice.ok role="status" {
            (PageIcon::Tick.draw(20))
            div.stack-sm {
                p { b { "The next secret is made." } " Give it to the site beside the current one. It is not shown again." }
                code.address #new-secret { (next.reveal()) }
            }
        }
        p { "Both sign from now on. When the site has it, come back and let it sign alone." }
        p { a.btn.primary href=(context.origin.link(&back)) { "To the site" } }
    };
    ConsolePage::new(&context, ConsoleSection::Sites, domain.name.as_str(), body).respond().await
}

/// `POST /console/sites/{id}/secret/activate`: activates the next secret after a confirmation.
async fn activate(
    context: OperatorContext,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ConsoleError> {
    let purpose = format!("activate {id}");
    let back = format!("/console/sites/{id}");
    let step = receive_confirmation(&context, request, &purpose, &back).await?;
    let domain = find_registered(&context, &id).await?;
    if step == ConfirmationStep::Requested {
        let question = Question {
            section: ConsoleSection::Sites,
            title: "Does the site have the next secret?",
            text: "From then on it signs alone. A site that has only the old one refuses every event.",
            action: &format!("{back}/secret/activate"),
            purpose: &purpose,
            button: "Yes, use it alone",
            back: &back,
        };
        return question.ask(&context).await;
    }
    match domains::sql::activate_secret(&context.store, &domain.id, &context.actor(), context.now).await {
        Ok(()) => Ok(context.redirect_to(&format!("{back}?said=activated"))),
        Err(WriteError::Conflict) => {
            let body = html! {
                div.notice.warn role="alert" { (PageIcon::Info.draw(20)) p { "There is no next secret any more: it signs alone already. Nothing has changed." } }
                p { a.btn href=(context.origin.link(&back)) { "Back to the site" } }
            };
            let page = ConsolePage::new(&context, ConsoleSection::Sites, domain.name.as_str(), body).respond().await?;
            Ok((StatusCode::CONFLICT, page).into_response())
        }
        Err(WriteError::Internal(error)) => Err(error.into()),
    }
}

/// Returns the site with this ID, in any account.
pub(super) async fn find_site(context: &OperatorContext, id: &str) -> Result<Domain, ConsoleError> {
    let id = DomainId::parse(id).ok_or(Problem::NotFound)?;
    Ok(domains::sql::find_in_any_account(&context.store, &id).await?.ok_or(Problem::NotFound)?)
}

/// Returns the site with this ID. The system domain is excluded, because it has no events.
async fn find_registered(context: &OperatorContext, id: &str) -> Result<Domain, ConsoleError> {
    let domain = find_site(context, id).await?;
    if domain.account.name == SERVER_ACCOUNT {
        return Err(Problem::NotFound.into());
    }
    Ok(domain)
}
