//! A request of a client, from its first word to its answer.

use anyhow::Result;
use signpost_auth::Mode;
use signpost_login::domains::Registration;
use signpost_login::error::Error;
use signpost_login::flows::account_sessions::{AccountErrand, open_account_session};
use signpost_login::flows::sign_in::{SignedInUser, find_signed_in};
use signpost_login::ids::UserId;
use signpost_login::sessions::{AskingApplication, Requester, Session};
use signpost_platform::limits::{Caller, Limit};
use signpost_platform::pages::cookie::CookieSecret;
use signpost_platform::web::problem::Problem;
use signpost_store::{WriteError, random};

use super::FlowError;
use super::asked::AskedAuthorization;
use super::issuing::grant_code;
use super::logout::read_hint;
use crate::authorizations::{
    AuthorizationRefusal, AuthorizationRequest, Decision, RefusalCode, SignedInVisitor, WaitingAuthorization, decide,
    host_of, sql,
};
use crate::claims::OpenidScopes;
use crate::clients::Client;
use crate::grants::{self, Consent};
use crate::ids::AuthorizationId;
use crate::posted_hint::IdTokenHint;
use crate::service::OpenidService;

/// The browser that a request came with.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct VisitingBrowser {
    /// Who is signed in is behind it.
    pub login_cookie: Option<CookieSecret>,
    /// Which browser it is on login pages.
    pub page_cookie: CookieSecret,
    /// By which it opens the hint of a request that it posted.
    pub hint_cookie: Option<CookieSecret>,
    pub user_agent: Option<String>,
    pub address: Caller,
}

/// How far a request has come.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// The row by which it waits, once it does.
    pub waiting: Option<WaitingAuthorization>,
    /// Who said yes to it on the page just now.
    pub agrees: Option<UserId>,
}

/// What to do with the browser.
#[derive(Debug)]
pub enum RequestOutcome {
    /// It goes back to the application, to this address.
    Answered(String),
    /// It goes to the login page.
    LogIn(Box<Session>),
    /// Its person is asked whether they agree.
    AskConsent(Box<ConsentQuestion>),
    /// Nobody can log in at the realm. The person is told so here, because what mends it is said to its operator.
    Unable(Box<UnableRealm>),
    /// The request is over: it was answered before, waited too long, or came from another browser.
    Over,
}

/// A realm where nobody can log in.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct UnableRealm {
    pub asked: AskedAuthorization,
    /// In the words of the interface.
    pub reason: String,
    /// Where the application learns it, if its person goes back.
    pub way_back: String,
}

/// What a person is asked to agree to.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct ConsentQuestion {
    pub id: AuthorizationId,
    pub asked: AskedAuthorization,
    pub scopes: OpenidScopes,
    pub who: SignedInUser,
}

/// Answers a request, or says what its person is asked first.
///
/// # Errors
/// Where too many logins were opened from the address, or the database cannot be read or written.
pub async fn answer_request(
    service: &OpenidService,
    asked: AskedAuthorization,
    browser: &VisitingBrowser,
    progress: Progress,
) -> Result<RequestOutcome, Problem> {
    let request = match &asked.request {
        Ok(request) => request.clone(),
        Err(refusal) => return refuse(service, &asked, progress.waiting.as_ref(), *refusal).await,
    };
    let hinted = match find_hinted(service, &asked, &request, browser).await {
        Ok(hinted) => hinted,
        Err(FlowError::Refused(refusal)) => {
            return refuse(service, &asked, progress.waiting.as_ref(), refusal).await;
        }
        Err(FlowError::Internal(error)) => return Err(error.into()),
    };
    let who = match &browser.login_cookie {
        Some(cookie) => find_signed_in(service, cookie, &asked.realm).await.map_err(into_problem)?,
        None => None,
    };
    let visitor = match &who {
        Some(who) => Some(look_at(service, &asked.client, who, &progress).await?),
        None => None,
    };
    let settings = &asked.client.settings;
    match (decide(&request, settings, visitor.as_ref(), hinted.as_ref(), service.clock.now()), who) {
        (Decision::Refuse(refusal), _) => refuse(service, &asked, progress.waiting.as_ref(), refusal).await,
        (Decision::LogIn(Mode::Register), _) if asked.realm.registration == Registration::Closed => {
            let refusal = RefusalCode::AccessDenied.because("registration is closed at this domain");
            refuse(service, &asked, progress.waiting.as_ref(), refusal).await
        }
        (Decision::LogIn(mode), _) => {
            if let Some(visitor) = visitor.filter(|visitor| visitor.agrees) {
                keep_consent(service, &asked, &request, visitor).await?;
            }
            open_login(service, asked, browser, mode, progress.waiting).await
        }
        (Decision::AskConsent, Some(who)) => ask_consent(service, asked, request.scopes, who, browser, progress).await,
        (Decision::Grant, Some(who)) => {
            let agreed = visitor.and_then(|visitor| visitor.agrees.then_some(visitor.agreed.unwrap_or_default()));
            let code = grant_code(service, &asked, &request, &who, progress.waiting.as_ref(), agreed).await?;
            Ok(code
                .map_or(RequestOutcome::Over, |code| RequestOutcome::Answered(asked.address.with_code(code.reveal()))))
        }
        (Decision::AskConsent | Decision::Grant, None) => {
            Err(Problem::Internal(anyhow::anyhow!("a request of nobody was decided for somebody")))
        }
    }
}

