//! Where a browser goes on from a page of an issuer.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use signpost_login::sessions::{PAGE_COOKIE, PAGE_COOKIE_LASTS};
use signpost_platform::pages::HtmlPage;

use super::outcomes;
use super::visit::{RealmVisit, failed, to};
use crate::flows::RequestOutcome;

impl RealmVisit {
    /// Where the browser goes from here, without anybody having pressed a button.
    pub(super) fn send(&self, outcome: RequestOutcome) -> Response {
        let tag = self.language.tag();
        match outcome {
            RequestOutcome::Answered(url) => to(&url),
            RequestOutcome::LogIn(session) => match session.page_url(&self.service.public_address) {
                Some(page) => self.with_page_cookie(to(&format!("{page}?lang={tag}"))),
                None => failed(anyhow::anyhow!("a session for a client has no page")),
            },
            RequestOutcome::AskConsent(question) => {
                let page = self.link_in_language(&format!("authorize/consent/{}", question.id));
                self.with_page_cookie(to(&page))
            }
            RequestOutcome::Unable(unable) => {
                let page = HtmlPage::personal(outcomes::render_unable(self, &unable));
                page.with_status(StatusCode::SERVICE_UNAVAILABLE).into_response()
            }
            RequestOutcome::Over => self.over(),
        }
    }

    /// The page that says that a request is over.
    pub(super) fn over(&self) -> Response {
        HtmlPage::personal(outcomes::render_over(self)).with_status(StatusCode::GONE).into_response()
    }

    /// The same reply, by which the browser has the cookie of pages.
    fn with_page_cookie(&self, mut reply: Response) -> Response {
        let set = PAGE_COOKIE.set(&self.service.origin, &self.browser.page_cookie, PAGE_COOKIE_LASTS);
        reply.headers_mut().append(header::SET_COOKIE, set);
        reply
    }
}
