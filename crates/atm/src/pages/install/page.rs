//! The installation page for MCP clients, rendered once in each language, and its Markdown version.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::response::IntoResponse;
use axum::routing::get;
use maud::{Markup, html};
use signpost_mcp::OpenPage;
use signpost_platform::pages::accept::prefers_html;
use signpost_platform::pages::icons::PageIcon;
use signpost_platform::pages::{Asset, Frame, HtmlPage, Language, Layout};

use super::{InstallWords, ServerAddress, install_words, markdown, panels};
use crate::service::AtmService;

/// Time to use the page in a browser without revalidation.
const MAX_AGE: Duration = Duration::from_mins(5);

/// The stylesheet and the script of the installation page, in addition to the common stylesheet.
pub const INSTALL_ASSETS: [Asset; 2] = [INSTALL_STYLES, COPY_SCRIPT];
const INSTALL_STYLES: Asset =
    Asset::new("install", "css", "text/css; charset=utf-8", include_bytes!("../../../assets/install/install.css"));
/// The script of the button that copies the server's address.
pub(crate) const COPY_SCRIPT: Asset =
    Asset::new("copy", "js", "text/javascript; charset=utf-8", include_bytes!("../../../assets/install/copy.js"));

/// Renders the page in each language, and returns the handler that serves it at `/mcp` to browsers.
pub(crate) fn page(service: &AtmService) -> OpenPage {
    let pages = Language::ALL.map(|language| (language, render(service, language)));
    Arc::new(move |request: &Parts| {
        if !prefers_html(&request.headers) {
            return None;
        }
        let language = Language::choose(&request.uri, &request.headers);
        let (_, document) = pages.iter().find(|(of, _)| *of == language)?;
        Some(HtmlPage::public(document.clone(), MAX_AGE).into_response())
    })
}

/// Returns the route of the Markdown version.
pub(crate) fn router(service: &AtmService) -> Router<AtmService> {
    let text = markdown::render(&ServerAddress::of(service), install_words(Language::English));
    let headers = [(CONTENT_TYPE, "text/markdown; charset=utf-8"), (CACHE_CONTROL, "max-age=300")];
    Router::new().route("/mcp.md", get((headers, text)))
}

fn render(service: &AtmService, language: Language) -> String {
    let words = install_words(language);
    let place = ServerAddress::of(service);
    let main = html! {
        main #main .wrap {
            div.hero-install {
                div.stack {
                    h1 { (words.title) }
                    (address(&place, words))
                }
                (example(words))
            }
            (panels::clients(&place, words))
            section.tools-part aria-labelledby="tools" {
                h2 #tools { (words.tools) }
                dl.tools {
                    @for (name, text) in words.tools_by_name() {
                        div { dt { code { (name) } } dd.soft { (text) } }
                    }
                }
            }
        }
    };
    let head = html! {
        link rel="stylesheet" href=(INSTALL_STYLES.link(&service.origin));
        @if service.public_url.is_some() { link rel="canonical" href={ (service.public_address) "/mcp" }; }
        script type="module" src=(COPY_SCRIPT.link(&service.origin)) {}
    };
    let nav = html! { a.wide-only href=(service.origin.link("/about/data")) { (words.about_data) } };
    Frame { head, nav, ..Frame::new(language, words.tab, &service.origin, Layout::Column, main) }.render()
}

/// Renders the server's address with a copy button. A script shows the button; without scripts, a click selects the
/// address.
fn address(place: &ServerAddress<'_>, words: &InstallWords) -> Markup {
    let Some(address) = &place.address else {
        return html! {
            div.notice.warn {
                (PageIcon::Info.draw(20))
                div { h2 { (words.no_address) } p { (words.no_address_text) } }
            }
        };
    };
    let asks_others = place.service.catalogue.geocoder.is_some();
    html! {
        p.lead { (words.lead) }
        div.url {
            code #address { (address) }
            button #copy .btn.small.primary type="button" hidden data-copied=(words.copied) {
                (panels::icon("M7 7h10v10H7zM13 4.5A1.5 1.5 0 0 0 11.5 3h-7A1.5 1.5 0 0 0 3 4.5v7A1.5 1.5 0 0 0 4.5 13"))
                (words.copy)
            }
        }
        p #copied .vh role="status" {}
        p.sm.soft { (if asks_others { words.privacy_with_geocoder } else { words.privacy }) }
    }
}

fn example(words: &InstallWords) -> Markup {
    html! {
        div.chat role="group" aria-label=(words.example) {
            p.q { (words.question) }
            div.stack-sm {
                p { (words.answer) }
                ol {
                    @for (name, text) in [words.first, words.second] { li { b { (name) } (text) } }
                }
                p.sm.soft { (words.warning) }
            }
        }
    }
}
