//! The HTTP/1.1 server: connections with limits and timeouts, and requests by host.
//!
//! A crate of its own because every request passes it: profile `release` optimizes it fully, but not the commands and the
//! console in `signpost`, which take a fifth of a build's time.

pub mod connections;
mod front;
pub mod untrusted_proxy;

pub use connections::{ConnectionLimits, serve, serve_borrowed};
pub use front::Front;
