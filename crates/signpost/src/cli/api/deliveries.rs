//! Calls of the API about deliveries of events.

use std::collections::BTreeMap;

use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use signpost_login::ids::{DomainId, EventId};

use super::{ApiFailure, PAGE_LEN, ServiceApi};

/// An event with the request that the service would send at this moment.
#[derive(Debug, Deserialize)]
pub(in crate::cli) struct SignedEvent {
    pub(in crate::cli) id: EventId,
    pub(in crate::cli) domain_id: DomainId,
    pub(in crate::cli) body: String,
    /// The header fields that sign the body, by their names in lower case.
    pub(in crate::cli) headers: BTreeMap<String, String>,
}

/// A page of signed events.
#[derive(Debug, Deserialize)]
pub(in crate::cli) struct SignedEventPage {
    pub(in crate::cli) events: Vec<SignedEvent>,
    /// The ID of the last event, if more events follow.
    pub(in crate::cli) next_cursor: Option<EventId>,
}

/// The reply to a call that queues an event.
#[derive(Deserialize)]
struct QueuedDocument {
    id: EventId,
}

/// The reply to a retry of all failed events.
#[derive(Deserialize)]
struct RetriedDocument {
    retried: usize,
}

impl ServiceApi {
    /// Returns deliveries, newest first, with the members that lists of all accounts have.
    pub(in crate::cli) async fn list_deliveries(
        &self,
        state: Option<&str>,
        max: u32,
    ) -> Result<Vec<Value>, ApiFailure> {
        let filter: Vec<_> = state.map(|state| ("state", state)).into_iter().collect();
        let mut found: Vec<Value> = self.list(&["deliveries"], "deliveries", &filter, max).await?;
        for delivery in &mut found {
            self.add_account(delivery);
        }
        Ok(found)
    }

    /// Returns a delivery with the body of its event.
    pub(in crate::cli) async fn delivery(&self, id: &EventId) -> Result<Value, ApiFailure> {
        let mut found = self.get(&["deliveries", id.as_str()]).await?;
        self.add_account(&mut found);
        Ok(found)
    }

    /// Queues an event for another attempt.
    pub(in crate::cli) async fn retry_delivery(&self, id: &EventId) -> Result<(), ApiFailure> {
        let _: Value = self.call(Method::POST, &["deliveries", id.as_str(), "retry"], &[], None).await?;
        Ok(())
    }

    /// Queues the failed events of the account. Returns their number.
    pub(in crate::cli) async fn retry_failed_deliveries(&self) -> Result<usize, ApiFailure> {
        let document: RetriedDocument = self.call(Method::POST, &["deliveries", "retry"], &[], None).await?;
        Ok(document.retried)
    }

    /// Queues a test event of a domain.
    pub(in crate::cli) async fn send_test_event(&self, domain: &DomainId) -> Result<EventId, ApiFailure> {
        let path = ["domains", domain.as_str(), "test-event"];
        let document: QueuedDocument = self.call(Method::POST, &path, &[], None).await?;
        Ok(document.id)
    }

    /// Queues a sample event of a kind. Live domains get only test events.
    pub(in crate::cli) async fn send_sample_event(&self, domain: &DomainId, kind: &str) -> Result<EventId, ApiFailure> {
        let path = ["domains", domain.as_str(), "test-event"];
        let document: QueuedDocument = self.call(Method::POST, &path, &[], Some(&json!({ "event": kind }))).await?;
        Ok(document.id)
    }

    /// Returns a page of the events after an ID, oldest first.
    pub(in crate::cli) async fn signed_events(&self, after: &EventId) -> Result<SignedEventPage, ApiFailure> {
        let limit = PAGE_LEN.to_string();
        let query = [("limit", limit.as_str()), ("cursor", after.as_str())];
        self.call(Method::GET, &["deliveries", "signed"], &query, None).await
    }

    fn add_account(&self, delivery: &mut Value) {
        if let Some(members) = delivery.as_object_mut() {
            members.insert("account".to_owned(), json!(self.account().name));
            members.insert("environment".to_owned(), json!(self.account().environment));
        }
    }
}
