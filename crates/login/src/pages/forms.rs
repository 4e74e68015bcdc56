//! The buttons of the page: cancel, a new code, log in or create an account.

use axum::extract::Request;
use axum::response::{IntoResponse, Redirect, Response};
use signpost_auth::Mode;
use signpost_platform::pages::HtmlPage;
use signpost_platform::pages::form::{FormRefusal, PostedForm};

use super::outcomes;
use super::render::render_cancelled;
use super::state::PageState;
use super::visit::{OwnedPage, PageVisit};
use crate::error::Error;
use crate::flows::link::{confirm_link, decline_link};
use crate::flows::offer::decline_passkey;
use crate::flows::page::{cancel_page, renew_page, switch_mode};
use crate::sessions::{Renewal, Session};

/// `POST /login/{id}/cancel`: ends the login, and sends the browser back to the site.
pub(crate) async fn cancel(visit: PageVisit, request: Request) -> Result<Response, Response> {
    let (page, _) = receive(&visit, request).await?;
    let session = cancel_page(&visit.service, page.session).await.map_err(IntoResponse::into_response)?;
    let page = OwnedPage { session, ..page };
    let view = visit.view(&page, visit.service.clock.now()).map_err(IntoResponse::into_response)?;
    if view.state != PageState::Cancelled {
        return Ok(to_page(&visit));
    }
    Ok(HtmlPage::personal(render_cancelled(&visit.document(&page, &view))).into_response())
}

/// `POST /login/{id}/renew`: another code, because somebody is still there.
pub(crate) async fn renew(visit: PageVisit, request: Request) -> Result<Response, Response> {
    let (page, _) = receive(&visit, request).await?;
    Ok(after(&visit, renew_page(&visit.service, page.session, Renewal::ByHand).await))
}

/// `POST /login/{id}/mode`: `mode=register` or `mode=login`.
pub(crate) async fn switch(visit: PageVisit, request: Request) -> Result<Response, Response> {
    let (page, form) = receive(&visit, request).await?;
    let mode = form.text("mode").and_then(|word| word.parse::<Mode>().ok()).filter(|mode| *mode != Mode::Link);
    let mode = mode.ok_or_else(|| to_stale(&visit, FormRefusal::Unreadable))?;
    Ok(after(&visit, switch_mode(&visit.service, page.session, mode).await))
}

/// `POST /login/{id}/offer`: `answer=not_now`, to a passkey for the next time.
pub(crate) async fn decline_offer(visit: PageVisit, request: Request) -> Result<Response, Response> {
    let (page, form) = receive(&visit, request).await?;
    if form.text("answer") != Some("not_now") {
        return Err(to_stale(&visit, FormRefusal::Unreadable));
    }
    decline_passkey(&visit.service, &page.session).await.map_err(IntoResponse::into_response)?;
    Ok(to_page(&visit))
}

/// `POST /login/{id}/link`: `answer=yes` or `answer=no`, to whether `key`, which answered, is the person's own. Where another
/// key has answered since, the page shows that one.
pub(crate) async fn answer_link(visit: PageVisit, request: Request) -> Result<Response, Response> {
    let (page, form) = receive(&visit, request).await?;
    let state = PageState::of(&page.session, visit.service.clock.now());
    if !matches!(state, PageState::Link(key) if form.text("key") == Some(&key.public_key)) {
        return Ok(to_page(&visit));
    }
    let answered = match form.text("answer") {
        Some("yes") => confirm_link(&visit.service, page.session).await,
        Some("no") => decline_link(&visit.service, page.session).await,
        _ => return Err(to_stale(&visit, FormRefusal::Unreadable)),
    };
    Ok(after(&visit, answered))
}

/// The form and its page, where this browser owns the page and the form is one of it.
pub(super) async fn receive(visit: &PageVisit, request: Request) -> Result<(OwnedPage, PostedForm), Response> {
    let form = PostedForm::receive(&visit.service.origin, request).await;
    let form = form.map_err(|refusal| to_stale(visit, refusal))?;
    let page = visit.find_owned().await?;
    form.check(visit.cookie(), &visit.purpose()).map_err(|refusal| to_stale(visit, refusal))?;
    Ok((page, form))
}

/// The page says what became of the session, whatever the button did to it.
fn after(visit: &PageVisit, done: Result<Session, Error>) -> Response {
    match done {
        Err(error @ Error::Problem(_)) => error.into_response(),
        Ok(_) | Err(_) => to_page(visit),
    }
}

pub(super) fn to_page(visit: &PageVisit) -> Response {
    Redirect::to(&format!("{}?lang={}", visit.path(), visit.language.tag())).into_response()
}

pub(super) fn to_stale(visit: &PageVisit, refusal: FormRefusal) -> Response {
    let document = outcomes::render_stale(visit.language, &visit.service.origin, &visit.path());
    HtmlPage::personal(document).with_status(refusal.status()).into_response()
}
