//! Handlers of `/domains/{id}/clients`: registering, listing, changing and deleting the clients of
//! a hosted domain.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use signpost_login::domains::{Domain, HandlerKind};
use signpost_login::error::Error as LoginError;
use signpost_login::flows::lookup;
use signpost_platform::accounts::Account;
use signpost_platform::web::problem::Problem;
use signpost_platform::web::{ApiKey, EmptyBody, JsonBody, OptionalJsonBody, Page, PathParams};
use signpost_store::random;

use super::client_fields::ClientBody;
use crate::clients::sql::{self, ChangeClientError, CreateClientError};
use crate::clients::{
    AllowList, Client, ClientAuthMethod, ClientEntropy, ClientName, EmailClaim, MAX_CLIENTS, OAuthSecret,
    PREVIOUS_SECRET_LIFETIME, RedirectUris, RegisteredClient,
};
use crate::error::OpenidError;
use crate::flows::issuer;
use crate::ids::ClientId;
use crate::jose::SigningAlgorithm;
use crate::service::OpenidService;

/// The body of `POST /domains/{id}/clients/{client}/rotate`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RotateSecretBody {
    /// Whether the previous secret becomes invalid immediately.
    #[serde(default)]
    now: bool,
}

/// `POST /domains/{id}/clients`: registers a client, and returns its secret.
pub(crate) async fn create(
    State(service): State<OpenidService>,
    account: Account,
    key: ApiKey,
    PathParams(id): PathParams<String>,
    JsonBody(body): JsonBody<ClientBody>,
) -> Result<(StatusCode, Json<ClientWithSecret>), OpenidError> {
    let domain = find_hosted_domain(&service, &account, &id).await?;
    let settings = body.into_settings()?;
    check_email(&domain, Some(settings.email))?;
    let registered = Client::register(&domain.id, settings, service.clock.now(), &ClientEntropy::draw());
    let registered = registered.map_err(|invalid| Problem::field(invalid.field, invalid.reason))?;
    match sql::insert(&service.store, &domain, &registered.client, &key.actor()).await {
        Ok(()) => Ok((StatusCode::CREATED, Json(ClientWithSecret::new(registered, issuer(&service, &domain))))),
        Err(CreateClientError::TooMany) => Err(OpenidError::TooManyClients(MAX_CLIENTS)),
        Err(CreateClientError::Internal(error)) => Err(error.into()),
        // The domain changed after the check above. Another check returns the reason.
        Err(CreateClientError::NoHostedDomain) => {
            find_hosted_domain(&service, &account, &id).await?;
            Err(anyhow::anyhow!("the domain {id} changes all the time").into())
        }
    }
}

/// `GET /domains/{id}/clients`: lists the clients of a domain.
pub(crate) async fn list(
    State(service): State<OpenidService>,
    account: Account,
    PathParams(id): PathParams<String>,
    page: Page,
) -> Result<Json<Value>, OpenidError> {
    page.allow_only(&[])?;
    let domain = find_domain(&service, &account, &id).await?;
    let after = page.cursor(ClientId::parse)?;
    let mut clients = sql::list(&service.store, &domain.id, after.as_ref(), page.limit + 1).await?;
    let next = page.next(&mut clients, |client| client.id.to_string());
    let issuer = issuer(&service, &domain);
    let now = service.clock.now();
    let clients: Vec<_> = clients.into_iter().map(|client| ClientView::new(client, issuer.clone(), now)).collect();
    Ok(Json(page.reply("clients", &clients, next)))
}

/// `GET /domains/{id}/clients/{client}`: returns a client.
pub(crate) async fn show(
    State(service): State<OpenidService>,
    account: Account,
    PathParams((id, client)): PathParams<(String, String)>,
) -> Result<Json<ClientView>, OpenidError> {
    let domain = find_domain(&service, &account, &id).await?;
    let client = find_client(&service, &domain, &client).await?;
    Ok(Json(ClientView::new(client, issuer(&service, &domain), service.clock.now())))
}

/// `PATCH /domains/{id}/clients/{client}`: changes the given settings of a client.
pub(crate) async fn patch(
    State(service): State<OpenidService>,
    account: Account,
    key: ApiKey,
    PathParams((id, client)): PathParams<(String, String)>,
    JsonBody(body): JsonBody<ClientBody>,
) -> Result<Json<ClientView>, OpenidError> {
    let domain = find_domain(&service, &account, &id).await?;
    let client = find_client(&service, &domain, &client).await?;
    let change = body.into_patch()?;
    check_hosted(&domain)?;
    check_email(&domain, change.email)?;
    let now = service.clock.now();
    match sql::patch(&service.store, &account, &domain.id, &client.id, &change, &key.actor(), now).await {
        Ok(()) => {}
        Err(ChangeClientError::NotFound) => return Err(OpenidError::ClientNotFound),
        Err(ChangeClientError::Invalid(invalid)) => return Err(Problem::field(invalid.field, invalid.reason).into()),
        Err(ChangeClientError::Internal(error)) => return Err(error.into()),
    }
    let client = find_client(&service, &domain, client.id.as_str()).await?;
    Ok(Json(ClientView::new(client, issuer(&service, &domain), now)))
}

