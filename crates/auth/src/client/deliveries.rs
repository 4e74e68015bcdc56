use std::fmt;

use reqwest::Method;
use serde::{Deserialize, Serialize};

use super::{Signpost, SignpostError};
use crate::event::Event;

/// Calls about events sent to your endpoints; [`Signpost::deliveries`] has them.
#[derive(Clone, Copy, Debug)]
pub struct Deliveries<'a>(pub(super) &'a Signpost);

/// An event for one URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// `evt_…`
    pub id: String,
    /// Of which domain.
    pub domain_id: String,
    /// Where it goes.
    pub url: String,
    /// Where it stands.
    pub state: DeliveryState,
    /// How often it was tried.
    pub attempts: u32,
    /// When it happened.
    pub created_at: String,
    /// When it is tried next.
    pub next_attempt_at: String,
    /// When it was delivered or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// The status of the last response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_status: Option<u16>,
    /// What was wrong with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// Its beginning, at most 2048 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_answer: Option<String>,
    /// Since when the endpoint gets one attempt an hour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint_disabled_at: Option<String>,
    /// What every attempt sends; only in the reply for a single delivery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Event>,
}

/// Where a delivery stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryState {
    /// It is tried again.
    Pending,
    /// It arrived.
    Delivered,
    /// It is tried no more.
    Failed,
    /// A word of a later version.
    #[serde(untagged)]
    Other(String),
}

/// A page of deliveries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryList {
    /// The newest first.
    pub deliveries: Vec<Delivery>,
    /// Where the next page begins; none on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Which deliveries are listed. The default is all, from the newest on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryFilter {
    /// Those that stand so.
    pub state: Option<DeliveryState>,
    /// The maximum number, 1 to 100.
    pub limit: Option<u8>,
    /// The `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// How many deliveries are tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retried {
    /// Their number.
    pub retried: u64,
}

impl Deliveries<'_> {
    /// `GET /deliveries`, newest first; `next_cursor` leads on.
    ///
    /// # Errors
    /// As every call: `invalid_api_key`, `rate_limited`, `connection_failed`, …
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

    /// `POST /deliveries/{id}/retry`: the delivery, due now.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn retry(&self, id: &str) -> Result<Delivery, SignpostError> {
        self.0.fetch(self.0.call(Method::POST, &["deliveries", id, "retry"])?.once()).await
    }

    /// `POST /deliveries/retry`: all that failed.
    ///
    /// # Errors
    /// As every call.
    pub async fn retry_all(&self) -> Result<Retried, SignpostError> {
        self.0.fetch(self.0.call(Method::POST, &["deliveries", "retry"])?.once()).await
    }
}

impl fmt::Display for DeliveryState {
    /// The word as the API writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
            Self::Other(word) => word,
        })
    }
}
