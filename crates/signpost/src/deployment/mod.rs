//! State that the servers and commands of a deployment share: its public address, the running servers, the encryption
//! key of its secrets, and an untrusted proxy.

pub mod public_address;
pub mod sealed;
pub(crate) mod servers;
