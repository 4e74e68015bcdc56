//! Selects the routes by the host of a request, and replaces errors by pages for browsers.

use std::net::IpAddr;

use axum::Router;
use axum::extract::Request;
use axum::http::header::{HOST, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use signpost_login::browser_wallet::WalletHost;
use signpost_platform::Platform;
use signpost_platform::observe::wrong_host_log::RestrictedPages;
use signpost_platform::pages::error_page::ErrorPages;
use tower::Service;

use crate::untrusted_proxy;

/// The routes of a listen address.
#[derive(Debug)]
pub struct HostRouter {
    /// The routes of the server.
    pub router: Router,
    /// The routes of the browser wallet's host.
    pub wallet: Option<WalletHost>,
    /// The error pages for browsers.
    pub pages: Option<ErrorPages>,
    /// Logs requests that get 404 because of their host, and records untrusted proxies.
    pub platform: Option<Platform>,
}

impl From<Router> for HostRouter {
    /// Serves these routes for every host, without error pages.
    fn from(router: Router) -> Self {
        Self { router, wallet: None, pages: None, platform: None }
    }
}

impl HostRouter {
    /// Records an untrusted proxy, for the doctor.
    pub(crate) fn record_untrusted_proxy(&self, address: IpAddr) {
        let Some(platform) = self.platform.clone() else { return };
        tokio::spawn(async move {
            if let Err(error) = untrusted_proxy::record(&platform.store, address, platform.clock.now()).await {
                tracing::warn!(error = format!("{error:#}"), "could not record a proxy that is not trusted");
            }
        });
    }

    /// Answers a request.
    pub(crate) async fn answer(&self, request: Request) -> Response {
        // The host is checked before the path.
        let mut router = &self.router;
        let mut host_bound = None;
        if let Some(wallet) = &self.wallet {
            let names_wallet = wallet.serves(&request);
            host_bound = HostBoundRequest::of(&request, wallet, names_wallet);
            if names_wallet {
                router = &wallet.router;
            }
        }
        let in_words = self.pages.as_ref().and_then(|pages| Some((pages, pages.choose(&request)?)));
        let Ok(mut response) = router.clone().call(request).await;
        if response.status() == StatusCode::NOT_FOUND
            && let Some(host_bound) = host_bound
            && let Some(platform) = &self.platform
        {
            host_bound.log(platform);
        }
        if let Some((pages, language)) = in_words {
            response = pages.render(language, response);
        }
        response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        response
    }
}

/// A request that gets 404 because of its host, unless a route matches.
struct HostBoundRequest {
    pages: RestrictedPages,
    host: Option<HeaderValue>,
    /// The expected host, for requests for the wallet.
    wallet: Option<String>,
}

impl HostBoundRequest {
    /// Returns a request for the wallet at another host, or for another page at the wallet's host.
    fn of(request: &Request, own: &WalletHost, names_wallet: bool) -> Option<Self> {
        let path = request.uri().path();
        let asks_for_wallet = path == "/wallet" || path.starts_with("/wallet/");
        let (pages, wallet) = match (names_wallet, asks_for_wallet) {
            (true, false) => (RestrictedPages::OutsideBrowserWallet, None),
            (false, true) => (RestrictedPages::BrowserWallet, Some(own.name().to_owned())),
            (true, true) | (false, false) => return None,
        };
        Some(Self { pages, host: request.headers().get(HOST).cloned(), wallet })
    }

    fn log(&self, platform: &Platform) {
        let expected = self.wallet.as_deref().unwrap_or(platform.origin.host());
        platform.wrong_host_log.log(self.pages, self.host.as_ref(), expected, platform.clock.elapsed());
    }
}
