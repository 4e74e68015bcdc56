//! Replaces JSON error bodies by HTML error pages in responses to browsers.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::html;

use super::accept::prefers_html;
use super::errors::{ErrorText, PageError};
use super::frame::{Frame, Layout};
use super::html_page::HtmlPage;
use super::icons::PageIcon;
use super::language::Language;
use super::words::error_words;
use crate::origin::PublicOrigin;
use crate::web::problem::ErrorReply;

/// Renders errors as HTML pages, except for the paths that only programs use.
#[derive(Clone, Debug)]
pub struct ErrorPages {
    /// The origin of the pages.
    pub origin: PublicOrigin,
    /// The paths that only programs use, each with all paths below it.
    pub programs: Arc<[String]>,
}

impl ErrorPages {
    /// Returns the language of an error page for this request, or `None` if its errors should not
    /// be rendered as pages.
    #[must_use]
    pub fn choose(&self, request: &Request) -> Option<Language> {
        let path = request.uri().path();
        let is_for_programs = self.programs.iter().any(|program| is_at_or_below(path, program));
        if is_for_programs || !prefers_html(request.headers()) {
            return None;
        }
        Some(Language::choose(request.uri(), request.headers()))
    }

    /// Replaces the error body of a response by a page. The other headers are preserved.
    #[must_use]
    pub fn render(&self, language: Language, reply: Response) -> Response {
        if reply.extensions().get::<ErrorReply>().is_none() {
            return reply;
        }
        let document = PageError::of(&reply).render(language, &self.origin);
        let mut page = HtmlPage::personal(document).with_status(reply.status()).into_response();
        copy_headers(page.headers_mut(), reply.headers());
        page
    }
}

fn is_at_or_below(path: &str, start: &str) -> bool {
    path.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn copy_headers(page: &mut HeaderMap, reply: &HeaderMap) {
    for (name, value) in reply {
        if name != header::CONTENT_LENGTH && !page.contains_key(name) {
            page.append(name, value.clone());
        }
    }
}

impl PageError {
    /// Returns the error that a response with an error body reports.
    fn of(reply: &Response) -> Self {
        match reply.status() {
            StatusCode::NOT_FOUND => Self::NotFound,
            StatusCode::METHOD_NOT_ALLOWED => Self::MethodNotAllowed,
            StatusCode::PAYLOAD_TOO_LARGE => Self::TooLarge,
            StatusCode::TOO_MANY_REQUESTS => Self::TooMany(header_text(reply, "retry-after").parse().unwrap_or(1)),
            StatusCode::SERVICE_UNAVAILABLE => Self::Unavailable,
            status if status.is_server_error() => Self::Failed(header_text(reply, "x-request-id").to_owned()),
            _ => Self::Refused,
        }
    }

    /// Renders the error page.
    fn render(&self, language: Language, origin: &PublicOrigin) -> String {
        let words = error_words(language);
        let host = html! { bdi { (origin.host()) } };
        let ErrorText { title, text } = (words.text)(self, &host);
        let main = html! {
            main #main .sheet.one {
                section.who aria-labelledby="title" {
                    (self.icon().draw(40))
                    div.stack-sm {
                        h1 #title { (title) }
                        p.lead { (text) }
                    }
                    a.btn.wide href=(origin.link("/")) { span { ((words.start)(&host)) } }
                }
            }
        };
        Frame::new(language, title, origin, Layout::Sheet, main).render()
    }

    fn icon(&self) -> PageIcon {
        match self {
            Self::TooMany(_) | Self::Unavailable => PageIcon::Clock,
            Self::NotFound | Self::MethodNotAllowed => PageIcon::Globe,
            _ => PageIcon::Stop,
        }
    }
}

/// Returns a response header, or an empty text if it is missing or not ASCII text.
fn header_text<'a>(reply: &'a Response, name: &str) -> &'a str {
    reply.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::routing::get;
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    use super::*;
    use crate::web::problem::Problem;

    const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

    fn origin() -> PublicOrigin {
        PublicOrigin::new("https://login.test")
    }

    async fn get_of(path: &str, accept: &str) -> (StatusCode, HeaderMap, String) {
        let pages = ErrorPages { origin: origin(), programs: ["/v1".to_owned()].into() };
        let router = Router::new()
            .route("/failed", get(async || Problem::Internal(anyhow::anyhow!("an internal cause"))))
            .route("/away", get(async || Problem::Unavailable("an internal cause".to_owned())))
            .route("/v1/away", get(async || Problem::Unavailable(String::new())))
            .route("/own", get(async || (StatusCode::NOT_FOUND, "its own words")))
            .fallback(async || Problem::NotFound);
        let request = Request::get(path).header(header::ACCEPT, accept).body(Body::empty()).unwrap();
        let language = pages.choose(&request);
        let reply = router.oneshot(request).await.unwrap();
        let reply = language.into_iter().fold(reply, |reply, language| pages.render(language, reply));
        let (parts, body) = reply.into_parts();
        let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
        (parts.status, parts.headers, text)
    }

    #[tokio::test]
    async fn only_browsers_get_error_pages() {
        let html = "text/html; charset=utf-8";
        for (path, accept, status, media_type) in [
            ("/x", BROWSER, 404, html),
            ("/v10", BROWSER, 404, html),
            ("/away", BROWSER, 503, html),
            ("/failed", BROWSER, 500, html),
            ("/x", "*/*", 404, "application/json"),
            ("/x", "application/json", 404, "application/json"),
            ("/v1", BROWSER, 404, "application/json"),
            ("/v1/x", BROWSER, 404, "application/json"),
            ("/v1/away", BROWSER, 503, "application/json"),
            ("/own", BROWSER, 404, "text/plain; charset=utf-8"),
        ] {
            let (found, headers, text) = get_of(path, accept).await;
            assert_eq!((found.as_u16(), &headers["content-type"]), (status, &media_type.parse().unwrap()), "{path}");
            assert!(!text.contains("internal cause"), "{text}");
            assert_eq!(headers.contains_key("retry-after"), status == 503, "{path}");
        }
    }

    #[tokio::test]
    async fn an_error_page_is_in_the_preferred_language() {
        let (_, headers, text) = get_of("/x?lang=es", BROWSER).await;
        assert!(text.contains("lang=\"es\"") && text.contains("<h1 id=\"title\">"), "{text}");
        assert_eq!(headers["cache-control"], "no-store");
    }

    #[test]
    fn each_error_has_a_text_per_language() {
        let errors = [
            PageError::Refused,
            PageError::NotFound,
            PageError::MethodNotAllowed,
            PageError::TooLarge,
            PageError::TooMany(7),
            PageError::Unavailable,
            PageError::Failed("req_1".to_owned()),
        ];
        let mut seen = std::collections::BTreeSet::new();
        for language in Language::ALL {
            for error in &errors {
                let text = error.render(language, &origin());
                let title = text.split("<title>").nth(1).and_then(|rest| rest.split('<').next()).unwrap();
                assert!(seen.insert(title.to_owned()), "{title} is used twice");
                assert_eq!(text.contains("7 s"), *error == PageError::TooMany(7), "{text}");
                assert_eq!(text.contains("<code>req_1</code>"), matches!(error, PageError::Failed(_)), "{text}");
            }
        }
    }
}
