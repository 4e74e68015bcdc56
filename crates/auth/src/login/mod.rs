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
//!         println!("this is {}", login.user);
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
//! browser returns to `/signpost/return`. The state of each login is stored in a separate signed
//! cookie, so that browser tabs are independent. `/signpost/events` receives events.

mod finish;
mod options;
mod router;
mod seen;
mod site;
mod start;
mod state;

pub use finish::LoginFailure;
pub use options::LoginOptions;
pub use router::router;
pub use site::{LoginSite, SignedIn, SiteError};
