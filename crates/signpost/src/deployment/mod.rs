//! What the servers and commands of one deployment know of it together: where people reach it, and what is encrypted.

pub mod public_address;
pub(crate) mod sealed;
