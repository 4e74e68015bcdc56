//! The integrator's side of a login: what the specification, section 4, asks of the receiving application.
//!
//! Four endpoints, each one function that takes what a request carried and gives a [`HandlerResponse`]:
//! [`handle_login`] and [`handle_register`] answer wallets, [`handle_poll`] answers the page that shows the code,
//! [`handle_event`] accepts the service's events. The order of their checks is the contract. What the application
//! remembers is behind [`Host`] and [`Site`]. With the feature `axum`, `router` serves all four. [`handle_link`] is a fifth,
//! which the service's own handlers have.

mod answers;
mod browser;
mod classify;
mod events;
mod host;
mod polls;
mod response;
#[cfg(feature = "axum")]
mod router;

pub use answers::{handle_link, handle_login, handle_register};
pub use browser::{Browser, CodeBinding, InvalidOrigin, SiteOrigin};
pub use classify::{Post, classify};
pub use events::{EventHeaders, EventRules, handle_event, read_event};
pub use host::{Host, LoggedIn, ShownCode, Site};
pub use polls::{PollRules, handle_poll, is_local_path};
pub use response::{HandlerRefusal, HandlerResponse};
#[cfg(feature = "axum")]
pub use router::{MAX_BODY_LEN, Paths, Receiver, router};
#[cfg(all(feature = "axum", feature = "client"))]
pub(crate) use router::{read_body, signatures};
