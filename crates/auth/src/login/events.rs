//! The endpoint that receives the events of the service.

use std::sync::{Arc, PoisonError};

use axum::extract::{Request, State};

use super::flow::PageLogin;
use super::seen::{EventState, SeenEvents};
use super::site::{LoginSite, LoginStep};
use crate::event::EventKind;
use crate::receiver::{HandlerRefusal, HandlerResponse, event_headers, read_body, read_event};

/// Handles a request with an event.
pub(super) async fn handle_event_request<S: LoginSite>(
    State(login): State<Arc<PageLogin<S>>>,
    request: Request,
) -> Result<HandlerResponse, HandlerRefusal> {
    let (parts, body) = read_body(request).await?;
    let event = read_event(&event_headers(&parts), &body, &login.options.events, login.now())?;
    if event.event == EventKind::Test {
        return Ok(HandlerResponse::received(true));
    }
    let identity = event.identity();
    match login.with_seen(|seen| seen.begin(&identity)) {
        EventState::Done => return Ok(HandlerResponse::received(false)),
        EventState::InProgress => return Ok(HandlerResponse::later("another request is processing this event")),
        EventState::New => {}
    }
    let mut guard = EventGuard { login, identity, is_done: false };
    // The service closes the connection after 15 seconds. The task runs to completion, so that its
    // outcome is recorded.
    let task = tokio::spawn(async move {
        let outcome = guard.login.site.on_event(event).await;
        guard.is_done = outcome.is_ok();
        outcome.map_err(|error| guard.login.site.on_error(&*error, LoginStep::Events))
    });
    match task.await {
        Ok(Ok(())) => Ok(HandlerResponse::received(true)),
        Ok(Err(())) | Err(_) => Err(HandlerRefusal::Internal),
    }
}

/// An event that is being handled. Dropping the guard ends the handling, even if the site's
/// function panics.
struct EventGuard<S> {
    login: Arc<PageLogin<S>>,
    identity: String,
    is_done: bool,
}

impl<S> Drop for EventGuard<S> {
    fn drop(&mut self) {
        self.login.with_seen(|seen| seen.end(&self.identity, self.is_done));
    }
}

impl<S> PageLogin<S> {
    fn with_seen<T>(&self, access: impl FnOnce(&mut SeenEvents) -> T) -> T {
        access(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
