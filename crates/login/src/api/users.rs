//! `/domains/{id}/users`: the people who registered with a hosted domain.

use axum::Json;
use axum::extract::State as Extract;
use axum::http::StatusCode;
use serde_json::Value;
use signpost_auth::PublicKey;
use signpost_platform::accounts::Account;
use signpost_platform::web::problem::Problem;
use signpost_platform::web::{ApiKey, Nothing, Page, PathId, PathPair};

use crate::domains::Domain;
use crate::error::Error;
use crate::flows::lookup::find_domain;
use crate::service::LoginService;
use crate::users::{HostedUser, sql};

/// `GET /domains/{id}/users`
pub(crate) async fn users(
    Extract(service): Extract<LoginService>,
    account: Account,
    PathId(id): PathId,
    page: Page,
) -> Result<Json<Value>, Error> {
    let domain = find_domain(&service, &account, &id).await?;
    let after = page.cursor(|text| PublicKey::parse(text).ok())?.map_or_else(String::new, |key| key.canonical());
    let mut users = sql::list(&service.store, &domain.id, &after, page.limit + 1).await?;
    let next = page.next(&mut users, |user: &HostedUser| user.public_key.clone());
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
    sql::delete_all(&service.store, &domain.id, &by.actor(), service.clock.now()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE /domains/{id}/users/{public_key}`
pub(crate) async fn delete(
    Extract(service): Extract<LoginService>,
    account: Account,
    by: ApiKey,
    PathPair(id, key): PathPair,
    _: Nothing,
) -> Result<StatusCode, Error> {
    let Domain { id, .. } = find_domain(&service, &account, &id).await?;
    let key = PublicKey::parse(&key).map_err(|_| Problem::NotFound)?;
    let deleted = sql::delete(&service.store, &id, &key, &by.actor(), service.clock.now()).await?;
    if deleted { Ok(StatusCode::NO_CONTENT) } else { Err(Problem::NotFound.into()) }
}
