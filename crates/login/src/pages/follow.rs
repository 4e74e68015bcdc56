//! `GET /login/{id}/state` and `/events`: what the page's script asks, whether there is anything new.

use std::convert::Infallible;
use std::time::Duration;

use axum::Json;
use axum::http::header::{CACHE_CONTROL, HeaderName};
use axum::response::sse::{Event, KeepAlive};
use axum::response::{IntoResponse, Response, Sse};
use futures_util::{Stream, stream};
use serde::Serialize;
use signpost_platform::pages::cookie::CookieSecret;
use signpost_platform::web::problem::Problem;
use tokio::time::timeout;

use super::visit::{OwnedPage, PageVisit};
use crate::error::Error;
use crate::sessions::{TooManyWaiters, Waiter};

/// How often a stream looks by itself: another process may have changed the session, or its code is about to end.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// How often a stream says that it is alive.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);
const NO_STORE: (HeaderName, &str) = (CACHE_CONTROL, "no-store");

/// What a page compares itself with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct PageStatus {
    /// The word in `data-state`.
    state: &'static str,
    /// Another text whenever the page would be another.
    version: String,
    /// The seconds of the countdown.
    left: i64,
    #[serde(skip)]
    is_last: bool,
}

/// `GET /login/{id}/state`
pub(crate) async fn state(visit: PageVisit) -> Result<Response, Response> {
    let page = visit.find_owned().await?;
    let status = status(&visit, &page).map_err(IntoResponse::into_response)?;
    Ok(([NO_STORE], Json(status)).into_response())
}

/// `GET /login/{id}/events`: an event `state` at once, and another whenever the page is another. The stream ends with the
/// last of them.
pub(crate) async fn events(visit: PageVisit) -> Result<Response, Response> {
    let page = visit.find_owned().await?;
    let waiter = visit.service.waiting.acquire(&page.session.id, &page.session.account, Some(visit.address()));
    let waiter = waiter.map_err(|crowded| match crowded {
        TooManyWaiters::Everybody => {
            Problem::Unavailable("too many requests are waiting for sessions".to_owned()).into_response()
        }
        TooManyWaiters::Caller(most) => Problem::TooManyAtOnce { limit: "waiting", most }.into_response(),
    })?;
    visit.release_in_progress();
    let follower = Follower { visit, cookie: page.cookie, waiter, told: None };
    Ok(Sse::new(follower.into_events()).keep_alive(KeepAlive::new().interval(KEEP_ALIVE_INTERVAL)).into_response())
}

/// A page that is open in a browser.
struct Follower {
    visit: PageVisit,
    cookie: CookieSecret,
    waiter: Waiter,
    /// What it was told last.
    told: Option<PageStatus>,
}

impl Follower {
    fn into_events(self) -> impl Stream<Item = Result<Event, Infallible>> {
        stream::unfold(self, async |mut follower| {
            let status = follower.next_status().await?;
            let event = Event::default().event("state").json_data(&status).ok()?;
            follower.told = Some(status);
            Some((Ok(event), follower))
        })
    }

    /// What the page has to be told next; `None` where nothing follows, where nobody can tell, or where the server stops:
    /// the browser comes again.
    async fn next_status(&self) -> Option<PageStatus> {
        if self.told.as_ref().is_some_and(|told| told.is_last) {
            return None;
        }
        let draining = &self.visit.service.draining;
        while !draining.is_cancelled() {
            let changed = self.waiter.changed();
            let page = self.visit.look_again(&self.cookie).await.ok()??;
            let status = status(&self.visit, &page).ok()?;
            if self.told.as_ref().is_none_or(|told| told.version != status.version) {
                return Some(status);
            }
            tokio::select! {
                _ = timeout(LOOK_INTERVAL, changed) => {}
                () = draining.cancelled() => {}
            }
        }
        None
    }
}

fn status(visit: &PageVisit, page: &OwnedPage) -> Result<PageStatus, Error> {
    let now = visit.service.clock.now();
    let view = visit.view(page, now)?;
    Ok(PageStatus {
        state: view.state.as_str(),
        version: view.version(),
        left: view.seconds_left(now),
        is_last: view.state.is_last(),
    })
}
