//! Handlers of `/deliveries` (listing and retrying deliveries of events), and of the test event of
//! a domain.

use axum::Json;
use axum::extract::State as Extract;
use axum::http::StatusCode;
use serde_json::{Value, json};
use signpost_platform::accounts::Account;
use signpost_platform::web::problem::Problem;
use signpost_platform::web::{ApiKey, EmptyBody, Page, PathParams};
use signpost_store::random;

use crate::error::Error;
use crate::events::{DeliveryFilter, DeliveryListItem, RetryScope, deliveries, retries};
use crate::flows::lookup::find_domain;
use crate::ids::EventId;
use crate::service::LoginService;

const STATES: [&str; 3] = ["pending", "delivered", "failed"];

/// `GET /deliveries?state=&limit=&cursor=`: lists deliveries, newest first.
pub(crate) async fn list(
    Extract(service): Extract<LoginService>,
    account: Account,
    page: Page,
) -> Result<Json<Value>, Error> {
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

/// `POST /domains/{id}/test-event`: queues a test event of the domain.
pub(crate) async fn test_event(
    Extract(service): Extract<LoginService>,
    account: Account,
    by: ApiKey,
    PathParams(id): PathParams<String>,
    _: EmptyBody,
) -> Result<(StatusCode, Json<Value>), Error> {
    let domain = find_domain(&service, &account, &id).await?;
    let now = service.clock.now();
    let id = EventId::new(now, random());
    let id = deliveries::send_test_event(&service.store, &domain, id, &by.actor(), now).await?;
    service.outbox.notify_one();
    Ok((StatusCode::ACCEPTED, Json(to_view(&find(&service, &account, id.as_str()).await?))))
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
