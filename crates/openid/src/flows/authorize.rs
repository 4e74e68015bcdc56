//! Answers authorization requests with a redirect to the client or the login page, or with the
//! consent page.

use anyhow::Result;
use signpost_auth::Mode;
use signpost_login::domains::Registration;
use signpost_login::error::Error;
use signpost_login::flows::account_sessions::{AccountBrowser, AccountSessionPurpose, open_account_session};
use signpost_login::flows::sign_in::{SignedInUser, find_signed_in};
use signpost_login::ids::UserId;
use signpost_login::sessions::{RequestingApplication, Session};
use signpost_platform::limits::{Caller, Limit};
use signpost_platform::pages::cookie::CookieSecret;
use signpost_platform::web::problem::Problem;
use signpost_store::{WriteError, random};

use super::FlowError;
use super::authorization_request::AuthorizationRequest;
use super::issuing::issue_code;
use super::logout::read_hint;
use crate::authorizations::{
    AuthorizationError, AuthorizationErrorCode, Decision, PendingAuthorization, SignedInVisitor,
    ValidatedAuthorizationRequest, decide, host_of, sql,
};
use crate::claims::OpenidScopes;
use crate::clients::Client;
use crate::grants::{self, Consent};
use crate::ids::AuthorizationId;
use crate::posted_hint::IdTokenHint;
use crate::service::OpenidService;

/// The browser that sent a request.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct BrowserContext {
    /// The cookie of the browser session.
    pub login_cookie: Option<CookieSecret>,
    /// The cookie that identifies the browser on login pages.
    pub page_cookie: CookieSecret,
    /// The cookie that decrypts a posted hint.
    pub hint_cookie: Option<CookieSecret>,
    pub user_agent: Option<String>,
    pub address: Caller,
}

/// The progress of an authorization request.
#[derive(Clone, Debug, Default)]
pub struct FlowState {
    /// The stored authorization, if any.
    pub pending: Option<PendingAuthorization>,
    /// The user who consented on the consent page just now.
    pub consented: Option<UserId>,
}

/// The response to the browser.
#[derive(Debug)]
pub enum AuthorizeOutcome {
    /// Redirect to this URL of the client.
    Redirect(String),
    /// Redirect to the login page of this session.
    LoginRequired(Box<Session>),
    /// Ask the user for consent.
    ConsentRequired(Box<ConsentQuestion>),
    /// The issuer accepts no logins. The page shows the reason, because only the operator can repair it.
    Unavailable(Box<UnavailableIssuer>),
    /// The authorization was answered before, has expired, or belongs to another browser.
    Expired,
}

/// An issuer that accepts no logins.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct UnavailableIssuer {
    pub request: AuthorizationRequest,
    /// The error text of the login service.
    pub reason: String,
    /// The URL of the client with the error response.
    pub error_redirect: String,
}

/// The data of a consent page: the question whether the user consents to the scopes.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct ConsentQuestion {
    pub id: AuthorizationId,
    pub request: AuthorizationRequest,
    pub scopes: OpenidScopes,
    pub signed_in: SignedInUser,
}

