//! The login page, for sites without a login page. The page of a session belongs to a single browser, and only that
//! browser sees it. A [`LoginView`](view::LoginView) contains everything on the page, so that views of different pages
//! differ.

mod by_passkey;
mod claim;
pub mod claim_page;
mod context;
mod document;
mod follow;
mod forms;
mod notice;
mod open_sheet;
mod outcomes;
mod passkey;
pub mod render;
mod requesting_browser;
mod show;
mod state;
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
        .route(&format!("{page}/state"), get(follow::state))
        .route(&format!("{page}/events"), get(follow::events))
        .route(&format!("{page}/claim"), post(claim::claim))
        .route(&format!("{page}/cancel"), post(forms::cancel))
        .route(&format!("{page}/renew"), post(forms::renew))
        .route(&format!("{page}/mode"), post(forms::switch))
        .route(&format!("{page}/passkey"), get(passkey::show).post(passkey::answer))
        .route(&format!("{page}/offer"), post(forms::decline_offer))
        .route(&format!("{page}/link"), post(forms::answer_link))
        .layer(Extension(environment))
}
