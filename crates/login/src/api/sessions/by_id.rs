//! Handlers of a single session below `/sessions/{id}`: refreshing it, drawing its QR code, and
//! cancelling it.

use anyhow::Context;
use axum::Json;
use axum::extract::State as Extract;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, StatusCode};
use signpost_auth::QrCode;
use signpost_platform::accounts::Account;
use signpost_platform::web::problem::Problem;
use signpost_platform::web::{EmptyBody, PathParams};
use signpost_store::random;

use crate::api::sessions::qr_image;
use crate::api::sessions::replies::RefreshedSession;
use crate::error::Error;
use crate::flows::changes::cancel_session;
use crate::flows::lookup::{find_session, refusal_error};
use crate::service::LoginService;
use crate::sessions::{SessionWriteError, sql};

/// Response header that prevents caching. A cached code would be invalid after a refresh of the
/// session.
const NO_STORE: (HeaderName, &str) = (CACHE_CONTROL, "no-store");

/// Maximum retries after a conflict with a concurrent refresh.
const MAX_REFRESH_ATTEMPTS: usize = 100;

/// `POST /sessions/{id}/refresh`: replaces the challenge of a pending or recently expired session.
pub(crate) async fn refresh(
    Extract(service): Extract<LoginService>,
    account: Account,
    PathParams(id): PathParams<String>,
    _: EmptyBody,
) -> Result<Json<RefreshedSession>, Error> {
    let mut old = find_session(&service, &account, &id).await?;
    for _ in 0..MAX_REFRESH_ATTEMPTS {
        let session = old.clone().refresh(service.settings.session_ttl, service.clock.now(), random());
        let session = session.map_err(|refusal| refusal_error(refusal, &old, &service))?;
        let refreshed = RefreshedSession::new(&session)?;
        match sql::refresh(&service.store, &session, &old.challenge).await {
            Ok(()) => {
                service.session_changed(&session.id);
                return Ok(Json(refreshed));
            }
            // A concurrent refresh was committed first. The session can still be refreshed, so try
            // again.
            Err(SessionWriteError::Changed(Some(current))) => old = *current,
            Err(error) => return Err(error.into()),
        }
    }
    Err(Problem::Unavailable("too many concurrent refreshes of this session".to_owned()).into())
}

/// `GET /sessions/{id}/qr.svg`: returns the QR code as an SVG image.
pub(crate) async fn svg(
    extract: Extract<LoginService>,
    account: Account,
    id: PathParams<String>,
) -> Result<([(HeaderName, &'static str); 2], String), Error> {
    let code = code(extract, account, id).await?;
    Ok(([(CONTENT_TYPE, "image/svg+xml"), NO_STORE], code.svg()))
}

/// `GET /sessions/{id}/qr.png`: returns the QR code as a PNG image.
pub(crate) async fn png(
    extract: Extract<LoginService>,
    account: Account,
    id: PathParams<String>,
) -> Result<([(HeaderName, &'static str); 2], Vec<u8>), Error> {
    let code = code(extract, account, id).await?;
    Ok(([(CONTENT_TYPE, "image/png"), NO_STORE], qr_image::png(&code)?))
}

/// Returns the QR code of a pending session.
async fn code(
    Extract(service): Extract<LoginService>,
    account: Account,
    PathParams(id): PathParams<String>,
) -> Result<QrCode, Error> {
    let session = find_session(&service, &account, &id).await?;
    session.check_pending(service.clock.now()).map_err(|refusal| refusal_error(refusal, &session, &service))?;
    let text = RefreshedSession::new(&session)?.qr_data;
    Ok(QrCode::from_text(&text).context("qr_data fits in a code")?)
}

/// `DELETE /sessions/{id}`: cancels a session.
pub(crate) async fn cancel(
    Extract(service): Extract<LoginService>,
    account: Account,
    PathParams(id): PathParams<String>,
    _: EmptyBody,
) -> Result<StatusCode, Error> {
    let session = find_session(&service, &account, &id).await?;
    session.check_pending(service.clock.now()).map_err(|refusal| refusal_error(refusal, &session, &service))?;
    cancel_session(&service, &session).await?;
    Ok(StatusCode::NO_CONTENT)
}
