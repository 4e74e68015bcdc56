//! The shop: a site whose people log in on the service's page. What its handlers can reach, and what they answer with.

use std::sync::Arc;
use std::time::Duration;

use axum::http::header::{CACHE_CONTROL, LOCATION, SET_COOKIE, USER_AGENT};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use signpost_platform::origin::PublicOrigin;
use signpost_platform::pages::HtmlPage;
use signpost_platform::pages::cookie::{CookieName, CookieSecret};

use super::api::{ApiError, ShopApi, ShopSession};
use super::pages;
use super::visitors::{Visitor, Visitors};

/// Names no person: it ties a login to the browser that began it. Cookies know no ports, so its name is the shop's own.
pub(super) const LOGIN_COOKIE: CookieName = CookieName::new("fern_login");
/// Leads to who is logged in.
pub(super) const VISITOR_COOKIE: CookieName = CookieName::new("fern_visitor");
pub(super) const HALF_AN_HOUR: Duration = Duration::from_mins(30);
pub(super) const DAY: Duration = Duration::from_hours(24);

/// What the shop's pages can reach.
#[derive(Clone, Debug)]
pub(super) struct Shop(Arc<ShopParts>);

/// The parts of a [`Shop`].
#[derive(Debug)]
pub(super) struct ShopParts {
    /// Where browsers find it.
    pub(super) origin: PublicOrigin,
    /// Where browsers find the service's pages.
    pub(super) login_host: String,
    /// Its domain at the service, by id.
    pub(super) domain: String,
    pub(super) api: ShopApi,
    pub(super) visitors: Visitors,
}

/// What a browser brings back from the login page.
#[derive(Debug, Deserialize)]
pub(super) struct Back {
    #[serde(deserialize_with = "session_id")]
    pub(super) session_id: String,
    pub(super) code: Option<String>,
    pub(super) error: Option<String>,
}

/// What may stand in the address of a session: whoever made the link could name another address else.
fn session_id<'de, D: serde::Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    let is_id = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if is_id { Ok(text) } else { Err(serde::de::Error::custom("session_id is none")) }
}

/// Why nobody was logged in.
#[derive(Debug)]
pub(super) enum ShopError {
    /// The person or the time ended it: the `error` that came back.
    Ended(Option<String>),
    /// The form was not one of the shop's.
    Foreign,
    /// The service refused it, or does not answer.
    Api(ApiError),
}

impl From<ShopParts> for Shop {
    fn from(parts: ShopParts) -> Self {
        Self(Arc::new(parts))
    }
}

impl std::ops::Deref for Shop {
    type Target = ShopParts;

    fn deref(&self) -> &ShopParts {
        &self.0
    }
}

impl Shop {
    /// An address of the shop, for browsers.
    pub(super) fn address(&self, path: &str) -> String {
        format!("{}{path}", self.origin.as_str())
    }

    /// Logs a browser in as the user of a complete session, and returns the page that says so. What else the service knows
    /// of them is for the pages alone.
    pub(super) async fn welcome(&self, cookie: &CookieSecret, session: ShopSession) -> &'static str {
        let Some(user) = session.user else { return "/?login=refused" };
        let known = self.api.find_user(&self.domain, &user.id).await.ok().flatten();
        let visitor =
            Visitor { user: known.unwrap_or(user), is_new: session.mode == "register", method: session.method };
        self.visitors.welcome(cookie, visitor);
        "/account?welcome"
    }

    /// Returns the visitor who is logged in, in the browser that sent these headers.
    pub(super) fn visitor(&self, headers: &HeaderMap) -> Option<Visitor> {
        self.find_visitor(headers).map(|(_, visitor)| visitor)
    }

    /// Returns the visitor who is logged in, with the cookie of their browser.
    pub(super) fn find_visitor(&self, headers: &HeaderMap) -> Option<(CookieSecret, Visitor)> {
        let cookie = VISITOR_COOKIE.read(&self.origin, headers)?;
        let visitor = self.visitors.find(&cookie)?;
        Some((cookie, visitor))
    }
}

/// A page of the shop, with the headers that every page has.
pub(super) fn page(status: StatusCode, document: maud::Markup) -> HtmlPage {
    HtmlPage::personal(document.into_string()).with_status(status)
}

/// Sends a browser on, with new cookies.
pub(super) fn go<const N: usize>(location: &str, cookies: [HeaderValue; N]) -> Response {
    let Ok(location) = HeaderValue::try_from(location) else { return StatusCode::BAD_GATEWAY.into_response() };
    let mut response = (StatusCode::SEE_OTHER, [(LOCATION, location)]).into_response();
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    for cookie in cookies {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}

/// What a browser says of itself, as far as the service takes it: 256 characters.
pub(super) fn user_agent(headers: &HeaderMap) -> &str {
    let text = headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default();
    text.get(..256).unwrap_or(text)
}

impl From<ApiError> for ShopError {
    fn from(error: ApiError) -> Self {
        Self::Api(error)
    }
}

impl IntoResponse for ShopError {
    fn into_response(self) -> Response {
        match self {
            Self::Ended(error) if error.as_deref() == Some("expired") => go("/?login=expired", []),
            Self::Ended(_) => go("/?login=cancelled", []),
            Self::Foreign => page(StatusCode::FORBIDDEN, pages::foreign()).into_response(),
            Self::Api(ApiError::Refused { code, .. }) if code == "recent_login_required" => go("/?login=again", []),
            Self::Api(ApiError::Refused { status, code, .. }) if status < 500 && status != 429 => {
                tracing::info!(status, code, "the service refused a login");
                go(if code == "session_expired" { "/?login=expired" } else { "/?login=refused" }, [])
            }
            Self::Api(error) => {
                tracing::warn!(?error, "the service does not answer the shop");
                page(StatusCode::BAD_GATEWAY, pages::away()).into_response()
            }
        }
    }
}
