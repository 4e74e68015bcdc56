//! The ATM locator as clients of the Model Context Protocol see it: four tools, four resources, three prompts. What
//! carries it is signpost-mcp.

mod card;
mod completions;
pub mod discovery;
mod prompts;
mod relay;
mod resources;
mod server;
pub mod tools;
pub mod transport;

pub use server::server;
