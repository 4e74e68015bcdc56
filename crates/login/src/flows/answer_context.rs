//! Reads the context of a wallet's answer from the headers of its request.

use axum::http::{HeaderMap, header};
use signpost_platform::pages::cookie::CookieHash;
use signpost_platform::web::single_header;

use crate::domains::LoginMethod;
use crate::service::LoginService;
use crate::sessions::{PAGE_COOKIE, Session};

/// The context of a wallet's answer. The default is a wallet outside the browsers of the login pages.
#[derive(Clone, Debug, Default)]
pub(crate) struct AnswerContext {
    page_cookie: Option<CookieHash>,
    is_browser_wallet: bool,
}

impl AnswerContext {
    /// Reads the context from the headers. The cookie of a cross-origin request is ignored, because the user may not
    /// have intended the request.
    pub(crate) fn new(service: &LoginService, headers: &HeaderMap) -> Self {
        let Ok(origin) = single_header(headers, &header::ORIGIN) else { return Self::default() };
        let is_same_origin = origin.is_none_or(|origin| origin == service.origin.as_str());
        let cookie = if is_same_origin { PAGE_COOKIE.read(&service.origin, headers) } else { None };
        let wallet = service.wallet_origin();
        Self {
            page_cookie: cookie.map(|cookie| cookie.hash()),
            is_browser_wallet: wallet.is_some_and(|wallet| origin.is_some_and(|origin| origin == wallet.as_str())),
        }
    }

    /// Returns true if the answer comes from the browser that owns the session's page. Such an
    /// answer needs no confirmation number.
    pub(crate) fn owns(&self, session: &Session) -> bool {
        self.page_cookie.as_ref().is_some_and(|cookie| session.is_owned_by(cookie))
    }

    /// Returns the login method. It is a label that follows from the request, and protects nothing.
    pub(crate) fn method(&self) -> LoginMethod {
        if self.is_browser_wallet { LoginMethod::Browser } else { LoginMethod::Scan }
    }
}
