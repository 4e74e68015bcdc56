//! The parts that all account pages share.

use maud::{Markup, html};
use signpost_platform::pages::frame::{Frame, Layout};
use signpost_platform::pages::icons::Sign;

use super::context::AccountContext;
use super::words::{AccountMessage, AccountWords, account_words};
use crate::domains::Domain;

impl AccountContext {
    pub(super) fn words(&self) -> &'static AccountWords {
        account_words(self.language)
    }

    /// Renders a single-column page from its title, the word in `data-state`, and its body.
    pub(super) fn render(&self, title: &str, state: &str, body: &Markup) -> String {
        let main = html! {
            main #main .sheet.one tabindex="-1" data-state=(state) {
                section.who aria-labelledby="t" { (body) }
            }
        };
        Frame::new(self.language, title, &self.service.origin, Layout::Sheet, main).render()
    }
}

/// Renders a name within a sentence: bold, with a separate text direction.
pub(super) fn name(text: &str) -> Markup {
    html! { b { bdi { (text) } } }
}

/// Renders the domain as the heading, with its display name.
pub(super) fn domain_heading(words: &AccountWords, domain: &Domain) -> Markup {
    html! {
        div {
            h1 #t {
                small { (words.account_at) }
                span.domain { bdi { (domain.name) } }
            }
            @if let Some(name) = &domain.display_name { p.called.soft { bdi { (name.as_str()) } } }
        }
    }
}

/// Renders a message with a sign.
pub(super) fn message(sign: Sign, message: &AccountMessage) -> Markup {
    headed(sign, &html! { (message.head) }, &html! { (message.text) })
}

/// Renders a heading and a text with a sign.
pub(super) fn headed(sign: Sign, head: &Markup, text: &Markup) -> Markup {
    html! {
        (sign.draw(40))
        div.stack-sm { h1 #t { (head) } p.lead { (text) } }
    }
}
