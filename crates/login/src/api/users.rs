//! Handlers of `/domains/{id}/users`: listing, changing and deleting the users of a hosted domain.

use axum::Json;
use axum::extract::State as Extract;
use axum::http::StatusCode;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use signpost_platform::accounts::Account;
use signpost_platform::web::problem::Problem;
use signpost_platform::web::{ApiKey, EmptyBody, JsonBody, Nullable, Page, PathParams};
use signpost_store::WriteError;

use crate::domains::Domain;
use crate::error::Error;
use crate::flows::lookup::find_domain;
use crate::flows::removal::{remove_all_users, remove_credential, remove_user};
use crate::ids::{CredentialId, UserId};
use crate::service::LoginService;
use crate::users::{
    Credential, CredentialKey, CredentialKind, HostedUser, UserDisplayName, UserGroups, UserPatch, Username, sql,
};

/// The body of `PATCH /domains/{id}/users/{user}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PatchUserBody {
    name: Option<Nullable<UserDisplayName>>,
    groups: Option<Nullable<UserGroups>>,
}

/// `GET /domains/{id}/users`: lists the users of a domain.
pub(crate) async fn users(
    Extract(service): Extract<LoginService>,
    account: Account,
    PathParams(id): PathParams<String>,
    page: Page,
) -> Result<Json<Value>, Error> {
    let domain = find_domain(&service, &account, &id).await?;
    let after = page.cursor(UserId::parse)?;
    let mut users = sql::list(&service.store, &domain.id, after.as_ref(), page.limit + 1).await?;
    let next = page.next(&mut users, |(user, _)| user.id.to_string());
    let users: Vec<_> = users.into_iter().map(|(user, credentials)| UserView::new(user, credentials)).collect();
    Ok(Json(page.reply("users", &users, next)))
}

