//! The server from the view of its clients.

mod errors;
mod extensions;
mod fixture;
mod fuzz;
mod gate;
mod http;
mod lifecycle;
#[path = "../../../../tests/mutations.rs"]
mod mutations;
mod notebook;
mod origins;
mod properties;
mod resources;
mod sse;
mod stdio;
mod waiting;
