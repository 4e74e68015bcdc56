//! State that the servers and commands of one deployment share: its public address, the servers that run, and the key that
//! its secrets are encrypted with.

pub mod public_address;
pub mod sealed;
pub(crate) mod servers;
