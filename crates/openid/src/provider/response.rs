//! Converts the outcome of an authorization request into an HTTP response.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use signpost_login::sessions::{PAGE_COOKIE, PAGE_COOKIE_MAX_AGE};
use signpost_platform::pages::HtmlPage;

use super::context::{IssuerContext, internal_error, redirect_to};
use super::outcomes;
use crate::flows::AuthorizeOutcome;

impl IssuerContext {
    /// Returns the response for an outcome: a redirect, or a page that ends the request.
    pub(super) fn respond(&self, outcome: AuthorizeOutcome) -> Response {
        match outcome {
            AuthorizeOutcome::Redirect(url) => redirect_to(&url),
            AuthorizeOutcome::LoginRequired(session) => match session.page_url(&self.service.public_address) {
                Some(page) => self.with_page_cookie(redirect_to(&format!("{page}?lang={}", self.language.tag()))),
                None => internal_error(anyhow::anyhow!("a session for a client has no page")),
            },
            AuthorizeOutcome::ConsentRequired(question) => {
                let page = self.link_in_language(&format!("authorize/consent/{}", question.id));
                self.with_page_cookie(redirect_to(&page))
            }
            AuthorizeOutcome::Unavailable(unavailable) => {
                let page = HtmlPage::personal(outcomes::render_unavailable(self, &unavailable));
                page.with_status(StatusCode::SERVICE_UNAVAILABLE).into_response()
            }
            AuthorizeOutcome::Expired => {
                HtmlPage::personal(outcomes::render_expired(self)).with_status(StatusCode::GONE).into_response()
            }
        }
    }

    /// Sets the page cookie in a response.
    fn with_page_cookie(&self, mut reply: Response) -> Response {
        let set = PAGE_COOKIE.set(&self.service.origin, &self.browser.page_cookie, PAGE_COOKIE_MAX_AGE);
        reply.headers_mut().append(header::SET_COOKIE, set);
        reply
    }
}
