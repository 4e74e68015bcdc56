//! RP-initiated logout (OpenID Connect RP-Initiated Logout): ends a browser session at an issuer,
//! together with its grants.

use anyhow::Result;
use signpost_login::browser_sessions;
use signpost_login::domains::Domain;
use signpost_login::flows::sign_in::{SignedInUser, sign_out_statements};
use signpost_platform::pages::cookie::CookieSecret;

use super::FlowError;
use super::issuer::issuer;
use crate::authorizations::{Parameters, append_query};
use crate::clients::{self, Client};
use crate::grants;
use crate::ids::ClientId;
use crate::posted_hint::IdTokenHint;
use crate::service::OpenidService;

/// The parameters of a logout request.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the names are those of the specification")]
pub struct LogoutParameters {
    pub id_token_hint: Option<String>,
    /// The claims of an `id_token_hint` that was posted, encrypted for the browser that posted it.
    pub posted_hint: Option<String>,
    pub client_id: Option<String>,
    pub post_logout_redirect_uri: Option<String>,
    pub state: Option<String>,
}

/// A valid logout request.
#[derive(Clone, Debug)]
pub struct LogoutRequest {
    /// The client that sent the request, if it is known.
    pub client: Option<Client>,
    /// The URL to redirect the browser to.
    pub redirect: Option<String>,
    hint: Option<IdTokenHint>,
}

/// An error of a logout request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogoutFault {
    /// `id_token_hint` is not an ID token of this issuer.
    ForeignHint,
    /// The request names no client of the issuer, or two clients.
    UnknownClient,
    /// The client has not registered this `post_logout_redirect_uri`.
    UnknownRedirectUri,
}

impl LogoutParameters {
    /// Reads a query. Repeated parameters are ignored.
    #[must_use]
    pub fn read(query: &str) -> Self {
        let parameters = Parameters::read(query);
        Self {
            id_token_hint: parameters.owned_text("id_token_hint"),
            posted_hint: parameters.owned_text("posted_hint"),
            client_id: parameters.owned_text("client_id"),
            post_logout_redirect_uri: parameters.owned_text("post_logout_redirect_uri"),
            state: parameters.owned_text("state"),
        }
    }
}

/// Returns the claims of an ID token of this issuer. Expired tokens and retired keys are accepted. `None` for any other
/// token.
///
/// # Errors
/// Returns the errors of [`OpenidService::verify_own_token`].
pub async fn read_hint(service: &OpenidService, domain: &Domain, token: &str) -> Result<Option<IdTokenHint>> {
    let claims = service.verify_own_token(domain.account.environment, token).await?;
    Ok(claims.and_then(|claims| IdTokenHint::from_claims(&claims, &issuer(service, domain))))
}

/// Validates a logout request. `cookie` is the browser's cookie that decrypts a posted hint; a hint that it cannot
/// decrypt is ignored, so that the user is asked for confirmation.
///
/// # Errors
/// Returns [`LogoutFault`], or a failure of the database.
pub async fn read_logout(
    service: &OpenidService,
    domain: &Domain,
    sent: &LogoutParameters,
    cookie: Option<&CookieSecret>,
) -> Result<LogoutRequest, FlowError<LogoutFault>> {
    let hint = match (&sent.id_token_hint, &sent.posted_hint, cookie) {
        (Some(token), ..) => {
            let hint = read_hint(service, domain, token).await?;
            Some(hint.ok_or(FlowError::Refused(LogoutFault::ForeignHint))?)
        }
        (None, Some(posted), Some(cookie)) => IdTokenHint::open(posted, cookie, &domain.id),
        (None, ..) => None,
    };
    let audience = hint.as_ref().map(|hint| &hint.client_id);
    if audience.is_some() && sent.client_id.is_some() && sent.client_id.as_ref() != audience {
        return Err(FlowError::Refused(LogoutFault::UnknownClient));
    }
    let client = match audience.or(sent.client_id.as_ref()).and_then(|id| ClientId::parse(id)) {
        Some(id) => clients::sql::find(&service.store, &domain.id, &id).await?,
        None => None,
    };
    // The ID token of a client that was deleted since still identifies the user to sign out.
    if client.is_none() && sent.client_id.is_some() {
        return Err(FlowError::Refused(LogoutFault::UnknownClient));
    }
    let redirect = match (&sent.post_logout_redirect_uri, &client) {
        (None, _) => None,
        (Some(_), None) => return Err(FlowError::Refused(LogoutFault::UnknownClient)),
        (Some(uri), Some(client)) if client.has_post_logout_uri(uri) => {
            let state = sent.state.iter().map(|state| ("state", state.as_str()));
            Some(append_query(uri, state))
        }
        (Some(_), Some(_)) => return Err(FlowError::Refused(LogoutFault::UnknownRedirectUri)),
    };
    Ok(LogoutRequest { client, redirect, hint })
}

/// Returns true if the request has an ID token of the user who is signed in: then no confirmation is needed.
#[must_use]
pub fn is_own_hint(request: &LogoutRequest, signed_in: &SignedInUser) -> bool {
    request.hint.as_ref().is_some_and(|hint| hint.user_id == signed_in.user.id)
}

/// Ends the browser session of this cookie at the issuer of the domain, and the client's grants of the session that the
/// ID token names, which may have ended before.
///
/// # Errors
/// Returns the errors of [`Store::write`](signpost_store::Store::write).
pub async fn end_session(
    service: &OpenidService,
    domain: &Domain,
    request: &LogoutRequest,
    cookie: Option<&CookieSecret>,
    signed_in: Option<&SignedInUser>,
) -> Result<()> {
    sign_out(service, domain, cookie, signed_in).await?;
    if let Some(signed_in) = signed_in {
        tracing::info!(domain = %domain.name, user = %signed_in.user.id, "signed out by a client");
    }
    if let Some(client) = &request.client
        && let Some(hint) = &request.hint
        && let Some(session) = &hint.session_id
    {
        grants::sql::revoke_by_browser_and_client(&service.store, session, &client.id, service.clock.now()).await?;
    }
    Ok(())
}

/// Ends the browser session of this cookie at the issuer of the domain, together with its grants.
///
/// # Errors
/// Returns the errors of [`Store::write`](signpost_store::Store::write).
pub(super) async fn sign_out(
    service: &OpenidService,
    domain: &Domain,
    cookie: Option<&CookieSecret>,
    signed_in: Option<&SignedInUser>,
) -> Result<()> {
    let now = service.clock.now();
    // The session ends first: a grant that is written at this time either finds no session, or is revoked by the next
    // statement.
    let mut statements = Vec::new();
    match (signed_in, cookie) {
        (Some(signed_in), _) => {
            statements.extend(sign_out_statements(signed_in, Some(domain), now));
            statements.push(grants::sql::revoke_by_browser_statement(&signed_in.session.id, &domain.id, now));
        }
        (None, Some(cookie)) => {
            let environment = domain.account.environment;
            statements.push(browser_sessions::sql::sign_out_statement(&cookie.hash(), environment, &domain.id));
        }
        (None, None) => return Ok(()),
    }
    service.store.write(statements).await?;
    service.outbox.notify_one();
    Ok(())
}
