//! `/sessions/{id}`: refreshing, drawing and cancelling.

use anyhow::Context;
use axum::Json;
use axum::extract::State as Extract;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, StatusCode};
use signpost_auth::QrCode;
use signpost_platform::accounts::Account;
use signpost_platform::web::problem::Problem;
use signpost_platform::web::{Nothing, PathId};
use signpost_store::{WriteError, random};

use crate::api::sessions::qr_image;
use crate::api::sessions::replies::RefreshedSession;
use crate::error::Error;
use crate::flows::lookup::{find_session, lost_race, refused};
use crate::service::LoginService;
use crate::sessions::sql;

/// A code is dead as soon as the session is refreshed.
const NO_STORE: (HeaderName, &str) = (CACHE_CONTROL, "no-store");

/// How often a refresh looks again after another was first.
const MAX_REFRESH_ATTEMPTS: usize = 100;

/// `POST /sessions/{id}/refresh`
pub(crate) async fn refresh(
    Extract(service): Extract<LoginService>,
    account: Account,
    PathId(id): PathId,
    _: Nothing,
) -> Result<Json<RefreshedSession>, Error> {
    // Who loses to another refresh looks again: the session is still there to be refreshed.
    for _ in 0..MAX_REFRESH_ATTEMPTS {
        let old = find_session(&service, &account, &id).await?;
        let session = old.clone().refresh(service.settings.session_ttl, service.clock.now(), random());
        let session = session.map_err(|refusal| refused(refusal, &old, &service))?;
        let refreshed = RefreshedSession::new(&session)?;
        match sql::refresh(&service.store, &session, &old.challenge).await {
            Ok(()) => {
                service.session_changed(&session.id);
                return Ok(Json(refreshed));
            }
            Err(WriteError::Conflict) => {}
            Err(WriteError::Internal(error)) => return Err(error.into()),
        }
    }
    Err(Problem::Unavailable("too many concurrent refreshes of this session".to_owned()).into())
}

/// `GET /sessions/{id}/qr.svg`
pub(crate) async fn svg(
    extract: Extract<LoginService>,
    account: Account,
    id: PathId,
) -> Result<([(HeaderName, &'static str); 2], String), Error> {
    let code = code(extract, account, id).await?;
    Ok(([(CONTENT_TYPE, "image/svg+xml"), NO_STORE], code.svg()))
}

/// `GET /sessions/{id}/qr.png`
pub(crate) async fn png(
    extract: Extract<LoginService>,
    account: Account,
    id: PathId,
) -> Result<([(HeaderName, &'static str); 2], Vec<u8>), Error> {
    let code = code(extract, account, id).await?;
    Ok(([(CONTENT_TYPE, "image/png"), NO_STORE], qr_image::png(&code)?))
}

/// The code of a session that waits for its answer.
async fn code(Extract(service): Extract<LoginService>, account: Account, PathId(id): PathId) -> Result<QrCode, Error> {
    let session = find_session(&service, &account, &id).await?;
    session.check_pending(service.clock.now()).map_err(|refusal| refused(refusal, &session, &service))?;
    let text = RefreshedSession::new(&session)?.qr_data;
    Ok(QrCode::from_text(&text).context("qr_data fits in a code")?)
}

/// `DELETE /sessions/{id}`
pub(crate) async fn cancel(
    Extract(service): Extract<LoginService>,
    account: Account,
    PathId(id): PathId,
    _: Nothing,
) -> Result<StatusCode, Error> {
    let session = find_session(&service, &account, &id).await?;
    let now = service.clock.now();
    let cancelled = session.clone().cancel(now).map_err(|refusal| refused(refusal, &session, &service))?;
    match sql::cancel(&service.store, &cancelled.id, now).await {
        Ok(()) => {
            service.metrics.session(account.environment, "cancelled");
            service.session_changed(&cancelled.id);
            Ok(StatusCode::NO_CONTENT)
        }
        Err(WriteError::Conflict) => Err(lost_race(&service, &session).await),
        Err(WriteError::Internal(error)) => Err(error.into()),
    }
}
