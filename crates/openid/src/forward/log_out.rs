//! Handlers that end a session at an application. The browser session at the issuer continues, as
//! the page explains.

use axum::extract::Request;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use signpost_platform::pages::HtmlPage;
use signpost_platform::pages::form::{CsrfToken, PostedForm};

use super::app_context::{APP_COOKIE, AppContext, internal};
use crate::flows::app_sessions::end_app_session;
use crate::flows::issuer;

/// The purpose of the form's CSRF token.
const PURPOSE: &str = "app logout";

/// `GET /.signpost/logout`: asks for confirmation, so that a link on another site ends no session.
pub(super) async fn ask(context: AppContext) -> Result<HtmlPage, Response> {
    Ok(match (context.find_session().await?, &context.session_cookie) {
        (Some(_), Some(cookie)) => context.page.log_out(&CsrfToken::new(cookie, PURPOSE)),
        _ => context.page.not_logged_in(),
    })
}

/// `POST /.signpost/logout`: ends the session of this browser at this application.
pub(super) async fn log_out(context: AppContext, request: Request) -> Result<HtmlPage, Response> {
    let origin = context.app.public_origin();
    let form = PostedForm::receive(&origin, request).await;
    let checked = form.and_then(|form| form.check(context.session_cookie.as_ref(), PURPOSE));
    checked.map_err(|refusal| context.page.form_refused(refusal.status()).into_response())?;
    let session = context.find_session().await?;
    if let Some(cookie) = &context.session_cookie {
        end_app_session(&context.service, cookie).await.map_err(internal)?;
    }
    let page = match &session {
        Some(session) => {
            let client = &session.facts.client.id;
            let issuer = issuer(&context.service, &session.facts.domain);
            let sign_out = format!("{issuer}/logout?client_id={client}");
            context.page.logged_out(&context.service.origin, &sign_out, client)
        }
        None => context.page.not_logged_in(),
    };
    Ok(page.with_header(header::SET_COOKIE, APP_COOKIE.clear(&origin)))
}
