//! Calls about the delivery of events to webhook endpoints.

use std::fmt;

use reqwest::Method;
use serde::{Deserialize, Serialize};

use super::{Signpost, SignpostError};
use crate::event::Event;

/// The calls about deliveries of events to your endpoints; see [`Signpost::deliveries`].
#[derive(Clone, Copy, Debug)]
pub struct Deliveries<'a>(pub(super) &'a Signpost);

/// The delivery of an event to an endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// The event ID, `evt_…`.
    pub id: String,
    /// The ID of the domain that the event belongs to.
    pub domain_id: String,
    /// The URL of the endpoint.
    pub url: String,
    /// The status of the delivery.
    pub state: DeliveryState,
    /// The number of attempts so far.
    pub attempts: u32,
    /// The time of the event.
    pub created_at: String,
    /// The time of the next attempt.
    pub next_attempt_at: String,
    /// When the delivery succeeded or was given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// The HTTP status of the last response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_status: Option<u16>,
    /// The error of the last attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// The start of the last response body, at most 2048 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_answer: Option<String>,
    /// When the endpoint was disabled. Since then, it gets only one attempt per hour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint_disabled_at: Option<String>,
    /// The body of every attempt. Only present in the response for a single delivery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Event>,
}

/// The status of a delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryState {
    /// The event is not delivered yet.
    Pending,
    /// The endpoint accepted the event.
    Delivered,
    /// All attempts failed, and there will be no further attempt.
    Failed,
    /// A status that a later version of the service introduced.
    #[serde(untagged)]
    Other(String),
}

/// A page of deliveries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryList {
    /// The deliveries, newest first.
    pub deliveries: Vec<Delivery>,
    /// The cursor of the next page, or `None` on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A filter for deliveries. The default selects all deliveries, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryFilter {
    /// The status of the deliveries.
    pub state: Option<DeliveryState>,
    /// The maximum number of deliveries per page, 1 to 100.
    pub limit: Option<u8>,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// The result of retrying all failed deliveries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retried {
    /// The number of deliveries that will be attempted again.
    pub retried: u64,
}

impl Deliveries<'_> {
    /// Returns a page of deliveries, newest first.
    ///
    /// Sends `GET /deliveries`.
    ///
    /// # Errors
    /// Returns the errors of every call: `invalid_api_key`, `rate_limited`, `connection_failed`, …
    pub async fn list(&self, filter: &DeliveryFilter) -> Result<DeliveryList, SignpostError> {
        let DeliveryFilter { state, limit, cursor } = filter;
        let call = self.0.call(Method::GET, &["deliveries"])?.query("state", state.as_ref());
        self.0.fetch(call.query("limit", limit.as_ref()).query("cursor", cursor.as_ref())).await
    }

    /// Returns a delivery with the event body.
    ///
    /// Sends `GET /deliveries/{id}`.
    ///
    /// # Errors
    /// Returns `not_found` for an unknown ID.
    pub async fn get(&self, id: &str) -> Result<Delivery, SignpostError> {
        self.0.fetch(self.0.call(Method::GET, &["deliveries", id])?).await
    }

    /// Schedules an immediate attempt and returns the delivery.
    ///
    /// Sends `POST /deliveries/{id}/retry`.
    ///
    /// # Errors
    /// Returns `not_found` for an unknown ID.
    pub async fn retry(&self, id: &str) -> Result<Delivery, SignpostError> {
        self.0.fetch(self.0.call(Method::POST, &["deliveries", id, "retry"])?.not_idempotent()).await
    }

    /// Schedules an immediate attempt of all failed deliveries.
    ///
    /// Sends `POST /deliveries/retry`.
    ///
    /// # Errors
    /// Returns the errors of every call: `invalid_api_key`, `rate_limited`, `connection_failed`, …
    pub async fn retry_all(&self) -> Result<Retried, SignpostError> {
        self.0.fetch(self.0.call(Method::POST, &["deliveries", "retry"])?.not_idempotent()).await
    }
}

impl fmt::Display for DeliveryState {
    /// Writes the name that the API uses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
            Self::Other(word) => word,
        })
    }
}