/// Answers an authorization request.
///
/// # Errors
/// Returns an error if too many authorizations are pending for the client IP, or the database
/// cannot be read or written.
pub async fn answer_request(
    service: &OpenidService,
    request: AuthorizationRequest,
    browser: &BrowserContext,
    state: FlowState,
) -> Result<AuthorizeOutcome, Problem> {
    let parameters = match &request.parameters {
        Ok(parameters) => parameters.clone(),
        Err(error) => return refuse(service, &request, state.pending.as_ref(), *error).await,
    };
    let hinted = match find_hinted(service, &request, &parameters, browser).await {
        Ok(hinted) => hinted,
        Err(FlowError::Refused(error)) => return refuse(service, &request, state.pending.as_ref(), error).await,
        Err(FlowError::Internal(error)) => return Err(error.into()),
    };
    let signed_in = match &browser.login_cookie {
        Some(cookie) => find_signed_in(service, cookie, &request.domain).await.map_err(into_problem)?,
        None => None,
    };
    let visitor = match &signed_in {
        Some(signed_in) => Some(find_visitor(service, &request.client, signed_in, &state).await?),
        None => None,
    };
    let settings = &request.client.settings;
    match (decide(&parameters, settings, visitor.as_ref(), hinted.as_ref(), service.clock.now()), signed_in) {
        (Decision::Refuse(error), _) => refuse(service, &request, state.pending.as_ref(), error).await,
        (Decision::LoginRequired(Mode::Register), _) if request.domain.registration == Registration::Closed => {
            let code = AuthorizationErrorCode::AccessDenied;
            let error = code.with_description("registration is closed at this domain");
            refuse(service, &request, state.pending.as_ref(), error).await
        }
        (Decision::LoginRequired(mode), _) => {
            if let Some(visitor) = visitor
                && visitor.consents
            {
                store_consent(service, &request, &parameters, visitor).await?;
            }
            open_login(service, request, browser, mode, state.pending).await
        }
        (Decision::ConsentRequired, Some(signed_in)) => {
            require_consent(service, request, parameters.scopes, signed_in, browser, state.pending).await
        }
        (Decision::Grant, Some(signed_in)) => {
            let consented = match visitor {
                Some(visitor) if visitor.consents => Some(visitor.consented_scopes.unwrap_or_default()),
                _ => None,
            };
            let pending = state.pending.as_ref();
            match issue_code(service, &request, &parameters, &signed_in, pending, consented).await? {
                Some(code) => Ok(AuthorizeOutcome::Redirect(request.target.with_code(code.reveal()))),
                None => Ok(AuthorizeOutcome::Expired),
            }
        }
        (Decision::ConsentRequired | Decision::Grant, None) => {
            Err(Problem::Internal(anyhow::anyhow!("a consent decision has no user")))
        }
    }
}

/// Redirects to the client with an error, and ends the pending authorization.
///
/// # Errors
/// Returns an error if the database cannot be written.
pub(super) async fn refuse(
    service: &OpenidService,
    request: &AuthorizationRequest,
    pending: Option<&PendingAuthorization>,
    error: AuthorizationError,
) -> Result<AuthorizeOutcome, Problem> {
    if let Some(pending) = pending {
        match sql::end(&service.store, &pending.id).await {
            Ok(()) => {}
            Err(WriteError::Conflict) => return Ok(AuthorizeOutcome::Expired),
            Err(WriteError::Internal(error)) => return Err(error.into()),
        }
    }
    Ok(AuthorizeOutcome::Redirect(request.target.with_error(error)))
}

/// Returns the user named by `id_token_hint`, from the query or a form. Expired tokens and retired keys are accepted.
async fn find_hinted(
    service: &OpenidService,
    request: &AuthorizationRequest,
    parameters: &ValidatedAuthorizationRequest,
    browser: &BrowserContext,
) -> Result<Option<UserId>, FlowError<AuthorizationError>> {
    const FOREIGN: &str = "id_token_hint is no ID token of this issuer";
    const REPLACED: &str = "id_token_hint is no ID token of this issuer, or this browser posted another request since";
    let (hint, description) = if let Some(token) = &parameters.id_token_hint {
        (read_hint(service, &request.domain, token).await?, FOREIGN)
    } else if let Some(posted) = &parameters.posted_hint {
        let cookie = browser.hint_cookie.as_ref();
        (cookie.and_then(|cookie| IdTokenHint::open(posted, cookie, &request.domain.id)), REPLACED)
    } else {
        return Ok(None);
    };
    match hint {
        Some(hint) => Ok(Some(hint.user_id)),
        None => Err(FlowError::Refused(AuthorizationErrorCode::InvalidRequest.with_description(description))),
    }
}

/// Returns the facts about the user who is signed in that decide on the request.
async fn find_visitor(
    service: &OpenidService,
    client: &Client,
    signed_in: &SignedInUser,
    state: &FlowState,
) -> Result<SignedInVisitor> {
    let user = &signed_in.user;
    let is_admitted = client.settings.allowed.as_ref().is_none_or(|list| list.admits(user, &signed_in.credentials));
    let session = state.pending.as_ref().and_then(|pending| pending.session_id.as_ref());
    Ok(SignedInVisitor {
        user_id: user.id.clone(),
        authenticated_at: signed_in.proof.authenticated_at,
        logged_in_for_request: session == Some(&signed_in.session.session_id),
        is_admitted,
        consented_scopes: grants::sql::find_consent(&service.store, &user.domain_id, &user.id, &client.id).await?,
        consents: state.consented.as_ref() == Some(&user.id),
    })
}

