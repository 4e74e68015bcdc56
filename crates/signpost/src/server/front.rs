//! What stands before the routes: which host is asked, and errors in words for people.

use axum::Router;
use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::header::X_CONTENT_TYPE_OPTIONS;
use axum::response::Response;
use signpost_login::browser_wallet::WalletHost;
use signpost_platform::pages::error_page::ErrorPages;
use tower::Service;

/// Everything that answers at one address.
#[derive(Debug)]
pub struct Front {
    /// Every address of it.
    pub router: Router,
    /// Another host at the same address.
    pub(super) wallet: Option<WalletHost>,
    /// Where people meet errors.
    pub(super) pages: Option<ErrorPages>,
}

impl From<Router> for Front {
    /// These routes, whatever the host, and for programs alone.
    fn from(router: Router) -> Self {
        Self { router, wallet: None, pages: None }
    }
}

impl Front {
    /// Answers a request.
    pub(crate) async fn answer(&self, request: Request) -> Response {
        // The host decides before any path is looked at.
        let wallet = self.wallet.as_ref().filter(|wallet| wallet.is_asked_by(&request));
        let mut router = wallet.map_or(&self.router, |wallet| &wallet.router).clone();
        let in_words = self.pages.as_ref().and_then(|pages| Some((pages, pages.choose(&request)?)));
        let Ok(mut response) = router.call(request).await;
        if let Some((pages, language)) = in_words {
            response = pages.say_in_words(language, response);
        }
        response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        response
    }
}
