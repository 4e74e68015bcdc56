//! The HTML document around the `<main>` element of every page.

use maud::{DOCTYPE, Markup, html};
use url::Url;

use super::assets::{ICON, STYLESHEET};
use super::icons;
use super::language::Language;
use super::words::frame_words;
use crate::origin::PublicOrigin;

/// The layout of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// A centred sheet: `<main id="main" class="sheet">`, with the further class `one` if it has a
    /// single column.
    Sheet,
    /// A column of text: `<main id="main" class="wrap">`.
    Column,
}

/// A page to be rendered, with everything around its `<main>` element.
#[derive(Clone, Debug)]
pub struct Frame<'a> {
    /// The language of the page.
    pub language: Language,
    /// Set if the page exists in all other languages, too.
    pub is_translated: bool,
    /// The title, with the most specific part first.
    pub title: &'a str,
    /// The origin of the page.
    pub origin: &'a PublicOrigin,
    /// The layout of the page.
    pub layout: Layout,
    /// Additional elements of the head, such as scripts.
    pub head: Markup,
    /// Links at the top of the page, before the links to other languages.
    pub nav: Markup,
    /// The query before the parameter `lang` in links to other languages. It is empty, or ends with
    /// `&`.
    pub query_prefix: &'a str,
    /// The whole element `<main id="main">`, including its attributes.
    pub main: Markup,
    /// Additional text in the footer.
    pub foot: Markup,
    /// Links in the footer.
    pub foot_links: Markup,
}

impl<'a> Frame<'a> {
    /// Creates a page without additional elements in its head and footer.
    #[must_use]
    pub fn new(language: Language, title: &'a str, origin: &'a PublicOrigin, layout: Layout, main: Markup) -> Self {
        Self {
            language,
            is_translated: true,
            title,
            origin,
            layout,
            head: Markup::default(),
            nav: Markup::default(),
            query_prefix: "",
            main,
            foot: Markup::default(),
            foot_links: Markup::default(),
        }
    }

    /// Renders the HTML document.
    #[must_use]
    pub fn render(&self) -> String {
        let words = frame_words(self.language);
        let top = match self.layout {
            Layout::Sheet => "top bare",
            Layout::Column => "top",
        };
        let others = Language::ALL.into_iter().filter(|other| *other != self.language);
        let document = html! {
            (DOCTYPE)
            html lang=(self.language.tag()) {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { (signpost_text::clean_line(self.title)) }
                    link rel="stylesheet" href=(STYLESHEET.link(self.origin));
                    link rel="icon" type="image/svg+xml" href=(ICON.link(self.origin));
                    (self.head)
                }
                body {
                    a.skip href="#main" { (words.skip) }
                    header class=(top) {
                        a.brand href=(self.origin.link("/")) { (icons::logo()) bdi { (self.origin.host()) } }
                        @if self.is_translated {
                            nav aria-label=(words.nav) {
                                (self.nav)
                                @for other in others {
                                    a href={ "?" (self.query_prefix) "lang=" (other.tag()) } lang=(other.tag()) hreflang=(other.tag()) {
                                        (other.native_name())
                                    }
                                }
                            }
                        }
                    }
                    (self.main)
                    footer.foot {
                        p { ((words.operator_notice)(&html! { bdi { (self.origin.host()) } })) " " (self.foot) }
                        (self.foot_links)
                    }
                }
            }
        };
        document.into_string()
    }
}

/// Returns the `<meta>` element of a page that redirects the browser to a URL. The page should also
/// contain a link. A form that leads to another site returns such a page, because the policy
/// `form-action` would block a redirect.
#[must_use]
pub fn refresh_to(url: &Url) -> Markup {
    html! { meta http-equiv="refresh" content={ "0;url=" (url) }; }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(language: Language, title: &str, main: Markup) -> String {
        let origin = PublicOrigin::new("https://login.test");
        Frame::new(language, title, &origin, Layout::Sheet, main).render()
    }

    #[test]
    fn page_links_to_its_other_languages() {
        for (language, tag, other) in [(Language::English, "en", "es"), (Language::Spanish, "es", "en")] {
            let page = render(language, "x", html! {});
            assert!(page.starts_with(&format!("<!DOCTYPE html><html lang=\"{tag}\">")), "{page}");
            assert!(page.contains(&format!("<a href=\"?lang={other}\" lang=\"{other}\"")), "{page}");
            assert!(!page.contains(&format!("?lang={tag}\"")), "{page}");
        }
    }

    #[test]
    fn untranslated_page_has_no_language_links() {
        let origin = PublicOrigin::new("https://login.test");
        let frame = Frame::new(Language::English, "x", &origin, Layout::Column, html! {});
        assert!(!Frame { is_translated: false, ..frame }.render().contains("?lang="));
    }

    #[test]
    fn input_is_escaped_and_isolated() {
        let input = "<script>alert(1)</script>\"&'\u{202e}\u{5d0}";
        let page = render(Language::English, input, html! { main #main { p { bdi { (input) } } } });
        assert!(!page.contains("<script"), "{page}");
        assert!(page.contains("<title>&lt;script&gt;alert(1)&lt;/script&gt;&quot;&amp;'\u{5d0}</title>"), "{page}");
        assert!(page.contains("<bdi>&lt;script&gt;"), "{page}");
    }

    #[test]
    fn a_page_has_nothing_inline() {
        let page = render(Language::English, "x", html! { main #main {} });
        for inline in ["<style", "style=", "<script", " on", "javascript:"] {
            let found = page.find(inline).map(|at| &page[at..(at + 40).min(page.len())]);
            assert!(found.is_none_or(|text| text.starts_with(" one")), "{found:?}");
        }
    }

    #[test]
    fn the_target_of_a_refresh_is_escaped() {
        let url = Url::parse("https://shop.test/?a=\"><script>&b='").unwrap();
        let meta = "<meta http-equiv=\"refresh\" content=\"0;url=https://shop.test/?a=%22%3E%3Cscript%3E&amp;b=%27\">";
        assert_eq!(refresh_to(&url).into_string(), meta);
    }
}
