//! Handlers of `POST /sessions/{id}/authenticate` and `/complete`, for integrators that receive a
//! wallet's answer or a completion code themselves.

use axum::Json;
use axum::extract::{FromRequest, Request, State as Extract};
use serde::Deserialize;
use signpost_auth::Answer;
use signpost_platform::accounts::Account;
use signpost_platform::web::problem::Problem;
use signpost_platform::web::{JsonBody, JsonBytes, PathParams};

use super::completed::view_changed;
use super::replies::SessionView;
use crate::error::Error;
use crate::flows::admission::find_credential;
use crate::flows::lookup::find_session;
use crate::flows::submit::{AcceptedAnswer, accept_answer, complete_login};
use crate::service::LoginService;

/// `POST /sessions/{id}/authenticate`: verifies a wallet's answer that the integrator received.
pub(crate) async fn authenticate(
    Extract(service): Extract<LoginService>,
    account: Account,
    PathParams(id): PathParams<String>,
    request: Request,
) -> Result<Json<SessionView>, Error> {
    let session = find_session(&service, &account, &id).await?;
    // The body is parsed after the session was found, because the contract requires the error for
    // an unknown session to come before the error for an invalid body.
    let JsonBytes(body) = JsonBytes::from_request(request, &service).await?;
    let answer =
        Answer::parse(&body).map_err(|error| Problem::field(error.field().unwrap_or("body"), error.to_string()))?;
    let credential = find_credential(&service, &session, &answer.public_key).await?;
    let AcceptedAnswer { session, redirect } = accept_answer(&service, session, &answer, credential).await?;
    Ok(Json(view_changed(&service, &session).await.with_redirect(redirect.map(String::from))))
}

/// The body of `POST /sessions/{id}/complete`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompleteBody {
    code: String,
    browser_secret: Option<String>,
}

/// `POST /sessions/{id}/complete`: completes the login in the browser that started it, with the completion code.
pub(crate) async fn complete(
    Extract(service): Extract<LoginService>,
    account: Account,
    PathParams(id): PathParams<String>,
    JsonBody(CompleteBody { code, browser_secret }): JsonBody<CompleteBody>,
) -> Result<Json<SessionView>, Error> {
    let session = find_session(&service, &account, &id).await?;
    let session = complete_login(&service, session, &code, browser_secret.as_deref()).await?;
    Ok(Json(view_changed(&service, &session).await))
}
