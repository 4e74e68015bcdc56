//! The browser wallet (docs/browser-wallet.md): a page that makes keys, keeps them in the browser and answers codes with
//! them. The server hands out the page and its scripts, which are the same for everybody, and never sees a secret.

mod files;
mod screens;
mod shell;
mod texts;
mod words;

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use signpost_platform::pages::html_page::DeviceUse;
use signpost_platform::pages::{HtmlPage, Language, assets};
use signpost_platform::web::problem::Problem;
use url::Url;

use crate::service::LoginService;
use crate::settings::WalletPlace;
use shell::WalletShell;

/// The wallet where it has a host of its own: nothing else is served there.
#[derive(Clone, Debug)]
pub struct WalletHost {
    name: String,
    /// Where the same name has other ports, the port belongs to it.
    port: Option<u16>,
    /// All that the host serves.
    pub router: Router,
}

/// The wallet's addresses on the login host; none where it is off or elsewhere.
pub fn router(service: &LoginService) -> Router<LoginService> {
    match &service.settings.wallet {
        WalletPlace::LoginHost => addresses(&Arc::new(WalletShell::new(service, &service.origin))),
        WalletPlace::Off | WalletPlace::OwnHost(_) => Router::new(),
    }
}

impl WalletHost {
    /// The wallet's own host, if it has one.
    ///
    /// # Panics
    /// Never: the configuration takes origins alone.
    #[must_use]
    pub fn of(service: &LoginService) -> Option<Self> {
        let origin = service.settings.wallet.own_origin()?;
        let [own, login] = [origin, &service.origin].map(|origin| Url::parse(origin.as_str()).expect("an origin"));
        let name = own.host_str()?.to_owned();
        let port = if login.host_str() == Some(&name) { own.port_or_known_default() } else { None };
        let start = get(async || Redirect::to("/wallet"));
        let router = addresses(&Arc::new(WalletShell::new(service, origin))).route("/", start);
        let router = router.merge(assets::router(assets::OF_EVERY_PAGE));
        let router = router.fallback(async || Problem::NotFound);
        let router = router.method_not_allowed_fallback(async || Problem::MethodNotAllowed);
        Some(Self { name, port, router })
    }

    /// Returns the name of the host.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether a request is for this host.
    #[must_use]
    pub fn is_asked_by(&self, request: &Request) -> bool {
        let sent = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
        let scheme = if self.port == Some(80) { "http" } else { "https" };
        let Some(url) = sent.and_then(|host| Url::parse(&format!("{scheme}://{host}")).ok()) else { return false };
        url.host_str() == Some(&self.name) && self.port.is_none_or(|port| url.port_or_known_default() == Some(port))
    }
}

fn addresses<S: Clone + Send + Sync + 'static>(shell: &Arc<WalletShell>) -> Router<S> {
    let (page, worker, manifest) = (Arc::clone(shell), Arc::clone(shell), Arc::clone(shell));
    Router::new()
        .route("/wallet", get(async move |language| show(&page, language)))
        .route("/wallet/sw.js", get(async move || script(&worker)))
        .route("/wallet/manifest.webmanifest", get(async move |language| describe(&manifest, language)))
        .merge(shell.folder.router())
}

fn show(shell: &WalletShell, language: Language) -> Response {
    let page = HtmlPage::personal(shell.document(language).clone()).with_device_use(DeviceUse::Camera);
    page.with_worker(shell.asks.as_ref()).into_response()
}

/// The worker is asked for again and again: what it names decides whether there is a new version.
fn script(shell: &WalletShell) -> Response {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/javascript; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("service-worker-allowed", shell.scope.clone());
    (StatusCode::OK, headers, shell.worker.clone()).into_response()
}

fn describe(shell: &WalletShell, language: Language) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/manifest+json"), (header::CACHE_CONTROL, "no-cache")];
    (headers, shell.manifest(language).to_string()).into_response()
}
