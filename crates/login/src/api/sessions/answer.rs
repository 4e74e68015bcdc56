//! `POST /sessions/{id}/authenticate` and `/complete`: what a wallet answered, handed in by the integrator.

use axum::Json;
use axum::extract::{FromRequest, Request, State as Extract};
use signpost_auth::Answer;
use signpost_platform::accounts::Account;
use signpost_platform::web::problem::Problem;
use signpost_platform::web::{Fields, PathId, Payload};

use super::replies::{SessionView, Viewer};
use crate::error::Error;
use crate::flows::admission::find_holder;
use crate::flows::lookup::find_session;
use crate::flows::submit::{AcceptedAnswer, accept_answer, complete_login};
use crate::service::LoginService;
use crate::sessions::SessionStatus;

/// `POST /sessions/{id}/authenticate`
pub(crate) async fn authenticate(
    Extract(service): Extract<LoginService>,
    account: Account,
    PathId(id): PathId,
    request: Request,
) -> Result<Json<SessionView>, Error> {
    let session = find_session(&service, &account, &id).await?;
    // Only now, for the contract says of an unknown session first that it is unknown.
    let Payload(body) = Payload::from_request(request, &service).await?;
    let answer =
        Answer::parse(&body).map_err(|error| Problem::field(error.field().unwrap_or("body"), error.to_string()))?;
    let holder = find_holder(&service, &session, &answer.public_key).await?;
    let AcceptedAnswer { session, redirect } = accept_answer(&service, session, &answer, holder).await?;
    let status = session.status(service.clock.now());
    Ok(Json(SessionView::new(&session, status, Viewer::Owner).with_redirect(redirect.map(String::from))))
}

/// `POST /sessions/{id}/complete`: the code that the wallet, or the browser on the page, was told came back in the browser
/// that began the login.
pub(crate) async fn complete(
    Extract(service): Extract<LoginService>,
    account: Account,
    PathId(id): PathId,
    mut fields: Fields,
) -> Result<Json<SessionView>, Error> {
    let (code, secret) = (fields.text("code")?, fields.optional_text("browser_secret")?);
    fields.done()?;
    let asked = find_session(&service, &account, &id).await?;
    let session = complete_login(&service, asked, &code, secret.as_deref()).await?;
    Ok(Json(SessionView::new(&session, SessionStatus::Authenticated, Viewer::Owner)))
}
