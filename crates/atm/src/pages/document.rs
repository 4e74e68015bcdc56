//! A page as a document: its head, its frame, and what may be kept of it for how long.

use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;
use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use maud::{Markup, PreEscaped, html};
use serde_json::Value;
use signpost_platform::pages::compressed::Compressed;
use signpost_platform::pages::{DeviceUse, Frame, HtmlPage, Language, Layout};
use signpost_platform::web::problem::Problem;

use super::ground::Ground;
use super::visit::LocatorVisit;
use super::{LOCATOR_SIGN, LOCATOR_STYLES};
use crate::processor;
use crate::shelf::KeptPage;

/// How long browsers may show a page without asking whether it is still so: whoever reported a machine sees it there at once,
/// and what closes now is not open in a list from before. The answer is short where nothing changed.
const FRESH: Duration = Duration::ZERO;

/// A page of the locator.
#[derive(Debug)]
pub(super) struct LocatorDocument<'a> {
    /// The text of the tab.
    pub(super) title: String,
    /// What it is, in a sentence, for lists of pages.
    pub(super) description: String,
    /// Its address below the public one, with the number of the page of a list.
    pub(super) path: &'a str,
    /// What stands before the language in its address in another one.
    pub(super) kept_query: String,
    /// Whether search engines may list it.
    pub(super) is_listed: bool,
    /// Whether it stands at that address, and is no other view of the page there.
    pub(super) has_address: bool,
    /// What it says to programs (schema.org).
    pub(super) linked_data: Vec<Value>,
    /// What else its head has: scripts.
    pub(super) head: Markup,
    /// What it asks the person's device for.
    pub(super) device_use: Option<DeviceUse>,
    /// The whole `<main id="main">`.
    pub(super) main: Markup,
}

impl<'a> LocatorDocument<'a> {
    pub(super) fn new(path: &'a str, title: String, description: String, main: Markup) -> Self {
        let (kept_query, linked_data) = (String::new(), Vec::new());
        let (has_address, is_listed) = (true, true);
        let (head, device_use) = (Markup::default(), None);
        Self { title, description, path, kept_query, is_listed, has_address, linked_data, head, device_use, main }
    }

    /// The reply with a page that is the same for everybody, or that the browser has it already.
    pub(super) fn public(self, visit: &LocatorVisit, ground: &Ground) -> Response {
        let is_listed = self.is_listed && !ground.snapshot.is_sample();
        let device_use = self.device_use;
        let document = Self { is_listed, ..self }.render(visit, ground);
        let (made, until) = (visit.now, ground.snapshot.at(visit.now).lasts_until());
        let (tag, document) = (tag(&document), Compressed::new(document));
        let page = KeptPage { document, tag, is_listed, device_use, made, until };
        visit.service.shelf.put(&ground.snapshot, visit.name(), page.clone());
        reply(visit, &page)
    }

    /// The reply with a page for one person alone: nobody stores or lists it.
    pub(super) fn personal(self, visit: &LocatorVisit, ground: &Ground, status: StatusCode) -> Response {
        let document = Self { is_listed: false, has_address: false, ..self }.render(visit, ground);
        HtmlPage::personal(document).with_status(status).into_response()
    }

    fn render(self, visit: &LocatorVisit, ground: &Ground) -> String {
        let (words, origin) = (visit.words(), &visit.service.origin);
        let as_of = ground.snapshot.data_as_of();
        let head = html! {
            link rel="stylesheet" href=(LOCATOR_STYLES.link(origin));
            meta name="description" content=(signpost_text::line(&self.description));
            @if !self.is_listed { meta name="robots" content="noindex"; }
            (self.addresses(visit))
            @for data in &self.linked_data { script type="application/ld+json" { (PreEscaped(script_text(data))) } }
            (self.head)
        };
        let frame = Frame::new(visit.language, &self.title, origin, Layout::Column, self.main);
        Frame {
            head,
            kept_query: &self.kept_query,
            nav: html! {
                a href=(visit.link("/map")) { (words.map) }
                a.wide-only href=(visit.link("/about/data")) { (words.about_data) }
                a.wide-only href=(visit.link("/mcp")) { (words.for_assistants) }
            },
            foot: html! {
                @if ground.snapshot.is_sample() { (words.sample_data) }
                @else if let Some(as_of) = as_of { ((words.data_of)(&(words.long_date)(words.day_of(as_of)))) }
                " " (words.no_advice)
            },
            foot_links: html! {
                a href=(visit.link("/about/data")) { (words.sources_and_licences) }
                a href={ (visit.link("/about/data")) "#status" } { (words.how_status) }
                a.phone-only href=(visit.link("/mcp")) { (words.for_assistants) }
            },
            ..frame
        }
        .render()
    }

