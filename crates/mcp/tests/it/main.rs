//! The server from the view of its clients.

mod argument_reading;
mod errors;
mod extensions;
mod fixture;
mod fuzz;
mod http;
mod lifecycle;
#[path = "../../../../tests/mutations.rs"]
mod mutations;
mod notebook;
mod origins;
mod properties;
mod rate_limiter;
mod resources;
mod sse;
mod stdio;
mod waiting;
