//! Renders the parts that all pages of an issuer share.

use maud::{Markup, html};
use signpost_platform::pages::frame::{Frame, Layout};
use signpost_platform::pages::icons::PageIcon;

use super::context::IssuerContext;
use super::words::{ProviderWords, provider_words};
use crate::authorizations::host_of;
use crate::clients::Client;

impl IssuerContext {
    pub(super) fn words(&self) -> &'static ProviderWords {
        provider_words(self.language)
    }

    /// Renders a single-column page. `state` is the value of `data-state`. A page that `is_reloadable` can be loaded
    /// with only its path, and therefore in another language.
    pub(super) fn draw(&self, title: &str, state: &str, body: &Markup, is_reloadable: bool) -> String {
        self.draw_with_head(title, state, body, is_reloadable, html! {})
    }

    /// Renders a single-column page with additional elements in its head.
    pub(super) fn draw_with_head(
        &self,
        title: &str,
        state: &str,
        body: &Markup,
        is_reloadable: bool,
        head: Markup,
    ) -> String {
        let main = html! {
            main #main .sheet.one tabindex="-1" data-state=(state) {
                section.who aria-labelledby="t" { (body) }
            }
        };
        let frame = Frame::new(self.language, title, &self.service.origin, Layout::Sheet, main);
        Frame { is_translated: is_reloadable, head, ..frame }.render()
    }
}

/// Renders a name in a sentence: bold, with a separate text direction.
pub(super) fn name(text: &str) -> Markup {
    html! { b { bdi { (text) } } }
}

/// Renders the heading of a page, with an icon.
pub(super) fn headed(icon: PageIcon, head: &Markup, text: &Markup) -> Markup {
    html! {
        (icon.draw(40))
        div.stack-sm { h1 #t { (head) } p.lead { (text) } }
    }
}

/// Returns the name of a client, or the host of the redirect URI if it has none.
pub(super) fn application_of(client: &Client, redirect_uri: &str) -> String {
    match &client.settings.name {
        Some(name) => name.as_str().to_owned(),
        None => host_of(redirect_uri),
    }
}