    /// Where it stands, for whoever passes it on. What the operator did not set is not known: a request may name any host.
    fn addresses(&self, visit: &LocatorVisit) -> Markup {
        if visit.service.public_url.is_none() || !self.has_address {
            return Markup::default();
        }
        let address = visit.service.public_address.clone() + self.path;
        let before = if self.path.contains('?') { '&' } else { '?' };
        let in_language = |language: Language| format!("{address}{before}lang={}", language.tag());
        let own = visit.named_language.map_or_else(|| address.clone(), in_language);
        html! {
            link rel="canonical" href=(own);
            link rel="alternate" hreflang="x-default" href=(address);
            @for language in Language::ALL {
                link rel="alternate" hreflang=(language.tag()) href=(in_language(language));
            }
            meta property="og:type" content="website";
            meta property="og:title" content=(signpost_text::line(&self.title));
            meta property="og:description" content=(signpost_text::line(&self.description));
            meta property="og:url" content=(own);
            meta property="og:image" content={ (visit.service.origin.as_str()) (LOCATOR_SIGN.link(&visit.service.origin)) };
        }
    }
}

/// The page of this very address, where it was made a moment ago and would be made the same.
pub(super) fn find_kept(visit: &LocatorVisit, ground: &Ground) -> Option<Response> {
    let kept = visit.service.shelf.get(&ground.snapshot, &visit.name(), visit.now)?;
    Some(reply(visit, &kept))
}

/// Draws a page on a thread where that holds up nobody.
pub(super) async fn draw_apart(
    visit: LocatorVisit,
    ground: Ground,
    draw: impl FnOnce(&LocatorVisit, &Ground) -> Response + Send + 'static,
) -> Response {
    let drawn = processor::run(move |_| draw(&visit, &ground)).await;
    drawn.unwrap_or_else(|error| Problem::from(error).into_response())
}

/// The page, or that the browser has it already. The tag is weak: it names the content, compressed or not.
fn reply(visit: &LocatorVisit, page: &KeptPage) -> Response {
    let is_known = visit.knows(&page.tag);
    let (body, is_compressed) =
        if is_known { (Bytes::new(), false) } else { page.document.choose_form(visit.accepts_gzip) };
    let mut shown = HtmlPage::public(body, FRESH)
        .with_header(header::VARY, HeaderValue::from_static("accept-encoding"))
        .with_header(header::ETAG, HeaderValue::try_from(format!("W/{}", page.tag)).expect("hex is fit for a header"));
    if is_known {
        shown = shown.with_status(StatusCode::NOT_MODIFIED);
    }
    if is_compressed {
        shown = shown.with_header(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if let Some(device_use) = page.device_use {
        shown = shown.with_device_use(device_use);
    }
    if page.is_listed {
        return shown.into_response();
    }
    let robots = HeaderName::from_static("x-robots-tag");
    shown.with_header(robots, HeaderValue::from_static("noindex")).into_response()
}

/// JSON inside of a script: nothing of it ends the element.
fn script_text(data: &Value) -> String {
    data.to_string().replace('<', "\\u003c")
}

/// What is another text wherever the document is. It tells versions of a page apart, and needs no secret.
fn tag(document: &str) -> String {
    let mut hasher = DefaultHasher::new();
    hasher.write(document.as_bytes());
    format!("\"{:016x}\"", hasher.finish())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_text_ends_the_script_that_it_stands_in() {
        let text = script_text(&json!({ "name": "</script><script>alert(1)//<!--" }));
        assert!(!text.contains('<'), "{text}");
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["name"], "</script><script>alert(1)//<!--");
    }
}
