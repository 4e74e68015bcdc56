//! Extracts the context of requests to the console. Only operators who are signed in at the system
//! domain can see its pages.

use std::ops::Deref;

use anyhow::anyhow;
use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::{SignedDuration, Timestamp};
use signpost_login::browser_sessions;
use signpost_login::domains::{sql as domain_rows, system_domain};
use signpost_login::flows::sign_in::{LOGIN_COOKIE, SignedInUser, watch_signed_in};
use signpost_platform::accounts::audit::Actor;
use signpost_platform::limits::Limit;
use signpost_platform::pages::HtmlPage;
use signpost_platform::pages::cookie::CookieSecret;
use signpost_platform::pages::form::{PostedForm, PostedFormError};
use signpost_platform::web::peer::peer;
use signpost_platform::web::problem::Problem;
use signpost_store::{Statement, random};

use super::operators;
use super::visitor_context::{VisitorContext, scoped};
use super::{Console, entry};

/// Maximum time since the last use of the console; then an operator has to log in again.
const MAX_IDLE: SignedDuration = SignedDuration::from_hours(1);
/// Maximum time since the login; then an operator has to log in again.
const MAX_AGE: SignedDuration = SignedDuration::from_hours(12);
/// The path that open pages request regularly. It does not count as a use of the console.
pub(super) const COUNTS_PATH: &str = "/console/counts";

/// A request of an operator.
#[derive(Debug)]
pub(super) struct OperatorContext {
    visitor: VisitorContext,
    pub(super) signed_in: SignedInUser,
}

/// The response to a failed or rejected request.
#[derive(Debug)]
pub(super) struct ConsoleError(Box<Response>);

/// The error of a form.
#[derive(Debug)]
pub(super) enum FormError {
    /// The form is rendered again with this text.
    Invalid(String),
    /// The form is stale or unreadable, or the server failed.
    Other(ConsoleError),
}

impl VisitorContext {
    /// Finds the signed-in user without recording a use of the console: a request that is rejected later must not
    /// extend the session.
    async fn find(console: &Console, method: &Method, headers: &HeaderMap) -> anyhow::Result<Self> {
        let now = console.clock.now();
        let public_url = console.public_url.as_ref();
        let found =
            domain_rows::find_by_name(&console.store, &system_domain::account(), &system_domain::name(public_url))
                .await?;
        let domain = match found {
            Some(domain) => domain,
            None => system_domain::find_or_register(&console.store, public_url, &console.public_address, now).await?,
        };
        let cookie = LOGIN_COOKIE.read(&console.origin, headers);
        let mut signed_in = None;
        if let Some(cookie) = &cookie {
            let found = watch_signed_in(&console.login, cookie, &domain).await;
            let found = found.map_err(|error| anyhow!("cannot read the login session: {error}"))?;
            signed_in = found.filter(|user| is_recent(user, now));
        }
        Ok(Self {
            console: console.clone(),
            has_cookie: cookie.is_some(),
            cookie: cookie.unwrap_or_else(|| CookieSecret::from_bytes(random())),
            is_form: ![Method::GET, Method::HEAD].contains(method),
            domain,
            signed_in,
            now,
        })
    }

    /// Receives a form of this browser and purpose.
    pub(super) async fn receive(&self, request: Request, purpose: &str) -> Result<PostedForm, ConsoleError> {
        let form = self.receive_unchecked(request).await?;
        self.check(&form, purpose).map_err(|refusal| self.refuse(refusal))?;
        Ok(form)
    }

    /// Receives a form, without a check of its CSRF token.
    pub(super) async fn receive_unchecked(&self, request: Request) -> Result<PostedForm, ConsoleError> {
        PostedForm::receive(&self.origin, request).await.map_err(|refusal| self.refuse(refusal))
    }

    /// Checks that the form belongs to this browser and purpose.
    pub(super) fn check(&self, form: &PostedForm, purpose: &str) -> Result<(), PostedFormError> {
        form.check(self.has_cookie.then_some(&self.cookie), &scoped(purpose))
    }

    /// Returns the page for a rejected form.
    pub(super) fn refuse(&self, refusal: PostedFormError) -> ConsoleError {
        HtmlPage::personal(entry::render_stale(self)).with_status(refusal.status()).into_response().into()
    }

    /// Returns a page with the status 403.
    fn deny(&self, document: String) -> ConsoleError {
        self.page(document).with_status(StatusCode::FORBIDDEN).into_response().into()
    }

    /// Returns the redirect to a screen after a form.
    pub(super) fn redirect_to(&self, path: &str) -> Response {
        let location = HeaderValue::try_from(self.origin.link(path)).expect("a path of the console is printable");
        (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response()
    }

    async fn require_operator(&self, signed_in: &SignedInUser) -> Result<(), ConsoleError> {
        if operators::find(&self.store, &signed_in.user.id).await?.is_some() {
            return Ok(());
        }
        Err(self.deny(entry::render_no_operator(self, signed_in.user.username())))
    }
}

impl FromRequestParts<Console> for VisitorContext {
    type Rejection = ConsoleError;

