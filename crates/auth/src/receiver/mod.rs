//! The receiver of an integrator: the endpoints of the specification, section 4.
//!
//! Each of the four endpoints is a function that takes the parts of a request and returns a
//! [`HandlerResponse`]. [`handle_login`] and [`handle_register`] handle the answers of wallets,
//! [`handle_poll`] responds to the page that displays the code, and [`handle_event`] accepts the
//! service's events. The order of their checks is part of the contract. The application implements
//! its storage in [`Host`] and [`Site`]. With the feature `axum`, `router` serves all four
//! endpoints. Only the service has a fifth endpoint, [`handle_link`].

mod answers;
mod browser;
mod classify;
mod events;
mod host;
mod polls;
mod response;
#[cfg(feature = "axum")]
mod router;

pub use answers::{handle_answer, handle_link, handle_login, handle_register};
pub use browser::{Browser, CodeBinding, InvalidOrigin, SiteOrigin};
pub use classify::{Post, classify};
pub use events::{EventHeaders, EventRules, handle_event, read_event};
pub use host::{Host, LoggedIn, ShownCode, Site};
pub use polls::{PollRules, handle_poll, is_local_path};
pub use response::{HandlerRefusal, HandlerResponse};
#[cfg(feature = "axum")]
pub use router::{MAX_BODY_LEN, Paths, Receiver, router};
#[cfg(all(feature = "axum", feature = "client"))]
pub(crate) use router::{cookies, event_headers, read_body};
