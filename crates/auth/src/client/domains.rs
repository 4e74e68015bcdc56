use std::fmt;

use reqwest::Method;
use secrecy::SecretString;
use serde::{Deserialize, Deserializer, Serialize};

use super::deliveries::Delivery;
use super::shared_types::{Change, LoginMethod, Paging};
use super::{Signpost, SignpostError};

/// Calls about domains; see [`Signpost::domains`].
#[derive(Clone, Copy, Debug)]
pub struct Domains<'a>(pub(super) &'a Signpost);

/// A new domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewDomain {
    /// The host name.
    pub domain: String,
    /// The URL for answers of wallets.
    pub webhook_url: String,
}

/// Changes of a domain. The default changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DomainChange {
    /// The URL for answers of wallets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook_url: Option<String>,
    /// The URL for events; by default the webhook URL.
    #[serde(default, skip_serializing_if = "Change::is_keep")]
    pub event_url: Change<String>,
    /// The server that handles answers of wallets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<HandlerKind>,
    /// The allowed login methods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub methods: Option<Vec<LoginMethod>>,
    /// Whether users may register themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration: Option<Registration>,
    /// The name shown together with the domain, at most 60 characters.
    #[serde(default, skip_serializing_if = "Change::is_keep")]
    pub display_name: Change<String>,
}

/// The server that handles answers of wallets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HandlerKind {
    /// The website.
    Direct,
    /// The service.
    Hosted,
    /// A value of a later version.
    #[serde(untagged)]
    Other(String),
}

/// Whether users may register without a session of `mode: register`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Registration {
    /// Allowed.
    Open,
    /// Not allowed.
    Closed,
    /// A value of a later version.
    #[serde(untagged)]
    Other(String),
}

/// A domain in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedDomain {
    /// `dom_…`
    pub id: String,
    /// The host name.
    pub domain: String,
    /// Whether the ownership of the domain is verified.
    pub verified: bool,
    /// The URL for answers of wallets.
    pub webhook_url: String,
    /// Time of registration.
    pub created_at: String,
}

/// A page of domains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DomainList {
    /// The entries, oldest first.
    pub domains: Vec<ListedDomain>,
    /// The cursor of the next page; `None` on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// `dom_…`
    pub id: String,
    /// The host name.
    pub domain: String,
    /// Whether the ownership of the domain is verified.
    pub verified: bool,
    /// The URL for answers of wallets.
    pub webhook_url: String,
    /// Time of registration.
    pub created_at: String,
    /// The value of the ownership proof: `svc-verify=…`.
    pub verification_token: String,
    /// The server that handles answers of wallets.
    pub handler: HandlerKind,
    /// The allowed login methods.
    pub methods: Vec<LoginMethod>,
    /// Whether users may register themselves.
    pub registration: Registration,
    /// The name shown together with the domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// The URL for events, if it is not the webhook URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_url: Option<String>,
    /// Time of verification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified_at: Option<String>,
    /// Time of the last check of the proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_checked_at: Option<String>,
    /// Time since which the proof is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing_since: Option<String>,
}

/// A registered domain with its webhook secret.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RegisteredDomain {
    /// `dom_…`
    pub id: String,
    /// The host name.
    pub domain: String,
    /// Whether the ownership of the domain is verified.
    pub verified: bool,
    /// The URL for answers of wallets.
    pub webhook_url: String,
    /// Time of registration.
    pub created_at: String,
    /// The value of the ownership proof: `svc-verify=…`.
    pub verification_token: String,
    /// The server that handles answers of wallets.
    pub handler: HandlerKind,
    /// The allowed login methods.
    pub methods: Vec<LoginMethod>,
    /// Whether users may register themselves.
    pub registration: Registration,
    /// The name shown together with the domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// The URL for events, if it is not the webhook URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_url: Option<String>,
    /// Time of verification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified_at: Option<String>,
    /// Time of the last check of the proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_checked_at: Option<String>,
    /// Time since which the proof is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing_since: Option<String>,
    /// The secret that signs events, `whsec_…`, which is only in this reply. Left out when serialized.
    #[serde(skip_serializing, deserialize_with = "secret")]
    pub webhook_secret: SecretString,
}

/// A verified domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvedDomain {
    /// `dom_…`
    pub id: String,
    /// The host name.
    pub domain: String,
    /// Always true.
    pub verified: bool,
    /// Time of verification.
    pub verified_at: String,
}

impl Domains<'_> {
    /// `POST /domains`.
    ///
    /// # Errors
    /// `domain_exists`, with its `details.id`.
    pub async fn create(&self, new: &NewDomain) -> Result<RegisteredDomain, SignpostError> {
        self.0.fetch(self.0.call(Method::POST, &["domains"])?.json(new)?.not_idempotent()).await
    }

    /// `GET /domains`, oldest first: all of them, or a page if `limit` or `cursor` is given.
    ///
    /// # Errors
    /// As every call: `invalid_api_key`, `rate_limited`, `connection_failed`, …
    pub async fn list(&self, paging: &Paging) -> Result<DomainList, SignpostError> {
        self.0.fetch(self.0.call(Method::GET, &["domains"])?.page(paging)).await
    }

    /// `GET /domains/{id}`.
    ///
    /// # Errors
    /// `domain_not_found`.
    pub async fn get(&self, id: &str) -> Result<Domain, SignpostError> {
        self.0.fetch(self.0.call(Method::GET, &["domains", id])?).await
    }

    /// `PATCH /domains/{id}`.
    ///
    /// # Errors
    /// `domain_not_found`, `shared_login_host`.
    pub async fn update(&self, id: &str, change: &DomainChange) -> Result<Domain, SignpostError> {
        self.0.fetch(self.0.call(Method::PATCH, &["domains", id])?.json(change)?).await
    }

    /// `POST /domains/{id}/verify`: checks the ownership proof. Takes up to 10 s.
    ///
    /// # Errors
    /// `domain_verification_failed`, with the results of the checks in `details.checks`.
    pub async fn verify(&self, id: &str) -> Result<ProvedDomain, SignpostError> {
        self.0.fetch(self.0.call(Method::POST, &["domains", id, "verify"])?).await
    }

    /// `DELETE /domains/{id}`.
    ///
    /// # Errors
    /// `domain_not_found`.
    pub async fn delete(&self, id: &str) -> Result<(), SignpostError> {
        self.0.send(self.0.call(Method::DELETE, &["domains", id])?.not_idempotent()).await?.expect_no_content()
    }

    /// `POST /domains/{id}/test-event`: queues a test event and returns its delivery.
    ///
    /// # Errors
    /// `domain_not_found`.
    pub async fn send_test_event(&self, id: &str) -> Result<Delivery, SignpostError> {
        self.0.fetch(self.0.call(Method::POST, &["domains", id, "test-event"])?.not_idempotent()).await
    }
}

impl fmt::Display for Registration {
    /// Writes the name used by the API.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "open",
            Self::Closed => "closed",
            Self::Other(word) => word,
        })
    }
}

fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SecretString, D::Error> {
    String::deserialize(deserializer).map(SecretString::from)
}
