//! What every state of a login page is drawn with. What it says comes from [`words`](super::words), what it shows from a
//! [`LoginView`]; nothing here decides.

use maud::{Markup, PreEscaped, html};
use signpost_platform::origin::PublicOrigin;
use signpost_platform::pages::Language;
use signpost_platform::pages::form::FormToken;

use super::view::LoginView;
use super::words::{LoginWords, login_words};

/// Where the seconds of the countdown stand in a document that is kept: a character that no text of ours has, and no
/// cleaned text of strangers.
pub(crate) const SECONDS_MARK: char = '\0';

/// A page to be rendered for the browser that owns it.
#[derive(Clone, Debug)]
pub(crate) struct LoginDocument<'a> {
    pub(crate) view: &'a LoginView,
    pub(crate) language: Language,
    pub(crate) origin: &'a PublicOrigin,
    /// The page's own path, to which its forms add a word.
    pub(crate) path: String,
    pub(crate) token: FormToken,
}

impl LoginDocument<'_> {
    pub(crate) fn words(&self) -> &'static LoginWords {
        login_words(self.language)
    }

    /// Where a form posts to.
    pub(crate) fn action(&self, word: &str) -> String {
        format!("{}/{word}?lang={}", self.path, self.language.tag())
    }

    /// The domain, as the largest word or inside of a text.
    pub(crate) fn domain(&self) -> Markup {
        name(&self.view.site.domain)
    }

    /// What the address bar must say.
    pub(crate) fn host(&self) -> Markup {
        name(self.origin.host())
    }

    /// The attributes of `<main>` that the script reads are the same in every state: `data-state`, `data-version`, and what
    /// it says aloud.
    pub(crate) fn main(&self, class: &str, says: &str, body: &Markup) -> Markup {
        let (view, words) = (self.view, self.words());
        html! {
            main #main class=(class) tabindex="-1" data-state=(view.state.as_str())
                data-version=(view.version()) data-says=(says) data-answered=(words.answered)
                data-new-code=(words.new_code) data-seconds-left=(words.seconds_left)
                data-last[view.state.is_last()] {
                p #live .vh role="status" {}
                (body)
            }
        }
    }
}

/// A name inside of a sentence: bold, and its direction is its own.
pub(crate) fn name(text: &str) -> Markup {
    html! { b { bdi { (text) } } }
}

/// The mark for the seconds.
pub(crate) fn seconds() -> Markup {
    PreEscaped(SECONDS_MARK.to_string())
}
