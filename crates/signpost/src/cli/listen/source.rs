//! The sources of events for `signpost listen`: the outbox in the database, or the API of a service, which signs the
//! events itself and never sends a secret.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use signpost_login::domains::{Domain, SigningSecrets};
use signpost_login::events::deliveries::list_after;
use signpost_login::events::{DeliveryRow, DeliveryScope, deliveries, signatures};
use signpost_login::ids::{DomainId, EventId};
use signpost_platform::accounts::Environment;
use signpost_platform::clock::Clock;
use signpost_store::Store;
use url::Url;

use crate::cli::api::{ServiceApi, SignedEvent};
use crate::cli::backend::Backend;
use crate::cli::signer::{self, DomainChoice, SigningDomain};
use crate::cli::{Session, Usage};
use crate::receiver::SignatureFields;

/// Number of events that are read at a time from the database.
const PAGE_LEN: u32 = 200;
/// Interval between two reads of the outbox.
const DATABASE_INTERVAL: Duration = Duration::from_millis(250);
/// Interval between two calls of the API, a fifth of its default rate limit.
const API_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum number of domains that are listed at the start.
const MAX_NAMED: usize = 20;
/// The header fields of a signed event.
const SIGNATURE_FIELDS: [&str; 5] =
    ["x-svc-signature", "x-svc-signature-next", "webhook-id", "webhook-timestamp", "webhook-signature"];

/// A source of events.
pub(super) enum EventSource<'a> {
    Database { session: &'a Session, store: Store, scope: DeliveryScope },
    Api { api: Arc<ServiceApi>, domain: Option<DomainId>, names: HashMap<String, String> },
}

/// A domain whose events are forwarded. The secrets are known if the source is the database.
pub(super) struct ListenDomain {
    pub(super) id: DomainId,
    pub(super) name: String,
    pub(super) environment: Environment,
    pub(super) events_url: Option<Url>,
    pub(super) secrets: Option<SigningSecrets>,
}

/// An event of the source, signed or to be signed.
pub(super) struct OutboxEvent {
    pub(super) id: EventId,
    pub(super) body: String,
    pub(super) domain_id: DomainId,
    fields: Option<SignatureFields>,
}

/// The request that forwards an event.
pub(super) struct SignedRequest {
    /// The name of the domain, or its ID if the domain is unknown.
    pub(super) domain: String,
    pub(super) fields: SignatureFields,
    /// The domain with its secrets, if the source is the database.
    pub(super) signing: Option<SigningDomain>,
}

/// A page of events, oldest first.
pub(super) struct OutboxPage {
    pub(super) events: Vec<OutboxEvent>,
    /// The ID after which the next page starts, if there is one.
    pub(super) next: Option<EventId>,
}

impl<'a> EventSource<'a> {
    /// Opens the source of the selected events. Returns the domains to name, and the name of the selection.
    ///
    /// # Errors
    /// Returns an error if no domain or several domains have the name, or the selection is live events through the API
    /// without `--live`.
    pub(super) async fn open(
        session: &'a Session,
        choice: &DomainChoice,
    ) -> Result<(EventSource<'a>, Vec<ListenDomain>, String)> {
        match session.backend()? {
            Backend::Database(store) => Self::open_database(session, store, choice).await,
            Backend::Api(api) => Self::open_api(api, choice).await,
        }
    }

    async fn open_database(
        session: &'a Session,
        store: Store,
        choice: &DomainChoice,
    ) -> Result<(EventSource<'a>, Vec<ListenDomain>, String)> {
        if let Some(one) = choice.named(session, &store).await? {
            let (id, name) = (one.domain.id.clone(), one.domain.name.to_string());
            let scope = DeliveryScope { domain: Some(id), ..DeliveryScope::default() };
            return Ok((Self::Database { session, store, scope }, vec![one.into()], name));
        }
        let environment = choice.environment();
        let mut domains = Vec::new();
        for id in choice.all(&store).await?.iter().take(MAX_NAMED) {
            domains.push(signer::find(session, &store, id).await?.into());
        }
        let account = choice.domain_filter.account.clone();
        let scope = DeliveryScope { domain: None, environment: Some(environment), account };
        Ok((Self::Database { session, store, scope }, domains, format!("the {environment}")))
    }

