//! The context of a request from any browser, whether signed in or not.

use std::ops::Deref;

use axum::http::header;
use jiff::Timestamp;
use signpost_login::account::login_form_token;
use signpost_login::domains::Domain;
use signpost_login::flows::sign_in::{LOGIN_COOKIE, LOGIN_COOKIE_MAX_AGE, SignedInUser};
use signpost_platform::pages::HtmlPage;
use signpost_platform::pages::cookie::CookieSecret;
use signpost_platform::pages::form::CsrfToken;

use super::Console;

/// The context of a request from any browser.
#[derive(Debug)]
pub(super) struct VisitorContext {
    pub(super) console: Console,
    /// The browser's cookie, or a new cookie; the forms of the response are bound to it.
    pub(super) cookie: CookieSecret,
    pub(super) has_cookie: bool,
    /// Whether the request is a form. The response to a form sets no cookie: a form of another site
    /// arrives without the browser's cookie, and a new cookie would overwrite that cookie.
    pub(super) is_form: bool,
    /// The system domain.
    pub(super) domain: Domain,
    /// The user who is signed in there.
    pub(super) signed_in: Option<SignedInUser>,
    pub(super) now: Timestamp,
}

impl VisitorContext {
    /// Returns a page for this browser.
    pub(super) fn page(&self, document: String) -> HtmlPage {
        let page = HtmlPage::personal(document);
        if self.has_cookie || self.is_form {
            return page;
        }
        page.with_header(header::SET_COOKIE, LOGIN_COOKIE.set(&self.origin, &self.cookie, LOGIN_COOKIE_MAX_AGE))
    }

    /// Returns the CSRF token of this browser's forms for a purpose.
    pub(super) fn token(&self, purpose: &str) -> CsrfToken {
        CsrfToken::new(&self.cookie, &scoped(purpose))
    }

    /// Returns the CSRF token of the login form of the system domain.
    pub(super) fn login_token(&self) -> CsrfToken {
        login_form_token(&self.cookie, &self.domain.id)
    }
}

impl Deref for VisitorContext {
    type Target = Console;

    fn deref(&self) -> &Console {
        &self.console
    }
}

/// Returns the purpose of a form of the console.
pub(super) fn scoped(purpose: &str) -> String {
    format!("console {purpose}")
}
