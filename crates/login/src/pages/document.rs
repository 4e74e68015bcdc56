//! Renders the parts that all states of a login page share. The texts come from
//! [`words`](super::words), the values from a [`LoginView`].

use maud::{Markup, PreEscaped, html};
use signpost_platform::origin::PublicOrigin;
use signpost_platform::pages::Language;
use signpost_platform::pages::form::CsrfToken;

use super::view::LoginView;
use super::words::{LoginWords, login_words};

/// The placeholder for the seconds of the countdown in a cached document: a character that neither the page's own texts
/// nor sanitized user input contain.
pub(crate) const SECONDS_PLACEHOLDER: char = '\0';

/// The input of the rendering functions: a view of a login page, with the language and the tokens
/// of its browser.
#[derive(Clone, Debug)]
pub(crate) struct LoginDocument<'a> {
    pub(crate) view: &'a LoginView,
    pub(crate) language: Language,
    pub(crate) origin: &'a PublicOrigin,
    /// The path of the page. The target of each form appends a segment to it.
    pub(crate) path: String,
    pub(crate) token: CsrfToken,
}

impl LoginDocument<'_> {
    pub(crate) fn words(&self) -> &'static LoginWords {
        login_words(self.language)
    }

    /// Returns the target of a form.
    pub(crate) fn action(&self, word: &str) -> String {
        format!("{}/{word}?lang={}", self.path, self.language.tag())
    }

    /// Renders the domain as part of a sentence.
    pub(crate) fn domain(&self) -> Markup {
        name(&self.view.site.domain)
    }

    /// Renders the host that the address bar must show.
    pub(crate) fn host(&self) -> Markup {
        name(self.origin.host())
    }

    /// Renders `<main>` with the attributes that the script reads in every state: `data-state`, `data-version`, and the
    /// texts for screen readers.
    pub(crate) fn main(&self, class: &str, status: &str, body: &Markup) -> Markup {
        let view = self.view;
        let words = self.words();
        html! {
            main #main class=(class) tabindex="-1" data-state=(view.state.as_str())
                data-version=(view.version()) data-says=(status) data-answered=(words.answered)
                data-new-code=(words.new_code) data-seconds-left=(words.seconds_left)
                data-last[view.state.is_last()] {
                p #live .vh role="status" {}
                (body)
            }
        }
    }
}

/// Renders a name within a sentence: bold, with a separate text direction.
pub(crate) fn name(text: &str) -> Markup {
    html! { b { bdi { (text) } } }
}

/// Renders the placeholder for the seconds.
pub(crate) fn seconds() -> Markup {
    PreEscaped(SECONDS_PLACEHOLDER.to_string())
}
