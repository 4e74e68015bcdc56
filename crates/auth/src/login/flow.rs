//! Responds to the requests of browsers: starts, links, returns and logouts.

use std::sync::Mutex;
use std::time::UNIX_EPOCH;

use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use url::Url;

use super::endpoint::LoginEndpoint;
use super::failure::LoginFailure;
use super::finish::{Completed, LoginToComplete, ReturnParameters, ReturnedState};
use super::navigation::{HostCheck, encode_query, is_prefetch, next_query};
use super::options::LoginOptions;
use super::query::requested_next;
use super::response::{internal_error, no_content, redirect, reject, reject_method, unavailable};
use super::seen::SeenEvents;
use super::site::{CurrentUser, LoginSite, LoginStep, SiteError};
use super::start::LoginStart;
use super::state::Purpose;
use crate::client::{ErrorCode, Signpost, SignpostError};
use crate::receiver::cookies;

/// Maximum delay before a retry that the service may request, in seconds. The user is waiting.
const MAX_RETRY_WAIT_SECS: u64 = 3;
/// Time in which a second fault of the service is a 503 instead of a redirect, in seconds.
const UNAVAILABLE_SECS: u32 = 10;
/// Name of the cookie of a browser that saw a fault of the service.
const UNAVAILABLE_COOKIE: &str = "signpost-unavailable";

/// The state of the router.
pub(super) struct PageLogin<S> {
    pub(super) signpost: Signpost,
    pub(super) options: LoginOptions,
    pub(super) site: S,
    pub(super) seen: Mutex<SeenEvents>,
    hosts: HostCheck,
}

/// A request of a browser, with the data for the response if it fails.
struct Visit<'a> {
    request: &'a Parts,
    step: LoginStep,
    /// The checked path to continue at.
    next: String,
    /// The `Set-Cookie` value that deletes the state of this login.
    ended: Vec<String>,
}

/// Reason a step did not succeed.
enum StepError {
    /// The login failed for a reason that is no error.
    Failed(LoginFailure),
    /// A call of the service failed.
    Service(SignpostError),
    /// The site failed.
    Site(SiteError),
}

impl<S: LoginSite> PageLogin<S> {
    pub(super) fn new(signpost: Signpost, options: LoginOptions, site: S) -> Self {
        let signpost = signpost.with_max_retry_wait(MAX_RETRY_WAIT_SECS);
        Self { signpost, options, site, seen: Mutex::default(), hosts: HostCheck::default() }
    }

    /// Returns the current time in Unix seconds.
    pub(super) fn now(&self) -> i64 {
        let since = self.signpost.runtime().now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    }

    /// Responds to a request of a browser. An error of the service never sets the status of the
    /// page.
    pub(super) async fn respond(&self, endpoint: LoginEndpoint, request: &Parts) -> Response {
        if !endpoint.allows(&request.method) {
            return reject_method(endpoint.allowed_methods());
        }
        if endpoint.ignores_prefetches() && request.method == Method::GET && is_prefetch(&request.headers) {
            return no_content();
        }
        if endpoint.requires_own_host()
            && let Some(target) = self.other_host_redirect(endpoint, request)
        {
            return redirect(&target, &[]);
        }
        let mut visit = Visit { request, step: endpoint.step(), next: "/".to_owned(), ended: Vec::new() };
        match self.act(endpoint, &mut visit).await {
            Ok(response) => response,
            Err(StepError::Failed(failure)) => self.fail(&visit, failure),
            Err(StepError::Service(error)) => {
                self.site.on_error(&error, visit.step);
                self.fail(&visit, LoginFailure::of(&error))
            }
            Err(StepError::Site(error)) => {
                self.site.on_error(&*error, visit.step);
                internal_error()
            }
        }
    }

    fn other_host_redirect(&self, endpoint: LoginEndpoint, request: &Parts) -> Option<String> {
        let decision = self.hosts.check(request, endpoint.path(), &self.options);
        if let Some(warning) = decision.warning {
            self.site.on_warning(&warning);
        }
        decision.redirect
    }

    async fn act(&self, endpoint: LoginEndpoint, visit: &mut Visit<'_>) -> Result<Response, StepError> {
        if endpoint != LoginEndpoint::Return {
            visit.next = requested_next(visit.request.uri.query().unwrap_or_default());
        }
        match endpoint {
            LoginEndpoint::Login => self.open(visit, Purpose::Login).await,
            LoginEndpoint::Register => self.open(visit, Purpose::Register).await,
            LoginEndpoint::Link => self.link(visit).await,
            LoginEndpoint::Return => self.finish(visit).await,
            LoginEndpoint::Logout => self.log_out(visit).await,
        }
    }

    /// Creates a session and redirects the browser to its page.
    async fn open(&self, visit: &Visit<'_>, purpose: Purpose) -> Result<Response, StepError> {
        let start = LoginStart::new(purpose, visit.next.clone(), self.signpost.runtime().random(), self.now());
        let created = self.signpost.sessions().create(&start.session(&self.options)).await?;
        let Some(page_url) = created.page_url.filter(|url| is_redirect_target(url)) else {
            let message = "the service returned no login page: is the domain's handler 'hosted'?";
            return Err(SignpostError::new(ErrorCode::InvalidResponse, message).into());
        };
        let request_cookies = cookies(&visit.request.headers);
        Ok(redirect(&page_url, &start.cookies(&created.id, &request_cookies, &visit.ended, &self.options)))
    }