/// Tells the application why not, and ends the wait.
///
/// # Errors
/// As [`sql::end`].
pub(super) async fn refuse(
    service: &OpenidService,
    asked: &AskedAuthorization,
    waiting: Option<&WaitingAuthorization>,
    refusal: AuthorizationRefusal,
) -> Result<RequestOutcome, Problem> {
    if let Some(waiting) = waiting {
        match sql::end(&service.store, &waiting.id).await {
            Ok(()) => {}
            Err(WriteError::Conflict) => return Ok(RequestOutcome::Over),
            Err(WriteError::Internal(error)) => return Err(error.into()),
        }
    }
    Ok(RequestOutcome::Answered(asked.address.with_refusal(refusal)))
}

/// Returns the user that `id_token_hint` names, sent or posted. The token may have expired, and its key may sign no more.
async fn find_hinted(
    service: &OpenidService,
    asked: &AskedAuthorization,
    request: &AuthorizationRequest,
    browser: &VisitingBrowser,
) -> Result<Option<UserId>, FlowError<AuthorizationRefusal>> {
    const FOREIGN: &str = "id_token_hint is no ID token of this issuer";
    const REPLACED: &str = "id_token_hint is no ID token of this issuer, or this browser posted another request since";
    if let Some(token) = &request.id_token_hint {
        let hint = read_hint(service, &asked.realm, token).await?;
        let hint = hint.ok_or_else(|| FlowError::Refused(RefusalCode::InvalidRequest.because(FOREIGN)))?;
        return Ok(Some(hint.user_id));
    }
    let Some(posted) = &request.posted_hint else { return Ok(None) };
    let hint = browser.hint_cookie.as_ref().and_then(|cookie| IdTokenHint::open(posted, cookie, &asked.realm.id));
    let hint = hint.ok_or_else(|| FlowError::Refused(RefusalCode::InvalidRequest.because(REPLACED)))?;
    Ok(Some(hint.user_id))
}

async fn look_at(
    service: &OpenidService,
    client: &Client,
    who: &SignedInUser,
    progress: &Progress,
) -> Result<SignedInVisitor> {
    let user = &who.user;
    let is_admitted = client.settings.allowed.as_ref().is_none_or(|list| list.admits(user, &who.credentials));
    let session = progress.waiting.as_ref().and_then(|waiting| waiting.session_id.as_ref());
    Ok(SignedInVisitor {
        user_id: user.id.clone(),
        authenticated_at: who.proof.authenticated_at,
        came_for_this: session == Some(&who.session.session_id),
        is_admitted,
        agreed: grants::sql::find_consent(&service.store, &user.domain_id, &user.id, &client.id).await?,
        agrees: progress.agrees.as_ref() == Some(&user.id),
    })
}

