//! Diagnoses why an endpoint rejects events, like `signpost listen` does, by posting test events
//! that a receiver with a known mistake would accept. Test events have no effect at the site.

use std::time::Duration;

use axum::Router;
use axum::extract::{Path, Request};
use axum::response::Response;
use axum::routing::post;
use maud::{Markup, html};
use serde_json::json;
use signpost_login::domains::{self, Domain, SigningSecrets};
use signpost_platform::accounts::audit::Action;
use signpost_platform::accounts::audit::sql::insert_entry;
use signpost_platform::pages::icons::PageIcon;
use tokio::time::timeout;
use url::Url;

use super::Console;
use super::context::{ConsoleError, OperatorContext};
use super::deliveries::{find_delivery, render_delivery};
use crate::receiver::EventTarget;
use crate::receiver::diagnose::{RefusalCause, diagnose, post_signed_test};
use crate::receiver::known_secrets::list_other_secrets;

/// Timeout of a comparison, shorter than the timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(25);

/// The result of a comparison.
#[derive(Debug)]
enum ComparisonResult {
    /// The endpoint accepts a test with a correct signature.
    Accepted,
    /// The endpoint rejected the test with this status, for this reason.
    Refused(u16, RefusalCause),
    /// The endpoint did not answer.
    Unreachable(String),
}

pub(super) fn router() -> Router<Console> {
    Router::new().route("/console/deliveries/{id}/compare", post(compare))
}

/// `POST /console/deliveries/{id}/compare`: runs a comparison, and returns the page of the delivery
/// with the result.
async fn compare(context: OperatorContext, Path(id): Path<String>, request: Request) -> Result<Response, ConsoleError> {
    context.receive(request, &format!("compare {id}")).await?;
    let found = find_delivery(&context, &id).await?;
    let row = &found.delivery;
    let seal = context.config.login.seal();
    let domain = domains::sql::find_in_any_account(&context.store, &row.domain_id).await?;
    let secrets = domains::sql::find_secrets(&context.store, &seal, &row.domain_id).await;
    let above = match (domain, secrets) {
        (Some(domain), Ok(Some(secrets))) => {
            let by = context.actor();
            let details = json!({ "endpoint": row.endpoint });
            let action = Action::DeliveryCompared;
            let entry = insert_entry(&by, Some(&domain.account), action, &id, &details, context.now);
            context.store.write([entry]).await?;
            let result = timeout(TIMEOUT, compare_signature(&context, &row.url, &domain, &secrets)).await;
            draw_result(&result.unwrap_or(ComparisonResult::Refused(0, RefusalCause::Unresponsive)), &domain)
        }
        (_, Err(_)) => draw_notice(
            "warn",
            "Nothing was compared.",
            "This server cannot decrypt the signing secret of the site: the key in SIGNPOST_SEAL_KEY is another one.",
            &[],
        ),
        _ => draw_notice("warn", "Nothing was compared.", "The site of this event is deleted.", &[]),
    };
    render_delivery(&context, &found, above).await
}

async fn compare_signature(
    context: &OperatorContext,
    url: &str,
    domain: &Domain,
    secrets: &SigningSecrets,
) -> ComparisonResult {
    let Ok(url) = Url::parse(url) else { return ComparisonResult::Unreachable("its URL cannot be read".to_owned()) };
    let egress = context.login.settings.egress_policy(domain.account.environment, context.is_loopback_only);
    let target = EventTarget::by(context.outbound.clone(), url, egress);
    let reply = match post_signed_test(&target, secrets).await {
        Ok(reply) => reply,
        Err(error) => return ComparisonResult::Unreachable(format!("{error:#}")),
    };
    if reply.is_success() {
        return ComparisonResult::Accepted;
    }
    let others = list_other_secrets(&context.store, &context.config.login.seal(), Some(&domain.id)).await;
    ComparisonResult::Refused(reply.status, diagnose(&target, &reply, secrets, &others).await)
}

fn draw_result(result: &ComparisonResult, domain: &Domain) -> Markup {
    match result {
        ComparisonResult::Accepted => draw_notice(
            "ok",
            "The signature is right: the endpoint takes a test event that is signed as this one is.",
            "Either it was mended since the last attempt, or it refuses what this event says.",
            &["Send it again. If it is refused then, read the log of the site: it says what it does not take"
                .to_owned()],
        ),
        ComparisonResult::Unreachable(why) => draw_notice(
            "danger",
            "Nothing was compared: the endpoint gave no answer.",
            &format!("{}.", signpost_text::clean_line(why)),
            &["Check that the site runs, and that this server reaches it".to_owned()],
        ),
        ComparisonResult::Refused(status, cause) => {
            let text = match status {
                0 => format!("{}.", cause.text()),
                status => format!("It answered a test event with {status}. As far as tests show: {}.", cause.text()),
            };
            let mut lines = cause.remedies();
            if !cause.is_mistake() {
                lines.extend(suggest_listen(domain));
            }
            draw_notice("danger", "What tests show of the refusal", &text, &lines)
        }
    }
}

/// Suggests commands for the site's machine.
fn suggest_listen(domain: &Domain) -> [String; 2] {
    [
        "This server knows what it sends and what is answered. It cannot know the secret and the code of the site, nor what a \
         proxy before it changes"
            .to_owned(),
        format!(
            "Where the site runs, 'signpost listen URL --domain {}' shows each event as it comes, with the answer and the \
             reason; 'signpost webhook verify' compares the bytes and headers that came with the secret that is configured",
            domain.name
        ),
    ]
}

fn draw_notice(class: &str, title: &str, text: &str, lines: &[String]) -> Markup {
    let icon = match class {
        "ok" => PageIcon::Tick,
        "warn" => PageIcon::Info,
        _ => PageIcon::Stop,
    };
    html! {
        div class={ "notice " (class) } role="status" {
            (icon.draw(20))
            div {
                h2 { (title) }
                p { (signpost_text::clean_line(text)) }
                @if !lines.is_empty() { ul.points { @for line in lines { li { (signpost_text::clean_line(line)) "." } } } }
            }
        }
    }
}
