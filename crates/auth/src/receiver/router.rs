//! An axum router with the four endpoints of a receiver.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{ConnectInfo, Query, Request, State};
use axum::http::header::{CACHE_CONTROL, COOKIE, ORIGIN, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;

use super::answers::{handle_login, handle_register};
use super::browser::Browser;
use super::classify::{Post, classify};
use super::events::{EventHeaders, EventRules, handle_event};
use super::host::Site;
use super::polls::{PollRules, handle_poll};
use super::response::{HandlerRefusal, HandlerResponse};

/// Maximum length of a request body in bytes. Longer bodies get a response with status 413.
pub const MAX_BODY_LEN: usize = 64 * 1024;

/// The state of the router: the application, and the rules of the endpoints.
#[derive(Debug)]
pub struct Receiver<S> {
    /// The application.
    pub site: S,
    /// The paths of the endpoints.
    pub paths: Paths,
    /// The rules for responding to polls.
    pub poll: PollRules,
    /// The rules for accepting events. `allowed_sources` requires a server that provides peer
    /// addresses (`into_make_service_with_connect_info::<SocketAddr>`). Behind a proxy, the source
    /// is the address of the proxy.
    pub events: EventRules,
    /// Returns the current time in Unix seconds.
    pub clock: fn() -> i64,
}

/// The paths of the endpoints. The integrator chooses them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// The path of the endpoint for logins by wallets.
    pub login: String,
    /// The path of the endpoint for registrations by wallets.
    pub register: String,
    /// The path of the endpoint that the page with the code polls.
    pub poll: String,
    /// The path of the endpoint for events of the service.
    pub events: String,
}

impl Default for Paths {
    /// Returns `/webhooks/login`, `/webhooks/register`, `/poll` and `/webhooks/events`.
    fn default() -> Self {
        Self {
            login: "/webhooks/login".to_owned(),
            register: "/webhooks/register".to_owned(),
            poll: "/poll".to_owned(),
            events: "/webhooks/events".to_owned(),
        }
    }
}

/// Returns a router with the four endpoints.
///
/// Unless the domain has an event URL, the service posts events to the webhook URL of the session,
/// so the endpoints for wallets receive events too. They handle a request with `X-Svc-Signature` as
/// an event.
pub fn router<S: Site + 'static>(receiver: Arc<Receiver<S>>) -> Router {
    let Paths { login, register, poll, events } = receiver.paths.clone();
    Router::new()
        .route(&login, post(on_login::<S>))
        .route(&register, post(on_register::<S>))
        .route(&poll, get(on_poll::<S>))
        .route(&events, post(on_event::<S>))
        .with_state(receiver)
}

type SharedReceiver<S> = State<Arc<Receiver<S>>>;

async fn on_login<S: Site>(app: SharedReceiver<S>, request: Request) -> Result<HandlerResponse, HandlerRefusal> {
    let (parts, body) = read_body(request).await?;
    Ok(match classify(&event_headers(&parts), &body, &app.events, (app.clock)())? {
        Post::Event => accept_event(&app, &parts, &body).await,
        Post::Answer => handle_login(&app.site, &body, (app.clock)()).await,
    })
}

async fn on_register<S: Site>(app: SharedReceiver<S>, request: Request) -> Result<HandlerResponse, HandlerRefusal> {
    let (parts, body) = read_body(request).await?;
    Ok(match classify(&event_headers(&parts), &body, &app.events, (app.clock)())? {
        Post::Event => accept_event(&app, &parts, &body).await,
        Post::Answer => handle_register(&app.site, &body, (app.clock)()).await,
    })
}

async fn on_event<S: Site>(app: SharedReceiver<S>, request: Request) -> Result<HandlerResponse, HandlerRefusal> {
    let (parts, body) = read_body(request).await?;
    Ok(accept_event(&app, &parts, &body).await)
}

#[derive(Deserialize)]
struct Poll {
    sid: Option<String>,
}

async fn on_poll<S: Site>(
    State(app): SharedReceiver<S>,
    query: Result<Query<Poll>, QueryRejection>,
    headers: HeaderMap,
) -> HandlerResponse {
    let sid = query.ok().and_then(|Query(query)| query.sid);
    let cookies = cookies(&headers);
    let browser = Browser {
        cookies: Some(&cookies),
        origin: text(&headers, ORIGIN.as_str()),
        sec_fetch_site: text(&headers, "sec-fetch-site"),
    };
    handle_poll(&app.site, sid.as_deref(), &browser, &app.poll).await
}

async fn accept_event<S: Site>(app: &Receiver<S>, parts: &Parts, body: &[u8]) -> HandlerResponse {
    let source = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(address)| address.ip());
    handle_event(&app.site, source, &event_headers(parts), body, &app.events, (app.clock)()).await
}

/// Returns the headers of an event.
pub(crate) fn event_headers(parts: &Parts) -> EventHeaders<'_> {
    EventHeaders::from_fields(|name| text(&parts.headers, name))
}

/// Returns the cookies of a request. HTTP/2 may split them into several headers.
pub(crate) fn cookies(headers: &HeaderMap) -> String {
    let lines: Vec<&str> = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok()).collect();
    lines.join("; ")
}

pub(crate) async fn read_body(request: Request<Body>) -> Result<(Parts, Bytes), HandlerRefusal> {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, MAX_BODY_LEN).await.map_err(|_| HandlerRefusal::TooLarge)?;
    Ok((parts, body))
}

/// Returns the value of a header. If it is not text, returns U+FFFD, which is not a valid value, so
/// that the header does not appear to be absent.
fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).map(|value| value.to_str().unwrap_or("\u{fffd}"))
}

impl IntoResponse for HandlerRefusal {
    fn into_response(self) -> Response {
        HandlerResponse::from(self).into_response()
    }
}

impl IntoResponse for HandlerResponse {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, [(CACHE_CONTROL, "no-store")], Json(self.body)).into_response();
        if let Some(cookie) = self.set_cookie.and_then(|cookie| HeaderValue::try_from(cookie).ok()) {
            response.headers_mut().append(SET_COOKIE, cookie);
        }
        for (name, value) in self.headers {
            let field = HeaderName::try_from(name).ok().zip(HeaderValue::try_from(value).ok());
            response.headers_mut().extend(field);
        }
        response
    }
}
