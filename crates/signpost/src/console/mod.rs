//! The console: pages for the operators of this deployment, with functions of the command line and
//! the API. Every change is recorded in the audit log with the operator who made it.

mod access;
mod badges;
mod comparison;
mod concerns;
mod context;
mod dates;
mod deliveries;
mod deployment_facts;
mod document;
mod entry;
mod health;
mod imports;
mod keys;
mod log;
mod machines;
pub mod operators;
mod proof;
mod reports;
mod running_check;
mod settings_list;
mod setup;
mod site_form;
mod site_secrets;
mod sites;
mod tables;
mod tasks;
mod today;
mod uploads;
mod visitor_context;

use std::ops::Deref;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::http::header::HOST;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use signpost_atm::AtmService;
use signpost_login::LoginService;
use signpost_platform::Platform;
use signpost_platform::observe::wrong_host_log::RestrictedPages;
use signpost_platform::pages::Asset;
use signpost_platform::web::problem::Problem;

use self::access::{ConsoleAdmission, admit};
use self::concerns::ConcernCache;
use self::health::HealthCache;
use self::machines::SourceCountCache;
pub use self::uploads::SLOW_ROUTES;
use self::uploads::Uploads;
use crate::config::{Config, ConsoleReach, Service};

/// The stylesheet of the console's pages, loaded after the common stylesheet.
pub const CONSOLE_STYLES: Asset =
    Asset::new("console", "css", "text/css; charset=utf-8", include_bytes!("../../assets/console.css"));
/// The script of the console's pages: refreshes counts, handles keys, and fills in the set-up link.
pub const CONSOLE_SCRIPT: Asset =
    Asset::new("console", "js", "text/javascript; charset=utf-8", include_bytes!("../../assets/console.js"));

/// The console of a server. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Console(Arc<ConsoleParts>);

/// The parts of a [`Console`].
#[derive(Debug)]
pub struct ConsoleParts {
    platform: Platform,
    config: Config,
    reach: ConsoleReach,
    login: LoginService,
    /// `None` if the locator does not run here.
    atm: Option<AtmService>,
    health: HealthCache,
    uploads: Uploads,
    sources: SourceCountCache,
    concerns: ConcernCache,
}

impl Deref for Console {
    type Target = ConsoleParts;

    fn deref(&self) -> &ConsoleParts {
        &self.0
    }
}

impl Deref for ConsoleParts {
    type Target = Platform;

    fn deref(&self) -> &Platform {
        &self.platform
    }
}

impl Console {
    /// Creates the console of a server. `None` if the settings disable it.
    #[must_use]
    pub fn from_config(config: &Config, login: &LoginService, atm: &AtmService) -> Option<Self> {
        let reach = config.console_reach()?;
        let runs_atm = config.services.contains(&Service::Atm);
        Some(Self(Arc::new(ConsoleParts {
            platform: login.platform.clone(),
            config: config.clone(),
            reach,
            login: login.clone(),
            atm: runs_atm.then(|| atm.clone()),
            health: HealthCache::default(),
            uploads: Uploads::default(),
            sources: SourceCountCache::default(),
            concerns: ConcernCache::default(),
        })))
    }

    /// Returns the routes of the console.
    pub fn router(&self) -> Router {
        Router::new()
            .route("/console", get(today::show))
            .route(context::COUNTS_PATH, get(today::count))
            .route("/console/health", get(health::show))
            .route("/console/setup", get(setup::show).post(setup::open))
            .route("/console/setup/confirm", post(setup::confirm))
            .route("/console/sign-out", post(setup::sign_out))
            .merge(machines::router())
            .merge(imports::router())
            .merge(reports::router())
            .merge(sites::router())
            .merge(site_form::router())
            .merge(site_secrets::router())
            .merge(deliveries::router())
            .merge(comparison::router())
            .merge(keys::router())
            .merge(log::router())
            .method_not_allowed_fallback(async || Problem::MethodNotAllowed)
            .route_layer(from_fn_with_state(self.clone(), guard))
            .with_state(self.clone())
    }
}

/// Hides the console from rejected requests: they receive the response of an unknown path.
async fn guard(State(console): State<Console>, request: Request, next: Next) -> Response {
    match admit(console.reach, &console.origin, request.headers()) {
        ConsoleAdmission::Admitted => next.run(request).await,
        ConsoleAdmission::OtherLocalName if request.method() == Method::GET => {
            let path = request.uri().path_and_query().map_or("/console", |path| path.as_str());
            Redirect::temporary(&format!("{}{path}", console.origin.as_str())).into_response()
        }
        ConsoleAdmission::OtherLocalName | ConsoleAdmission::Hidden => {
            let host = request.headers().get(HOST);
            console.wrong_host_log.log(RestrictedPages::Console, host, console.origin.host(), console.clock.elapsed());
            Problem::NotFound.into_response()
        }
    }
}
