//! Handlers of the JSON API for integrators' servers.

mod client_fields;
pub mod clients;
