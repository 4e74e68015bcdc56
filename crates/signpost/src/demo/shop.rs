//! The state of the sample shop's handlers, and their responses. The shop logs users in on the
//! service's page.

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

/// Name of the cookie that binds a login to the browser that began it. It is specific to the shop,
/// because browsers do not separate cookies by port.
pub(super) const LOGIN_COOKIE: CookieName = CookieName::new("fern_login");
/// Name of the cookie that identifies a logged-in visitor.
pub(super) const VISITOR_COOKIE: CookieName = CookieName::new("fern_visitor");
pub(super) const HALF_AN_HOUR: Duration = Duration::from_mins(30);
pub(super) const DAY: Duration = Duration::from_hours(24);

/// The state of the shop's handlers.
#[derive(Clone, Debug)]
pub(super) struct Shop(Arc<ShopParts>);

/// The parts of a [`Shop`].
#[derive(Debug)]
pub(super) struct ShopParts {
    /// The origin of the shop.
    pub(super) origin: PublicOrigin,
    /// The URL of the service's pages.
    pub(super) login_host: String,
    /// The ID of its domain at the service.
    pub(super) domain: String,
    pub(super) api: ShopApi,
    pub(super) visitors: Visitors,
}

/// The query of the redirect from the login page.
#[derive(Debug, Deserialize)]
pub(super) struct LoginCallback {
    #[serde(deserialize_with = "session_id")]
    pub(super) session_id: String,
    pub(super) code: Option<String>,
    pub(super) error: Option<String>,
}

/// Rejects characters that would change the path of the API call: the link may be forged.
fn session_id<'de, D: serde::Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    let is_id = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if is_id { Ok(text) } else { Err(serde::de::Error::custom("session_id is none")) }
}

/// The reason why a login failed.
#[derive(Debug)]
pub(super) enum ShopError {
    /// The login was cancelled or expired: the `error` of the callback.
    Ended(Option<String>),
    /// The form was sent by another site.
    Foreign,
    /// The service rejected the request, or did not answer.
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
    /// Returns a URL of the shop.
    pub(super) fn address(&self, path: &str) -> String {
        format!("{}{path}", self.origin.as_str())
    }

    /// Logs a browser in as the user of a complete session, and returns the path of the next page.
    pub(super) async fn log_in(&self, cookie: &CookieSecret, session: ShopSession) -> &'static str {
        let Some(user) = session.user else { return "/?login=refused" };
        // The pages show the credentials, but a session does not contain them.
        let known = self.api.find_user(&self.domain, &user.id).await.ok().flatten();
        let visitor =
            Visitor { user: known.unwrap_or(user), is_new: session.mode == "register", method: session.method };
        self.visitors.log_in(cookie, visitor);
        "/account?welcome"
    }

    /// Returns the logged-in visitor of the browser that sent these headers.
    pub(super) fn visitor(&self, headers: &HeaderMap) -> Option<Visitor> {
        self.find_visitor(headers).map(|(_, visitor)| visitor)
    }

    /// Returns the logged-in visitor, with the cookie of the browser.
    pub(super) fn find_visitor(&self, headers: &HeaderMap) -> Option<(CookieSecret, Visitor)> {
        let cookie = VISITOR_COOKIE.read(&self.origin, headers)?;
        let visitor = self.visitors.find(&cookie)?;
        Some((cookie, visitor))
    }
}

/// Returns a page of the shop, with the headers of all pages.
pub(super) fn page(status: StatusCode, document: maud::Markup) -> HtmlPage {
    HtmlPage::personal(document.into_string()).with_status(status)
}

/// Returns a redirect that sets cookies.
pub(super) fn redirect<const N: usize>(location: &str, cookies: [HeaderValue; N]) -> Response {
    let Ok(location) = HeaderValue::try_from(location) else { return StatusCode::BAD_GATEWAY.into_response() };
    let mut response = (StatusCode::SEE_OTHER, [(LOCATION, location)]).into_response();
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    for cookie in cookies {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}

/// Returns the user agent, up to the 256 characters that the service accepts.
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
            Self::Ended(error) if error.as_deref() == Some("expired") => redirect("/?login=expired", []),
            Self::Ended(_) => redirect("/?login=cancelled", []),
            Self::Foreign => page(StatusCode::FORBIDDEN, pages::foreign()).into_response(),
            Self::Api(ApiError::Refused { code, .. }) if code == "recent_login_required" => {
                redirect("/?login=again", [])
            }
            Self::Api(ApiError::Refused { status, code, .. }) if status < 500 && status != 429 => {
                tracing::info!(status, code, "the service refused a login");
                redirect(if code == "session_expired" { "/?login=expired" } else { "/?login=refused" }, [])
            }
            Self::Api(error) => {
                tracing::warn!(?error, "the service does not answer the shop");
                page(StatusCode::BAD_GATEWAY, pages::unavailable()).into_response()
            }
        }
    }
}
