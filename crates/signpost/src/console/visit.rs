//! Who comes to the console. Only an operator who is signed in at the server's own domain sees any of it.

use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::{SignedDuration, Timestamp};
use signpost_login::account::login_form_token;
use signpost_login::browser_sessions;
use signpost_login::domains::{Domain, own, sql as domain_rows};
use signpost_login::flows::sign_in::{LOGIN_COOKIE, LOGIN_COOKIE_LASTS, SignedInUser, watch_signed_in};
use signpost_platform::accounts::audit::Actor;
use signpost_platform::limits::{Caller, Limit};
use signpost_platform::pages::HtmlPage;
use signpost_platform::pages::cookie::CookieSecret;
use signpost_platform::pages::form::{FormRefusal, FormToken, PostedForm};
use signpost_platform::web::peer::peer;
use signpost_platform::web::problem::Problem;
use signpost_store::{Step, random};

use super::operators;
use super::{Console, door};

/// How long an operator stays signed in here without doing anything.
const MAX_IDLE: SignedDuration = SignedDuration::from_hours(1);
/// How long after the login, whatever they do.
const MAX_AGE: SignedDuration = SignedDuration::from_hours(12);
/// What pages ask by themselves, as long as they are open: no use of the console.
pub(super) const COUNTS_PATH: &str = "/console/counts";

/// A browser at the console's door.
#[derive(Debug)]
pub(super) struct DoorVisitor {
    pub(super) console: Console,
    /// What the browser came with, else a new one, which binds the forms of the reply.
    pub(super) cookie: CookieSecret,
    has_cookie: bool,
    /// A reply to a form sets no cookie: the form of another site comes without the browser's cookie, which the reply would
    /// overwrite.
    is_form: bool,
    /// The server's own domain.
    pub(super) domain: Domain,
    /// Who is signed in there.
    pub(super) who: Option<SignedInUser>,
    pub(super) now: Timestamp,
}

/// A request of an operator.
#[derive(Debug)]
pub(super) struct OperatorVisit {
    pub(super) console: Console,
    cookie: CookieSecret,
    domain: Domain,
    pub(super) who: SignedInUser,
    pub(super) now: Timestamp,
}

impl DoorVisitor {
    /// Finds out who is signed in. This is no use of the sign-in: a request that is refused afterwards must not prolong it.
    async fn find(console: &Console, method: &Method, headers: &HeaderMap) -> anyhow::Result<Self> {
        let (cookie, now) = (LOGIN_COOKIE.read(&console.origin, headers), console.clock.now());
        let (public_url, address) = (console.public_url.as_ref(), &console.public_address);
        let found = domain_rows::find_by_name(&console.store, &own::account(), &own::name(public_url)).await?;
        let domain = match found {
            Some(domain) => domain,
            None => own::find_or_make(&console.store, public_url, address, now).await?,
        };
        let who = match &cookie {
            Some(cookie) => watch_signed_in(&console.login, cookie, &domain).await,
            None => Ok(None),
        };
        let who = who.map_err(|error| anyhow::anyhow!("cannot tell who is signed in: {error}"))?;
        let who = who.filter(|who| is_recent(who, now));
        let (has_cookie, cookie) = (cookie.is_some(), cookie.unwrap_or_else(|| CookieSecret::from_bytes(random())));
        let is_form = ![Method::GET, Method::HEAD].contains(method);
        Ok(Self { console: console.clone(), cookie, has_cookie, is_form, domain, who, now })
    }

    /// A page for this browser alone.
    pub(super) fn page(&self, document: String) -> HtmlPage {
        let page = HtmlPage::personal(document);
        if self.has_cookie || self.is_form {
            return page;
        }
        page.with_header(header::SET_COOKIE, LOGIN_COOKIE.set(&self.console.origin, &self.cookie, LOGIN_COOKIE_LASTS))
    }

