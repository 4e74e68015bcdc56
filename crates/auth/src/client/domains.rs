use std::fmt;

use reqwest::Method;
use secrecy::SecretString;
use serde::{Deserialize, Deserializer, Serialize};

use super::deliveries::Delivery;
use super::shapes::{Change, LoginMethod, Paging};
use super::{Signpost, SignpostError};

/// Calls about the host names that people log in to; [`Signpost::domains`] has them.
#[derive(Clone, Copy, Debug)]
pub struct Domains<'a>(pub(super) &'a Signpost);

/// A domain to be registered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewDomain {
    /// The host name.
    pub domain: String,
    /// Where wallets post.
    pub webhook_url: String,
}

/// What is to change about a domain. The default changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DomainChange {
    /// Where wallets post.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook_url: Option<String>,
    /// Where events go; without it they go to the webhook URL.
    #[serde(default, skip_serializing_if = "Change::is_keep")]
    pub event_url: Change<String>,
    /// Who answers wallets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<HandlerKind>,
    /// How people may log in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub methods: Option<Vec<LoginMethod>>,
    /// Whether people may create an account by themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration: Option<Registration>,
    /// What is shown beside the domain, at most 60 characters.
    #[serde(default, skip_serializing_if = "Change::is_keep")]
    pub display_name: Change<String>,
}

/// Who answers wallets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HandlerKind {
    /// The site.
    Direct,
    /// The service.
    Hosted,
    /// A word of a later version.
    #[serde(untagged)]
    Other(String),
}

/// Whether people may create an account without `mode: register` of the site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Registration {
    /// They may.
    Open,
    /// They may not.
    Closed,
    /// A word of a later version.
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
    /// Whether there is proof that the account owns it.
    pub verified: bool,
    /// Where wallets post.
    pub webhook_url: String,
    /// When it was registered.
    pub created_at: String,
}

/// A page of domains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DomainList {
    /// The oldest first.
    pub domains: Vec<ListedDomain>,
    /// Where the next page begins; none on the last.
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
    /// Whether there is proof that the account owns it.
    pub verified: bool,
    /// Where wallets post.
    pub webhook_url: String,
    /// When it was registered.
    pub created_at: String,
    /// What the proof says: `svc-verify=…`.
    pub verification_token: String,
    /// Who answers wallets.
    pub handler: HandlerKind,
    /// How people may log in.
    pub methods: Vec<LoginMethod>,
    /// Whether people may create an account by themselves.
    pub registration: Registration,
    /// What is shown beside the domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Where events go, if not to the webhook URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_url: Option<String>,
    /// Since when there is proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified_at: Option<String>,
    /// When the proof was last looked up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_checked_at: Option<String>,
    /// Since when it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing_since: Option<String>,
}

/// A domain that was registered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RegisteredDomain {
    /// `dom_…`
    pub id: String,
    /// The host name.
    pub domain: String,
    /// Whether there is proof that the account owns it.
    pub verified: bool,
    /// Where wallets post.
    pub webhook_url: String,
    /// When it was registered.
    pub created_at: String,
    /// What the proof says: `svc-verify=…`.
    pub verification_token: String,
    /// Who answers wallets.
    pub handler: HandlerKind,
    /// How people may log in.
    pub methods: Vec<LoginMethod>,
    /// Whether people may create an account by themselves.
    pub registration: Registration,
    /// What is shown beside the domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Where events go, if not to the webhook URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_url: Option<String>,
    /// Since when there is proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified_at: Option<String>,
    /// When the proof was last looked up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_checked_at: Option<String>,
    /// Since when it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing_since: Option<String>,
    /// What events are signed with, `whsec_…`: this reply alone shows it. Left out when printed.
    #[serde(skip_serializing, deserialize_with = "secret")]
    pub webhook_secret: SecretString,
}

/// A domain of which the service found the proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvedDomain {
    /// `dom_…`
    pub id: String,
    /// The host name.
    pub domain: String,
    /// True.
    pub verified: bool,
    /// Since when.
    pub verified_at: String,
}

impl Domains<'_> {
    /// `POST /domains`.
    ///
    /// # Errors
    /// `domain_exists`, with its `details.id`.
    pub async fn create(&self, new: &NewDomain) -> Result<RegisteredDomain, SignpostError> {
        self.0.fetch(self.0.call(Method::POST, &["domains"])?.json(new)?.once()).await
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

    /// `POST /domains/{id}/verify`: has the service look for the proof. Takes up to 10 s.
    ///
    /// # Errors
    /// `domain_verification_failed`, with what was looked up and found in `details.checks`.
    pub async fn verify(&self, id: &str) -> Result<ProvedDomain, SignpostError> {
        self.0.fetch(self.0.call(Method::POST, &["domains", id, "verify"])?).await
    }

    /// `DELETE /domains/{id}`.
    ///
    /// # Errors
    /// `domain_not_found`.
    pub async fn delete(&self, id: &str) -> Result<(), SignpostError> {
        self.0.send(self.0.call(Method::DELETE, &["domains", id])?.once()).await?.nothing()
    }

    /// `POST /domains/{id}/test-event`: the event that was queued.
    ///
    /// # Errors
    /// `domain_not_found`.
    pub async fn send_test_event(&self, id: &str) -> Result<Delivery, SignpostError> {
        self.0.fetch(self.0.call(Method::POST, &["domains", id, "test-event"])?.once()).await
    }
}

impl fmt::Display for Registration {
    /// The word as the API writes it.
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
