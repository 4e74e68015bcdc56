//! Renders the page of the browser wallet, its service worker and its manifest once when the server
//! starts. They contain no user data.

use axum::http::HeaderValue;
use bytes::Bytes;
use maud::{Markup, html};
use serde_json::{Value, json};
use signpost_platform::accounts::Environment;
use signpost_platform::origin::PublicOrigin;
use signpost_platform::pages::assets::{AssetFolder, COMMON_ASSETS};
use signpost_platform::pages::{Frame, Language, Layout};

use super::files::{FILES, ICON_NAME, NOTICE_NAME, SCRIPT_NAME, SERVICE_WORKER};
use super::screens::screens;
use super::texts::texts;
use super::words::{WalletWords, wallet_words};
use crate::service::LoginService;

/// The responses of the wallet's routes.
#[derive(Debug)]
pub(super) struct WalletShell {
    /// The origin of the wallet.
    origin: PublicOrigin,
    /// The origin of the login host, if the wallet has a different origin.
    pub(super) login_origin: Option<PublicOrigin>,
    pub(super) folder: AssetFolder,
    pub(super) worker: Bytes,
    /// The maximum scope of the worker.
    pub(super) scope: HeaderValue,
    documents: [Bytes; Language::ALL.len()],
}

/// The data about the server that the wallet's page contains.
struct ShellFacts<'a> {
    origin: &'a PublicOrigin,
    /// The login host, as the address bar shows it.
    host: &'a str,
    /// The URLs for answers, without the mode.
    handlers: String,
}

impl WalletShell {
    /// Renders the wallet at an origin, possibly the login host's.
    pub(super) fn new(service: &LoginService, origin: &PublicOrigin) -> Self {
        let environments = Environment::ALL.into_iter().filter(|one| service.settings.wallet.is_offered(*one));
        let handlers: Vec<_> =
            environments.map(|one| format!("{}{}/hosted", service.public_address, one.path())).collect();
        let facts = ShellFacts { origin, host: service.origin.host(), handlers: handlers.join(" ") };
        // The pages contain a version that also depends on their own content, so they are rendered
        // twice.
        let draft = Language::ALL.map(|language| draw(&facts, language, &AssetFolder::new("/wallet", Vec::new(), "")));
        let folder = AssetFolder::new("/wallet", FILES.to_vec(), &(draft.concat() + SERVICE_WORKER));
        let documents = Language::ALL.map(|language| draw(&facts, language, &folder).into());
        let scope = origin.link("/wallet");
        let worker = format!("const SHELL = {};\n{SERVICE_WORKER}", list(origin, &folder)).into();
        let scope = HeaderValue::try_from(scope).expect("the path of a URL is printable");
        let login_origin = (origin != &service.origin).then(|| service.origin.clone());
        Self { origin: origin.clone(), login_origin, folder, worker, scope, documents }
    }

    /// Returns the page.
    pub(super) fn document(&self, language: Language) -> &Bytes {
        let at = Language::ALL.into_iter().position(|one| one == language);
        &self.documents[at.unwrap_or_default()]
    }

    /// Returns the manifest for installation (W3C, Web Application Manifest).
    pub(super) fn manifest(&self, language: Language) -> Value {
        let words = wallet_words(language);
        let start = self.origin.link("/wallet");
        let icon = self.folder.link(&self.origin, ICON_NAME);
        json!({
            "id": start, "start_url": start, "scope": start, "lang": language.tag(), "display": "standalone",
            "name": format!("{} · {}", words.title, self.origin.host()), "short_name": words.title,
            "background_color": "#f4f6f5", "theme_color": "#0a6b47",
            "icons": [{ "src": icon, "type": "image/svg+xml", "sizes": "any", "purpose": "any maskable" }],
        })
    }
}

/// Returns the list of files that the worker caches.
fn list(origin: &PublicOrigin, folder: &AssetFolder) -> Value {
    let mut files = folder.links(origin);
    files.extend(COMMON_ASSETS.map(|asset| asset.link(origin)));
    json!({ "version": folder.version(), "page": origin.link("/wallet"), "files": files })
}

fn draw(facts: &ShellFacts<'_>, language: Language, folder: &AssetFolder) -> String {
    let words = wallet_words(language);
    let origin = facts.origin;
    let head = html! {
        link rel="manifest" href={ (origin.link("/wallet/manifest.webmanifest")) "?lang=" (language.tag()) };
        link rel="apple-touch-icon" href=(folder.link(origin, ICON_NAME));
        meta name="theme-color" content="#0a6b47";
        script type="module" src=(folder.link(origin, SCRIPT_NAME)) {}
    };
    let main = main(facts, words, folder);
    let foot = html! { (words.footer) " " a href=(folder.link(origin, NOTICE_NAME)) lang="en" hreflang="en" { (words.licences) } };
    Frame { head, foot, ..Frame::new(language, words.title, origin, Layout::Sheet, main) }.render()
}

fn main(facts: &ShellFacts<'_>, words: &WalletWords, folder: &AssetFolder) -> Markup {
    let origin = facts.origin;
    html! {
        main #main .sheet.one tabindex="-1" data-state="loading" data-host=(facts.host) data-handlers=(facts.handlers)
            data-version=(folder.version()) data-worker=(origin.link("/wallet/sw.js"))
            data-scope=(origin.link("/wallet")) {
            p #live .vh role="status" {}
            noscript { section.who { h1 { (words.title) } p { (words.needs_script) } } }
            (screens(words))
            (texts(words))
        }
    }
}