    /// The form of a page of ours for this browser and purpose.
    pub(super) async fn receive(&self, request: Request, purpose: &str) -> Result<PostedForm, Response> {
        let form = PostedForm::receive(&self.console.origin, request).await;
        let form = form.and_then(|form| {
            form.check(self.has_cookie.then_some(&self.cookie), &scoped(purpose))?;
            Ok(form)
        });
        form.map_err(|refusal| refuse(&self.console, refusal))
    }

    pub(super) fn token(&self, purpose: &str) -> FormToken {
        FormToken::new(&self.cookie, &scoped(purpose))
    }
}

impl FromRequestParts<Console> for DoorVisitor {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, console: &Console) -> Result<Self, Response> {
        count(console, &peer(console, &parts.extensions, &parts.headers)).await?;
        Self::find(console, &parts.method, &parts.headers).await.map_err(failed)
    }
}

impl OperatorVisit {
    /// Who acts, for the audit log.
    pub(super) fn actor(&self) -> Actor {
        Actor::Console(self.who.user.id.to_string())
    }

    /// When the operator has to log in again, unless they do something before.
    pub(super) fn signed_in_until(&self) -> Timestamp {
        (self.now + MAX_IDLE).min(self.who.proof.authenticated_at + MAX_AGE)
    }

    /// The form of a page of the console for this browser and purpose.
    pub(super) async fn receive(&self, request: Request, purpose: &str) -> Result<PostedForm, Response> {
        let form = PostedForm::receive(&self.console.origin, request).await;
        let form = form.map_err(|refusal| refuse(&self.console, refusal))?;
        self.accept(&form, purpose).await?;
        Ok(form)
    }

    /// Accepts a form that was made for this browser and purpose, which counts as a use of the console.
    pub(super) async fn accept(&self, form: &PostedForm, purpose: &str) -> Result<(), Response> {
        self.check(form, purpose).map_err(|refusal| refuse(&self.console, refusal))?;
        self.note_use().await
    }

    /// Notes an accepted request: the operator stays signed in here for [`MAX_IDLE`] from now on.
    pub(super) async fn note_use(&self) -> Result<(), Response> {
        let session = &self.who.session;
        if session.is_console_use_due(self.now) {
            let noted = browser_sessions::sql::note_console_use(&self.console.store, &session.id, self.now).await;
            noted.map_err(failed)?;
        }
        Ok(())
    }

    /// Refuses a form that was not made for this browser and purpose.
    pub(super) fn check(&self, form: &PostedForm, purpose: &str) -> Result<(), FormRefusal> {
        form.check(Some(&self.cookie), &scoped(purpose))
    }

    /// The same as a header's or a query's text, for a form that is no URL-encoded one.
    pub(super) fn token(&self, purpose: &str) -> FormToken {
        FormToken::new(&self.cookie, &scoped(purpose))
    }

    /// The page that refuses what only somebody may do who proved a moment ago who they are; `back` is where they go on
    /// then. `None` where they did.
    pub(super) fn ask_for_proof(&self, back: &str) -> Option<Response> {
        if self.who.proof.is_fresh(self.now) {
            return None;
        }
        let document = door::render_proof_needed(&self.console, &self.domain, &self.login_token(), back);
        Some(HtmlPage::personal(document).with_status(StatusCode::FORBIDDEN).into_response())
    }

    /// Refuses a request that took long, if its person signed out or was removed as an operator in the meantime.
    pub(super) async fn authorize_again(&self) -> Result<(), Response> {
        let who = watch_signed_in(&self.console.login, &self.cookie, &self.domain).await;
        let who = who.map_err(IntoResponse::into_response)?.filter(|who| who.user.id == self.who.user.id);
        if who.is_none() {
            let document = door::render_login(&self.console, &self.domain, &self.login_token(), "/console");
            return Err(HtmlPage::personal(document).with_status(StatusCode::FORBIDDEN).into_response());
        }
        if operators::find(&self.console.store, &self.who.user.id).await.map_err(failed)?.is_none() {
            let name = self.who.user.petname.as_str();
            let document = door::render_no_operator(&self.console, &self.domain, &self.login_token(), name);
            return Err(HtmlPage::personal(document).with_status(StatusCode::FORBIDDEN).into_response());
        }
        Ok(())
    }

