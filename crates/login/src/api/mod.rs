//! Handlers of the JSON API for integrators' servers.

pub mod deliveries;
pub mod domains;
pub mod sessions;
pub mod users;
pub mod verify;
