//! Adds logins on the service's login page to a website. The endpoints need no storage.
//!
//! ```no_run
//! use axum::Router;
//! use axum::http::request::Parts;
//! use signpost_auth::client::Signpost;
//! use signpost_auth::login::{self, LoginOptions, LoginSite, SignedIn, SiteError};
//!
//! struct Shop;
//!
//! impl LoginSite for Shop {
//!     async fn sign_in(&self, login: SignedIn, _: &Parts) -> Result<Vec<String>, SiteError> {
//!         println!("this is {}", login.user.id);
//!         Ok(vec!["__Host-session=…; Path=/; HttpOnly; SameSite=Lax; Secure".to_owned()])
//!     }
//! }
//!
//! # fn example() -> Result<Router, SiteError> {
//! let signpost = Signpost::new("svc_live_…")?.with_base_url("https://login.example/v1")?;
//! let options = LoginOptions::new("shop.example", "https://shop.example", "at least 32 random characters, kept")?;
//! let app = Router::new().merge(login::router(signpost, options, Shop));
//! # Ok(app)
//! # }
//! ```
//!
//! `/signpost/login` creates a session and redirects the browser to the login page.
//! `/signpost/register` does so for a new account, and `/signpost/link` to link another key. The
//! browser returns to `/signpost/return`. `/signpost/logout` ends the login. The state of each login
//! is stored in a separate signed cookie, so that browser tabs are independent. `/signpost/events`
//! receives events.
//!
//! An error of the service never sets the status of a page: the browser is redirected to the failure
//! page with `login_error`, and [`LoginSite::on_error`] gets the error.

mod endpoint;
mod events;
mod failure;
mod finish;
mod flow;
mod navigation;
mod options;
mod query;
mod response;
mod router;
mod seen;
mod site;
mod start;
mod startup;
mod state;

pub use failure::LoginFailure;
pub use options::LoginOptions;
pub use router::router;
pub use site::{CurrentUser, LoginSite, LoginStep, LoginUser, SignedIn, SiteError};
