//! The routes of the example.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE, ORIGIN, SET_COOKIE};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::json;
use signpost_auth::Mode;
use signpost_auth::receiver::{self, Browser, Receiver, Site, is_local_path};

use crate::memory::{Memory, Shown};
use crate::pages;

/// The paths and their descriptions, printed when the example starts.
pub(crate) const PATHS: [(&str, &str); 7] = [
    ("/", "log in"),
    ("/register", "register"),
    ("/account", "who is logged in"),
    ("/poll?sid=", "the page asks here"),
    ("/webhooks/login", "wallets post here to log in"),
    ("/webhooks/register", "wallets post here to register"),
    ("/webhooks/events", "the service posts its events here"),
];

/// The content security policy: it allows only resources of this server, no inline code and no
/// embedding.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

type App = State<Arc<Receiver<Memory>>>;

pub(crate) fn router(app: Arc<Receiver<Memory>>) -> Router {
    let pages = Router::new()
        .route("/", get(login))
        .route("/register", get(register))
        .route("/refresh", post(refresh))
        .route("/account", get(account))
        .route("/logout", post(logout))
        .route("/login.js", get(asset("text/javascript", include_str!("login.js"))))
        .route("/style.css", get(asset("text/css", include_str!("style.css"))))
        .with_state(Arc::clone(&app));
    pages.merge(receiver::router(app))
}

#[derive(Deserialize)]
struct ReturnQuery {
    return_url: Option<String>,
}

#[derive(Deserialize)]
struct Sid {
    sid: String,
}

async fn login(app: App, query: Query<ReturnQuery>) -> Response {
    show(app, Mode::Login, query).await
}

async fn register(app: App, query: Query<ReturnQuery>) -> Response {
    show(app, Mode::Register, query).await
}

async fn show(State(app): App, mode: Mode, Query(ReturnQuery { return_url }): Query<ReturnQuery>) -> Response {
    let return_url = return_url.filter(|url| is_local_path(url)).unwrap_or_else(|| "/account".to_owned());
    match app.site.open(mode, return_url).await {
        Ok(Shown { sid, qr, set_cookie }) => {
            let page = pages::code(app.site.domain(), mode, &sid, &qr, (app.clock)());
            ([(SET_COOKIE, set_cookie)], html(page)).into_response()
        }
        Err(error) => {
            println!("no code to show: {error}");
            (StatusCode::BAD_GATEWAY, html(pages::no_code(app.site.domain()))).into_response()
        }
    }
}

/// Replaces the code of a session, for the browser that displays the old code.
async fn refresh(State(app): App, Query(Sid { sid }): Query<Sid>, headers: HeaderMap) -> Response {
    let origin = &app.poll.origin;
    let browser = browser(&headers);
    let shown = app.site.find_code(&sid).await.ok().flatten();
    let held = |cookies| shown.is_some_and(|code| code.binding.matches_cookie(&sid, origin, cookies));
    if browser.is_foreign(origin) || !browser.cookies.is_some_and(held) {
        return (StatusCode::FORBIDDEN, Json(json!({ "error": "this code was shown to another browser" })))
            .into_response();
    }
    match app.site.refresh(&sid).await {
        Ok(qr) => Json(json!({
            "svg": pages::svg(&qr.to_string()),
            "qr_data": qr.to_string(),
            "expires_in": qr.expires_at() - (app.clock)(),
        }))
        .into_response(),
        Err(error) => {
            println!("{sid} not refreshed: {error}");
            (StatusCode::BAD_GATEWAY, Json(json!({ "error": "the service gave no new code" }))).into_response()
        }
    }
}

async fn account(State(app): App, headers: HeaderMap) -> Response {
    let user = app.site.logged_in(browser(&headers).cookies.unwrap_or_default());
    html(pages::account(app.site.domain(), user.as_ref()))
}

async fn logout(State(app): App, headers: HeaderMap) -> Response {
    let browser = browser(&headers);
    if browser.is_foreign(&app.poll.origin) {
        return StatusCode::FORBIDDEN.into_response();
    }
    let set_cookie = app.site.log_out(browser.cookies.unwrap_or_default());
    ([(SET_COOKIE, set_cookie)], Redirect::to("/")).into_response()
}

fn browser(headers: &HeaderMap) -> Browser<'_> {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    Browser {
        cookies: text(COOKIE),
        origin: text(ORIGIN),
        sec_fetch_site: text(HeaderName::from_static("sec-fetch-site")),
    }
}

fn html(page: String) -> Response {
    ([(CONTENT_SECURITY_POLICY, POLICY), (CACHE_CONTROL, "no-store")], Html(page)).into_response()
}

/// Returns the response for a static file.
fn asset(kind: &'static str, text: &'static str) -> ([(HeaderName, &'static str); 2], &'static str) {
    ([(CONTENT_TYPE, kind), (CACHE_CONTROL, "no-cache")], text)
}
