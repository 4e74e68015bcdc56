//! The browser wallet (docs/browser-wallet.md), a page that creates keys, stores them in the
//! browser and answers login codes. The server delivers an identical page and identical scripts to
//! all users, and never receives a secret.

mod files;
mod screens;
mod shell;
mod texts;
mod words;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Redirect};
use axum::routing::get;
use signpost_platform::pages::html_page::DeviceUse;
use signpost_platform::pages::{HtmlPage, Language, assets};
use signpost_platform::web::problem::Problem;
use url::Url;

use crate::service::LoginService;
use crate::settings::WalletLocation;
use shell::WalletShell;

/// The browser wallet on a separate host that serves nothing else.
#[derive(Clone, Debug)]
pub struct WalletHost {
    name: String,
    /// The port, if the login host has this name too.
    port: Option<u16>,
    /// The routes of the host.
    pub router: Router,
}

/// Returns the wallet's routes on the login host; none if the wallet is off or has a separate host.
pub fn router(service: &LoginService) -> Router<LoginService> {
    match &service.settings.wallet {
        WalletLocation::LoginHost => routes(WalletShell::new(service, &service.origin)),
        WalletLocation::Off | WalletLocation::SeparateOrigin(_) => Router::new(),
    }
}

impl WalletHost {
    /// Returns the wallet's separate host, if any.
    ///
    /// # Panics
    /// Never: the configuration accepts only origins.
    #[must_use]
    pub fn from_service(service: &LoginService) -> Option<Self> {
        let origin = service.settings.wallet.own_origin()?;
        let [own, login] = [origin, &service.origin].map(|origin| Url::parse(origin.as_str()).expect("an origin"));
        let name = own.host_str()?.to_owned();
        let port = if login.host_str() == Some(&name) { own.port_or_known_default() } else { None };
        let router = routes(WalletShell::new(service, origin))
            .route("/", get(async || Redirect::to("/wallet")))
            .merge(assets::router(assets::COMMON_ASSETS))
            .fallback(async || Problem::NotFound)
            .method_not_allowed_fallback(async || Problem::MethodNotAllowed);
        Some(Self { name, port, router })
    }

    /// Returns the name of the host.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns true if a request is for this host.
    #[must_use]
    pub fn serves(&self, request: &Request) -> bool {
        let Some(host) = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()) else { return false };
        let scheme = if self.port == Some(80) { "http" } else { "https" };
        let Ok(url) = Url::parse(&format!("{scheme}://{host}")) else { return false };
        url.host_str() == Some(&self.name) && self.port.is_none_or(|port| url.port_or_known_default() == Some(port))
    }
}

fn routes<S: Clone + Send + Sync + 'static>(shell: WalletShell) -> Router<S> {
    let files = shell.folder.router();
    Router::new()
        .route("/wallet", get(show_page))
        .route("/wallet/sw.js", get(show_worker))
        .route("/wallet/manifest.webmanifest", get(show_manifest))
        .with_state(Arc::new(shell))
        .merge(files)
}

async fn show_page(State(shell): State<Arc<WalletShell>>, language: Language) -> HtmlPage {
    let page = HtmlPage::personal(shell.document(language).clone()).with_device_use(DeviceUse::Camera);
    page.with_worker(shell.login_origin.as_ref())
}

/// Returns the service worker. Browsers request it repeatedly; a changed list of files is a new
/// version of the worker.
async fn show_worker(State(shell): State<Arc<WalletShell>>) -> impl IntoResponse {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/javascript; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("service-worker-allowed", shell.scope.clone());
    (headers, shell.worker.clone())
}

async fn show_manifest(State(shell): State<Arc<WalletShell>>, language: Language) -> impl IntoResponse {
    let headers = [(header::CONTENT_TYPE, "application/manifest+json"), (header::CACHE_CONTROL, "no-cache")];
    (headers, shell.manifest(language).to_string())
}
