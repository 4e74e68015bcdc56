//! Handlers of `/domains/{id}/users/{user}/sign-ins`: listing and ending the sign-ins of a user.

use axum::Json;
use axum::extract::{RawQuery, State as Extract};
use axum::http::StatusCode;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use signpost_platform::accounts::Account;
use signpost_platform::web::problem::Problem;
use signpost_platform::web::{ApiKey, EmptyBody, Page, PathParams};
use url::form_urlencoded;

use super::users::find_user;
use crate::domains::Domain;
use crate::error::Error;
use crate::flows::lookup::find_domain;
use crate::flows::sign_ins::{end_all_sign_ins, end_sign_in, list_sign_ins};
use crate::ids::{SignInId, UserId};
use crate::service::LoginService;
use crate::sign_ins::{SignIn, SignInsQuery};
use crate::users::sql;

/// `GET /domains/{id}/users/{user}/sign-ins`: lists the valid sign-ins of a user, newest first.
pub(crate) async fn list(
    Extract(service): Extract<LoginService>,
    account: Account,
    PathParams((id, user)): PathParams<(String, String)>,
    page: Page,
) -> Result<Json<Value>, Error> {
    page.allow_only(&[])?;
    let before = page.cursor(SignInId::parse)?;
    let (domain, user) = find_owner(&service, &account, &id, &user).await?;
    let now = service.clock.now();
    let limit = page.limit + 1;
    let query = SignInsQuery { domain: &domain.id, user: &user, before: before.as_ref(), limit, now };
    let mut found = list_sign_ins(&service.store, service.applications, query).await?;
    let next = page.next(&mut found, |sign_in| sign_in.id.to_string());
    let views: Vec<_> = found.into_iter().map(SignInView::from).collect();
    Ok(Json(page.reply("sign_ins", &views, next)))
}

/// `DELETE /domains/{id}/users/{user}/sign-ins`: ends all sign-ins of a user.
pub(crate) async fn end_all(
    Extract(service): Extract<LoginService>,
    account: Account,
    by: ApiKey,
    PathParams((id, user)): PathParams<(String, String)>,
    RawQuery(query): RawQuery,
    _: EmptyBody,
) -> Result<StatusCode, Error> {
    check_no_query(query.as_deref().unwrap_or_default())?;
    let (domain, user) = find_owner(&service, &account, &id, &user).await?;
    let ended = end_all_sign_ins(&service.store, (&domain, &user), &by.actor(), service.clock.now()).await;
    ended.map_err(|error| error.on_conflict(Error::from(Problem::NotFound)))?;
    service.outbox.notify_one();
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE /domains/{id}/users/{user}/sign-ins/{sign_in}`: ends a sign-in.
pub(crate) async fn end(
    Extract(service): Extract<LoginService>,
    account: Account,
    by: ApiKey,
    PathParams((id, user, sign_in)): PathParams<(String, String, String)>,
    _: EmptyBody,
) -> Result<StatusCode, Error> {
    let (domain, user) = find_owner(&service, &account, &id, &user).await?;
    let sign_in = SignInId::parse(&sign_in).ok_or(Problem::NotFound)?;
    let now = service.clock.now();
    let owner = (&domain, &user);
    let ended = end_sign_in(&service.store, service.applications, owner, &sign_in, &by.actor(), now).await;
    ended.map_err(|error| error.on_conflict(Error::from(Problem::NotFound)))?;
    service.outbox.notify_one();
    Ok(StatusCode::NO_CONTENT)
}

/// Checks that a request that ends all sign-ins has no query parameter: a filter without effect would end more than the
/// caller means.
fn check_no_query(query: &str) -> Result<(), Problem> {
    match form_urlencoded::parse(query.as_bytes()).next() {
        None => Ok(()),
        Some((name, _)) => Err(Problem::field(name, "is not a parameter of this call, which ends all sign-ins")),
    }
}

/// Returns the account's domain and the ID of its user.
async fn find_owner(
    service: &LoginService,
    account: &Account,
    domain: &str,
    user: &str,
) -> Result<(Domain, UserId), Error> {
    let domain = find_domain(service, account, domain).await?;
    let (user, _) = find_user(service, &domain, user).await?;
    let (user, _) = sql::find(&service.store, &domain.id, &user).await?.ok_or(Problem::NotFound)?;
    Ok((domain, user.id))
}

/// A sign-in in replies to the domain's integrator.
#[derive(Debug, Serialize)]
pub struct SignInView {
    id: SignInId,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<String>,
    created_at: Timestamp,
    last_used_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_agent: Option<String>,
}

impl From<SignIn> for SignInView {
    fn from(sign_in: SignIn) -> Self {
        let SignIn { id, place, created_at, last_used_at, browser } = sign_in;
        Self {
            id,
            kind: place.kind(),
            client_id: place.client_id().map(str::to_owned),
            created_at,
            last_used_at,
            user_agent: browser.text().map(str::to_owned),
        }
    }
}
