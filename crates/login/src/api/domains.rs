//! Handlers of `/domains`: registering, reading, changing, verifying and deleting domains.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use signpost_platform::accounts::Account;
use signpost_platform::outbound::EgressPolicy;
use signpost_platform::web::problem::Problem;
use signpost_platform::web::{ApiKey, EmptyBody, JsonBody, Nullable, Page, PathParams};
use url::Url;

use crate::domains::patch_sql::{self, PatchDomainError};
use crate::domains::{
    DisplayName, Domain, DomainEntropy, DomainPatch, EventSelection, HandlerKind, LoginMethods, MAX_DOMAINS, NewDomain,
    RegisterDomainError, RegisteredDomain, Registration, parse_webhook_url, register, sql,
};
use crate::error::Error;
use crate::flows::lookup::find_domain;
use crate::flows::removal::delete_domain;
use crate::ids::DomainId;
use crate::service::LoginService;

/// The body of `POST /domains`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateDomainBody {
    domain: String,
    webhook_url: String,
    events: Option<EventSelection>,
}

/// The body of `PATCH /domains/{id}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PatchDomainBody {
    webhook_url: Option<String>,
    event_url: Option<Nullable<String>>,
    handler: Option<HandlerKind>,
    methods: Option<LoginMethods>,
    registration: Option<Registration>,
    display_name: Option<Nullable<DisplayName>>,
    events: Option<Nullable<EventSelection>>,
}

/// `POST /domains`: registers a domain, and returns its webhook secret.
pub(crate) async fn create(
    State(service): State<LoginService>,
    account: Account,
    key: ApiKey,
    JsonBody(CreateDomainBody { domain, webhook_url, events }): JsonBody<CreateDomainBody>,
) -> Result<(StatusCode, Json<CreatedDomain>), Error> {
    let new = NewDomain { domain, webhook_url, event_url: None, handler: HandlerKind::Direct, events };
    let egress = service.egress_policy(account.environment);
    let registered = register(&new, account, egress, service.clock.now(), DomainEntropy::draw());
    let registered = registered.map_err(|(field, reason)| Problem::field(field, reason))?;
    sql::insert(&service.store, &service.seal, &registered, &key.actor()).await?;
    Ok((StatusCode::CREATED, Json(CreatedDomain::new(&registered))))
}

impl From<RegisterDomainError> for Error {
    fn from(error: RegisterDomainError) -> Self {
        match error {
            RegisterDomainError::Exists(there) => Self::DomainExists { domain: there.name.to_string(), id: there.id },
            RegisterDomainError::TooMany => Problem::field("domain", error.to_string()).into(),
            RegisterDomainError::SharedLoginHost => Self::SharedLoginHost,
            RegisterDomainError::Internal(error) => error.into(),
        }
    }
}

impl From<PatchDomainError> for Error {
    fn from(error: PatchDomainError) -> Self {
        match error {
            PatchDomainError::NotFound => Self::DomainNotFound,
            PatchDomainError::SharedLoginHost => Self::SharedLoginHost,
            PatchDomainError::Internal(error) => error.into(),
        }
    }
}

/// `GET /domains`: lists all domains, or a page of them if `limit` or `cursor` is given.
pub(crate) async fn list(
    State(service): State<LoginService>,
    account: Account,
    page: Page,
) -> Result<Json<Value>, Error> {
    let page = page.or_whole_list(MAX_DOMAINS);
    let after = page.cursor(DomainId::parse)?;
    let mut domains = sql::list(&service.store, &account, after.as_ref(), page.limit + 1).await?;
    let next = page.next(&mut domains, |domain| domain.id.to_string());
    let listed: Vec<_> = domains.iter().map(DomainListItem::new).collect();
    Ok(Json(page.reply("domains", &listed, next)))
}

/// `GET /domains/{id}`: returns a domain of the account.
pub(crate) async fn show(
    State(service): State<LoginService>,
    account: Account,
    PathParams(id): PathParams<String>,
) -> Result<Json<DomainView>, Error> {
    let domain = find_domain(&service, &account, &id).await?;
    Ok(Json(DomainView::new(&domain)))
}

/// `PATCH /domains/{id}`: changes the given settings of a domain.
pub(crate) async fn patch(
    State(service): State<LoginService>,
    account: Account,
    key: ApiKey,
    PathParams(id): PathParams<String>,
    JsonBody(body): JsonBody<PatchDomainBody>,
) -> Result<Json<DomainView>, Error> {
    let domain = find_domain(&service, &account, &id).await?;
    let change = body.into_patch(service.egress_policy(account.environment))?;
    let now = service.clock.now();
    patch_sql::patch(&service.store, &account, &domain.id, &change, &key.actor(), now).await?;
    service.domains.invalidate_all();
    Ok(Json(DomainView::new(&find_domain(&service, &account, &id).await?)))
}

