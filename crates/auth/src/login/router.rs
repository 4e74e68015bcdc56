//! The endpoints that a site needs for logins on the service's login page.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, LOCATION, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use url::Url;

use super::finish::{BoundReturn, CompletionError, LoginFailure, LoginToComplete, ReturnParameters};
use super::options::LoginOptions;
use super::seen::{EventState, SeenEvents};
use super::site::{LoginSite, SiteError};
use super::start::LoginStart;
use crate::challenge::Mode;
use crate::client::{Signpost, SignpostError};
use crate::event::EventKind;
use crate::receiver::{HandlerRefusal, HandlerResponse, cookies, event_headers, read_body, read_event};

/// The ASCII characters that URLs must not contain (RFC 3986, section 2). `%` is allowed, because a
/// path may already be escaped.
const NOT_IN_URLS: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'\\').add(b'^').add(b'`').add(b'{').add(b'|').add(b'}');

struct PageLogin<S> {
    signpost: Signpost,
    options: LoginOptions,
    site: S,
    seen: Mutex<SeenEvents>,
}

type SharedLogin<S> = State<Arc<PageLogin<S>>>;

/// Returns the router of the endpoints `/login`, `/register`, `/link`, `/return` and `/events`,
/// below the configured path.
pub fn router<S: LoginSite>(signpost: Signpost, options: LoginOptions, site: S) -> Router {
    let path = options.path.clone();
    let mut router = Router::new()
        .route(&format!("{path}/login"), page(|login, request| start(login, request, Mode::Login)))
        .route(&format!("{path}/register"), page(|login, request| start(login, request, Mode::Register)))
        .route(&format!("{path}/link"), page(|login, request| start(login, request, Mode::Link)))
        .route(&format!("{path}/return"), page(finish));
    if !options.events.secrets.is_empty() {
        router = router.route(&format!("{path}/events"), post(handle_event_request));
    }
    let seen = Mutex::default();
    router.with_state(Arc::new(PageLogin { signpost, options, site, seen }))
}

/// Returns the route of an endpoint for browsers. It rejects `HEAD`, which must not start or
/// complete a login.
fn page<S: LoginSite, F, R>(handler: F) -> MethodRouter<Arc<PageLogin<S>>>
where
    F: Fn(Arc<PageLogin<S>>, Parts) -> R + Clone + Send + Sync + 'static,
    R: Future<Output = Result<Response, SiteError>> + Send + 'static,
{
    let route = get(move |State(login): SharedLogin<S>, request: Request| {
        let outcome = handler(Arc::clone(&login), request.into_parts().0);
        async move { outcome.await.unwrap_or_else(|error| login.fail(&error)) }
    });
    route.head(|| std::future::ready(StatusCode::METHOD_NOT_ALLOWED))
}

async fn start<S: LoginSite>(login: Arc<PageLogin<S>>, request: Parts, mode: Mode) -> Result<Response, SiteError> {
    let PageLogin { signpost, options, site, .. } = &*login;
    let user = if mode == Mode::Link { site.current_user(&request).await } else { None };
    if mode == Mode::Link && user.is_none() {
        return Ok(StatusCode::NOT_FOUND.into_response());
    }
    let query = request.uri.query().unwrap_or_default();
    let start = LoginStart::new(mode, user, query, signpost.runtime().random(), login.now());
    let created = signpost.sessions().create(&start.session(options)).await?;
    let Some(page_url) = created.page_url else {
        let message = "the service gave no page_url: is the domain's handler 'hosted'?";
        return Err(SignpostError::invalid_argument(message).into());
    };
    if !is_redirect_target(&page_url) {
        return Err(SignpostError::new("invalid_response", "the service's page_url is no address of a page").into());
    }
    Ok(redirect(&page_url, start.cookies(&created.id, &cookies(&request.headers), options)))
}

