//! Handlers of the JSON API for integrators' servers.

pub mod account;
pub mod deliveries;
pub mod domains;
pub mod sessions;
pub mod sign_ins;
pub mod users;
pub mod verify;
