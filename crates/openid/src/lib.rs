//! OpenID Connect and forward authentication for every hosted domain of the login service. The
//! crate contains an OpenID Provider and the endpoint for reverse proxies. Both use the login page
//! and the login cookie of the login service.

pub mod api;
pub mod authorizations;
pub mod claims;
pub mod clients;
mod documents;
pub mod error;
pub mod flows;
mod forward;
pub mod grants;
pub mod ids;
pub mod jobs;
pub mod jose;
pub mod pkce;
pub mod posted_hint;
mod provider;
pub mod routes;
pub mod service;
pub mod signing_keys;

pub use service::{OpenidParts, OpenidService};