/// Keeps that somebody agreed whose login is too old for the request by now: they log in once more, and are not asked again.
async fn keep_consent(
    service: &OpenidService,
    asked: &AskedAuthorization,
    request: &AuthorizationRequest,
    visitor: SignedInVisitor,
) -> Result<()> {
    let consent = Consent {
        domain_id: asked.realm.id.clone(),
        user_id: visitor.user_id,
        client_id: asked.client.id.clone(),
        scopes: visitor.agreed.unwrap_or_default().with(request.scopes),
        agreed_at: service.clock.now(),
    };
    grants::sql::agree(&service.store, consent).await
}

async fn open_login(
    service: &OpenidService,
    asked: AskedAuthorization,
    browser: &VisitingBrowser,
    mode: Mode,
    before: Option<WaitingAuthorization>,
) -> Result<RequestOutcome, Problem> {
    count_wait(service, browser, &asked).await?;
    let requester = Requester::of_user_agent(browser.user_agent.as_deref());
    let application = AskingApplication {
        name: asked.client.settings.name.as_ref().map(|name| name.as_str().to_owned()),
        host: host_of(&asked.address.redirect_uri),
    };
    let errand = AccountErrand::AnswerClient(mode, application);
    let session = match open_account_session(service, &asked.realm, errand, requester, &browser.page_cookie).await {
        Ok(session) => session,
        Err(Error::Problem(problem)) => return Err(problem),
        Err(error) => {
            tracing::warn!(domain = %asked.realm.name, %error, "nobody can log in for a client");
            let refusal = RefusalCode::ServerError.because("nobody can log in at this domain; its log says why");
            let way_back = asked.address.with_refusal(refusal);
            return Ok(RequestOutcome::Unable(Box::new(UnableRealm { asked, reason: error.to_string(), way_back })));
        }
    };
    if let Some(before) = before {
        match sql::end(&service.store, &before.id).await {
            Ok(()) | Err(WriteError::Conflict) => {}
            Err(WriteError::Internal(error)) => return Err(error.into()),
        }
    }
    let waiting = wait(service, &asked, browser);
    let waiting = WaitingAuthorization { session_id: Some(session.id.clone()), ..waiting };
    sql::insert(&service.store, waiting).await?;
    Ok(RequestOutcome::LogIn(Box::new(session)))
}

async fn ask_consent(
    service: &OpenidService,
    asked: AskedAuthorization,
    scopes: OpenidScopes,
    who: SignedInUser,
    browser: &VisitingBrowser,
    progress: Progress,
) -> Result<RequestOutcome, Problem> {
    let id = if let Some(waiting) = progress.waiting {
        waiting.id
    } else {
        count_wait(service, browser, &asked).await?;
        let waiting = wait(service, &asked, browser);
        let id = waiting.id.clone();
        sql::insert(&service.store, waiting).await?;
        id
    };
    Ok(RequestOutcome::AskConsent(Box::new(ConsentQuestion { id, asked, scopes, who })))
}

/// Counts a request that will wait: each is kept for an hour. Many people may share an address, and each client is somebody's
/// whom the operator knows: so an address has as many as an account has sessions. What is stored is counted in bytes too.
async fn count_wait(
    service: &OpenidService,
    browser: &VisitingBrowser,
    asked: &AskedAuthorization,
) -> Result<(), Problem> {
    let (limits, elapsed) = (&service.limits, service.clock.elapsed());
    limits.check(Limit::CreateSession, &browser.address, elapsed).await.map_err(Problem::RateLimited)?;
    limits.check_stored(&browser.address, asked.query.len(), elapsed).await.map_err(Problem::RateLimited)
}

fn wait(service: &OpenidService, asked: &AskedAuthorization, browser: &VisitingBrowser) -> WaitingAuthorization {
    let now = service.clock.now();
    WaitingAuthorization {
        id: AuthorizationId::new(now, random()),
        client_id: asked.client.id.clone(),
        domain_id: asked.realm.id.clone(),
        cookie: browser.page_cookie.hash(),
        query: asked.query.clone(),
        created_at: now,
        session_id: None,
    }
}

/// What the login service refuses a stranger.
pub(super) fn into_problem(error: Error) -> Problem {
    match error {
        Error::Problem(problem) => problem,
        other => Problem::Internal(other.into()),
    }
}