/// `DELETE /domains/{id}/users`: deletes all users of a domain.
pub(crate) async fn delete_all(
    Extract(service): Extract<LoginService>,
    account: Account,
    by: ApiKey,
    PathParams(id): PathParams<String>,
    _: EmptyBody,
) -> Result<StatusCode, Error> {
    let domain = find_domain(&service, &account, &id).await?;
    remove_all_users(&service.store, &domain.id, &by.actor(), service.clock.now()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE /domains/{id}/users/{user}`: deletes a user, by ID or by a public key.
pub(crate) async fn delete(
    Extract(service): Extract<LoginService>,
    account: Account,
    by: ApiKey,
    PathParams((id, user)): PathParams<(String, String)>,
    _: EmptyBody,
) -> Result<StatusCode, Error> {
    let domain = find_domain(&service, &account, &id).await?;
    let (user, key) = find_user(&service, &domain, &user).await?;
    let now = service.clock.now();
    let removed = remove_user(&service.store, (&domain.id, &user), key.as_ref(), &by.actor(), now).await;
    removed.map_err(|error| error.on_conflict(Error::from(Problem::NotFound)))?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /domains/{id}/users/{user}`: returns a user with all credentials.
pub(crate) async fn show(
    Extract(service): Extract<LoginService>,
    account: Account,
    PathParams((id, user)): PathParams<(String, String)>,
) -> Result<Json<UserView>, Error> {
    let domain = find_domain(&service, &account, &id).await?;
    let (user, _) = find_user(&service, &domain, &user).await?;
    let (user, credentials) = sql::find(&service.store, &domain.id, &user).await?.ok_or(Problem::NotFound)?;
    Ok(Json(UserView::new(user, credentials)))
}

/// `PATCH /domains/{id}/users/{user}`: changes the name or the groups of a user.
pub(crate) async fn patch(
    Extract(service): Extract<LoginService>,
    account: Account,
    by: ApiKey,
    PathParams((id, user)): PathParams<(String, String)>,
    JsonBody(body): JsonBody<PatchUserBody>,
) -> Result<Json<UserView>, Error> {
    let domain = find_domain(&service, &account, &id).await?;
    let (user, _) = find_user(&service, &domain, &user).await?;
    let change =
        UserPatch { name: body.name.map(|Nullable(name)| name), groups: body.groups.map(|Nullable(groups)| groups) };
    let patched = sql::patch(&service.store, &domain.id, &user, change, &by.actor(), service.clock.now()).await;
    patched.map_err(|error| error.on_conflict(Error::from(Problem::NotFound)))?;
    let (user, credentials) = sql::find(&service.store, &domain.id, &user).await?.ok_or(Problem::NotFound)?;
    Ok(Json(UserView::new(user, credentials)))
}

/// `DELETE /domains/{id}/users/{user}/credentials/{credential}`: deletes a credential, by ID or by its public key.
pub(crate) async fn delete_credential(
    Extract(service): Extract<LoginService>,
    account: Account,
    by: ApiKey,
    PathParams((id, user, credential)): PathParams<(String, String, String)>,
    _: EmptyBody,
) -> Result<StatusCode, Error> {
    let domain = find_domain(&service, &account, &id).await?;
    let (user, _) = find_user(&service, &domain, &user).await?;
    let found = find_credential(&service, &domain, &user, &credential).await?;
    match remove_credential(&service.store, &found, &by.actor(), service.clock.now()).await {
        Ok(()) => Ok(StatusCode::NO_CONTENT),
        Err(WriteError::Conflict) => {
            // Returns the error for a missing credential if another request removed it first.
            find_credential(&service, &domain, &user, &credential).await?;
            Err(Error::LastCredential)
        }
        Err(WriteError::Internal(error)) => Err(error.into()),
    }
}

/// Returns the user's credential with this ID or public key.
async fn find_credential(
    service: &LoginService,
    domain: &Domain,
    user: &UserId,
    text: &str,
) -> Result<Credential, Error> {
    let key = CredentialKey::parse(text).map(|key| key.canonical()).ok();
    let (_, credentials) = sql::find(&service.store, &domain.id, user).await?.ok_or(Problem::NotFound)?;
    let found = credentials
        .into_iter()
        .find(|own| own.id.as_str() == text || key.as_ref().is_some_and(|key| *key == own.public_key));
    Ok(found.ok_or(Problem::NotFound)?)
}

/// Returns the ID of the user with this ID or public key, and the key, if given.
async fn find_user(
    service: &LoginService,
    domain: &Domain,
    text: &str,
) -> Result<(UserId, Option<CredentialKey>), Error> {
    if let Some(id) = UserId::parse(text) {
        return Ok((id, None));
    }
    let key = CredentialKey::parse(text).map_err(|_| Problem::NotFound)?;
    let credential = sql::find_by_key(&service.store, &domain.id, &key).await?.ok_or(Problem::NotFound)?;
    Ok((credential.user_id, Some(key)))
}

/// A user in replies to the domain's integrator.
#[derive(Serialize)]
pub struct UserView {
    id: UserId,
    petname: Username,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<UserDisplayName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<UserGroups>,
    created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_login_at: Option<Timestamp>,
    /// The public key of the newest wallet.
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key: Option<String>,
    credentials: Vec<CredentialView>,
}

/// A credential of a user in replies.
#[derive(Serialize)]
struct CredentialView {
    id: CredentialId,
    kind: CredentialKind,
    public_key: String,
    name: String,
    added_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used_at: Option<Timestamp>,
}

impl UserView {
    /// Creates the view of a user with all credentials.
    #[must_use]
    pub fn new(user: HostedUser, credentials: Vec<Credential>) -> Self {
        let HostedUser { id, petname, created_at, last_login_at, name, groups, .. } = user;
        let newest = credentials.iter().rfind(|credential| credential.kind == CredentialKind::Wallet);
        let public_key = newest.map(|credential| credential.public_key.clone());
        let credentials = credentials.into_iter().map(CredentialView::from).collect();
        Self { id, petname, name, groups, created_at, last_login_at, public_key, credentials }
    }
}

impl From<Credential> for CredentialView {
    fn from(credential: Credential) -> Self {
        let Credential { id, kind, public_key, name, added_at, last_used_at, .. } = credential;
        Self { id, kind, public_key, name, added_at, last_used_at }
    }
}
