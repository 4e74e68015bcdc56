//! Standard login: an OpenID Provider for every hosted domain, and the answer that a reverse proxy asks for. Both stand on
//! the login service, whose page logs people in and whose cookie knows them again.

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
