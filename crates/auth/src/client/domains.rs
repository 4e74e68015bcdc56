//! Calls about the domains that users log in to.

use std::fmt;

use reqwest::Method;
use secrecy::SecretString;
use serde::{Deserialize, Deserializer, Serialize};

use super::deliveries::Delivery;
use super::shared_types::{Change, LoginMethod, Paging};
use super::{Signpost, SignpostError};
use crate::event::EventKind;

/// The calls about domains; see [`Signpost::domains`].
#[derive(Clone, Copy, Debug)]
pub struct Domains<'a>(pub(super) &'a Signpost);

/// A domain to register.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewDomain {
    /// The host name of the domain.
    pub domain: String,
    /// The URL that wallets post their answers to.
    pub webhook_url: String,
    /// The kinds of events to send. By default, logins and registrations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<EventKind>>,
}

/// Changes of a domain. The default changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DomainChange {
    /// The URL that wallets post their answers to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook_url: Option<String>,
    /// The URL for events. By default, events are sent to the webhook URL.
    #[serde(default, skip_serializing_if = "Change::is_keep")]
    pub event_url: Change<String>,
    /// The server that handles the answers of wallets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<HandlerKind>,
    /// The allowed login methods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub methods: Option<Vec<LoginMethod>>,
    /// Whether users may create accounts themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration: Option<Registration>,
    /// The display name of the domain, at most 60 characters. It is always shown together with the
    /// host name.
    #[serde(default, skip_serializing_if = "Change::is_keep")]
    pub display_name: Change<String>,
    /// The kinds of events to send. [`Change::Remove`] restores the default: logins and
    /// registrations, and links for a hosted domain.
    #[serde(default, skip_serializing_if = "Change::is_keep")]
    pub events: Change<Vec<EventKind>>,
}

/// The server that handles the answers of wallets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HandlerKind {
    /// The website of the domain.
    Direct,
    /// The service.
    Hosted,
    /// A value that a later version of the service introduced.
    #[serde(untagged)]
    Other(String),
}

/// Whether users may create accounts without a session of `mode: register`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Registration {
    /// Users may create accounts.
    Open,
    /// Users may not create accounts.
    Closed,
    /// A value that a later version of the service introduced.
    #[serde(untagged)]
    Other(String),
}

/// A domain in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedDomain {
    /// The domain ID, `dom_…`.
    pub id: String,
    /// The host name of the domain.
    pub domain: String,
    /// Whether the ownership of the domain is verified.
    pub verified: bool,
    /// The URL that wallets post their answers to.
    pub webhook_url: String,
    /// When the domain was registered.
    pub created_at: String,
}

/// A page of domains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DomainList {
    /// The domains, oldest first.
    pub domains: Vec<ListedDomain>,
    /// The cursor of the next page, or `None` on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A domain with all its settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// The domain ID, `dom_…`.
    pub id: String,
    /// The host name of the domain.
    pub domain: String,
    /// Whether the ownership of the domain is verified.
    pub verified: bool,
    /// The URL that wallets post their answers to.
    pub webhook_url: String,
    /// When the domain was registered.
    pub created_at: String,
    /// The text that proves the ownership of the domain when it is published: `svc-verify=…`.
    pub verification_token: String,
    /// The server that handles the answers of wallets.
    pub handler: HandlerKind,
    /// The allowed login methods.
    pub methods: Vec<LoginMethod>,
    /// Whether users may create accounts themselves.
    pub registration: Registration,
    /// The display name of the domain. It is always shown together with the host name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// The kinds of events that are sent beside test events. Empty if the service is older.
    #[serde(default)]
    pub events: Vec<EventKind>,
    /// The URL for events, if it differs from the webhook URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_url: Option<String>,
    /// When the ownership was verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified_at: Option<String>,
    /// When the ownership proof was last checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_checked_at: Option<String>,
    /// When the ownership proof was first found to be missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing_since: Option<String>,
}

