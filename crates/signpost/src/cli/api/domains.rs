//! Calls of the API about domains.

use jiff::Timestamp;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use signpost_auth::DomainName;
use signpost_login::domains::{
    DisplayName, Domain, DomainPatch, EventSelection, HandlerKind, ListedDomain, LoginMethods, MAX_DOMAINS, NewDomain,
    ProofCheck, ProofToken, Registration,
};
use signpost_login::ids::DomainId;
use url::Url;

use super::{ApiFailure, ServiceApi};

/// A domain in a list of the API.
#[derive(Deserialize)]
struct ListedDomainDocument {
    id: DomainId,
    domain: String,
    verified: bool,
    webhook_url: String,
    created_at: Timestamp,
}

/// A domain in a reply of the API.
#[derive(Deserialize)]
struct DomainDocument {
    id: DomainId,
    domain: String,
    webhook_url: String,
    event_url: Option<String>,
    handler: HandlerKind,
    verification_token: String,
    created_at: Timestamp,
    verified_at: Option<Timestamp>,
    last_checked_at: Option<Timestamp>,
    failing_since: Option<Timestamp>,
    methods: LoginMethods,
    registration: Registration,
    display_name: Option<DisplayName>,
    events: Option<EventSelection>,
}

/// The reply to a registration.
#[derive(Deserialize)]
struct CreatedDomainDocument {
    id: DomainId,
    webhook_secret: String,
}

/// The reply to a successful verification.
#[derive(Deserialize)]
struct VerifiedDomainDocument {
    verified_at: Timestamp,
}

/// A check of an ownership proof in the details of an error.
#[derive(Deserialize)]
struct ProofCheckDocument {
    method: String,
    name: String,
    expected: String,
    #[serde(default)]
    found: Vec<String>,
    error: Option<String>,
}

/// The result of a registration through the API.
pub(in crate::cli) enum RegisteredByApi {
    /// A new domain, with the secret that no other call returns.
    New(Box<Domain>, String),
    /// The account already has the domain.
    Existing(Box<Domain>),
}

/// The result of a verification through the API.
pub(in crate::cli) enum VerifiedByApi {
    /// The domain is verified since this time.
    Since(Timestamp),
    /// No proof was found, by these checks.
    Unproven(Vec<ProofCheck>),
}

impl ServiceApi {
    /// Returns the domains of the account.
    pub(in crate::cli) async fn list_domains(&self) -> Result<Vec<ListedDomain>, ApiFailure> {
        let found: Vec<ListedDomainDocument> = self.list(&["domains"], "domains", &[], MAX_DOMAINS).await?;
        let listed = found.into_iter().map(|found| {
            let ListedDomainDocument { id, domain, verified, webhook_url, created_at } = found;
            let (account, environment) = (self.account().name.clone(), self.account().environment);
            ListedDomain { id, account, environment, domain, verified, webhook_url, created_at }
        });
        Ok(listed.collect())
    }

    /// Returns a domain of the account.
    pub(in crate::cli) async fn domain(&self, id: &DomainId) -> Result<Domain, ApiFailure> {
        let path = ["domains", id.as_str()];
        self.read_domain(self.get(&path).await?, &path)
    }

    /// Registers a domain, and then sets the properties that a registration cannot set.
    pub(in crate::cli) async fn register_domain(&self, new: &NewDomain) -> Result<RegisteredByApi, ApiFailure> {
        let NewDomain { domain, webhook_url, event_url, handler, events } = new;
        let mut body = json!({ "domain": domain, "webhook_url": webhook_url });
        if let Some(events) = events {
            body["events"] = json!(events);
        }
        let created: CreatedDomainDocument = match self.call(Method::POST, &["domains"], &[], Some(&body)).await {
            Ok(created) => created,
            Err(failure) if failure.has_code("domain_exists") => {
                let id = failure.detail("id").and_then(Value::as_str).and_then(DomainId::parse);
                let Some(id) = id else { return Err(failure) };
                return Ok(RegisteredByApi::Existing(Box::new(self.domain(&id).await?)));
            }
            Err(failure) => return Err(failure),
        };
        let mut change = json!({});
        if let Some(url) = event_url {
            change["event_url"] = url.as_str().into();
        }
        if *handler != HandlerKind::default() {
            change["handler"] = json!(handler);
        }
        let path = ["domains", created.id.as_str()];
        let document = if change == json!({}) {
            self.get(&path).await?
        } else {
            self.call(Method::PATCH, &path, &[], Some(&change)).await?
        };
        Ok(RegisteredByApi::New(Box::new(self.read_domain(document, &path)?), created.webhook_secret))
    }

    /// Changes a domain, and returns it.
    pub(in crate::cli) async fn patch_domain(&self, id: &DomainId, change: &DomainPatch) -> Result<Domain, ApiFailure> {
        let path = ["domains", id.as_str()];
        self.read_domain(self.call(Method::PATCH, &path, &[], Some(&change.to_details())).await?, &path)
    }

    /// Checks the ownership proof of a domain.
    pub(in crate::cli) async fn verify_domain(&self, id: &DomainId) -> Result<VerifiedByApi, ApiFailure> {
        let verified = self.call(Method::POST, &["domains", id.as_str(), "verify"], &[], None).await;
        match verified {
            Ok(VerifiedDomainDocument { verified_at }) => Ok(VerifiedByApi::Since(verified_at)),
            Err(failure) if failure.has_code("domain_verification_failed") => {
                let checks = failure.detail("checks").cloned().unwrap_or_default();
                let checks: Vec<ProofCheckDocument> = serde_json::from_value(checks).map_err(|_| failure)?;
                Ok(VerifiedByApi::Unproven(checks.into_iter().map(ProofCheck::from).collect()))
            }
            Err(failure) => Err(failure),
        }
    }

    /// Deletes a domain.
    pub(in crate::cli) async fn delete_domain(&self, id: &DomainId) -> Result<(), ApiFailure> {
        self.call(Method::DELETE, &["domains", id.as_str()], &[], None).await
    }

    fn read_domain(&self, document: DomainDocument, path: &[&str]) -> Result<Domain, ApiFailure> {
        let name = DomainName::parse(&document.domain).map_err(|error| self.not_understood(path, error))?;
        let read_url = |text: &str| Url::parse(text).map_err(|error| self.not_understood(path, error));
        let webhook_url = read_url(&document.webhook_url)?;
        let event_url = document.event_url.as_deref().map(read_url).transpose()?;
        let Some(verification_token) = ProofToken::parse(&document.verification_token) else {
            return Err(self.not_understood(path, "verification_token"));
        };
        // The text output marks the default selection.
        let default = EventSelection::default_for(document.handler);
        Ok(Domain {
            id: document.id,
            account: self.account().clone(),
            name,
            webhook_url,
            event_url,
            handler: document.handler,
            verification_token,
            created_at: document.created_at,
            verified_at: document.verified_at,
            last_checked_at: document.last_checked_at,
            failing_since: document.failing_since,
            methods: Some(document.methods),
            registration: document.registration,
            display_name: document.display_name,
            events: document.events.filter(|events| *events != default),
        })
    }
}

impl From<ProofCheckDocument> for ProofCheck {
    fn from(document: ProofCheckDocument) -> Self {
        let ProofCheckDocument { method, name, expected, found, error } = document;
        let method = if method == "dns_txt" { "dns_txt" } else { "well_known" };
        Self { method, name, expected, found, error }
    }
}
