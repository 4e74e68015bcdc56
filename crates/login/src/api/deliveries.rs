//! Handlers of `/deliveries` (listing, signing and retrying deliveries of events), and of the test
//! event of a domain.

use std::collections::{BTreeMap, HashMap};

use axum::Json;
use axum::extract::State as Extract;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use signpost_auth::EventKind;
use signpost_platform::accounts::{Account, Environment};
use signpost_platform::web::problem::Problem;
use signpost_platform::web::{ApiKey, EmptyBody, OptionalJsonBody, Page, PathParams};
use signpost_store::random;

use crate::domains::SigningSecrets;
use crate::domains::sql::find_secrets;
use crate::error::Error;
use crate::events::sample::SampleEntropy;
use crate::events::{DeliveryFilter, DeliveryListItem, DeliveryRow, RetryScope, deliveries, retries, signatures};
use crate::flows::lookup::find_domain;
use crate::ids::{DomainId, EventId};
use crate::service::LoginService;

const STATES: [&str; 3] = ["pending", "delivered", "failed"];

/// `GET /deliveries?state=&limit=&cursor=`: lists deliveries, newest first.
pub(crate) async fn list(
    Extract(service): Extract<LoginService>,
    account: Account,
    page: Page,
) -> Result<Json<Value>, Error> {
    page.allow_only(&["state"])?;
    let state = page.text("state");
    if state.is_some_and(|state| !STATES.contains(&state)) {
        return Err(Problem::field("state", "must be 'pending', 'delivered' or 'failed'").into());
    }
    let before = page.cursor(EventId::parse)?;
    let filter = DeliveryFilter { state, before: before.as_ref(), limit: page.limit + 1 };
    let mut events = deliveries::list(&service.store, &account, &filter).await?;
    let next = page.next(&mut events, |event| event.delivery.id.to_string());
    let events: Vec<_> = events.iter().map(to_view).collect();
    Ok(Json(page.reply("deliveries", &events, next)))
}

/// A signed event, in replies.
#[derive(Serialize)]
struct SignedEventView {
    id: EventId,
    domain_id: DomainId,
    body: String,
    headers: BTreeMap<&'static str, String>,
}

/// `GET /deliveries/signed?limit=&cursor=`: lists events after the cursor, oldest first, each with the signed request
/// of an attempt at this moment. The reply contains no secret, and the deliveries do not change. Events without a
/// secret, because their domain was deleted, are omitted.
pub(crate) async fn list_signed(
    Extract(service): Extract<LoginService>,
    account: Account,
    page: Page,
) -> Result<Json<Value>, Error> {
    page.allow_only(&[])?;
    let after = page.cursor(EventId::parse)?;
    let mut events =
        deliveries::list_of_account_after(&service.store, &account, after.as_ref(), page.limit + 1).await?;
    let next = page.next(&mut events, |event| event.id.to_string());
    let now = service.clock.now().as_second();
    let mut known: HashMap<DomainId, Option<SigningSecrets>> = HashMap::new();
    let mut signed = Vec::with_capacity(events.len());
    for DeliveryRow { id, domain_id, body, .. } in events {
        if !known.contains_key(&domain_id) {
            let secrets = find_secrets(&service.store, &service.seal, &domain_id).await?;
            known.insert(domain_id.clone(), secrets);
        }
        let Some(Some(secrets)) = known.get(&domain_id) else { continue };
        let headers = signatures(id.as_str(), body.as_bytes(), secrets, now).into_iter().collect();
        signed.push(SignedEventView { id, domain_id, body, headers });
    }
    Ok(Json(page.reply("events", &signed, next)))
}

/// `GET /deliveries/{id}`: returns a delivery with the body that every attempt sends.
pub(crate) async fn show(
    Extract(service): Extract<LoginService>,
    account: Account,
    PathParams(id): PathParams<String>,
) -> Result<Json<Value>, Error> {
    let event = find(&service, &account, &id).await?;
    let mut document = to_view(&event);
    document["body"] = serde_json::from_str(&event.delivery.body).map_err(anyhow::Error::from)?;
    Ok(Json(document))
}

