//! Finds, opens, extends and ends sessions of applications behind a proxy.

use std::sync::Arc;

use anyhow::Result;
use signpost_login::domains::Domain;
use signpost_platform::pages::cookie::CookieSecret;
use signpost_store::WriteError;

use super::FlowError;
use super::tokens::{CodeExchange, TokenRefusal, check_code_exchange, revoke_reused_code};
use crate::clients::Client;
use crate::grants::{AppSession, TokenHash, app_session_sql, sql};
use crate::service::OpenidService;

/// Returns the session of the browser with this cookie, valid or not. Uses the cache if nothing
/// that the session depends on has changed.
///
/// # Errors
/// Returns the errors of [`app_session_sql::read_rows`].
pub async fn find_app_session(service: &OpenidService, cookie: &CookieSecret) -> Result<Option<Arc<AppSession>>> {
    let cookie = cookie.hash();
    let state = service.store.file_state();
    let read = async {
        let rows = app_session_sql::read_rows(&service.store, &cookie).await?;
        if rows.is_empty() {
            return Ok(None);
        }
        service.parsed_app_sessions.parse(&cookie, rows, app_session_sql::from_rows).map(Some)
    };
    let session = service.app_sessions.find_if_unchanged(&cookie, state, read).await?;
    // A new credential may admit the user, and servers are not notified of it: rejected users are not cached.
    if session.as_ref().is_some_and(|session| !session.is_admitted()) {
        service.app_sessions.invalidate(&cookie);
    }
    Ok(session)
}

/// Exchanges an authorization code of this client for a session of the browser that gets this cookie.
///
/// # Errors
/// Returns [`TokenRefusal`] if the code is not valid; if it was used before, its tokens and
/// sessions end. Otherwise a failure of the database.
pub async fn open_app_session(
    service: &OpenidService,
    (client, domain): (&Client, &Domain),
    sent: CodeExchange<'_>,
    cookie: &CookieSecret,
) -> Result<(), FlowError<TokenRefusal>> {
    let (grant, _) = check_code_exchange(service, domain, client, sent).await?;
    let now = service.clock.now();
    let session = AppSession::begin(&cookie.hash(), &grant, now);
    match sql::redeem(&service.store, &grant.id, vec![session], now).await {
        Ok(()) => {
            tracing::info!(client = %client.id, user = %grant.user_id, "login to an application behind a proxy");
            Ok(())
        }
        Err(WriteError::Conflict) => Err(FlowError::Refused(revoke_reused_code(service, &grant).await?)),
        Err(WriteError::Internal(error)) => Err(error.into()),
    }
}

/// Extends a session that is in use, if its end moves far enough to be worth a write. A failure is
/// logged, and the request continues.
pub async fn extend_app_session(service: &OpenidService, cookie: &CookieSecret, session: &AppSession) {
    let Some(end) = session.extension(service.clock.now()) else { return };
    if let Err(error) = app_session_sql::extend(&service.store, session.token.hash.clone(), end).await {
        tracing::warn!(error = format!("{error:#}"), "could not note the use of an application");
    }
    service.app_sessions.invalidate(&cookie.hash());
}

/// Ends the session of the browser with this cookie, and its grant, if any.
///
/// # Errors
/// Returns the errors of [`Store::write`](signpost_store::Store::write).
pub async fn end_app_session(service: &OpenidService, cookie: &CookieSecret) -> Result<()> {
    let hash = cookie.hash();
    if let Some(token) = sql::find_token(&service.store, TokenHash::from_cookie(&hash)).await? {
        sql::revoke(&service.store, &token.grant_id, service.clock.now()).await?;
        sql::end_token(&service.store, token.hash).await?;
    }
    service.app_sessions.invalidate(&hash);
    Ok(())
}