    /// Returns the steps that refuse a write unless its person is still signed in, and still an operator.
    pub(super) fn require_steps(&self) -> [Step; 2] {
        let user = &self.who.user.id;
        [browser_sessions::sql::require_step(&self.who.session.id, user), operators::require_step(user)]
    }

    fn login_token(&self) -> FormToken {
        login_form_token(&self.cookie, &self.domain.id)
    }
}

impl FromRequestParts<Console> for OperatorVisit {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, console: &Console) -> Result<Self, Response> {
        let visitor = DoorVisitor::from_request_parts(parts, console).await?;
        let back = match (&parts.method, parts.uri.path_and_query()) {
            (&Method::GET, Some(path)) if path.path() != COUNTS_PATH => path.as_str(),
            _ => "/console",
        };
        if visitor.is_form && !visitor.has_cookie {
            return Err(refuse(console, FormRefusal::Stale));
        }
        let Some(who) = &visitor.who else {
            let token = login_form_token(&visitor.cookie, &visitor.domain.id);
            let document = door::render_login(&visitor.console, &visitor.domain, &token, back);
            return Err(visitor.page(document).with_status(StatusCode::FORBIDDEN).into_response());
        };
        let found = operators::find(&console.store, &who.user.id).await.map_err(failed)?;
        if found.is_none() {
            let (token, name) = (login_form_token(&visitor.cookie, &visitor.domain.id), who.user.petname.as_str());
            let document = door::render_no_operator(&visitor.console, &visitor.domain, &token, name);
            return Err(visitor.page(document).with_status(StatusCode::FORBIDDEN).into_response());
        }
        let DoorVisitor { console, cookie, domain, who, now, .. } = visitor;
        let who = who.expect("looked at above");
        let visit = Self { console, cookie, domain, who, now };
        // A form is a use once it is accepted; what an open page asks by itself never is.
        if [Method::GET, Method::HEAD].contains(&parts.method) && parts.uri.path() != COUNTS_PATH {
            visit.note_use().await?;
        }
        Ok(visit)
    }
}

/// Whether the login of an operator is still valid here, where it ends earlier than elsewhere. Only uses of the console count,
/// so that a visit of the account page does not reopen the console in a browser that was left alone.
fn is_recent(who: &SignedInUser, now: Timestamp) -> bool {
    let logged_in_at = who.proof.authenticated_at;
    let used_at = who.session.console_used_at.map_or(logged_in_at, |used_at| used_at.max(logged_in_at));
    now.duration_since(used_at) < MAX_IDLE && now.duration_since(logged_in_at) < MAX_AGE
}

async fn count(console: &Console, caller: &Caller) -> Result<(), Response> {
    let counted = console.limits.check(Limit::GetSession, caller, console.clock.elapsed()).await;
    counted.map_err(|exceeded| Problem::RateLimited(exceeded).into_response())
}

/// What a form of the console is for.
fn scoped(purpose: &str) -> String {
    format!("console {purpose}")
}

/// The page that says that a form was refused.
pub(super) fn refuse(console: &Console, refusal: FormRefusal) -> Response {
    HtmlPage::personal(door::render_stale(console)).with_status(refusal.status()).into_response()
}

/// The page for a failure of ours.
pub(super) fn failed(error: anyhow::Error) -> Response {
    Problem::from(error).into_response()
}

/// An error of a form that an operator posted.
#[derive(Debug)]
pub(super) enum FormError {
    /// The form is shown again with this text.
    Invalid(String),
    /// The response to a stale or unreadable form, or to a failure of the server.
    Response(Response),
}

impl FormError {
    pub(super) fn invalid(reason: &str) -> Self {
        Self::Invalid(reason.to_owned())
    }
}

impl From<Response> for FormError {
    fn from(response: Response) -> Self {
        Self::Response(response)
    }
}

/// To a screen of the console, behind a form.
pub(super) fn to(console: &Console, path: &str) -> Response {
    let location = HeaderValue::try_from(console.origin.link(path)).expect("a path of the console is printable");
    (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response()
}
