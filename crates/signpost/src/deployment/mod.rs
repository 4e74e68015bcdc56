//! State that the servers and commands of one deployment share: its public address, the running servers, the key that
//! encrypts its secrets, and a proxy that is not trusted.

pub mod public_address;
pub mod sealed;
pub(crate) mod servers;