/// A newly registered domain, with its webhook secret.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RegisteredDomain {
    /// The domain ID, `dom_…`.
    pub id: String,
    /// The host name of the domain.
    pub domain: String,
    /// Whether the ownership of the domain is verified.
    pub verified: bool,
    /// The URL that wallets post their answers to.
    pub webhook_url: String,
    /// When the domain was registered.
    pub created_at: String,
    /// The text that proves the ownership of the domain when it is published: `svc-verify=…`.
    pub verification_token: String,
    /// The server that handles the answers of wallets.
    pub handler: HandlerKind,
    /// The allowed login methods.
    pub methods: Vec<LoginMethod>,
    /// Whether users may create accounts themselves.
    pub registration: Registration,
    /// The display name of the domain. It is always shown together with the host name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// The kinds of events that are sent beside test events. Empty if the service is older.
    #[serde(default)]
    pub events: Vec<EventKind>,
    /// The URL for events, if it differs from the webhook URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_url: Option<String>,
    /// When the ownership was verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified_at: Option<String>,
    /// When the ownership proof was last checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_checked_at: Option<String>,
    /// When the ownership proof was first found to be missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing_since: Option<String>,
    /// The secret that signs events, `whsec_…`. Only this response contains it. It is omitted when
    /// serialized.
    #[serde(skip_serializing, deserialize_with = "secret")]
    pub webhook_secret: SecretString,
}

/// The result of a successful ownership verification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvedDomain {
    /// The domain ID, `dom_…`.
    pub id: String,
    /// The host name of the domain.
    pub domain: String,
    /// Always `true`.
    pub verified: bool,
    /// When the ownership was verified.
    pub verified_at: String,
}

impl Domains<'_> {
    /// Registers a domain.
    ///
    /// Sends `POST /domains`.
    ///
    /// # Errors
    /// Returns `domain_exists`, with the ID of the domain in `details.id`, if it is already
    /// registered.
    pub async fn create(&self, new: &NewDomain) -> Result<RegisteredDomain, SignpostError> {
        self.0.fetch(self.0.call(Method::POST, &["domains"])?.json(new)?.not_idempotent()).await
    }

    /// Returns all domains, oldest first, or a page if `limit` or `cursor` is set.
    ///
    /// Sends `GET /domains`.
    ///
    /// # Errors
    /// Returns the errors of every call: `invalid_api_key`, `rate_limited`, `connection_failed`, …
    pub async fn list(&self, paging: &Paging) -> Result<DomainList, SignpostError> {
        self.0.fetch(self.0.call(Method::GET, &["domains"])?.page(paging)).await
    }

    /// Returns a domain.
    ///
    /// Sends `GET /domains/{id}`.
    ///
    /// # Errors
    /// Returns `domain_not_found` for an unknown ID.
    pub async fn get(&self, id: &str) -> Result<Domain, SignpostError> {
        self.0.fetch(self.0.call(Method::GET, &["domains", id])?).await
    }

    /// Changes a domain.
    ///
    /// Sends `PATCH /domains/{id}`.
    ///
    /// # Errors
    /// Returns `domain_not_found` for an unknown ID, or `shared_login_host` if the change requires
    /// a separate login host.
    pub async fn update(&self, id: &str, change: &DomainChange) -> Result<Domain, SignpostError> {
        self.0.fetch(self.0.call(Method::PATCH, &["domains", id])?.json(change)?).await
    }

    /// Checks the ownership proof in up to 10 seconds.
    ///
    /// Sends `POST /domains/{id}/verify`.
    ///
    /// # Errors
    /// Returns `domain_verification_failed`, with the results of the checks in `details.checks`, if
    /// no proof is found.
    pub async fn verify(&self, id: &str) -> Result<ProvedDomain, SignpostError> {
        self.0.fetch(self.0.call(Method::POST, &["domains", id, "verify"])?).await
    }

    /// Deletes a domain.
    ///
    /// Sends `DELETE /domains/{id}`.
    ///
    /// # Errors
    /// Returns `domain_not_found` for an unknown ID.
    pub async fn delete(&self, id: &str) -> Result<(), SignpostError> {
        self.0.send(self.0.call(Method::DELETE, &["domains", id])?.not_idempotent()).await?.expect_no_content()
    }

    /// Queues a test event and returns its delivery.
    ///
    /// Sends `POST /domains/{id}/test-event`.
    ///
    /// # Errors
    /// Returns `domain_not_found` for an unknown ID.
    pub async fn send_test_event(&self, id: &str) -> Result<Delivery, SignpostError> {
        self.0.fetch(self.0.call(Method::POST, &["domains", id, "test-event"])?.not_idempotent()).await
    }
}

impl fmt::Display for Registration {
    /// Writes the name that the API uses.
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
