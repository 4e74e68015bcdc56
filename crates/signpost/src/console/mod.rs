//! The console: what operators of this deployment see and do by a browser. It is one more face of the functions behind the
//! command line and the API; everything that it changes stands in the audit log under the operator who did it.

mod access;
mod badges;
mod comparison;
mod dates;
mod deliveries;
mod document;
mod door;
mod doubts;
mod facts;
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
mod today;
mod todo;
mod uploads;
mod visit;

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
use signpost_platform::observe::host_refusals::HostBoundPages;
use signpost_platform::pages::Asset;
use signpost_platform::web::problem::Problem;

use self::access::{ConsoleAdmission, admit};
use self::doubts::DoubtShelf;
use self::health::HealthBoard;
use self::machines::SourceShelf;
pub use self::uploads::SLOW_SCREENS;
use self::uploads::UploadShelf;
use crate::config::{Config, ConsoleReach, Service};

/// What the console's pages have beside the stylesheet of all.
pub const CONSOLE_STYLES: Asset =
    Asset::new("console", "css", "text/css; charset=utf-8", include_bytes!("../../assets/console.css"));
/// Keeps counts fresh, takes keys, and fills in the set-up link.
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
    /// `None` where the locator does not run here.
    atm: Option<AtmService>,
    health: HealthBoard,
    uploads: UploadShelf,
    sources: SourceShelf,
    doubts: DoubtShelf,
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
    /// The console of a server with these settings and services; `None` where it has none.
    #[must_use]
    pub fn of(config: &Config, login: &LoginService, atm: &AtmService) -> Option<Self> {
        let reach = config.console_reach()?;
        let runs_atm = config.services.contains(&Service::Atm);
        Some(Self(Arc::new(ConsoleParts {
            platform: login.platform.clone(),
            config: config.clone(),
            reach,
            login: login.clone(),
            atm: runs_atm.then(|| atm.clone()),
            health: HealthBoard::default(),
            uploads: UploadShelf::default(),
            sources: SourceShelf::default(),
            doubts: DoubtShelf::default(),
        })))
    }

    /// Every address of the console.
    pub fn router(&self) -> Router {
        let screens = Router::new()
            .route("/console", get(today::show))
            .route(visit::COUNTS_PATH, get(today::count))
            .route("/console/health", get(health::show))
            .route("/console/setup", get(setup::show).post(setup::open))
            .route("/console/setup/confirm", post(setup::confirm))
            .route("/console/sign-out", post(setup::sign_out));
        screens
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

/// To whom the console is not there, its addresses are like any that nobody has.
async fn guard(State(console): State<Console>, request: Request, next: Next) -> Response {
    match admit(console.reach, &console.origin, request.headers()) {
        ConsoleAdmission::Admitted => next.run(request).await,
        ConsoleAdmission::ByOtherName if request.method() == Method::GET => {
            let path = request.uri().path_and_query().map_or("/console", |path| path.as_str());
            Redirect::temporary(&format!("{}{path}", console.origin.as_str())).into_response()
        }
        ConsoleAdmission::ByOtherName | ConsoleAdmission::NotThere => {
            let host = request.headers().get(HOST);
            console.host_refusals.log(HostBoundPages::Console, host, console.origin.host(), console.clock.elapsed());
            Problem::NotFound.into_response()
        }
    }
}
