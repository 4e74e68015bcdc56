//! The HTTP/1.1 server: connections with limits and timeouts, and requests by host.
//!
//! It is a separate crate because every request passes through it: profile `release` optimizes it fully, but not the
//! commands and the console in `signpost`, a fifth of the build time.

pub mod connections;
mod host_router;
pub mod untrusted_proxy;

pub use connections::{ConnectionLimits, serve, serve_borrowed};
pub use host_router::HostRouter;
