//! Handler of `POST /domains/{id}/users`: creates a user without credentials, who gets the first one through a link
//! session.

use anyhow::Context;
use axum::extract::State as Extract;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use signpost_platform::accounts::{Account, Scope};
use signpost_platform::web::{ApiKey, JsonBody, PathParams};
use signpost_store::Statement;

use super::view::UserView;
use super::{parse_email, parse_username};
use crate::domains::{Domain, HandlerKind};
use crate::error::Error;
use crate::flows::lookup::find_domain;
use crate::flows::user_changes::{UserCreation, create_user};
use crate::ids::DomainId;
use crate::service::LoginService;
use crate::sessions::idempotency::{self, IdempotencyKey, REPLAYED};
use crate::users::{ExternalId, HostedUser, UserDisplayName, UserGroups, UserMetadata, UserPatch};

/// The body of `POST /domains/{id}/users`.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateUserBody {
    #[serde(skip_serializing_if = "Option::is_none")]
    external_id: Option<ExternalId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    username: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<UserDisplayName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<UserGroups>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<UserMetadata>,
}

/// `POST /domains/{id}/users`: creates a user, or repeats the reply for a repeated idempotency key.
pub(crate) async fn create(
    Extract(service): Extract<LoginService>,
    account: Account,
    by: ApiKey,
    PathParams(id): PathParams<String>,
    headers: HeaderMap,
    JsonBody(body): JsonBody<CreateUserBody>,
) -> Result<Response, Error> {
    if body.username.is_some() || body.email.is_some() {
        by.require(Scope::Manage)?;
    }
    let domain = find_domain(&service, &account, &id).await?;
    if domain.handler == HandlerKind::Direct {
        return Err(Error::DomainNotHosted(domain.name.to_string()));
    }
    let key = IdempotencyKey::from_headers(&headers, || body.fingerprint(&domain.id))?;
    let members = body.into_members(&domain)?;
    if let Some(earlier) = find_replay(&service, &account, key.as_ref()).await? {
        return Ok(earlier);
    }
    let now = service.clock.now();
    let store_reply = |user: &HostedUser| -> Option<Statement> {
        Some(key.as_ref()?.store(&account, &reply_text(user.clone()).ok()?, now))
    };
    let creation = UserCreation { domain: &domain, members: &members, by: &by.actor() };
    match create_user(&service.store, creation, store_reply, now).await {
        Ok(user) => Ok(to_response(reply_text(user)?)),
        // A request with this idempotency key may have been committed first.
        Err(error) => find_replay(&service, &account, key.as_ref()).await?.ok_or_else(|| error.into()),
    }
}

impl CreateUserBody {
    /// Returns a canonical text of the request, for comparison with a retry. It must not change in an upgrade.
    fn fingerprint(&self, domain: &DomainId) -> Result<String, Error> {
        #[derive(Serialize)]
        struct Fingerprint<'a> {
            user_of: &'a DomainId,
            #[serde(flatten)]
            body: &'a CreateUserBody,
        }
        Ok(serde_json::to_string(&Fingerprint { user_of: domain, body: self }).context("a request is JSON")?)
    }

    fn into_members(self, domain: &Domain) -> Result<UserPatch, Error> {
        let Self { external_id, username, email, name, groups, metadata } = self;
        Ok(UserPatch {
            username: username.map(|text| parse_username(&text)).transpose()?.map(Some),
            email: email.map(|text| parse_email(&text, domain)).transpose()?.map(Some),
            external_id: external_id.map(Some),
            name: name.map(Some),
            groups: groups.map(Some),
            metadata: metadata.map(Some),
        })
    }
}

/// Returns the reply to an earlier request with this idempotency key.
async fn find_replay(
    service: &LoginService,
    account: &Account,
    key: Option<&IdempotencyKey>,
) -> Result<Option<Response>, Error> {
    let Some(key) = key else { return Ok(None) };
    let reply = idempotency::find_reply(&service.store, account, key, service.clock.now()).await?;
    Ok(reply.map(|reply| ([REPLAYED], to_response(reply)).into_response()))
}

fn reply_text(user: HostedUser) -> Result<String, Error> {
    Ok(serde_json::to_string(&UserView::new(user, Vec::new())).context("a user is JSON")?)
}

fn to_response(reply: String) -> Response {
    (StatusCode::CREATED, [(CONTENT_TYPE, "application/json")], reply).into_response()
}
