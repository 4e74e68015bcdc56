//! The ATM locator for clients of the Model Context Protocol: four tools, four resources, three prompts. The protocol
//! is implemented in signpost-mcp.

mod card;
mod completions;
pub mod discovery;
mod prompts;
mod rate_limiter;
mod relay;
mod resources;
mod server;
pub mod tools;
pub mod transport;

pub use server::server;
