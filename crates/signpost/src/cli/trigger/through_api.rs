//! `signpost trigger` through the API of a service: the service signs the sample event and sends it to the event URL of
//! the domain. The command waits for the first attempt.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use signpost_login::domains::ListedDomain;
use signpost_login::ids::{DomainId, EventId};
use signpost_platform::accounts::Environment;
use tokio::time::sleep;

use super::Trigger;
use crate::cli::api::ServiceApi;
use crate::cli::backend::Backend;
use crate::cli::{Session, Usage, print_json, print_text};
use crate::receiver::sample::SampleKind;

/// Interval between two reads of the delivery.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum number of reads of the delivery. An attempt has a timeout of 15 seconds.
const MAX_POLLS: u32 = 20;

/// Has the service send a sample event, and prints the result of the first attempt.
///
/// # Errors
/// Returns an error if a flag needs a local signature, the kind is not allowed in the live environment, or the receiver
/// does not accept the event.
pub(super) async fn run(trigger: Trigger, session: &Session, api: &Arc<ServiceApi>) -> Result<()> {
    let Trigger { kind, fault, forward_to, domain, domain_filter, .. } = trigger;
    if fault.is_some() {
        let reason = "--fault needs a signature of this machine: add --secret and --forward-to";
        return Err(Usage(reason.to_owned()).into());
    }
    if forward_to.is_some() {
        let reason = "through the API, the service sends the event to the domain's event URL: add --secret to post it \
                      elsewhere, or run 'signpost listen --forward-to URL' at the same time";
        return Err(Usage(reason.to_owned()).into());
    }
    // A live site must not act on a login that did not happen.
    if api.account().environment == Environment::Live && kind != SampleKind::Test {
        let reason =
            "a live receiver takes a sample for a real event: trigger a test, or add --secret and --forward-to";
        return Err(Usage(reason.to_owned()).into());
    }
    domain_filter.check_account(api.account())?;
    let backend = Backend::Api(Arc::clone(api));
    let id = match domain {
        Some(text) => backend.find_domain_id(&domain_filter, &text).await?,
        None => only_domain(api.list_domains().await?)?,
    };
    let event = match kind {
        SampleKind::Test => api.send_test_event(&id).await?,
        kind => api.send_sample_event(&id, kind.as_str()).await?,
    };
    let delivery = wait_for_attempt(api, &event).await?;
    print(session, kind, &event, &delivery)
}

fn only_domain(mut domains: Vec<ListedDomain>) -> Result<DomainId> {
    match domains.len() {
        1 => Ok(domains.remove(0).id),
        0 => bail!("the account has no domain: register one with 'signpost domains add'"),
        several => bail!("the account has {several} domains: choose one with --domain"),
    }
}

/// Returns the delivery after its first attempt.
async fn wait_for_attempt(api: &ServiceApi, event: &EventId) -> Result<Value> {
    for _ in 0..MAX_POLLS {
        let delivery = api.delivery(event).await?;
        let is_attempted = ["last_status", "last_error"].into_iter().any(|member| delivery.get(member).is_some());
        if is_attempted || delivery["state"] != "pending" {
            return Ok(delivery);
        }
        sleep(POLL_INTERVAL).await;
    }
    bail!("the service has not sent {event} yet; 'signpost deliveries show {event}' shows its state")
}

fn print(session: &Session, kind: SampleKind, event: &EventId, delivery: &Value) -> Result<()> {
    let is_delivered = delivery["state"] == "delivered";
    let url = delivery["url"].as_str().context("the delivery has no URL")?;
    let status = &delivery["last_status"];
    let error = delivery["last_error"].as_str();
    if session.json {
        let mut post = json!({ "id": event, "fault": "none", "expected": "2xx", "ok": is_delivered });
        if status.is_number() {
            post["status"] = status.clone();
        }
        if let Some(error) = error {
            post["error"] = error.into();
        }
        let document = json!({ "event": kind.as_str(), "url": url, "ok": is_delivered, "posts": [post] });
        print_json(&serde_json::to_string_pretty(&document)?)?;
    } else {
        let got = match (is_delivered, status.as_u64(), error) {
            (true, Some(status), _) => format!("{status}  as expected"),
            (_, Some(status), _) => format!("{status}  expected 2xx"),
            (_, None, error) => format!("failed: {}", error.unwrap_or("no answer")),
        };
        let (url, got) = (signpost_text::clean_line(url), signpost_text::clean_line(&got));
        print_text(&format!("-->  {:8}  {event}  {url}\n<--  {got}", kind.as_str()))?;
    }
    if is_delivered { Ok(()) } else { bail!("the receiver did not answer as it should") }
}
