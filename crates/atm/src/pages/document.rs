//! The HTML document of a page: its head and frame, and the replies from the cache of rendered pages.

use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;
use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use maud::{Markup, PreEscaped, html};
use serde_json::Value;
use signpost_locator::DataDates;
use signpost_platform::pages::compressed::Compressed;
use signpost_platform::pages::{DeviceUse, Frame, HtmlPage, Language, Layout};
use signpost_platform::web::problem::Problem;

use super::context::PageContext;
use super::data_date::data_date;
use super::{LOCATOR_PREVIEW, LOCATOR_STYLES, NEAR_SCRIPT};
use crate::page_cache::CachedPage;
use crate::processor;

/// Time to use a page in a browser without revalidation. It is zero, so that users see their own report immediately and
/// no outdated page shows a closed ATM as open. Revalidation is cheap if nothing changed.
const MAX_AGE: Duration = Duration::ZERO;

/// The content and metadata of a locator page. Every locator page has a search form with the button for the user's
/// location, so every page may ask for the location, and loads the script of the button.
#[derive(Debug)]
pub(super) struct LocatorDocument<'a> {
    /// The `<title>` of the page.
    pub(super) title: String,
    /// The description for search results, one sentence.
    pub(super) description: String,
    /// The canonical path of the page, including the page number of a list.
    pub(super) path: &'a str,
    /// The query that precedes the `lang` parameter in links to other languages.
    pub(super) query_prefix: String,
    /// Whether search engines may index the page.
    pub(super) is_listed: bool,
    /// Whether the page is the canonical view of its path, rather than a filtered view.
    pub(super) has_address: bool,
    /// The dates of the ATMs on the page; `None` for the dates of the whole catalogue.
    pub(super) dates: Option<DataDates>,
    /// The structured data of the page (schema.org JSON-LD).
    pub(super) linked_data: Vec<Value>,
    /// Additional elements of the head, such as scripts.
    pub(super) head: Markup,
    /// The `<main id="main">` element.
    pub(super) main: Markup,
}

impl<'a> LocatorDocument<'a> {
    /// Creates a canonical page that search engines may index, without structured data and scripts.
    pub(super) fn new(path: &'a str, title: String, description: String, main: Markup) -> Self {
        Self {
            title,
            description,
            path,
            query_prefix: String::new(),
            is_listed: true,
            has_address: true,
            dates: None,
            linked_data: Vec::new(),
            head: Markup::default(),
            main,
        }
    }

    /// Renders a page that is identical for all users, and adds it to the cache.
    pub(super) fn public(self, context: &PageContext) -> Response {
        let is_listed = self.is_listed && !context.snapshot.is_sample();
        let document = Self { is_listed, ..self }.render(context);
        let page = CachedPage {
            tag: tag(&document),
            document: Compressed::new(document),
            is_listed,
            rendered_at: context.now,
            until: context.moment().lasts_until(),
        };
        context.service.page_cache.put(&context.snapshot, context.cache_key(), page.clone());
        reply(context, &page)
    }

    /// Renders a page for a single user. The page must not be cached or indexed.
    pub(super) fn personal(self, context: &PageContext, status: StatusCode) -> Response {
        let document = Self { is_listed: false, has_address: false, ..self }.render(context);
        HtmlPage::personal(document).with_status(status).with_device_use(DeviceUse::Location).into_response()
    }

    fn render(self, context: &PageContext) -> String {
        let words = context.words();
        let origin = &context.service.origin;
        let dates = self.dates.unwrap_or_else(|| context.snapshot.dates());
        let head = html! {
            link rel="stylesheet" href=(LOCATOR_STYLES.link(origin));
            meta name="description" content=(signpost_text::clean_line(&self.description));
            @if !self.is_listed { meta name="robots" content="noindex"; }
            script type="module" src=(NEAR_SCRIPT.link(origin)) {}
            (self.addresses(context))
            @for data in &self.linked_data { script type="application/ld+json" { (PreEscaped(script_text(data))) } }
            (self.head)
        };
        let frame = Frame::new(context.language, &self.title, origin, Layout::Column, self.main);
        Frame {
            head,
            query_prefix: &self.query_prefix,
            nav: html! {
                a href=(context.link("/map")) { (words.map) }
                a.wide-only href=(context.link("/about/data")) { (words.about_data) }
                a.wide-only href=(context.link("/mcp")) { (words.for_assistants) }
            },
            foot: html! {
                @if context.snapshot.is_sample() { (words.sample_data) }
                @else if let Some(sentence) = data_date(context, dates) { (sentence) }
                " " (words.no_advice)
            },
            foot_links: html! {
                a href=(context.link("/about/data")) { (words.sources_and_licences) }
                a href={ (context.link("/about/data")) "#status" } { (words.how_status) }
                a.phone-only href=(context.link("/mcp")) { (words.for_assistants) }
            },
            ..frame
        }
        .render()
    }

