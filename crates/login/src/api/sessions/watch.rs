//! Handlers of `GET /sessions/{id}` and `/sessions/{id}/events`: returning the status of a session
//! immediately or when it changes.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::{RawQuery, State as Extract};
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures_util::{Stream, StreamExt, stream};
use secrecy::ExposeSecret;
use serde_json::json;
use signpost_platform::accounts::keys::KeyHash;
use signpost_platform::accounts::{Account, Environment};
use signpost_platform::limits::Caller;
use signpost_platform::web::problem::Problem;
use signpost_platform::web::{ApiKey, JsonReply, PathParams};
use tokio::time::{Instant, timeout};
use url::form_urlencoded;

use super::completed::view_session;
use super::replies::{SessionView, Viewer};
use crate::error::Error;
use crate::flows::lookup::refusal_error;
use crate::ids::SessionId;
use crate::service::LoginService;
use crate::sessions::{AnswerRefusal, Session, SessionStatus, Waiter};

/// Maximum wait of a request, in seconds, below the timeout of most proxies.
const MAX_WAIT_SECS: u64 = 25;
/// Interval of reads by a waiting request: another process may have changed the session, or it has expired.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Interval of keep-alive comments in a stream.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// `GET /sessions/{id}`: returns a session. With `?wait=25`, replies when the session is no longer
/// pending, or after this number of seconds.
pub(crate) async fn show(
    Extract(service): Extract<LoginService>,
    account: Account,
    viewer: Viewer,
    page: Option<Extension<Caller>>,
    key: Option<Extension<ApiKey>>,
    PathParams(id): PathParams<String>,
    RawQuery(query): RawQuery,
) -> Result<JsonReply<SessionView>, Error> {
    let seconds = parse_wait(query.as_deref().unwrap_or_default())?;
    let mut session = find(&service, &account, &id).await?;
    if seconds > Duration::ZERO && session.status(service.clock.now()) == SessionStatus::Pending {
        let deadline = Instant::now() + seconds;
        let waiter = acquire_waiter(&service, &account, &session, page.as_deref())?;
        let key = WaitingKey::new(key.as_deref());
        session = await_change(&service, (&account, key.as_ref()), session, &waiter, deadline).await?;
    }
    to_reply(&service, &session, viewer).await
}

/// `GET /sessions/{id}/events`: sends an event `status` with the reply of `GET`, and a last event
/// when the status changes.
pub(crate) async fn events(
    Extract(service): Extract<LoginService>,
    account: Account,
    viewer: Viewer,
    page: Option<Extension<Caller>>,
    key: Option<Extension<ApiKey>>,
    PathParams(id): PathParams<String>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Error> {
    let session = find(&service, &account, &id).await?;
    let first = status_event(&service, &session, viewer).await?;
    let has_ended = session.status(service.clock.now()) != SessionStatus::Pending;
    // The slot is acquired before the stream begins, so that a lack of slots is an error.
    let waiter = if has_ended { None } else { Some(acquire_waiter(&service, &account, &session, page.as_deref())?) };
    let key = WaitingKey::new(key.as_deref());
    let next = stream::iter(waiter).filter_map(move |waiter| {
        let service = service.clone();
        let account = account.clone();
        let session = session.clone();
        async move {
            let forever = Instant::now() + Duration::from_hours(24);
            match await_change(&service, (&account, key.as_ref()), session, &waiter, forever).await {
                Ok(session) if session.status(service.clock.now()) != SessionStatus::Pending => {
                    status_event(&service, &session, viewer).await.ok()
                }
                // The server stops, the key was revoked, or the database cannot be read: the client reconnects.
                Ok(_) | Err(_) => None,
            }
        }
    });
    let events = stream::iter([first]).chain(next).map(Ok);
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE_INTERVAL)))
}

/// Acquires a slot for a waiting request.
fn acquire_waiter(
    service: &LoginService,
    account: &Account,
    session: &Session,
    page: Option<&Caller>,
) -> Result<Waiter, Problem> {
    Ok(service.waiting.acquire(&session.id, account, page)?)
}

