//! State that the servers and commands of one deployment share: its public address, the servers that run, the key that its
//! secrets are encrypted with, and a proxy that is not trusted.

pub mod public_address;
pub mod sealed;
pub(crate) mod servers;
