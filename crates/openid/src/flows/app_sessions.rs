//! Sessions of applications behind a proxy: from the code that begins one to its end.

use std::sync::Arc;

use anyhow::Result;
use signpost_login::domains::Domain;
use signpost_platform::pages::cookie::CookieSecret;
use signpost_store::WriteError;

use super::FlowError;
use super::tokens::{Redemption, TokenRefusal, end_repeated, find_redeemable};
use crate::clients::Client;
use crate::grants::{AppSession, BearerHash, app_session_sql, sql};
use crate::service::OpenidService;

/// The session of the browser with this cookie, with what it stands on; as it was a moment ago where nothing was written
/// since, or changes would have been heard of. Whether it is alive is for the rules to say.
///
/// # Errors
/// As [`app_session_sql::read_rows`].
pub async fn find_app_session(service: &OpenidService, cookie: &CookieSecret) -> Result<Option<Arc<AppSession>>> {
    let (cookie, state) = (cookie.hash(), service.store.file_state());
    let read = async {
        let rows = app_session_sql::read_rows(&service.store, &cookie).await?;
        if rows.is_empty() {
            return Ok(None);
        }
        service.read_app_sessions.understand(&cookie, rows, app_session_sql::from_rows).map(Some)
    };
    let session = service.app_sessions.find_as_of(&cookie, state, read).await?;
    // A key that somebody adds may let them in, and is told to no server: who stays outside is read anew each time.
    if session.as_ref().is_some_and(|session| !session.is_admitted()) {
        service.app_sessions.invalidate(&cookie);
    }
    Ok(session)
}

/// Redeems an authorization code of this client for a session of the browser that gets this cookie.
///
/// # Errors
/// [`TokenRefusal`] if the code is not valid; if it was redeemed before, its tokens and sessions end. Otherwise a failure of
/// the database.
pub async fn open_app_session(
    service: &OpenidService,
    (client, domain): (&Client, &Domain),
    sent: Redemption<'_>,
    cookie: &CookieSecret,
) -> Result<(), FlowError<TokenRefusal>> {
    let (grant, _) = find_redeemable(service, domain, client, sent).await?;
    let now = service.clock.now();
    let session = AppSession::begin(&cookie.hash(), &grant, now);
    match sql::redeem(&service.store, &grant.id, vec![session], now).await {
        Ok(()) => {
            tracing::info!(client = %client.id, user = %grant.user_id, "login to an application behind a proxy");
            Ok(())
        }
        Err(WriteError::Conflict) => Err(FlowError::Refused(end_repeated(service, &grant).await?)),
        Err(WriteError::Internal(error)) => Err(error.into()),
    }
}

/// Notes that the session of the browser with this cookie was used, where that moves its end by enough. That it cannot be
/// noted keeps nobody out.
pub async fn extend_app_session(service: &OpenidService, cookie: &CookieSecret, session: &AppSession) {
    let Some(end) = session.extension(service.clock.now()) else { return };
    if let Err(error) = app_session_sql::extend(&service.store, session.token.hash.clone(), end).await {
        tracing::warn!(error = format!("{error:#}"), "could not note the use of an application");
    }
    service.app_sessions.invalidate(&cookie.hash());
}

/// Ends the session of the browser with this cookie, if it has one, and what was granted for it.
///
/// # Errors
/// As [`Store::write`](signpost_store::Store::write).
pub async fn end_app_session(service: &OpenidService, cookie: &CookieSecret) -> Result<()> {
    let hash = cookie.hash();
    if let Some(token) = sql::find_token(&service.store, BearerHash::of_cookie(&hash)).await? {
        sql::revoke(&service.store, &token.grant_id, service.clock.now()).await?;
        sql::end_token(&service.store, token.hash).await?;
    }
    service.app_sessions.invalidate(&hash);
    Ok(())
}
