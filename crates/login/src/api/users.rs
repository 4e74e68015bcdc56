//! `/domains/{id}/users`: the people who registered with a hosted domain.

use axum::Json;
use axum::extract::State as Extract;
use axum::http::StatusCode;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use signpost_platform::accounts::Account;
use signpost_platform::web::problem::Problem;
use signpost_platform::web::{ApiKey, Fields, Nothing, Page, PathId, PathPair, PathTriple};
use signpost_store::WriteError;

use crate::domains::Domain;
use crate::error::Error;
use crate::flows::credential_end::remove_credential;
use crate::flows::lookup::find_domain;
use crate::flows::user_end::{remove_all_users, remove_user};
use crate::ids::{CredentialId, UserId};
use crate::service::LoginService;
use crate::users::{
    Credential, CredentialKey, CredentialKind, HostedUser, Petname, UserGroups, UserName, UserPatch, sql,
};

/// `GET /domains/{id}/users`
pub(crate) async fn users(
    Extract(service): Extract<LoginService>,
    account: Account,
    PathId(id): PathId,
    page: Page,
) -> Result<Json<Value>, Error> {
    let domain = find_domain(&service, &account, &id).await?;
    let after = page.cursor(UserId::parse)?;
    let mut users = sql::list(&service.store, &domain.id, after.as_ref(), page.limit + 1).await?;
    let next = page.next(&mut users, |(user, _)| user.id.to_string());
    let users: Vec<_> = users.into_iter().map(|(user, credentials)| UserView::new(user, credentials)).collect();
    Ok(Json(page.reply("users", &users, next)))
}

/// `DELETE /domains/{id}/users`: all of them.
pub(crate) async fn delete_all(
    Extract(service): Extract<LoginService>,
    account: Account,
    by: ApiKey,
    PathId(id): PathId,
    _: Nothing,
) -> Result<StatusCode, Error> {
    let domain = find_domain(&service, &account, &id).await?;
    remove_all_users(&service.store, &domain.id, &by.actor(), service.clock.now()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE /domains/{id}/users/{user}`: by the user's id, or by one of the user's keys.
pub(crate) async fn delete(
    Extract(service): Extract<LoginService>,
    account: Account,
    by: ApiKey,
    PathPair(id, user): PathPair,
    _: Nothing,
) -> Result<StatusCode, Error> {
    let domain = find_domain(&service, &account, &id).await?;
    let (user, key) = find_user(&service, &domain, &user).await?;
    let now = service.clock.now();
    let removed = remove_user(&service.store, (&domain.id, &user), key.as_ref(), &by.actor(), now).await;
    removed.map_err(|error| error.on_conflict(Error::from(Problem::NotFound)))?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /domains/{id}/users/{user}`
pub(crate) async fn show(
    Extract(service): Extract<LoginService>,
    account: Account,
    PathPair(id, user): PathPair,
) -> Result<Json<UserView>, Error> {
    let domain = find_domain(&service, &account, &id).await?;
    let (user, _) = find_user(&service, &domain, &user).await?;
    let (user, credentials) = sql::find(&service.store, &domain.id, &user).await?.ok_or(Problem::NotFound)?;
    Ok(Json(UserView::new(user, credentials)))
}

/// `PATCH /domains/{id}/users/{user}`
pub(crate) async fn patch(
    Extract(service): Extract<LoginService>,
    account: Account,
    by: ApiKey,
    PathPair(id, user): PathPair,
    fields: Fields,
) -> Result<Json<UserView>, Error> {
    let domain = find_domain(&service, &account, &id).await?;
    let (user, _) = find_user(&service, &domain, &user).await?;
    let change = parse_patch(fields)?;
    let patched = sql::patch(&service.store, &domain.id, &user, change, &by.actor(), service.clock.now()).await;
    patched.map_err(|error| error.on_conflict(Error::from(Problem::NotFound)))?;
    let (user, credentials) = sql::find(&service.store, &domain.id, &user).await?.ok_or(Problem::NotFound)?;
    Ok(Json(UserView::new(user, credentials)))
}

fn parse_patch(mut fields: Fields) -> Result<UserPatch, Problem> {
    let name = fields.nullable_text("name")?.map(|text| text.map(|text| UserName::parse(&text)).transpose());
    let name = name.transpose().map_err(|reason| Problem::field("name", reason))?;
    let groups = fields.nullable_texts("groups")?.map(|words| words.map(UserGroups::try_from).transpose());
    let groups = groups.transpose().map_err(|reason| Problem::field("groups", reason))?;
    fields.done()?;
    Ok(UserPatch { name, groups })
}

/// `DELETE /domains/{id}/users/{user}/credentials/{credential}`: by the credential's id, or by its key.
pub(crate) async fn delete_credential(
    Extract(service): Extract<LoginService>,
    account: Account,
    by: ApiKey,
    PathTriple(id, user, credential): PathTriple,
    _: Nothing,
) -> Result<StatusCode, Error> {
    let domain = find_domain(&service, &account, &id).await?;
    let (user, _) = find_user(&service, &domain, &user).await?;
    let key = CredentialKey::parse(&credential).map(|key| key.canonical()).ok();
    let is_meant =
        |own: &Credential| own.id.as_str() == credential || key.as_ref().is_some_and(|key| *key == own.public_key);
    let find = async || -> Result<Credential, Error> {
        let (_, own) = sql::find(&service.store, &domain.id, &user).await?.ok_or(Problem::NotFound)?;
        Ok(own.into_iter().find(is_meant).ok_or(Problem::NotFound)?)
    };
    let credential = find().await?;
    match remove_credential(&service.store, &credential, &by.actor(), service.clock.now()).await {
        Ok(()) => Ok(StatusCode::NO_CONTENT),
        Err(WriteError::Conflict) => {
            // Not found, if another request removed it first.
            find().await?;
            Err(Error::LastCredential)
        }
        Err(WriteError::Internal(error)) => Err(error.into()),
    }
}

/// Who is meant by an id, or by a key, which is then told too.
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

/// A user as its domain's integrator sees it.
#[derive(Serialize)]
pub struct UserView {
    id: UserId,
    petname: Petname,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<UserName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<UserGroups>,
    created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_login_at: Option<Timestamp>,
    /// The newest wallet's.
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key: Option<String>,
    credentials: Vec<CredentialView>,
}

/// What logs the user in.
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
    /// A user with all credentials.
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