    /// Returns the links to the page in each language, and the Open Graph metadata. The result is empty without a
    /// configured public URL, because the `Host` header of a request is not trusted.
    fn addresses(&self, context: &PageContext) -> Markup {
        if context.service.public_url.is_none() || !self.has_address {
            return Markup::default();
        }
        let address = context.service.public_address.clone() + self.path;
        let separator = if self.path.contains('?') { '&' } else { '?' };
        let in_language = |language: Language| format!("{address}{separator}lang={}", language.tag());
        let own = context.named_language.map_or_else(|| address.clone(), in_language);
        html! {
            link rel="canonical" href=(own);
            link rel="alternate" hreflang="x-default" href=(address);
            @for language in Language::ALL {
                link rel="alternate" hreflang=(language.tag()) href=(in_language(language));
            }
            meta property="og:type" content="website";
            meta property="og:title" content=(signpost_text::clean_line(&self.title));
            meta property="og:description" content=(signpost_text::clean_line(&self.description));
            meta property="og:url" content=(own);
            meta property="og:image" content={ (context.service.origin.as_str()) (LOCATOR_PREVIEW.link(&context.service.origin)) };
        }
    }
}

/// Returns the page from the cache, or renders it on a blocking thread.
pub(super) async fn cached_or_drawn(
    context: PageContext,
    draw: impl FnOnce(&PageContext) -> Response + Send + 'static,
) -> Response {
    match context.service.page_cache.get(&context.snapshot, &context.cache_key(), context.now) {
        Some(page) => reply(&context, &page),
        None => draw_apart(context, draw).await,
    }
}

/// Renders a page on a blocking thread.
pub(super) async fn draw_apart(
    context: PageContext,
    draw: impl FnOnce(&PageContext) -> Response + Send + 'static,
) -> Response {
    let drawn = processor::run(move |_| draw(&context)).await;
    drawn.unwrap_or_else(|error| Problem::from(error).into_response())
}

/// Returns the page, or 304 if the browser has its current version. The entity tag is weak, because it is identical for
/// the compressed and the uncompressed content.
fn reply(context: &PageContext, page: &CachedPage) -> Response {
    let is_current = context.has_current(&page.tag);
    let (body, is_compressed) =
        if is_current { (Bytes::new(), false) } else { page.document.choose_encoding(context.accepts_gzip) };
    let mut shown = HtmlPage::public(body, MAX_AGE)
        .with_device_use(DeviceUse::Location)
        .with_header(header::VARY, HeaderValue::from_static("accept-encoding"))
        .with_header(header::ETAG, HeaderValue::try_from(format!("W/{}", page.tag)).expect("hex is valid in a header"));
    if is_current {
        shown = shown.with_status(StatusCode::NOT_MODIFIED);
    }
    if is_compressed {
        shown = shown.with_header(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if !page.is_listed {
        shown = shown.with_header(HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex"));
    }
    shown.into_response()
}

/// Serializes JSON for a script element, escaped so that no text can end the element.
fn script_text(data: &Value) -> String {
    data.to_string().replace('<', "\\u003c")
}

/// Returns the entity tag of a document, a hash of its content.
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
    fn text_cannot_end_its_script() {
        let text = script_text(&json!({ "name": "</script><script>alert(1)//<!--" }));
        assert!(!text.contains('<'), "{text}");
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["name"], "</script><script>alert(1)//<!--");
    }
}
