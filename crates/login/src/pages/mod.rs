//! The login page of the service, for sites without their own. The page of a session belongs to a
//! single browser, and only that browser can see it. A [`LoginView`](view::LoginView) contains all
//! data on the page, so that pages with different content have different views.

mod claim;
pub mod claim_page;
mod code_page;
mod context;
mod document;
mod forms;
mod navigation;
mod notice;
mod outcomes;
mod passkey;
mod passkey_login;
pub mod render;
mod show;
mod state;
mod status_updates;
mod view;
mod words;

use axum::routing::{get, post};
use axum::{Extension, Router};
use signpost_platform::accounts::Environment;

use crate::service::LoginService;

/// Returns the routes of the login pages of an environment, which begin at the public address itself.
pub(crate) fn router(environment: Environment) -> Router<LoginService> {
    let page = format!("{}/login/{{id}}", environment.page_path());
    Router::new()
        .route(&page, get(show::show))
        .route(&format!("{page}/state"), get(status_updates::state))
        .route(&format!("{page}/events"), get(status_updates::events))
        .route(&format!("{page}/claim"), post(claim::claim))
        .route(&format!("{page}/cancel"), post(forms::cancel))
        .route(&format!("{page}/renew"), post(forms::renew))
        .route(&format!("{page}/mode"), post(forms::switch))
        .route(&format!("{page}/passkey"), get(passkey::show).post(passkey::answer))
        .route(&format!("{page}/offer"), post(forms::decline_offer))
        .route(&format!("{page}/link"), post(forms::answer_link))
        .layer(Extension(environment))
}
