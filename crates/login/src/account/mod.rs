//! The account pages of the login host: the domains at which a browser is signed in, and the user's keys and sign-ins
//! at each domain. Page and accepted forms of a domain depend only on the browser session of that domain.

mod context;
mod document;
mod forms;
mod guard;
mod keys_page;
mod list;
mod logins;
mod outcomes;
mod removal;
mod sign_ins;
mod words;

use axum::Router;
use axum::routing::{get, post};
use signpost_platform::pages::Asset;
use signpost_platform::web::problem::method_not_allowed;

use crate::service::LoginService;

pub use context::login_form_token;

/// Signals a removed passkey to the browser, which then no longer offers it.
pub const ACCOUNT_SCRIPT: Asset =
    Asset::new("account", "js", "text/javascript; charset=utf-8", include_bytes!("../../assets/account.js"));

/// Returns the routes of the account pages, which serve both environments: a domain ID belongs to one environment.
pub(crate) fn router() -> Router<LoginService> {
    // By default `get` also handles HEAD, which must not complete the login.
    let login_return = get(logins::handle_return)
        .head(async || method_not_allowed("GET"))
        .fallback(async || method_not_allowed("GET"));
    Router::new()
        .route("/account", get(list::show))
        .route("/account/{id}", get(keys_page::show))
        .route("/account/{id}/return", login_return)
        .route("/account/{id}/login", post(logins::log_in))
        .route("/account/{id}/add", post(logins::add_key))
        .route("/account/{id}/rename", post(forms::rename))
        .route("/account/{id}/remove", post(removal::remove))
        .route("/account/{id}/end-sign-in", post(sign_ins::end))
        .route("/account/{id}/sign-out", post(forms::sign_out))
        .route("/account/{id}/sign-out-everywhere", post(forms::sign_out_everywhere))
}
