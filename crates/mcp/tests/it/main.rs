//! The layer as its clients see it.

mod errors;
mod fixture;
mod gate;
mod http;
mod lifecycle;
mod origins;
mod properties;
mod sse;
mod stdio;
