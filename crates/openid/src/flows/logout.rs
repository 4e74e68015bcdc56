//! Logout that an application asks for (OpenID Connect RP-Initiated Logout): the browser session at this realm ends, with
//! all that applications were granted by it.

use anyhow::Result;
use signpost_login::browser_sessions;
use signpost_login::domains::Domain;
use signpost_login::flows::sign_in::{SignedInUser, sign_out_steps};
use signpost_platform::pages::cookie::CookieSecret;

use super::FlowError;
use super::realm::issuer;
use crate::authorizations::{Parameters, append_query};
use crate::clients::{self, Client};
use crate::grants;
use crate::ids::ClientId;
use crate::posted_hint::IdTokenHint;
use crate::service::OpenidService;

/// What an application sends with the browser.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the names are those of the specification")]
pub struct LogoutParameters {
    pub id_token_hint: Option<String>,
    /// What an `id_token_hint` said that was posted, encrypted for the browser that posted it.
    pub posted_hint: Option<String>,
    pub client_id: Option<String>,
    pub post_logout_redirect_uri: Option<String>,
    pub state: Option<String>,
}

/// A logout that may be done.
#[derive(Clone, Debug)]
pub struct AskedLogout {
    /// Who asks, where that is known.
    pub client: Option<Client>,
    /// Where the browser goes on.
    pub onward: Option<String>,
    hint: Option<IdTokenHint>,
}

/// Why nothing is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogoutFault {
    /// `id_token_hint` is no ID token of this issuer.
    ForeignHint,
    /// No client of the realm is named, or two are.
    UnknownClient,
    /// The client did not register this `post_logout_redirect_uri`.
    UnknownAddress,
}

impl LogoutParameters {
    /// Reads a query. What is given twice is none of it.
    #[must_use]
    pub fn read(query: &str) -> Self {
        let given = Parameters::read(query);
        let text = |name| given.text(name).map(str::to_owned);
        Self {
            id_token_hint: text("id_token_hint"),
            posted_hint: text("posted_hint"),
            client_id: text("client_id"),
            post_logout_redirect_uri: text("post_logout_redirect_uri"),
            state: text("state"),
        }
    }
}

/// Returns the hint in an ID token of this issuer. `None` if the token is none of it. The token may have expired, and its key
/// may sign no more.
///
/// # Errors
/// As [`OpenidService::verify_own_token`].
pub async fn read_hint(service: &OpenidService, realm: &Domain, token: &str) -> Result<Option<IdTokenHint>> {
    let claims = service.verify_own_token(realm.account.environment, token).await?;
    Ok(claims.and_then(|claims| IdTokenHint::from_claims(&claims, &issuer(service, realm))))
}

/// Finds out who asks, and where the browser may go on. `cookie` is the browser's, by which it opens a posted hint; one that
/// it cannot open is no hint, so that the person is asked.
///
/// # Errors
/// [`LogoutFault`], or a failure of the database.
pub async fn read_logout(
    service: &OpenidService,
    realm: &Domain,
    sent: &LogoutParameters,
    cookie: Option<&CookieSecret>,
) -> Result<AskedLogout, FlowError<LogoutFault>> {
    let hint = match &sent.id_token_hint {
        Some(token) => match read_hint(service, realm, token).await? {
            Some(hint) => Some(hint),
            None => return Err(FlowError::Refused(LogoutFault::ForeignHint)),
        },
        None => {
            sent.posted_hint.as_ref().zip(cookie).and_then(|(hint, cookie)| IdTokenHint::open(hint, cookie, &realm.id))
        }
    };
    let audience = hint.as_ref().map(|hint| &hint.client_id);
    if audience.is_some() && sent.client_id.is_some() && sent.client_id.as_ref() != audience {
        return Err(FlowError::Refused(LogoutFault::UnknownClient));
    }
    let named = audience.or(sent.client_id.as_ref());
    let client = match named.and_then(|id| ClientId::parse(id)) {
        Some(id) => clients::sql::find(&service.store, &realm.id, &id).await?,
        None => None,
    };
    // Of a client that was deleted since, its own token still tells whom to sign out.
    if client.is_none() && sent.client_id.is_some() {
        return Err(FlowError::Refused(LogoutFault::UnknownClient));
    }
    let onward = match (&sent.post_logout_redirect_uri, &client) {
        (None, _) => None,
        (Some(_), None) => return Err(FlowError::Refused(LogoutFault::UnknownClient)),
        (Some(uri), Some(client)) if client.has_post_logout_uri(uri) => {
            let state = sent.state.iter().map(|state| ("state", state.as_str()));
            Some(append_query(uri, state))
        }
        (Some(_), Some(_)) => return Err(FlowError::Refused(LogoutFault::UnknownAddress)),
    };
    Ok(AskedLogout { client, onward, hint })
}

/// Whether the application shows that it speaks of whoever is signed in: then nobody needs to be asked.
#[must_use]
pub fn is_own_hint(asked: &AskedLogout, who: &SignedInUser) -> bool {
    asked.hint.as_ref().is_some_and(|hint| hint.user_id == who.user.id)
}

/// Ends the browser session of this cookie at the realm. An application that shows a token of a session that has ended loses
/// what it has of that.
///
/// # Errors
/// As [`Store::write`](signpost_store::Store::write).
pub async fn end_session(
    service: &OpenidService,
    realm: &Domain,
    asked: &AskedLogout,
    cookie: Option<&CookieSecret>,
    who: Option<&SignedInUser>,
) -> Result<()> {
    sign_out(service, realm, cookie, who).await?;
    if let Some(who) = who {
        tracing::info!(domain = %realm.name, user = %who.user.id, "signed out by a client");
    }
    let session = asked.hint.as_ref().and_then(|hint| hint.session_id.as_ref());
    if let (Some(session), Some(client)) = (session, &asked.client) {
        grants::sql::revoke_of_browser_at(&service.store, session, &client.id, service.clock.now()).await?;
    }
    Ok(())
}

/// Ends the browser session of this cookie at the realm, with what was granted by it.
///
/// # Errors
/// As [`Store::write`](signpost_store::Store::write).
pub(super) async fn sign_out(
    service: &OpenidService,
    realm: &Domain,
    cookie: Option<&CookieSecret>,
    who: Option<&SignedInUser>,
) -> Result<()> {
    let now = service.clock.now();
    // The session goes first: a grant that is written meanwhile waits for it, and finds none or is seen by what follows.
    let mut steps = Vec::new();
    match (who, cookie) {
        (Some(who), _) => {
            steps.extend(sign_out_steps(who, now));
            steps.push(grants::sql::revoke_of_browser_step(&who.session.id, &realm.id, now));
        }
        (None, Some(cookie)) => {
            let environment = realm.account.environment;
            steps.push(browser_sessions::sql::sign_out_step(&cookie.hash(), environment, &realm.id));
        }
        (None, None) => {}
    }
    if !steps.is_empty() {
        service.store.write(steps).await?;
    }
    Ok(())
}
