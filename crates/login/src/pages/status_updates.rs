//! Handlers of `GET /login/{id}/state` and `/events`, for the script of an open login page: it
//! polls the state, or is notified of changes.

use std::convert::Infallible;
use std::time::Duration;

use axum::Json;
use axum::http::header::{CACHE_CONTROL, HeaderName};
use axum::response::sse::{Event, KeepAlive};
use axum::response::{IntoResponse, Result, Sse};
use futures_util::{Stream, stream};
use serde::Serialize;
use signpost_platform::pages::cookie::CookieSecret;
use signpost_platform::web::problem::Problem;
use tokio::time::timeout;

use super::context::{LoginPageContext, OwnedPage};
use crate::error::Error;
use crate::sessions::Waiter;

/// Interval between two reads of the session by a stream: another process may have changed it, or
/// its code may be about to expire.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Interval of the keep-alive comments of a stream.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);
const NO_STORE: (HeaderName, &str) = (CACHE_CONTROL, "no-store");

/// The state of a login page in the form that the page's script compares with the displayed state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct PageStatus {
    /// The word in `data-state`.
    state: &'static str,
    /// The version of the page's content.
    version: String,
    /// The remaining seconds of the countdown.
    left: i64,
    #[serde(skip)]
    is_last: bool,
}

/// `GET /login/{id}/state`: returns the state of the page.
pub(crate) async fn state(context: LoginPageContext) -> Result<impl IntoResponse> {
    let page = context.find_owned().await?;
    Ok(([NO_STORE], Json(read_status(&context, &page)?)))
}

/// `GET /login/{id}/events`: sends an event `state` at once, and another whenever the page changes. The stream ends
/// with the final state.
pub(crate) async fn events(context: LoginPageContext) -> Result<impl IntoResponse> {
    let page = context.find_owned().await?;
    let waiting = &context.service.waiting;
    let waiter = waiting.acquire(&page.session.id, &page.session.account, Some(context.address()));
    let waiter = waiter.map_err(Problem::from)?;
    context.release_request_slot();
    let stream = StatusStream { context, cookie: page.cookie, waiter, sent: None };
    Ok(Sse::new(stream.into_events()).keep_alive(KeepAlive::new().interval(KEEP_ALIVE_INTERVAL)))
}

/// A stream of status events for a page that is open in a browser.
struct StatusStream {
    context: LoginPageContext,
    cookie: CookieSecret,
    waiter: Waiter,
    /// The last status that was sent.
    sent: Option<PageStatus>,
}

impl StatusStream {
    fn into_events(self) -> impl Stream<Item = Result<Event, Infallible>> {
        stream::unfold(self, async |mut stream| {
            let status = stream.next_status().await?;
            let event = Event::default().event("state").json_data(&status).ok()?;
            stream.sent = Some(status);
            Some((Ok(event), stream))
        })
    }

    /// Waits for the next status. `None` ends the stream: after the final state, on an error, or at a shutdown of the
    /// server, after which the browser reconnects.
    async fn next_status(&self) -> Option<PageStatus> {
        if self.sent.as_ref().is_some_and(|sent| sent.is_last) {
            return None;
        }
        let draining = &self.context.service.draining;
        while !draining.is_cancelled() {
            let changed = self.waiter.changed();
            let page = self.context.find_again(&self.cookie).await.ok()??;
            let status = read_status(&self.context, &page).ok()?;
            if self.sent.as_ref().is_none_or(|sent| sent.version != status.version) {
                return Some(status);
            }
            tokio::select! {
                _ = timeout(POLL_INTERVAL, changed) => {}
                () = draining.cancelled() => {}
            }
        }
        None
    }
}

fn read_status(context: &LoginPageContext, page: &OwnedPage) -> Result<PageStatus, Error> {
    let now = context.service.clock.now();
    let view = context.view(page, now)?;
    Ok(PageStatus {
        state: view.state.as_str(),
        version: view.version(),
        left: view.seconds_left(now),
        is_last: view.state.is_last(),
    })
}