    async fn from_request_parts(parts: &mut Parts, console: &Console) -> Result<Self, ConsoleError> {
        let caller = peer(console, &parts.extensions, &parts.headers);
        let counted = console.limits.check(Limit::GetSession, &caller, console.clock.elapsed()).await;
        counted.map_err(Problem::RateLimited)?;
        Ok(Self::find(console, &parts.method, &parts.headers).await?)
    }
}

impl OperatorContext {
    /// Returns the operator for the audit log.
    pub(super) fn actor(&self) -> Actor {
        Actor::Console(self.signed_in.user.id.to_string())
    }

    /// Returns the end of the session without another use of the console.
    pub(super) fn signed_in_until(&self) -> Timestamp {
        (self.now + MAX_IDLE).min(self.signed_in.proof.authenticated_at + MAX_AGE)
    }

    /// Receives a form of this browser and purpose, and records the use of the console.
    pub(super) async fn receive(&self, request: Request, purpose: &str) -> Result<PostedForm, ConsoleError> {
        let form = self.visitor.receive(request, purpose).await?;
        self.record_use().await?;
        Ok(form)
    }

    /// Checks that the form belongs to this browser and purpose, and records the use of the console.
    pub(super) async fn accept(&self, form: &PostedForm, purpose: &str) -> Result<(), ConsoleError> {
        self.check(form, purpose).map_err(|refusal| self.refuse(refusal))?;
        self.record_use().await
    }

    /// Records an accepted request, and extends the session to [`MAX_IDLE`] from now.
    pub(super) async fn record_use(&self) -> Result<(), ConsoleError> {
        let session = &self.signed_in.session;
        if session.is_console_use_due(self.now) {
            browser_sessions::sql::record_console_use(&self.store, &session.id, self.now).await?;
        }
        Ok(())
    }

    /// Requires a login within the last minutes. `back` is the path after the login.
    pub(super) fn require_recent_login(&self, back: &str) -> Result<(), ConsoleError> {
        if self.signed_in.proof.is_fresh(self.now) {
            return Ok(());
        }
        Err(self.deny(entry::render_login_again(self, back)))
    }

    /// Checks again, after a long request, that its user is signed in and is an operator.
    pub(super) async fn authorize_again(&self) -> Result<(), ConsoleError> {
        let signed_in = watch_signed_in(&self.login, &self.cookie, &self.domain).await;
        let signed_in = signed_in.map_err(IntoResponse::into_response)?;
        if signed_in.is_none_or(|found| found.user.id != self.signed_in.user.id) {
            return Err(self.deny(entry::render_login(self, "/console")));
        }
        self.require_operator(&self.signed_in).await
    }

    /// Returns the statements that make a write conflict unless its user is still signed in and an operator.
    pub(super) fn require_statements(&self) -> [Statement; 2] {
        let user = &self.signed_in.user.id;
        [browser_sessions::sql::require_statement(&self.signed_in.session.id, user), operators::require_statement(user)]
    }
}

impl Deref for OperatorContext {
    type Target = VisitorContext;

    fn deref(&self) -> &VisitorContext {
        &self.visitor
    }
}

impl FromRequestParts<Console> for OperatorContext {
    type Rejection = ConsoleError;

    async fn from_request_parts(parts: &mut Parts, console: &Console) -> Result<Self, ConsoleError> {
        let mut visitor = VisitorContext::from_request_parts(parts, console).await?;
        if visitor.is_form && !visitor.has_cookie {
            return Err(visitor.refuse(PostedFormError::Stale));
        }
        let is_automatic = parts.uri.path() == COUNTS_PATH;
        let Some(signed_in) = visitor.signed_in.take() else {
            let back = match parts.uri.path_and_query() {
                Some(path) if parts.method == Method::GET && !is_automatic => path.as_str(),
                _ => "/console",
            };
            return Err(visitor.deny(entry::render_login(&visitor, back)));
        };
        visitor.require_operator(&signed_in).await?;
        let context = Self { visitor, signed_in };
        // A form counts as a use when it is accepted.
        if !context.is_form && !is_automatic {
            context.record_use().await?;
        }
        Ok(context)
    }
}

/// Returns true if the session is still valid for the console, which has shorter limits than other pages. Only uses of
/// the console extend it, so that the account page does not reopen the console in an unattended browser.
fn is_recent(signed_in: &SignedInUser, now: Timestamp) -> bool {
    let logged_in_at = signed_in.proof.authenticated_at;
    let used_at = signed_in.session.console_used_at.map_or(logged_in_at, |used_at| used_at.max(logged_in_at));
    now.duration_since(used_at) < MAX_IDLE && now.duration_since(logged_in_at) < MAX_AGE
}

impl IntoResponse for ConsoleError {
    fn into_response(self) -> Response {
        *self.0
    }
}

impl From<Response> for ConsoleError {
    fn from(response: Response) -> Self {
        Self(Box::new(response))
    }
}

impl From<Problem> for ConsoleError {
    fn from(problem: Problem) -> Self {
        problem.into_response().into()
    }
}

impl From<anyhow::Error> for ConsoleError {
    fn from(error: anyhow::Error) -> Self {
        Problem::from(error).into()
    }
}

impl FormError {
    pub(super) fn invalid(reason: &str) -> Self {
        Self::Invalid(reason.to_owned())
    }
}

impl<E: Into<ConsoleError>> From<E> for FormError {
    fn from(error: E) -> Self {
        Self::Other(error.into())
    }
}
