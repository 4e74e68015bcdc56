//! Handlers of `/domains/{id}/users`: listing, creating, changing and deleting the users of a hosted domain.

mod create;
mod view;

use axum::Json;
use axum::extract::State as Extract;
use axum::http::{StatusCode, Uri};
use serde::Deserialize;
use serde_json::Value;
use signpost_platform::accounts::{Account, Scope};
use signpost_platform::web::problem::Problem;
use signpost_platform::web::{ApiKey, EmptyBody, JsonBody, Nullable, Page, PathParams};
use signpost_store::WriteError;
use url::form_urlencoded;

use crate::domains::Domain;
use crate::error::Error;
use crate::flows::lookup::find_domain;
use crate::flows::removal::{remove_all_users, remove_credential, remove_user};
use crate::flows::user_changes::{ChangeUserError, UserUpdate, change_user};
use crate::ids::UserId;
use crate::service::LoginService;
use crate::users::search_sql::{UserPage, find_page};
use crate::users::{
    ChosenUsername, Credential, CredentialKey, EmailAddress, ExternalId, ReservedNames, UserDisplayName, UserFilter,
    UserGroups, UserMetadata, UserPatch, sql,
};

pub(crate) use create::create;
pub use view::UserView;

/// The body of `PATCH /domains/{id}/users/{user}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PatchUserBody {
    name: Option<Nullable<UserDisplayName>>,
    groups: Option<Nullable<UserGroups>>,
    username: Option<Nullable<String>>,
    external_id: Option<Nullable<ExternalId>>,
    email: Option<Nullable<String>>,
    metadata: Option<Nullable<UserMetadata>>,
}

/// `GET /domains/{id}/users?external_id=&username=&q=&limit=&cursor=`: lists the users of a domain.
pub(crate) async fn users(
    Extract(service): Extract<LoginService>,
    account: Account,
    PathParams(id): PathParams<String>,
    page: Page,
) -> Result<Json<Value>, Error> {
    page.allow_only(&["external_id", "username", "q"])?;
    let domain = find_domain(&service, &account, &id).await?;
    let filter = UserFilter::parse(page.text("external_id"), page.text("username"), page.text("q"));
    let filter = filter.map_err(|(field, reason)| Problem::field(field, reason))?;
    let after = page.cursor(UserId::parse)?;
    let UserPage { users, next } = find_page(&service.store, &domain.id, &filter, after.as_ref(), page.limit).await?;
    let users: Vec<_> = users.into_iter().map(|(user, credentials)| UserView::new(user, credentials)).collect();
    Ok(Json(page.reply("users", &users, next.map(|id| id.to_string()))))
}

/// `DELETE /domains/{id}/users`: deletes all users of a domain.
pub(crate) async fn delete_all(
    Extract(service): Extract<LoginService>,
    account: Account,
    by: ApiKey,
    PathParams(id): PathParams<String>,
    uri: Uri,
    _: EmptyBody,
) -> Result<StatusCode, Error> {
    reject_query(&uri)?;
    let domain = find_domain(&service, &account, &id).await?;
    remove_all_users(&service.store, &domain, &by.actor(), service.clock.now()).await?;
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
    let removed = remove_user(&service.store, (&domain, &user), key.as_ref(), &by.actor(), now).await;
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

/// `PATCH /domains/{id}/users/{user}`: changes the given members of a user.
pub(crate) async fn patch(
    Extract(service): Extract<LoginService>,
    account: Account,
    by: ApiKey,
    PathParams((id, user)): PathParams<(String, String)>,
    JsonBody(body): JsonBody<PatchUserBody>,
) -> Result<Json<UserView>, Error> {
    if body.username.is_some() || body.email.is_some() {
        by.require(Scope::Manage)?;
    }
    let domain = find_domain(&service, &account, &id).await?;
    let (user, _) = find_user(&service, &domain, &user).await?;
    let patch = body.into_patch(&domain)?;
    let can_manage = by.require(Scope::Manage);
    let update =
        UserUpdate { domain: &domain, user: &user, patch: &patch, by: &by.actor(), can_manage: can_manage.is_ok() };
    match change_user(&service.store, update, service.clock.now()).await {
        Ok(()) => service.outbox.notify_one(),
        Err(ChangeUserError::ManageRequired) => can_manage?,
        Err(error) => return Err(error.into()),
    }
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
    match remove_credential(&service.store, &domain, &found, &by.actor(), service.clock.now()).await {
        Ok(()) => Ok(StatusCode::NO_CONTENT),
        Err(WriteError::Conflict) => {
            // Returns the error for a missing credential if another request removed it first.
            find_credential(&service, &domain, &user, &credential).await?;
            Err(Error::LastCredential)
        }
        Err(WriteError::Internal(error)) => Err(error.into()),
    }
}

impl PatchUserBody {
    fn into_patch(self, domain: &Domain) -> Result<UserPatch, Error> {
        let Self { name, groups, username, external_id, email, metadata } = self;
        let username = match username {
            Some(Nullable(Some(text))) => Some(Some(parse_username(&text)?)),
            Some(Nullable(None)) => Some(None),
            None => None,
        };
        let email = match email {
            Some(Nullable(Some(text))) => Some(Some(parse_email(&text, domain)?)),
            Some(Nullable(None)) => Some(None),
            None => None,
        };
        Ok(UserPatch {
            name: name.map(|Nullable(name)| name),
            groups: groups.map(|Nullable(groups)| groups),
            username,
            external_id: external_id.map(|Nullable(external_id)| external_id),
            email,
            metadata: metadata.map(|Nullable(metadata)| metadata),
        })
    }
}

fn parse_username(text: &str) -> Result<ChosenUsername, Error> {
    let username = ChosenUsername::parse(text, ReservedNames::Refused);
    Ok(username.map_err(|reason| Problem::field("username", reason))?)
}

fn parse_email(text: &str, domain: &Domain) -> Result<EmailAddress, Error> {
    let email = EmailAddress::parse(text, &domain.name);
    Ok(email.map_err(|reason| Problem::field("email", reason))?)
}

/// Checks that a request to delete all users has no query: its parameters would look like a filter.
fn reject_query(uri: &Uri) -> Result<(), Problem> {
    let Some(query) = uri.query().filter(|query| !query.is_empty()) else { return Ok(()) };
    let parameter = form_urlencoded::parse(query.as_bytes()).next().map(|(name, _)| name).unwrap_or_default();
    let parameter = if parameter.is_empty() { "query" } else { &*parameter };
    Err(Problem::field(parameter, "is not a parameter of this call, which deletes all users of the domain"))
}

impl From<ChangeUserError> for Error {
    fn from(error: ChangeUserError) -> Self {
        match error {
            ChangeUserError::NotFound | ChangeUserError::ManageRequired => Problem::NotFound.into(),
            ChangeUserError::ExternalIdExists(id) => Self::ExternalIdExists { id },
            ChangeUserError::UsernameTaken => Self::UsernameTaken,
            ChangeUserError::EmailTaken => Self::EmailTaken,
            ChangeUserError::Internal(error) => error.into(),
        }
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
pub(super) async fn find_user(
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
