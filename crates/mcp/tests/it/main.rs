//! The layer as its clients see it.

mod errors;
mod fixture;
mod fuzz;
mod gate;
mod http;
mod lifecycle;
mod notebook;
mod origins;
mod properties;
mod resources;
mod sse;
mod stdio;
mod waiting;
