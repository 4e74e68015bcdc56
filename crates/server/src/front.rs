//! What stands before the routes: which host is asked, and errors in words for people.

use std::net::IpAddr;

use axum::Router;
use axum::extract::Request;
use axum::http::header::{HOST, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use signpost_login::browser_wallet::WalletHost;
use signpost_platform::Platform;
use signpost_platform::observe::host_refusals::HostBoundPages;
use signpost_platform::pages::error_page::ErrorPages;
use tower::Service;

use crate::untrusted_proxy;

/// Everything that answers at one address.
#[derive(Debug)]
pub struct Front {
    /// Every address of it.
    pub router: Router,
    /// Another host at the same address.
    pub wallet: Option<WalletHost>,
    /// Where people meet errors.
    pub pages: Option<ErrorPages>,
    /// Where requests are logged that get 404 because of their host, and proxies are recorded that are not trusted.
    pub platform: Option<Platform>,
}

impl From<Router> for Front {
    /// These routes, whatever the host, and for programs alone.
    fn from(router: Router) -> Self {
        Self { router, wallet: None, pages: None, platform: None }
    }
}

impl Front {
    /// Records a proxy that is not trusted, for the doctor.
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
        // The host decides before any path is looked at.
        let wallet = self.wallet.as_ref().filter(|wallet| wallet.is_asked_by(&request));
        let bound = self.wallet.as_ref().and_then(|own| HostBoundRequest::of(&request, own, wallet.is_some()));
        let mut router = wallet.map_or(&self.router, |wallet| &wallet.router).clone();
        let in_words = self.pages.as_ref().and_then(|pages| Some((pages, pages.choose(&request)?)));
        let Ok(mut response) = router.call(request).await;
        if let (Some(bound), Some(platform)) = (bound, &self.platform)
            && response.status() == StatusCode::NOT_FOUND
        {
            bound.log(platform);
        }
        if let Some((pages, language)) = in_words {
            response = pages.say_in_words(language, response);
        }
        response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        response
    }
}

/// A request that gets 404 because of the host that it names, if it gets one.
struct HostBoundRequest {
    pages: HostBoundPages,
    host: Option<HeaderValue>,
    /// The host where the page may be, if it is the wallet's.
    wallet: Option<String>,
}

impl HostBoundRequest {
    /// Returns a request for the wallet at another host, or for another page at the host of the wallet.
    fn of(request: &Request, own: &WalletHost, names_wallet: bool) -> Option<Self> {
        let path = request.uri().path();
        let asks_for_wallet = path == "/wallet" || path.starts_with("/wallet/");
        let (pages, wallet) = match (names_wallet, asks_for_wallet) {
            (true, false) => (HostBoundPages::BesideBrowserWallet, None),
            (false, true) => (HostBoundPages::BrowserWallet, Some(own.name().to_owned())),
            (true, true) | (false, false) => return None,
        };
        Some(Self { pages, host: request.headers().get(HOST).cloned(), wallet })
    }

    fn log(&self, platform: &Platform) {
        let expected = self.wallet.as_deref().unwrap_or(platform.origin.host());
        platform.host_refusals.log(self.pages, self.host.as_ref(), expected, platform.clock.elapsed());
    }
}
