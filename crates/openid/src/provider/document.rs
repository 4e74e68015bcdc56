//! What every page of an issuer is drawn with.

use maud::{Markup, html};
use signpost_platform::pages::frame::{Frame, Layout};
use signpost_platform::pages::icons::Sign;

use super::visit::RealmVisit;
use super::words::{ProviderWords, provider_words};
use crate::authorizations::host_of;
use crate::clients::Client;

impl RealmVisit {
    pub(super) fn words(&self) -> &'static ProviderWords {
        provider_words(self.language)
    }

    /// A page of one column: its tab, the word in `data-state`, and what stands in it. One that is `there_again` can be
    /// loaded by its path alone, and so in another language.
    pub(super) fn draw(&self, title: &str, state: &str, body: &Markup, is_there_again: bool) -> String {
        self.draw_with_head(title, state, body, is_there_again, html! {})
    }

    /// The same with more in its head.
    pub(super) fn draw_with_head(
        &self,
        title: &str,
        state: &str,
        body: &Markup,
        is_there_again: bool,
        head: Markup,
    ) -> String {
        let main = html! {
            main #main .sheet.one tabindex="-1" data-state=(state) {
                section.who aria-labelledby="t" { (body) }
            }
        };
        let frame = Frame::new(self.language, title, &self.service.origin, Layout::Sheet, main);
        Frame { is_translated: is_there_again, head, ..frame }.render()
    }
}

/// A name inside of a sentence: bold, and its direction is its own.
pub(super) fn name(text: &str) -> Markup {
    html! { b { bdi { (text) } } }
}

/// What happened, with a sign.
pub(super) fn headed(sign: Sign, head: &Markup, text: &Markup) -> Markup {
    html! {
        (sign.draw(40))
        div.stack-sm { h1 #t { (head) } p.lead { (text) } }
    }
}

/// What people call an application: what its operator named it, else where it is.
pub(super) fn application_of(client: &Client, redirect_uri: &str) -> String {
    let named = client.settings.name.as_ref().map(|name| name.as_str().to_owned());
    named.unwrap_or_else(|| host_of(redirect_uri))
}
