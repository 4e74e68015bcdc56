//! `/sessions/{id}` over HTTP: refreshing, drawing and cancelling, and what all handlers share.

use anyhow::Context;
use axum::Json;
use axum::extract::State as Extract;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, StatusCode};
use signpost_auth::QrCode;

use super::drawing;
use super::shown::Refreshed;
use super::{Refusal, Session, State, sql};
use crate::account::Account;
use crate::app::App;
use crate::error::Error;
use crate::http::{Nothing, PathId};
use crate::id::{self, SessionId};

/// A code is dead as soon as the session is refreshed.
const NOT_KEPT: (HeaderName, &str) = (CACHE_CONTROL, "no-store");

/// How often a refresh looks again after another was first.
const REFRESHES_AT_ONCE: usize = 100;

/// `POST /sessions/{id}/refresh`
pub(crate) async fn refresh(
    Extract(app): Extract<App>,
    account: Account,
    PathId(id): PathId,
    _: Nothing,
) -> Result<Json<Refreshed>, Error> {
    // Who loses to another refresh looks again: the session is still there to be refreshed.
    for _ in 0..REFRESHES_AT_ONCE {
        let old = find(&app, &account, &id).await?;
        let session = old.clone().refresh(app.config.session_ttl, app.clock.now(), id::random());
        let session = session.map_err(|refusal| refused(refusal, &old, &app))?;
        let refreshed = Refreshed::of(&session)?;
        if sql::refresh(&app.store, &session, &old.challenge).await? {
            app.session_changed(&session.id);
            return Ok(Json(refreshed));
        }
    }
    Err(Error::Unavailable("too many refresh this session at once".to_owned()))
}

/// `GET /sessions/{id}/qr.svg`
pub(crate) async fn svg(
    extract: Extract<App>,
    account: Account,
    id: PathId,
) -> Result<([(HeaderName, &'static str); 2], String), Error> {
    let code = code(extract, account, id).await?;
    Ok(([(CONTENT_TYPE, "image/svg+xml"), NOT_KEPT], code.svg()))
}

/// `GET /sessions/{id}/qr.png`
pub(crate) async fn png(
    extract: Extract<App>,
    account: Account,
    id: PathId,
) -> Result<([(HeaderName, &'static str); 2], Vec<u8>), Error> {
    let code = code(extract, account, id).await?;
    Ok(([(CONTENT_TYPE, "image/png"), NOT_KEPT], drawing::png(&code)?))
}

/// The code of a session that waits for its answer.
async fn code(Extract(app): Extract<App>, account: Account, PathId(id): PathId) -> Result<QrCode, Error> {
    let session = find(&app, &account, &id).await?;
    session.waits(app.clock.now()).map_err(|refusal| refused(refusal, &session, &app))?;
    let text = Refreshed::of(&session)?.qr_data;
    Ok(QrCode::from_text(&text).context("qr_data fits in a code")?)
}

/// `DELETE /sessions/{id}`
pub(crate) async fn cancel(
    Extract(app): Extract<App>,
    account: Account,
    PathId(id): PathId,
    _: Nothing,
) -> Result<StatusCode, Error> {
    let session = find(&app, &account, &id).await?;
    let now = app.clock.now();
    let cancelled = session.clone().cancel(now).map_err(|refusal| refused(refusal, &session, &app))?;
    if sql::cancel(&app.store, &cancelled.id, now).await? {
        app.metrics.session(account.environment, "cancelled");
        app.session_changed(&cancelled.id);
        return Ok(StatusCode::NO_CONTENT);
    }
    Err(lost_race(&app, &session).await)
}

pub(super) async fn find(app: &App, account: &Account, id: &str) -> Result<Session, Error> {
    let id = SessionId::parse(id).ok_or(Error::SessionNotFound)?;
    let session = sql::find(&app.store, account, &id).await?;
    session.filter(|session| session.is_readable(app.clock.now())).ok_or(Error::SessionNotFound)
}

pub(super) fn refused(refusal: Refusal, session: &Session, app: &App) -> Error {
    match refusal {
        Refusal::Stale => Error::TimestampOutOfRange { server_time: app.clock.now() },
        Refusal::UnknownChallenge => Error::ChallengeNotFound,
        Refusal::Authenticated => Error::SessionAlreadyAuthenticated,
        Refusal::Cancelled => Error::SessionCancelled { id: session.id.to_string() },
        Refusal::Expired => Error::SessionExpired { id: session.id.to_string(), expired_at: session.expires_at },
        Refusal::Signature(reason) => Error::SignatureRefused { reason },
        Refusal::Host => Error::HostRefused,
        Refusal::ConfirmCode => Error::ConfirmCodeRefused,
        Refusal::CompletionCode => Error::CompletionCodeRefused,
    }
}

/// The row changed between reading and writing: what it is now says who was first.
pub(super) async fn lost_race(app: &App, session: &Session) -> Error {
    match sql::find(&app.store, &session.account, &session.id).await {
        Ok(Some(Session { state: State::Authenticated { .. } | State::Answered { .. }, .. })) => {
            Error::SessionAlreadyAuthenticated
        }
        Ok(Some(Session { state: State::Cancelled { .. }, .. })) => {
            Error::SessionCancelled { id: session.id.to_string() }
        }
        Ok(Some(_)) => Error::ChallengeNotFound,
        Ok(None) => Error::SessionNotFound,
        Err(error) => error.into(),
    }
}
