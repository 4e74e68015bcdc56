//! Handlers of the login page's forms: cancelling, requesting a new code, changing the mode,
//! declining a passkey, and confirming a key.

use axum::extract::Request;
use axum::response::{IntoResponse, Redirect, Response, Result};
use signpost_auth::Mode;
use signpost_platform::pages::HtmlPage;
use signpost_platform::pages::form::{PostedForm, PostedFormError};

use super::context::{LoginPageContext, OwnedPage};
use super::outcomes;
use super::render::render_cancelled;
use super::state::PageState;
use crate::error::Error;
use crate::flows::changes::decline_passkey;
use crate::flows::link::{confirm_link, decline_link};
use crate::flows::page::{cancel_page, renew_page, switch_mode};
use crate::sessions::{Renewal, Session};

/// `POST /login/{id}/cancel`: cancels the session, and sends the browser back to the site.
pub(crate) async fn cancel(context: LoginPageContext, request: Request) -> Result<Response> {
    let (page, _) = receive(&context, request).await?;
    let session = cancel_page(&context.service, page.session).await?;
    let page = OwnedPage { session, ..page };
    let view = context.view(&page, context.service.clock.now())?;
    if view.state != PageState::Cancelled {
        return Ok(to_page(&context).into_response());
    }
    Ok(HtmlPage::personal(render_cancelled(&context.document(&page, &view))).into_response())
}

/// `POST /login/{id}/renew`: replaces the code.
pub(crate) async fn renew(context: LoginPageContext, request: Request) -> Result<Response> {
    let (page, _) = receive(&context, request).await?;
    Ok(to_changed(&context, renew_page(&context.service, page.session, Renewal::ByHand).await))
}

/// `POST /login/{id}/mode`: switches to the mode in the form, `mode=register` or `mode=login`.
pub(crate) async fn switch(context: LoginPageContext, request: Request) -> Result<Response> {
    let (page, form) = receive(&context, request).await?;
    let Some(Ok(mode @ (Mode::Login | Mode::Register))) = form.text("mode").map(str::parse::<Mode>) else {
        return Err(refuse(&context, PostedFormError::Malformed).into());
    };
    Ok(to_changed(&context, switch_mode(&context.service, page.session, mode).await))
}

/// `POST /login/{id}/offer`: `answer=not_now` declines the offered passkey.
pub(crate) async fn decline_offer(context: LoginPageContext, request: Request) -> Result<Redirect> {
    let (page, form) = receive(&context, request).await?;
    if form.text("answer") != Some("not_now") {
        return Err(refuse(&context, PostedFormError::Malformed).into());
    }
    decline_passkey(&context.service, &page.session).await?;
    Ok(to_page(&context))
}

/// `POST /login/{id}/link`: `answer=yes` or `answer=no` confirms or declines `key`. If another key has answered since,
/// the page shows the other key.
pub(crate) async fn answer_link(context: LoginPageContext, request: Request) -> Result<Response> {
    let (page, form) = receive(&context, request).await?;
    let state = PageState::from_session(&page.session, context.service.clock.now());
    if !matches!(state, PageState::Link(key) if form.text("key") == Some(&key.public_key)) {
        return Ok(to_page(&context).into_response());
    }
    let answered = match form.text("answer") {
        Some("yes") => confirm_link(&context.service, page.session).await,
        Some("no") => decline_link(&context.service, page.session).await,
        _ => return Err(refuse(&context, PostedFormError::Malformed).into()),
    };
    Ok(to_changed(&context, answered))
}

/// Reads a form, and checks that it belongs to a page of this browser. Returns the page too.
pub(super) async fn receive(context: &LoginPageContext, request: Request) -> Result<(OwnedPage, PostedForm)> {
    let form = receive_form(context, request).await?;
    let page = context.find_owned().await?;
    form.check(context.cookie(), &context.purpose()).map_err(|refusal| refuse(context, refusal))?;
    Ok((page, form))
}

/// Reads a form of a page of this server. Callers must check its CSRF token.
pub(super) async fn receive_form(context: &LoginPageContext, request: Request) -> Result<PostedForm> {
    PostedForm::receive(&context.service.origin, request).await.map_err(|refusal| refuse(context, refusal).into())
}

/// Redirects to the page even if the change has failed, because the page shows the state of the
/// session.
fn to_changed(context: &LoginPageContext, changed: Result<Session, Error>) -> Response {
    match changed {
        Err(error @ Error::Problem(_)) => error.into_response(),
        Ok(_) | Err(_) => to_page(context).into_response(),
    }
}

/// Redirects to the page.
pub(super) fn to_page(context: &LoginPageContext) -> Redirect {
    Redirect::to(&format!("{}?lang={}", context.path(), context.language.tag()))
}

/// Returns the page for a refused form.
fn refuse(context: &LoginPageContext, refusal: PostedFormError) -> HtmlPage {
    let document = outcomes::render_stale(context.language, &context.service.origin, &context.path());
    HtmlPage::personal(document).with_status(refusal.status())
}
