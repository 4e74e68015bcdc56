//! From an account page to a login page and back: to log in again, or to add a key.

use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use signpost_auth::Mode;

use super::outcomes;
use super::visit::{AccountVisit, Deed, is_path_here};
use crate::domains::Domain;
use crate::error::Error;
use crate::flows::account_sessions::{AccountErrand, complete_account_session, open_account_session};
use crate::sessions::{Metadata, PagePurpose, Requester};

/// What a browser brings back from the login page.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct LoginReturn {
    session_id: String,
    code: String,
}

/// `POST /account/{domain}/login`
pub(super) async fn log_in(visit: AccountVisit, id: &str, request: Request) -> Result<Response, Response> {
    visit.count_opened().await?;
    let form = visit.receive(id, request, "login").await?;
    let domain = visit.find_domain(id).await.map_err(IntoResponse::into_response)?;
    let domain = domain.ok_or_else(|| no_login(&visit))?;
    let back = form.text("next").and_then(|path| read_way_back(path, &domain));
    visit.count_stored(back.as_ref().map_or(0, |back| back.as_str().len())).await?;
    open(&visit, &domain, AccountErrand::LogIn(back)).await
}

/// `POST /account/{domain}/add`
pub(super) async fn add_key(visit: AccountVisit, id: &str, request: Request) -> Result<Response, Response> {
    visit.count_opened().await?;
    let (own, _) = visit.receive_own(id, request, ("add", true)).await?;
    open(&visit, &own.domain, AccountErrand::AddOwnKey(Box::new(own.who))).await
}

async fn open(visit: &AccountVisit, domain: &Domain, errand: AccountErrand) -> Result<Response, Response> {
    let requester = Requester::of_user_agent(visit.user_agent.as_deref());
    let (owner, cookie) = visit.page_owner();
    let opened = open_account_session(&visit.service, domain, errand, requester, &owner).await;
    match opened {
        Ok(session) => {
            let url = session.page_url(&visit.service.public_address).unwrap_or_default();
            let to = Redirect::to(&format!("{url}?lang={}", visit.language.tag()));
            Ok(([(header::SET_COOKIE, cookie)], to).into_response())
        }
        Err(error @ Error::Problem(_)) => Err(error.into_response()),
        Err(_) => Err(no_login(visit)),
    }
}

/// `GET /account/{domain}/return`: the browser is back from the login page. What it brings is worth something once.
pub(super) async fn come_back(visit: AccountVisit, id: &str, back: LoginReturn) -> Result<Response, Response> {
    visit.count(&visit.address).await?;
    let domain = visit.find_domain(id).await.map_err(IntoResponse::into_response)?;
    let Some(domain) = domain else {
        return Ok(visit.page(outcomes::render_out(&visit, id)).into_response());
    };
    if back.code.is_empty() {
        return Ok(visit.to_realm(&domain, Some(Deed::Nothing)));
    }
    let mut next = None;
    let deed =
        match complete_account_session(&visit.service, &domain, PagePurpose::Account, (&back.session_id, &back.code))
            .await
        {
            Ok(session) if session.challenge.mode == Mode::Link => Some(Deed::Added),
            Ok(session) => {
                next = session.metadata.as_ref().and_then(Metadata::return_url);
                None
            }
            Err(error @ Error::Problem(_)) => return Err(error.into_response()),
            Err(_) => Some(Deed::Nothing),
        };
    if let Some(next) = next {
        return Ok(Redirect::to(&visit.service.origin.link(&next)).into_response());
    }
    Ok(visit.to_realm(&domain, deed))
}

/// Where somebody came from to log in: a path of this host, and nothing that leads away from it. At the server's own domain
/// alone: of an account that is made on the way another domain's integrator would have to be told.
fn read_way_back(path: &str, domain: &Domain) -> Option<Metadata> {
    let object = RawValue::from_string(json!({ "return_url": path }).to_string()).ok()?;
    Metadata::new(object, &domain.name).ok().filter(|_| is_path_here(path) && domain.account.is_server())
}

fn no_login(visit: &AccountVisit) -> Response {
    visit.page(outcomes::render_no_login(visit)).with_status(StatusCode::FORBIDDEN).into_response()
}