    async fn open_api(
        api: Arc<ServiceApi>,
        choice: &DomainChoice,
    ) -> Result<(EventSource<'a>, Vec<ListenDomain>, String)> {
        let environment = api.account().environment;
        choice.domain_filter.check_account(api.account())?;
        if environment == Environment::Live && choice.domain_filter.environment().is_none() {
            let reason = "the API key belongs to the live environment: add --live to forward events of real users";
            return Err(Usage(reason.to_owned()).into());
        }
        let listed = api.list_domains().await?;
        let names = listed.iter().map(|domain| (domain.id.to_string(), domain.domain.clone())).collect();
        let backend = Backend::Api(Arc::clone(&api));
        if let Some(text) = &choice.domain {
            let domain = backend.find_domain(&choice.domain_filter, text).await?;
            let (id, name) = (domain.id.clone(), domain.name.to_string());
            return Ok((Self::Api { api, domain: Some(id), names }, vec![domain.into()], name));
        }
        let domains = listed.into_iter().take(MAX_NAMED).map(|domain| ListenDomain {
            id: domain.id,
            name: domain.domain,
            environment,
            events_url: None,
            secrets: None,
        });
        let domains = domains.collect();
        Ok((Self::Api { api, domain: None, names }, domains, format!("the {environment}")))
    }

    /// Returns the interval between two reads.
    pub(super) fn interval(&self) -> Duration {
        match self {
            Self::Database { .. } => DATABASE_INTERVAL,
            Self::Api { .. } => API_INTERVAL,
        }
    }

    /// Returns the newest event, of any domain.
    pub(super) async fn newest(&self) -> Result<Option<EventId>> {
        match self {
            Self::Database { store, .. } => {
                Ok(deliveries::list_all(store, None, 1).await?.pop().map(|newest| newest.delivery.id))
            }
            Self::Api { api, .. } => {
                let newest = api.list_deliveries(None, 1).await?.pop();
                Ok(newest.and_then(|newest| EventId::parse(newest["id"].as_str()?)))
            }
        }
    }

    /// Returns a page of the selected events after an ID.
    pub(super) async fn page(&self, after: &EventId) -> Result<OutboxPage> {
        match self {
            Self::Database { store, scope, .. } => {
                let rows = list_after(store, after, scope, PAGE_LEN).await?;
                let next = rows.last().filter(|_| rows.len() == PAGE_LEN as usize).map(|last| last.id.clone());
                Ok(OutboxPage { events: rows.into_iter().map(OutboxEvent::from).collect(), next })
            }
            Self::Api { api, domain, .. } => {
                let page = api.signed_events(after).await?;
                let mut events: Vec<_> = page.events.into_iter().map(OutboxEvent::from).collect();
                events.retain(|event| domain.as_ref().is_none_or(|only| *only == event.domain_id));
                Ok(OutboxPage { events, next: page.next_cursor })
            }
        }
    }

    /// Signs an event for its request at this moment, unless the service has signed it.
    ///
    /// # Errors
    /// Returns an error if the domain was deleted, or its secrets cannot be read.
    pub(super) async fn sign(&self, event: &mut OutboxEvent) -> Result<SignedRequest> {
        match self {
            Self::Database { session, store, .. } => {
                let signing = signer::find(session, store, &event.domain_id).await?;
                let now = Clock::System.now().as_second();
                let fields = signatures(event.id.as_str(), event.body.as_bytes(), &signing.secrets, now);
                Ok(SignedRequest { domain: signing.domain.name.to_string(), fields, signing: Some(signing) })
            }
            Self::Api { names, .. } => {
                let id = event.domain_id.as_str();
                let domain = names.get(id).cloned().unwrap_or_else(|| id.to_owned());
                let fields = event.fields.take().context("the service did not sign the event")?;
                Ok(SignedRequest { domain, fields, signing: None })
            }
        }
    }
}

impl From<SigningDomain> for ListenDomain {
    fn from(SigningDomain { domain, secrets }: SigningDomain) -> Self {
        Self { secrets: Some(secrets), ..Self::from(domain) }
    }
}

impl From<Domain> for ListenDomain {
    fn from(domain: Domain) -> Self {
        let events_url = Some(domain.events_url().clone());
        let (name, environment) = (domain.name.to_string(), domain.account.environment);
        Self { id: domain.id, name, environment, events_url, secrets: None }
    }
}

impl From<DeliveryRow> for OutboxEvent {
    fn from(row: DeliveryRow) -> Self {
        Self { id: row.id, body: row.body, domain_id: row.domain_id, fields: None }
    }
}

impl From<SignedEvent> for OutboxEvent {
    fn from(event: SignedEvent) -> Self {
        let SignedEvent { id, domain_id, body, mut headers } = event;
        let fields = SIGNATURE_FIELDS.iter().filter_map(|name| Some((*name, headers.remove(*name)?))).collect();
        Self { id, body, domain_id, fields: Some(fields) }
    }
}