/// The API key of a request that waits.
#[derive(Clone, Copy)]
struct WaitingKey {
    environment: Environment,
    hash: KeyHash,
}

impl WaitingKey {
    /// Returns the API key of a request. `None` for a page that is authenticated by the session's
    /// client secret.
    fn new(key: Option<&ApiKey>) -> Option<Self> {
        let (environment, hash) = KeyHash::parse(key?.key.expose_secret())?;
        Some(Self { environment, hash })
    }

    /// Refuses the request if its key was revoked, or expired, while it waited.
    async fn check(&self, service: &LoginService) -> Result<(), Error> {
        let now = service.clock.now();
        match service.keys.find_grant(&service.store, self.environment, self.hash, now).await? {
            Some(_) => Ok(()),
            None => Err(Problem::InvalidApiKey.into()),
        }
    }
}

/// Returns the session once it is no longer pending, or as it is at the deadline or when the server stops.
///
/// # Errors
/// Returns [`Problem::InvalidApiKey`] if the key of the request is no longer valid.
async fn await_change(
    service: &LoginService,
    (account, key): (&Account, Option<&WaitingKey>),
    mut session: Arc<Session>,
    waiter: &Waiter,
    deadline: Instant,
) -> Result<Arc<Session>, Error> {
    loop {
        let changed = waiter.changed();
        session = find(service, account, session.id.as_str()).await?;
        let left = deadline.saturating_duration_since(Instant::now());
        let has_ended = session.status(service.clock.now()) != SessionStatus::Pending;
        if has_ended || left.is_zero() || service.draining.is_cancelled() {
            return Ok(session);
        }
        tokio::select! {
            _ = timeout(POLL_INTERVAL.min(left), changed) => {}
            () = service.draining.cancelled() => {}
        }
        if let Some(key) = key {
            key.check(service).await?;
        }
    }
}

/// Returns a session of the account, possibly from the cache.
async fn find(service: &LoginService, account: &Account, id: &str) -> Result<Arc<Session>, Error> {
    let id = SessionId::parse(id).ok_or(Error::SessionNotFound)?;
    let session = service.sessions.find(account.environment, &id).await?;
    let own = session.filter(|session| session.account == *account && session.is_readable(service.clock.now()));
    own.ok_or(Error::SessionNotFound)
}

async fn to_reply(service: &LoginService, session: &Session, viewer: Viewer) -> Result<JsonReply<SessionView>, Error> {
    match session.status(service.clock.now()) {
        SessionStatus::Expired => Err(refusal_error(AnswerRefusal::Expired, session, service)),
        SessionStatus::Cancelled => Err(refusal_error(AnswerRefusal::Cancelled, session, service)),
        status => Ok(JsonReply(view_session(service, session, status, viewer).await?)),
    }
}

async fn status_event(service: &LoginService, session: &Session, viewer: Viewer) -> Result<Event, Error> {
    let status = session.status(service.clock.now());
    let event = Event::default().event("status");
    let data = match status {
        SessionStatus::Pending | SessionStatus::Authenticated => {
            json!(view_session(service, session, status, viewer).await?)
        }
        SessionStatus::Expired | SessionStatus::Cancelled => json!({ "id": session.id, "status": status }),
    };
    Ok(event.data(data.to_string()))
}

/// Parses the time that a request waits.
fn parse_wait(query: &str) -> Result<Duration, Problem> {
    let mut values = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "wait");
    let Some((_, text)) = values.next() else { return Ok(Duration::ZERO) };
    match text.parse() {
        Ok(seconds @ 0..=MAX_WAIT_SECS) if values.next().is_none() => Ok(Duration::from_secs(seconds)),
        _ => Err(Problem::field("wait", format!("must be a whole number of seconds from 0 to {MAX_WAIT_SECS}"))),
    }
}