impl PatchDomainBody {
    fn into_patch(self, egress: EgressPolicy) -> Result<DomainPatch, Problem> {
        let Self { webhook_url, event_url, handler, methods, registration, display_name, events } = self;
        let webhook_url = match webhook_url {
            Some(text) => Some(parse_url("webhook_url", &text, egress)?),
            None => None,
        };
        let event_url = match event_url {
            Some(Nullable(Some(text))) => Some(Some(parse_url("event_url", &text, egress)?)),
            Some(Nullable(None)) => Some(None),
            None => None,
        };
        let display_name = display_name.map(|Nullable(name)| name);
        let events = events.map(|Nullable(events)| events);
        Ok(DomainPatch { webhook_url, event_url, handler, methods, registration, display_name, events })
    }
}

fn parse_url(field: &str, text: &str, egress: EgressPolicy) -> Result<Url, Problem> {
    parse_webhook_url(text, egress).map_err(|reason| Problem::field(field, reason))
}

/// `DELETE /domains/{id}`: deletes a domain and cancels its pending sessions. Queued events are
/// still delivered.
pub(crate) async fn delete(
    State(service): State<LoginService>,
    account: Account,
    key: ApiKey,
    PathParams(id): PathParams<String>,
    _: EmptyBody,
) -> Result<StatusCode, Error> {
    let domain = find_domain(&service, &account, &id).await?;
    let deleted = delete_domain(&service.store, &account, &domain.id, &key.actor(), service.clock.now()).await;
    deleted.map_err(|error| error.on_conflict(Error::DomainNotFound))?;
    service.domains.invalidate_all();
    service.sessions.invalidate_all();
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /domains/{id}/verify`: searches for the ownership proof of a domain.
pub(crate) async fn verify(
    State(service): State<LoginService>,
    account: Account,
    key: ApiKey,
    PathParams(id): PathParams<String>,
    _: EmptyBody,
) -> Result<Json<VerifiedDomain>, Error> {
    let domain = find_domain(&service, &account, &id).await?;
    if let Some(at) = domain.verified_at {
        return Ok(Json(VerifiedDomain::new(&domain, at)));
    }
    let egress = service.egress_policy(account.environment);
    if let Err(checks) = service.domain_verifier.find_proof(&domain.name, &domain.verification_token, egress).await {
        return Err(Error::DomainVerificationFailed { domain: domain.name.to_string(), checks: json!(checks) });
    }
    let now = service.clock.now();
    let verified = sql::set_verified(&service.store, &account, &domain.id, &key.actor(), now).await;
    verified.map_err(|error| error.on_conflict(Error::DomainNotFound))?;
    Ok(Json(VerifiedDomain::new(&domain, now)))
}

/// The reply to a registration. No other reply contains the webhook secret.
#[derive(Serialize)]
pub struct CreatedDomain {
    #[serde(flatten)]
    domain: DomainView,
    webhook_secret: String,
}

/// The reply that describes a single domain.
#[derive(Serialize)]
pub struct DomainView {
    #[serde(flatten)]
    listed: DomainListItem,
    verification_token: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    event_url: Option<String>,
    handler: HandlerKind,
    methods: LoginMethods,
    registration: Registration,
    #[serde(skip_serializing_if = "Option::is_none")]
    display_name: Option<DisplayName>,
    events: EventSelection,
    #[serde(skip_serializing_if = "Option::is_none")]
    verified_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_checked_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failing_since: Option<Timestamp>,
}

/// An entry in the list of domains.
#[derive(Serialize)]
struct DomainListItem {
    id: DomainId,
    domain: String,
    verified: bool,
    webhook_url: String,
    created_at: Timestamp,
}

/// The reply to a successful verification.
#[derive(Serialize)]
pub(crate) struct VerifiedDomain {
    id: DomainId,
    domain: String,
    verified: bool,
    verified_at: Timestamp,
}

impl CreatedDomain {
    /// Creates the reply to a registration.
    #[must_use]
    pub fn new(registered: &RegisteredDomain) -> Self {
        let RegisteredDomain { domain, secret } = registered;
        Self { domain: DomainView::new(domain), webhook_secret: secret.reveal().to_owned() }
    }
}

impl DomainView {
    /// Creates the view of a domain for its owner.
    #[must_use]
    pub fn new(domain: &Domain) -> Self {
        let verification_token = domain.verification_token.as_str().to_owned();
        let event_url = domain.event_url.as_ref().map(ToString::to_string);
        Self {
            listed: DomainListItem::new(domain),
            verification_token,
            event_url,
            handler: domain.handler,
            methods: domain.methods(),
            registration: domain.registration,
            display_name: domain.display_name.clone(),
            events: domain.events(),
            verified_at: domain.verified_at,
            last_checked_at: domain.last_checked_at,
            failing_since: domain.failing_since,
        }
    }
}

impl DomainListItem {
    fn new(domain: &Domain) -> Self {
        Self {
            id: domain.id.clone(),
            domain: domain.name.to_string(),
            verified: domain.verified_at.is_some(),
            webhook_url: domain.webhook_url.to_string(),
            created_at: domain.created_at,
        }
    }
}

impl VerifiedDomain {
    fn new(domain: &Domain, verified_at: Timestamp) -> Self {
        Self { id: domain.id.clone(), domain: domain.name.to_string(), verified: true, verified_at }
    }
}
