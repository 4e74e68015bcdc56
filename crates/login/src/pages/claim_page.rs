//! Renders the page that a link from an operator leads to. The secret that claims it is in the
//! fragment of the link, which browsers send to no server: a bot that previews the link does not
//! claim the page. A script posts the fragment; without scripts, users paste the link.

use maud::html;
use signpost_platform::origin::PublicOrigin;
use signpost_platform::pages::frame::{Frame, Layout};
use signpost_platform::pages::icons::PageIcon;
use signpost_platform::pages::{Asset, Language};

use super::document::name;
use super::words::{HeadedText, login_words};
use crate::domains::Domain;

/// The script that posts the fragment of a link to the claim endpoint.
pub const CLAIM_SCRIPT: Asset =
    Asset::new("claim", "js", "text/javascript; charset=utf-8", include_bytes!("../../assets/claim.js"));

/// Renders the page that asks for the link, with the reason of a refusal. `path` is the path of the login page.
pub(crate) fn render_claim(
    (language, origin, path): (Language, &PublicOrigin, &str),
    domain: &Domain,
    refused: Option<&HeadedText>,
) -> String {
    let words = login_words(language);
    let state = if refused.is_some() { "claim-refused" } else { "claim" };
    let main = html! {
        main #main .sheet.one tabindex="-1" data-state=(state) data-last {
            section.who aria-labelledby="t" {
                (PageIcon::Key.draw(40))
                div.stack-sm {
                    h1 #t { (words.claim_head) }
                    p.lead { ((words.claim_text)(&name(domain.name.as_str()))) }
                }
                @if let Some(refused) = refused {
                    div.notice.danger role="alert" {
                        (PageIcon::Stop.draw(20))
                        div { p { b { (refused.head) } } p.sm { (refused.text) } }
                    }
                }
                form id="claim" class="stack" method="post" action={ (path) "/claim?lang=" (language.tag()) } {
                    div.field {
                        label for="link" { (words.claim_label) }
                        noscript { p.hint { (words.claim_without_script) } }
                        p.hint #link-hint { (words.claim_hint) }
                        input #link name="link" required autocomplete="off" spellcheck="false" autocapitalize="off"
                            aria-describedby="link-hint";
                    }
                    button.btn.primary.wide { (words.claim_button) }
                }
            }
        }
    };
    let head = html! { script type="module" src=(CLAIM_SCRIPT.link(origin)) {} };
    let title = format!("{} · {}", words.claim_head, domain.name);
    Frame { head, ..Frame::new(language, &title, origin, Layout::Sheet, main) }.render()
}
