//! The frame of every page: what stands around its `<main>`.

use maud::{DOCTYPE, Markup, html};
use url::Url;

use super::assets::{ICON, STYLESHEET};
use super::icons;
use super::language::Language;
use super::words::frame_words;
use crate::origin::PublicOrigin;

/// How a page fills the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One sheet in the middle: `<main id="main" class="sheet">`, with `one` where it has a single column.
    Sheet,
    /// A column of text: `<main id="main" class="wrap">`.
    Column,
}

/// A page, with what its own room says about it.
#[derive(Clone, Debug)]
pub struct Frame<'a> {
    /// The language of all of it.
    pub language: Language,
    /// Whether it is there in the other languages too.
    pub is_translated: bool,
    /// The text of the tab, without what a reader cannot see; what happened comes first.
    pub title: &'a str,
    /// Where the page stands.
    pub origin: &'a PublicOrigin,
    /// How it fills the window.
    pub layout: Layout,
    /// What else its head has: scripts, where it goes by itself.
    pub head: Markup,
    /// Links at its top, before the other languages.
    pub nav: Markup,
    /// What stands before the language in the query of its address in another one: nothing, or a query that ends in `&`.
    pub kept_query: &'a str,
    /// The whole `<main id="main">`, with its attributes.
    pub main: Markup,
    /// What the foot says behind who runs the page.
    pub foot: Markup,
    /// Links in the foot.
    pub foot_links: Markup,
}

impl<'a> Frame<'a> {
    /// A page with nothing more in its head and foot.
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
            kept_query: "",
            main,
            foot: Markup::default(),
            foot_links: Markup::default(),
        }
    }

    /// The whole document.
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
                    title { (signpost_text::line(self.title)) }
                    link rel="stylesheet" href=(STYLESHEET.link(self.origin));
                    link rel="icon" type="image/svg+xml" href=(ICON.link(self.origin));
                    (self.head)
                }
                body {
                    a.skip href="#main" { (words.skip) }
                    header class=(top) {
                        a.brand href=(self.origin.link("/")) { (icons::brand()) bdi { (self.origin.host()) } }
                        @if self.is_translated {
                            nav aria-label=(words.nav) {
                                (self.nav)
                                @for other in others {
                                    a href={ "?" (self.kept_query) "lang=" (other.tag()) } lang=(other.tag()) hreflang=(other.tag()) {
                                        (other.own_name())
                                    }
                                }
                            }
                        }
                    }
                    (self.main)
                    footer.foot {
                        p { ((words.who_runs)(&html! { bdi { (self.origin.host()) } })) " " (self.foot) }
                        (self.foot_links)
                    }
                }
            }
        };
        document.into_string()
    }
}

/// For the head of a page that goes on by itself, with a link in its text for whoever stays: what a POST that ends on
/// another site answers, for a redirect would be held against `form-action`.
#[must_use]
pub fn refresh_to(url: &Url) -> Markup {
    html! { meta http-equiv="refresh" content={ "0;url=" (url) }; }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(language: Language, title: &str, main: Markup) -> String {
        let origin = PublicOrigin::of("https://login.test");
        Frame::new(language, title, &origin, Layout::Sheet, main).render()
    }

    #[test]
    fn a_page_says_its_language_and_offers_the_others() {
        for (language, tag, other) in [(Language::English, "en", "es"), (Language::Spanish, "es", "en")] {
            let page = render(language, "x", html! {});
            assert!(page.starts_with(&format!("<!DOCTYPE html><html lang=\"{tag}\">")), "{page}");
            assert!(page.contains(&format!("<a href=\"?lang={other}\" lang=\"{other}\"")), "{page}");
            assert!(!page.contains(&format!("?lang={tag}\"")), "{page}");
        }
    }

    #[test]
    fn a_page_in_one_language_offers_no_other() {
        let origin = PublicOrigin::of("https://login.test");
        let frame = Frame::new(Language::English, "x", &origin, Layout::Column, html! {});
        assert!(!Frame { is_translated: false, ..frame }.render().contains("?lang="));
    }

    #[test]
    fn no_input_is_markup_and_none_turns_the_line() {
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
    fn where_a_page_goes_by_itself_is_escaped() {
        let url = Url::parse("https://shop.test/?a=\"><script>&b='").unwrap();
        let meta = "<meta http-equiv=\"refresh\" content=\"0;url=https://shop.test/?a=%22%3E%3Cscript%3E&amp;b=%27\">";
        assert_eq!(refresh_to(&url).into_string(), meta);
    }
}