/// `POST /domains/{id}/clients/{client}/rotate`: creates a new secret. The previous secret expires after a day, or at
/// once with `now`.
pub(crate) async fn rotate(
    State(service): State<OpenidService>,
    account: Account,
    key: ApiKey,
    PathParams((id, client)): PathParams<(String, String)>,
    OptionalJsonBody(body): OptionalJsonBody<RotateSecretBody>,
) -> Result<Json<ClientWithSecret>, OpenidError> {
    let domain = find_domain(&service, &account, &id).await?;
    let client = find_client(&service, &domain, &client).await?;
    check_hosted(&domain)?;
    if client.settings.is_public {
        return Err(OpenidError::ClientIsPublic);
    }
    let secret = OAuthSecret::from_bytes(&random());
    let now = service.clock.now();
    let overlap = if body.now { None } else { Some(PREVIOUS_SECRET_LIFETIME) };
    let rotated = sql::rotate_secret(&service.store, &account, &client, &secret, overlap, &key.actor(), now).await;
    rotated.map_err(|error| error.on_conflict(OpenidError::ClientNotFound))?;
    let client = find_client(&service, &domain, client.id.as_str()).await?;
    let client = ClientView::new(client, issuer(&service, &domain), now);
    Ok(Json(ClientWithSecret { client, client_secret: Some(secret.reveal().to_owned()) }))
}

/// `DELETE /domains/{id}/clients/{client}`: deletes a client and revokes its grants.
pub(crate) async fn delete(
    State(service): State<OpenidService>,
    account: Account,
    key: ApiKey,
    PathParams((id, client)): PathParams<(String, String)>,
    _: EmptyBody,
) -> Result<StatusCode, OpenidError> {
    let domain = find_domain(&service, &account, &id).await?;
    let client = ClientId::parse(&client).ok_or(OpenidError::ClientNotFound)?;
    let now = service.clock.now();
    let deleted = sql::delete(&service.store, &account, &domain.id, &client, &key.actor(), now).await;
    deleted.map_err(|error| error.on_conflict(OpenidError::ClientNotFound))?;
    Ok(StatusCode::NO_CONTENT)
}

async fn find_domain(service: &OpenidService, account: &Account, id: &str) -> Result<Domain, OpenidError> {
    Ok(lookup::find_domain(&service.login, account, id).await?)
}

async fn find_hosted_domain(service: &OpenidService, account: &Account, id: &str) -> Result<Domain, OpenidError> {
    let domain = find_domain(service, account, id).await?;
    check_hosted(&domain)?;
    Ok(domain)
}

fn check_hosted(domain: &Domain) -> Result<(), OpenidError> {
    match domain.handler {
        HandlerKind::Hosted => Ok(()),
        HandlerKind::Direct => Err(OpenidError::DomainNotHosted(domain.name.to_string())),
    }
}

/// Checks that a client with verified email addresses belongs to a verified domain.
fn check_email(domain: &Domain, email: Option<EmailClaim>) -> Result<(), LoginError> {
    if email != Some(EmailClaim::Verified) || domain.verified_at.is_some() {
        return Ok(());
    }
    let reason = "'email' can be 'verified' only where the domain is; verify it with POST /domains/{id}/verify";
    Err(LoginError::DomainNotVerified { domain: domain.name.to_string(), reason })
}

async fn find_client(service: &OpenidService, domain: &Domain, id: &str) -> Result<Client, OpenidError> {
    let id = ClientId::parse(id).ok_or(OpenidError::ClientNotFound)?;
    sql::find(&service.store, &domain.id, &id).await?.ok_or(OpenidError::ClientNotFound)
}

/// A client in replies to the owner of its domain.
#[derive(Debug, Serialize)]
pub struct ClientView {
    client_id: ClientId,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<ClientName>,
    issuer: String,
    public: bool,
    redirect_uris: RedirectUris,
    post_logout_uris: RedirectUris,
    alg: SigningAlgorithm,
    email: EmailClaim,
    pkce: bool,
    trusted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    allow: Option<AllowList>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_endpoint_auth_method: Option<ClientAuthMethod>,
    created_at: Timestamp,
    /// End of the time in which the previous secret is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_secret_until: Option<Timestamp>,
}

/// The reply to a registration or a rotation. No other reply contains the secret.
#[derive(Serialize)]
pub struct ClientWithSecret {
    #[serde(flatten)]
    client: ClientView,
    /// The secret; `None` for public clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret: Option<String>,
}

impl ClientView {
    /// Creates the view of a client of this issuer.
    #[must_use]
    pub fn new(client: Client, issuer: String, now: Timestamp) -> Self {
        let Client { id, settings, created_at, previous_until, .. } = client;
        Self {
            client_id: id,
            name: settings.name,
            issuer,
            public: settings.is_public,
            redirect_uris: settings.redirect_uris,
            post_logout_uris: settings.post_logout_uris,
            alg: settings.algorithm,
            email: settings.email,
            pkce: settings.requires_pkce,
            trusted: settings.is_trusted,
            allow: settings.allowed,
            token_endpoint_auth_method: settings.auth_method,
            created_at,
            previous_secret_until: previous_until.filter(|until| now < *until),
        }
    }
}

impl ClientWithSecret {
    /// Creates the reply to a registration.
    #[must_use]
    pub fn new(registered: RegisteredClient, issuer: String) -> Self {
        let RegisteredClient { client, secret } = registered;
        let now = client.created_at;
        let client_secret = secret.map(|secret| secret.reveal().to_owned());
        Self { client: ClientView::new(client, issuer, now), client_secret }
    }
}