async fn finish<S: LoginSite>(login: Arc<PageLogin<S>>, request: Parts) -> Result<Response, SiteError> {
    let PageLogin { signpost, options, site, .. } = &*login;
    let parameters = ReturnParameters::parse(request.uri.query().unwrap_or_default());
    let BoundReturn { ended_cookie, login: bound } = parameters.bind(&cookies(&request.headers), options, login.now());
    let signed_in = match bound {
        Ok(bound) if !is_for_current_user(site, &bound, &request).await => Err(LoginFailure::Refused),
        Ok(bound) => {
            let response = signpost.sessions().complete(&bound.session_id, &bound.completion).await;
            match bound.outcome(response) {
                Ok(signed_in) => Ok(signed_in),
                Err(CompletionError::Failed(failure)) => Err(failure),
                Err(CompletionError::Service(error)) => return Err(error.into()),
            }
        }
        Err(failure) => Err(failure),
    };
    let mut set_cookies: Vec<String> = ended_cookie.into_iter().collect();
    let location = match signed_in {
        Ok(signed_in) => {
            let next = signed_in.next.clone();
            set_cookies.extend(site.sign_in(signed_in, &request).await?);
            next
        }
        Err(failure) => failure.page(options),
    };
    Ok(redirect(&location, set_cookies))
}

/// Returns `true` if the user who started a link is still signed in at the site, so that a link
/// never signs in a browser whose user has signed out in the meantime. Always `true` for a login or
/// a registration.
async fn is_for_current_user<S: LoginSite>(site: &S, bound: &LoginToComplete, request: &Parts) -> bool {
    let Some(user) = bound.linked_user() else { return true };
    site.current_user(request).await.as_deref() == Some(user)
}

async fn handle_event_request<S: LoginSite>(
    State(login): SharedLogin<S>,
    request: Request,
) -> Result<HandlerResponse, HandlerRefusal> {
    let (parts, body) = read_body(request).await?;
    let event = read_event(&event_headers(&parts), &body, &login.options.events, login.now())?;
    if event.event == EventKind::Test {
        return Ok(HandlerResponse::received(true));
    }
    let identity = event.identity();
    match login.with_seen(|seen| seen.begin(&identity)) {
        EventState::Done => return Ok(HandlerResponse::received(false)),
        EventState::InProgress => return Ok(HandlerResponse::later("another request is processing this event")),
        EventState::New => {}
    }
    let mut guard = EventGuard { login, identity, is_done: false };
    // The service closes the connection after 15 seconds. The task runs to completion, so that its
    // outcome is recorded.
    let task = tokio::spawn(async move {
        let outcome = guard.login.site.on_event(event).await;
        guard.is_done = outcome.is_ok();
        outcome.map_err(|error| guard.login.site.report(&*error))
    });
    match task.await {
        Ok(Ok(())) => Ok(HandlerResponse::received(true)),
        Ok(Err(())) | Err(_) => Err(HandlerRefusal::Internal),
    }
}

/// An event that is being handled. Dropping the guard ends the handling, even if the site's
/// function panics.
struct EventGuard<S> {
    login: Arc<PageLogin<S>>,
    identity: String,
    is_done: bool,
}

impl<S> Drop for EventGuard<S> {
    fn drop(&mut self) {
        self.login.with_seen(|seen| seen.end(&self.identity, self.is_done));
    }
}

impl<S> PageLogin<S> {
    fn with_seen<T>(&self, access: impl FnOnce(&mut SeenEvents) -> T) -> T {
        access(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<S: LoginSite> PageLogin<S> {
    fn now(&self) -> i64 {
        let since = self.signpost.runtime().now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    }

    /// Reports an error to the site, and returns a response that does not contain it.
    fn fail(&self, error: &SiteError) -> Response {
        self.site.report(&**error);
        let text = "The login did not work. Please try again.";
        (StatusCode::INTERNAL_SERVER_ERROR, [(CACHE_CONTROL, "no-store")], text).into_response()
    }
}

/// Returns `true` if it is safe to redirect a browser to a URL.
fn is_redirect_target(url: &str) -> bool {
    let is_plain = !url.contains(|c: char| c.is_control() || c.is_whitespace());
    is_plain && Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

fn redirect(location: &str, set_cookies: Vec<String>) -> Response {
    // A header can contain only ASCII, but a path of the site may have other characters.
    let location = utf8_percent_encode(location, NOT_IN_URLS).to_string();
    let mut response =
        (StatusCode::SEE_OTHER, [(CACHE_CONTROL, "no-store"), (LOCATION, location.as_str())]).into_response();
    let cookies = set_cookies.into_iter().filter_map(|cookie| HeaderValue::try_from(cookie).ok());
    response.headers_mut().extend(cookies.map(|cookie| (SET_COOKIE, cookie)));
    response
}
