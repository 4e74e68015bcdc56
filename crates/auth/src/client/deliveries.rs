use std::fmt;

use reqwest::Method;
use serde::{Deserialize, Serialize};

use super::{Signpost, SignpostError};
use crate::event::Event;

/// Calls about events sent to your endpoints; see [`Signpost::deliveries`].
#[derive(Clone, Copy, Debug)]
pub struct Deliveries<'a>(pub(super) &'a Signpost);

/// An event for a URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// `evt_…`
    pub id: String,
    /// The ID of the domain.
    pub domain_id: String,
    /// The URL of the endpoint.
    pub url: String,
    /// The status.
    pub state: DeliveryState,
    /// The number of attempts.
    pub attempts: u32,
    /// Time of the event.
    pub created_at: String,
    /// Time of the next attempt.
    pub next_attempt_at: String,
    /// Time of delivery or failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// The status of the last response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_status: Option<u16>,
    /// The error of the last attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// The start of the last response, at most 2048 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_answer: Option<String>,
    /// Time since which the endpoint gets an attempt per hour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint_disabled_at: Option<String>,
    /// The body of every attempt; only in the reply for a single delivery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Event>,
}

/// The status of a delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryState {
    /// Not delivered yet.
    Pending,
    /// Delivered.
    Delivered,
    /// Failed, without further attempts.
    Failed,
    /// A value of a later version.
    #[serde(untagged)]
    Other(String),
}

/// A page of deliveries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryList {
    /// The entries, newest first.
    pub deliveries: Vec<Delivery>,
    /// The cursor of the next page; `None` on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A filter for deliveries. The default selects all, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryFilter {
    /// The status.
    pub state: Option<DeliveryState>,
    /// The maximum number, 1 to 100.
    pub limit: Option<u8>,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// The number of deliveries that are attempted again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retried {
    /// The number of deliveries.
    pub retried: u64,
}

impl Deliveries<'_> {
    /// `GET /deliveries`, newest first; `next_cursor` returns the next page.
    ///
    /// # Errors
    /// The errors of every call: `invalid_api_key`, `rate_limited`, `connection_failed`, …
    pub async fn list(&self, filter: &DeliveryFilter) -> Result<DeliveryList, SignpostError> {
        let DeliveryFilter { state, limit, cursor } = filter;
        let call = self.0.call(Method::GET, &["deliveries"])?.query("state", state.as_ref());
        self.0.fetch(call.query("limit", limit.as_ref()).query("cursor", cursor.as_ref())).await
    }

    /// `GET /deliveries/{id}`, with its body.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn get(&self, id: &str) -> Result<Delivery, SignpostError> {
        self.0.fetch(self.0.call(Method::GET, &["deliveries", id])?).await
    }

    /// `POST /deliveries/{id}/retry`: schedules the delivery for now and returns it.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn retry(&self, id: &str) -> Result<Delivery, SignpostError> {
        self.0.fetch(self.0.call(Method::POST, &["deliveries", id, "retry"])?.not_idempotent()).await
    }

    /// `POST /deliveries/retry`: schedules all failed deliveries.
    ///
    /// # Errors
    /// As every call.
    pub async fn retry_all(&self) -> Result<Retried, SignpostError> {
        self.0.fetch(self.0.call(Method::POST, &["deliveries", "retry"])?.not_idempotent()).await
    }
}

impl fmt::Display for DeliveryState {
    /// Writes the name used by the API.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
            Self::Other(word) => word,
        })
    }
}