/// Stores the consent of a user whose login is now too old for the request, so that the next login needs no consent.
async fn store_consent(
    service: &OpenidService,
    request: &AuthorizationRequest,
    parameters: &ValidatedAuthorizationRequest,
    visitor: SignedInVisitor,
) -> Result<()> {
    let consent = Consent {
        domain_id: request.domain.id.clone(),
        user_id: visitor.user_id,
        client_id: request.client.id.clone(),
        scopes: visitor.consented_scopes.unwrap_or_default().with(parameters.scopes),
        agreed_at: service.clock.now(),
    };
    grants::sql::store_consent(&service.store, consent).await
}

/// Opens the session of the login page, and stores the authorization as pending with it. `before` is the authorization
/// that it replaces.
async fn open_login(
    service: &OpenidService,
    request: AuthorizationRequest,
    browser: &BrowserContext,
    mode: Mode,
    before: Option<PendingAuthorization>,
) -> Result<AuthorizeOutcome, Problem> {
    count_pending(service, browser, &request).await?;
    let application = RequestingApplication {
        name: request.client.settings.name.as_ref().map(|name| name.as_str().to_owned()),
        host: host_of(&request.target.redirect_uri),
    };
    let purpose = AccountSessionPurpose::AuthorizeClient(mode, application);
    let account = AccountBrowser { page_cookie: &browser.page_cookie, user_agent: browser.user_agent.as_deref() };
    let pending = new_pending(service, &request, browser);
    let opened = open_account_session(service, &request.domain, purpose, account, |session| {
        let pending = PendingAuthorization { session_id: Some(session.id.clone()), ..pending };
        let discard = before.map(|before| sql::discard_statement(&before.id));
        discard.into_iter().chain([sql::insert_statement(pending)]).collect()
    });
    let session = match opened.await {
        Ok(session) => session,
        Err(Error::Problem(problem)) => return Err(problem),
        Err(error) => {
            tracing::warn!(domain = %request.domain.name, %error, "logins for a client are impossible");
            let code = AuthorizationErrorCode::ServerError;
            let refusal = code.with_description("logins at this domain are impossible; see its log");
            let error_redirect = request.target.with_error(refusal);
            let reason = error.to_string();
            return Ok(AuthorizeOutcome::Unavailable(Box::new(UnavailableIssuer { request, reason, error_redirect })));
        }
    };
    Ok(AuthorizeOutcome::LoginRequired(Box::new(session)))
}

async fn require_consent(
    service: &OpenidService,
    request: AuthorizationRequest,
    scopes: OpenidScopes,
    signed_in: SignedInUser,
    browser: &BrowserContext,
    pending: Option<PendingAuthorization>,
) -> Result<AuthorizeOutcome, Problem> {
    let id = if let Some(pending) = pending {
        pending.id
    } else {
        count_pending(service, browser, &request).await?;
        let pending = new_pending(service, &request, browser);
        let id = pending.id.clone();
        sql::insert(&service.store, pending).await?;
        id
    };
    Ok(AuthorizeOutcome::ConsentRequired(Box::new(ConsentQuestion { id, request, scopes, signed_in })))
}

/// Counts a pending authorization, which is stored for up to an hour, and its bytes. Many users may share a client IP,
/// and every client is registered by the operator: so the limit of a client IP equals the session limit of an account.
async fn count_pending(
    service: &OpenidService,
    browser: &BrowserContext,
    request: &AuthorizationRequest,
) -> Result<(), Problem> {
    let limits = &service.limits;
    let elapsed = service.clock.elapsed();
    limits.check(Limit::CreateSession, &browser.address, elapsed).await.map_err(Problem::RateLimited)?;
    limits.check_stored(&browser.address, request.query.len(), elapsed).await.map_err(Problem::RateLimited)
}

fn new_pending(
    service: &OpenidService,
    request: &AuthorizationRequest,
    browser: &BrowserContext,
) -> PendingAuthorization {
    let now = service.clock.now();
    PendingAuthorization {
        id: AuthorizationId::new(now, random()),
        client_id: request.client.id.clone(),
        domain_id: request.domain.id.clone(),
        cookie: browser.page_cookie.hash(),
        query: request.query.clone(),
        created_at: now,
        session_id: None,
    }
}

/// Converts an error of the login service that is not meant for users.
fn into_problem(error: Error) -> Problem {
    match error {
        Error::Problem(problem) => problem,
        other => Problem::Internal(other.into()),
    }
}
