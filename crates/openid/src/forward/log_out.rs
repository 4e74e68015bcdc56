//! The end of a session at an application. What the person is signed in to elsewhere stays, and the page says so.

use axum::extract::Request;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use signpost_platform::pages::HtmlPage;
use signpost_platform::pages::form::{FormToken, PostedForm};

use super::app_visit::{APP_COOKIE, AppVisit, internal};
use crate::flows::app_sessions::end_app_session;
use crate::flows::issuer;

/// What the form's token is for.
const PURPOSE: &str = "app logout";

/// Asks before it ends: a link on another site ends nothing.
pub(super) async fn ask(visit: AppVisit) -> Result<HtmlPage, Response> {
    Ok(match (visit.find_session().await?, &visit.session_cookie) {
        (Some(_), Some(cookie)) => visit.page.log_out(&FormToken::new(cookie, PURPOSE)),
        _ => visit.page.not_logged_in(),
    })
}

/// Ends the session of this browser at this application.
pub(super) async fn log_out(visit: AppVisit, request: Request) -> Result<HtmlPage, Response> {
    let origin = visit.app.public_origin();
    let form = PostedForm::receive(&origin, request).await;
    let checked = form.and_then(|form| form.check(visit.session_cookie.as_ref(), PURPOSE));
    checked.map_err(|refusal| visit.page.nothing_done(refusal.status()).into_response())?;
    let session = visit.find_session().await?;
    if let Some(cookie) = &visit.session_cookie {
        end_app_session(&visit.service, cookie).await.map_err(internal)?;
    }
    let page = match &session {
        Some(session) => {
            let (client, issuer) = (&session.facts.client.id, issuer(&visit.service, &session.facts.domain));
            let at_issuer = format!("{issuer}/logout?client_id={client}");
            visit.page.logged_out(&visit.service.origin, &at_issuer, client)
        }
        None => visit.page.not_logged_in(),
    };
    Ok(page.with_header(header::SET_COOKIE, APP_COOKIE.clear(&origin)))
}
