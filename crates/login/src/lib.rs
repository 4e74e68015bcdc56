//! The login service: passwordless logins for integrators' sites. It manages domains, login
//! sessions, users of hosted domains, and the delivery of events.

pub mod account;
pub mod api;
pub mod browser_sessions;
pub mod browser_wallet;
pub mod domains;
pub mod element;
pub mod error;
pub mod events;
pub mod flows;
pub mod ids;
pub mod jobs;
pub mod pages;
pub mod routes;
pub mod service;
pub mod sessions;
pub mod settings;
pub mod sign_ins;
mod user_agent;
pub mod users;
pub mod wallet;

pub use service::{LoginParts, LoginService};
pub use settings::LoginSettings;
