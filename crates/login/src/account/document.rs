//! What every account page is drawn with.

use maud::{Markup, html};
use signpost_platform::pages::frame::{Frame, Layout};
use signpost_platform::pages::icons::Sign;

use super::visit::AccountVisit;
use super::words::{AccountWords, account_words};
use crate::domains::Domain;

impl AccountVisit {
    pub(super) fn words(&self) -> &'static AccountWords {
        account_words(self.language)
    }

    /// A page of one column: its tab, the word in `data-state`, and what stands in it.
    pub(super) fn draw(&self, title: &str, state: &str, body: &Markup) -> String {
        let main = html! {
            main #main .sheet.one tabindex="-1" data-state=(state) {
                section.who aria-labelledby="t" { (body) }
            }
        };
        Frame::new(self.language, title, &self.service.origin, Layout::Sheet, main).render()
    }
}

/// A name inside of a sentence: bold, and its direction is its own.
pub(super) fn name(text: &str) -> Markup {
    html! { b { bdi { (text) } } }
}

/// The domain as the largest word, with what the integrator calls it.
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

/// What happened, with a sign.
pub(super) fn headed(sign: Sign, head: &Markup, text: &Markup) -> Markup {
    html! {
        (sign.draw(40))
        div.stack-sm { h1 #t { (head) } p.lead { (text) } }
    }
}