    /// Starts to add a key to the account of the signed-in user.
    async fn link(&self, visit: &Visit<'_>) -> Result<Response, StepError> {
        let user = match self.site.current_user(visit.request).await {
            CurrentUser::SignedIn(user) => user,
            CurrentUser::SignedOut => return Ok(self.log_in_before_link(visit)),
            CurrentUser::NotSupported => {
                let reason = "keys cannot be added here: the site does not implement current_user";
                return Ok(reject(StatusCode::NOT_FOUND, reason));
            }
        };
        // The service itself requires a recent login if the user has a key.
        if !self.has_credential(&user).await? && !self.site.confirm_recent(visit.request).await {
            return Err(StepError::Failed(LoginFailure::Refused));
        }
        match self.open(visit, Purpose::Link { user: user.clone() }).await {
            Err(StepError::Service(error)) if error.code == ErrorCode::RecentLoginRequired => {
                self.open(visit, Purpose::Confirm { user }).await
            }
            outcome => outcome,
        }
    }

    /// Redirects to the login, which continues at the link.
    fn log_in_before_link(&self, visit: &Visit<'_>) -> Response {
        let path = &self.options.path;
        let link = format!("{path}/link{}", next_query(&visit.next));
        redirect(&format!("{path}/login?next={}", encode_query(&link)), &[])
    }

    async fn has_credential(&self, user: &str) -> Result<bool, SignpostError> {
        match self.signpost.users().get(&self.options.domain, user).await {
            Ok(found) => Ok(!found.credentials.is_empty()),
            // Earlier versions of the service find a domain only by its ID; they have no users
            // without keys.
            Err(error) if is_unknown_domain(&error) => Ok(true),
            Err(error) => Err(error),
        }
    }

    async fn finish(&self, visit: &mut Visit<'_>) -> Result<Response, StepError> {
        let Some(parameters) = ReturnParameters::parse(visit.request.uri.query().unwrap_or_default()) else {
            return Err(StepError::Failed(LoginFailure::Refused));
        };
        let request_cookies = cookies(&visit.request.headers);
        let returned = ReturnedState::read(&parameters.session_id, &request_cookies, &self.options, self.now());
        visit.ended = returned.ended_cookie.into_iter().collect();
        if let Some(state) = &returned.state {
            visit.next.clone_from(&state.next);
        }
        if let Some(failure) = parameters.error {
            // Any browser may see an error, because it logs in no user.
            return Err(StepError::Failed(failure));
        }
        let state = returned.state.ok_or(StepError::Failed(LoginFailure::OtherBrowser))?;
        let code = parameters.code.ok_or(StepError::Failed(LoginFailure::Refused))?;
        // A link, and the login before it, must not affect a browser whose user has signed out since.
        if let Some(user) = state.purpose.user()
            && !self.site.current_user(visit.request).await.is(user)
        {
            return Err(StepError::Failed(LoginFailure::Refused));
        }
        let login = LoginToComplete::new(parameters.session_id, code, state);
        let session = self.signpost.sessions().complete(&login.session_id, &login.completion).await?;
        match login.outcome(session).ok_or(StepError::Failed(LoginFailure::Refused))? {
            Completed::Confirmed { user } => self.open(visit, Purpose::Link { user }).await,
            Completed::Linked { next } => Ok(redirect(&next, &visit.ended)),
            Completed::SignedIn(signed_in) => {
                let mut set_cookies = visit.ended.clone();
                let signed_in_cookies = self.site.sign_in(*signed_in, visit.request).await;
                set_cookies.extend(signed_in_cookies.map_err(StepError::Site)?);
                Ok(redirect(&visit.next, &set_cookies))
            }
        }
    }

    async fn log_out(&self, visit: &Visit<'_>) -> Result<Response, StepError> {
        if visit.request.headers.get("sec-fetch-site").is_some_and(|site| site == "cross-site") {
            return Ok(reject(StatusCode::FORBIDDEN, "another site cannot log users out"));
        }
        let Some(signed_out_cookies) = self.site.sign_out(visit.request).await.map_err(StepError::Site)? else {
            let reason = "there is no logout here: the site does not implement sign_out";
            return Ok(reject(StatusCode::NOT_FOUND, reason));
        };
        let mut set_cookies = self.options.cancel_pending(visit.request);
        set_cookies.extend(signed_out_cookies);
        Ok(redirect(&visit.next, &set_cookies))
    }

    /// Redirects to the failure page. A page that starts a login again would loop during an outage,
    /// so the second fault is a 503.
    fn fail(&self, visit: &Visit<'_>, failure: LoginFailure) -> Response {
        let site = &self.options.site;
        let page = failure.page(&visit.next, &self.options);
        let mut set_cookies = visit.ended.clone();
        if failure != LoginFailure::Unavailable {
            return redirect(&page, &set_cookies);
        }
        let request_cookies = cookies(&visit.request.headers);
        if site.cookies(UNAVAILABLE_COOKIE, &request_cookies).next().is_some() {
            return unavailable(UNAVAILABLE_SECS, &set_cookies);
        }
        set_cookies.push(site.set_cookie(UNAVAILABLE_COOKIE, "1", UNAVAILABLE_SECS));
        redirect(&page, &set_cookies)
    }
}

impl From<SignpostError> for StepError {
    fn from(error: SignpostError) -> Self {
        Self::Service(error)
    }
}

/// Returns `true` if the service found no domain with this name.
fn is_unknown_domain(error: &SignpostError) -> bool {
    error.status == Some(404) && error.code != ErrorCode::UserNotFound && error.code != ErrorCode::InvalidResponse
}

/// Returns `true` if it is safe to redirect a browser to a URL.
fn is_redirect_target(url: &str) -> bool {
    let is_plain = !url.contains(|c: char| c.is_control() || c.is_whitespace());
    is_plain && Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}
