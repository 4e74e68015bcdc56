//! Who sends a wallet's answer, as far as the request says.

use axum::http::{HeaderMap, header};

use crate::domains::LoginMethod;
use crate::service::LoginService;
use crate::sessions::{PAGE_COOKIE, Session};
use signpost_platform::pages::cookie::CookieHash;

/// Who sends an answer: in which browser, if in one of ours, and whether from the browser wallet. A wallet elsewhere says
/// neither.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asker {
    page_cookie: Option<CookieHash>,
    is_wallet_page: bool,
}

impl Asker {
    /// Whoever sends these headers. A cookie that comes with a request of another origin is none: nobody asked the person.
    pub(crate) fn of(service: &LoginService, headers: &HeaderMap) -> Self {
        let mut sent = headers.get_all(header::ORIGIN).iter();
        let (origin, is_alone) = (sent.next(), sent.next().is_none());
        let is_own = origin.is_none_or(|origin| origin == service.origin.as_str()) && is_alone;
        let cookie = PAGE_COOKIE.read(&service.origin, headers).filter(|_| is_own);
        let wallet = service.wallet_origin().zip(origin).filter(|_| is_alone);
        Self {
            page_cookie: cookie.map(|cookie| cookie.hash()),
            is_wallet_page: wallet.is_some_and(|(wallet, origin)| origin == wallet.as_str()),
        }
    }

    /// Whether the answer comes in the browser that owns the session's page: then nobody reads a number off another screen.
    pub(crate) fn owns(&self, session: &Session) -> bool {
        self.page_cookie.as_ref().is_some_and(|cookie| session.is_owned_by(cookie))
    }

    /// How its person logs in. The label says what the request said, and protects nothing.
    pub(crate) fn method(&self) -> LoginMethod {
        if self.is_wallet_page { LoginMethod::Browser } else { LoginMethod::Scan }
    }
}