/// `POST /deliveries/{id}/retry`: queues the event for another delivery.
pub(crate) async fn retry(
    Extract(service): Extract<LoginService>,
    account: Account,
    by: ApiKey,
    PathParams(id): PathParams<String>,
    _: EmptyBody,
) -> Result<(StatusCode, Json<Value>), Error> {
    let event = find(&service, &account, &id).await?;
    let one = RetryScope::One(&event.delivery.id, Some(&account));
    retries::retry(&service.store, one, &by.actor(), service.clock.now()).await?;
    service.outbox.notify_one();
    Ok((StatusCode::ACCEPTED, Json(to_view(&find(&service, &account, &id).await?))))
}

/// `POST /deliveries/retry`: retries all failed deliveries.
pub(crate) async fn retry_failed(
    Extract(service): Extract<LoginService>,
    account: Account,
    by: ApiKey,
    _: EmptyBody,
) -> Result<(StatusCode, Json<Value>), Error> {
    let failed = RetryScope::FailedOfAccount(&account);
    let retried = retries::retry(&service.store, failed, &by.actor(), service.clock.now()).await?;
    service.outbox.notify_one();
    Ok((StatusCode::ACCEPTED, Json(json!({ "retried": retried }))))
}

/// The body of `POST /domains/{id}/test-event`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TestEventBody {
    event: Option<String>,
}

/// `POST /domains/{id}/test-event`: queues a test event of the domain, or in the sandbox a sample event of a kind.
pub(crate) async fn test_event(
    Extract(service): Extract<LoginService>,
    account: Account,
    by: ApiKey,
    PathParams(id): PathParams<String>,
    OptionalJsonBody(body): OptionalJsonBody<TestEventBody>,
) -> Result<(StatusCode, Json<Value>), Error> {
    let domain = find_domain(&service, &account, &id).await?;
    let kind = parse_sample_kind(body.event.as_deref(), account.environment)?;
    let now = service.clock.now();
    let id = match kind {
        EventKind::Test => {
            deliveries::send_test_event(&service.store, &domain, EventId::new(now, random()), &by.actor(), now).await?
        }
        kind => {
            let entropy = SampleEntropy::draw();
            deliveries::send_sample_event(&service.store, &domain, &kind, entropy, &by.actor(), now).await?
        }
    };
    service.outbox.notify_one();
    Ok((StatusCode::ACCEPTED, Json(to_view(&find(&service, &account, id.as_str()).await?))))
}

/// Parses the kind of a sample event. A live receiver takes other kinds than test events for real events: a key that can
/// send a signed login could log in as any user.
fn parse_sample_kind(text: Option<&str>, environment: Environment) -> Result<EventKind, Problem> {
    let Some(text) = text.filter(|text| *text != EventKind::Test.as_str()) else { return Ok(EventKind::Test) };
    if environment == Environment::Live {
        return Err(Problem::field("event", "must be 'test' in the live environment"));
    }
    let kind = EventKind::SELECTABLE.into_iter().find(|kind| kind.as_str() == text);
    kind.ok_or_else(|| Problem::field("event", "must be 'test' or a kind of event that domains can select"))
}

async fn find(service: &LoginService, account: &Account, id: &str) -> Result<DeliveryListItem, Error> {
    let id = EventId::parse(id).ok_or(Problem::NotFound)?;
    Ok(deliveries::find(&service.store, account, &id).await?.ok_or(Problem::NotFound)?)
}

/// Returns the JSON form of a delivery. It omits the account, because the caller owns the delivery.
fn to_view(event: &DeliveryListItem) -> Value {
    let mut document = json!(event);
    if let Some(members) = document.as_object_mut() {
        members.remove("account");
        members.remove("environment");
    }
    document
}
