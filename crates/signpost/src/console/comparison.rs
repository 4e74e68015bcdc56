//! Why an endpoint refuses, found out by the rules of `signpost listen`: test events that a receiver with this or that mistake
//! would accept. A test has no effect at a site.

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
use signpost_platform::pages::icons::Sign;
use tokio::time::timeout;
use url::Url;

use super::Console;
use super::deliveries::{find_delivery, render_delivery};
use super::visit::{OperatorVisit, failed};
use crate::receiver::EventTarget;
use crate::receiver::diagnose::{RefusalCause, diagnose, sign_test};
use crate::receiver::known::list_other_secrets;

/// How long all of it may take: less than a request may.
const PATIENCE: Duration = Duration::from_secs(25);

/// What a comparison found.
#[derive(Debug)]
enum ComparisonResult {
    /// It takes a test that is signed as every attempt is.
    Taken,
    /// It refused that test with this status, and this is why.
    Refused(u16, RefusalCause),
    /// It could not be asked.
    Unreachable(String),
}

pub(super) fn router() -> Router<Console> {
    Router::new().route("/console/deliveries/{id}/compare", post(compare))
}

/// `POST /console/deliveries/{id}/compare`: the page of the delivery, and above it what was found.
async fn compare(visit: OperatorVisit, Path(id): Path<String>, request: Request) -> Result<Response, Response> {
    visit.receive(request, &format!("compare {id}")).await?;
    let found = find_delivery(&visit, &id).await?;
    let (store, row) = (&visit.console.store, &found.delivery);
    let seal = visit.console.config.login.seal();
    let domain = domains::sql::find_in_any_account(store, &row.domain_id).await.map_err(failed)?;
    let secrets = domains::sql::find_secrets(store, &seal, &row.domain_id).await;
    let above = match (domain, secrets) {
        (Some(domain), Ok(Some(secrets))) => {
            let details = json!({ "endpoint": row.endpoint });
            let entry =
                insert_entry(&visit.actor(), Some(&domain.account), Action::DeliveryCompared, &id, &details, visit.now);
            store.write([entry]).await.map_err(failed)?;
            let asked = timeout(PATIENCE, ask_receiver(&visit, &row.url, &domain, &secrets)).await;
            let asked = asked.unwrap_or(ComparisonResult::Refused(0, RefusalCause::Silent));
            draw_result(&asked, &domain)
        }
        (_, Err(_)) => draw_notice(
            "warn",
            "Nothing was compared.",
            "This server cannot decrypt the signing secret of the site: the key in SIGNPOST_SEAL_KEY is another one.",
            &[],
        ),
        _ => draw_notice("warn", "Nothing was compared.", "The site of this event is deleted.", &[]),
    };
    render_delivery(&visit, &found, above).await
}

async fn ask_receiver(visit: &OperatorVisit, url: &str, domain: &Domain, secrets: &SigningSecrets) -> ComparisonResult {
    let console = &visit.console;
    let Ok(url) = Url::parse(url) else { return ComparisonResult::Unreachable("its URL cannot be read".to_owned()) };
    let reach = console.login.settings.reach(domain.account.environment, console.serves_only_its_machine);
    let target = EventTarget::by(console.outbound.clone(), url, reach);
    let (test, signed) = sign_test(secrets);
    let reply = match target.post(test.body.as_bytes(), &signed).await {
        Ok(reply) => reply,
        Err(error) => return ComparisonResult::Unreachable(format!("{error:#}")),
    };
    if reply.is_success() {
        return ComparisonResult::Taken;
    }
    let others = list_other_secrets(&console.store, &console.config.login.seal(), Some(&domain.id)).await;
    ComparisonResult::Refused(reply.status, diagnose(&target, &reply, secrets, &others).await)
}

fn draw_result(result: &ComparisonResult, domain: &Domain) -> Markup {
    match result {
        ComparisonResult::Taken => draw_notice(
            "ok",
            "The signature is right: the endpoint takes a test event that is signed as this one is.",
            "Either it was mended since the last attempt, or it refuses what this event says.",
            &["Send it again. If it is refused then, read the log of the site: it says what it does not take"
                .to_owned()],
        ),
        ComparisonResult::Unreachable(why) => draw_notice(
            "danger",
            "Nothing was compared: the endpoint gave no answer.",
            &format!("{}.", signpost_text::line(why)),
            &["Check that the site runs, and that this server reaches it".to_owned()],
        ),
        ComparisonResult::Refused(status, cause) => {
            let text = match status {
                0 => format!("{}.", cause.text()),
                status => format!("It answered a test event with {status}. As far as tests show: {}.", cause.text()),
            };
            let mut lines = cause.mending();
            if !cause.is_mistake() {
                lines.extend(say_listen(domain));
            }
            draw_notice("danger", "What tests show of the refusal", &text, &lines)
        }
    }
}

/// How to find out what this server cannot know.
fn say_listen(domain: &Domain) -> [String; 2] {
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
    let sign = match class {
        "ok" => Sign::Tick,
        "warn" => Sign::Info,
        _ => Sign::Stop,
    };
    html! {
        div class={ "notice " (class) } role="status" {
            (sign.draw(20))
            div {
                h2 { (title) }
                p { (signpost_text::line(text)) }
                @if !lines.is_empty() { ul.points { @for line in lines { li { (signpost_text::line(line)) "." } } } }
            }
        }
    }
}
