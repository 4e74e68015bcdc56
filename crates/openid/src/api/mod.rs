//! Handlers for integrators' servers.

mod client_fields;
pub mod clients;
