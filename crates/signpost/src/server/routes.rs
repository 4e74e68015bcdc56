//! The route table of the server, and the layers of every request.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use axum::middleware::map_response_with_state;
use axum::response::Response;
use axum::routing::get;
use signpost_atm::mcp::{discovery, transport};
use signpost_atm::pages::LOCATOR_ASSETS;
use signpost_atm::pages::install::INSTALL_ASSETS;
use signpost_login::account::ACCOUNT_SCRIPT;
use signpost_login::browser_wallet::WalletHost;
use signpost_login::pages::claim_page::CLAIM_SCRIPT;
use signpost_login::pages::render::{LOGIN_SCRIPT, PASSKEY_SCRIPT};
use signpost_openid::routes::FORWARD_CHECK;
use signpost_platform::accounts::Environment;
use signpost_platform::pages::assets;
use signpost_platform::pages::error_page::ErrorPages;
use signpost_platform::web::problem::Problem;
use signpost_platform::web::request_log::{RequestLog, SpecialRoutes};
use signpost_server::HostRouter;
use tokio_util::sync::CancellationToken;

use super::{App, health, reference, root};
use crate::config::Service;
use crate::console::{CONSOLE_SCRIPT, CONSOLE_STYLES, Console, SLOW_ROUTES};

/// The routes that are exempt from some rules for all requests.
const SPECIAL_ROUTES: SpecialRoutes = SpecialRoutes {
    foreign: &transport::PATHS,
    unlimited: &[
        "/health",
        "/health/ready",
        discovery::PATHS[0],
        discovery::PATHS[1],
        discovery::PATHS[2],
        // An untrusted proxy sends the requests of all its clients from its own address.
        FORWARD_CHECK,
    ],
    slow: &SLOW_ROUTES,
};

/// Returns all routes of the server.
#[must_use]
pub fn front(app: &Arc<App>) -> HostRouter {
    let mut router = Router::new().route("/health", get(health::show)).route("/health/ready", get(health::ready));
    router = router.merge(root::router());
    if app.config.services.contains(&Service::Atm) {
        router = router.merge(signpost_atm::routes::protocol(&app.atm).with_state(app.atm.clone()));
        router = router.merge(signpost_atm::routes::pages().with_state(app.atm.clone()));
    }
    for environment in Environment::ALL {
        // The routes have full paths, because a nested router would split and rebuild the URI of
        // every request.
        router = router.merge(reference::router(app, environment));
        if app.config.services.contains(&Service::Auth) {
            router =
                router.merge(signpost_login::routes::router(&app.login, environment).with_state(app.login.clone()));
            let openid = signpost_openid::routes::router(&app.openid, environment);
            let openid = openid.merge(signpost_openid::routes::issuers(&app.openid, environment));
            router = router.merge(openid.with_state(app.openid.clone()));
        }
        if app.config.services.contains(&Service::Atm) {
            let atms = signpost_atm::routes::submissions(&app.atm, environment);
            let atms = atms.merge(signpost_atm::routes::reports(environment));
            router = router.merge(atms.with_state(app.atm.clone()));
        }
    }
    let mut files = Vec::from(assets::COMMON_ASSETS);
    files.push(reference::REFERENCE_STYLES);
    if app.config.services.contains(&Service::Auth) {
        router = router.merge(signpost_login::routes::pages(&app.login).with_state(app.login.clone()));
        files.extend(signpost_login::element::ASSETS);
        router = router.merge(signpost_login::wallet::lnurl::router().with_state(app.login.clone()));
        router = router.merge(signpost_openid::routes::forward_auth().with_state(app.openid.clone()));
        files.extend([LOGIN_SCRIPT, PASSKEY_SCRIPT, CLAIM_SCRIPT, ACCOUNT_SCRIPT]);
    }
    if app.config.services.contains(&Service::Atm) {
        files.extend(LOCATOR_ASSETS);
        files.extend(INSTALL_ASSETS);
    }
    if let Some(console) = Console::from_config(&app.config, &app.login, &app.atm) {
        router = router.merge(console.router().with_state(()));
        files.extend([CONSOLE_STYLES, CONSOLE_SCRIPT]);
    }
    router = router.merge(assets::router(files));
    let router = router.fallback(async || Problem::NotFound);
    let router = router.method_not_allowed_fallback(async || Problem::MethodNotAllowed).with_state(Arc::clone(app));
    // Clients with persistent connections reconnect to other servers once this server is to stop.
    let router = if app.config.shutdown_delay.is_zero() {
        router
    } else {
        router.layer(map_response_with_state(app.stopping.clone(), close_connection))
    };
    let log = RequestLog::for_server(&app.platform, SPECIAL_ROUTES);
    let pages = ErrorPages { origin: app.origin.clone(), programs: programs().into() };
    let mut wallet = WalletHost::from_service(&app.login).filter(|_| app.config.services.contains(&Service::Auth));
    if let Some(wallet) = &mut wallet {
        wallet.router = log.clone().wrap(std::mem::take(&mut wallet.router));
    }
    HostRouter { router: log.wrap(router), wallet, pages: Some(pages), platform: Some(app.platform.clone()) }
}

/// Returns the path prefixes for programs, with errors that are never pages.
pub(super) fn programs() -> Vec<String> {
    let apis = Environment::ALL.into_iter().map(Environment::path);
    apis.chain(transport::PATHS)
        .chain(["/health", "/.well-known", "/forward", "/.signpost"])
        .map(str::to_owned)
        .collect()
}

async fn close_connection(State(stopping): State<CancellationToken>, mut response: Response) -> Response {
    if stopping.is_cancelled() {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}
