//! Renders the parts that all account pages share: the frame, headings, names and messages.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use maud::{Markup, html};
use signpost_platform::pages::frame::{Frame, Layout};
use signpost_platform::pages::icons::PageIcon;

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

/// Renders a day in UTC.
pub(super) fn day(words: &AccountWords, at: Timestamp) -> Markup {
    let date = at.to_zoned_datetime(TimeZone::UTC).date();
    html! { time datetime=(date) { ((words.day)(date)) } }
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

/// Renders a message with an icon.
pub(super) fn message(icon: PageIcon, message: &AccountMessage) -> Markup {
    headed(icon, &html! { (message.head) }, &html! { (message.text) })
}

/// Renders a heading and a text with an icon.
pub(super) fn headed(icon: PageIcon, head: &Markup, text: &Markup) -> Markup {
    html! {
        (icon.draw(40))
        div.stack-sm { h1 #t { (head) } p.lead { (text) } }
    }
}
