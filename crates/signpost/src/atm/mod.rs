//! The ATM locator's service: the catalogue, its sources, and the tools of the Model Context Protocol.

pub mod catalogue;
pub mod feeds;
pub mod mcp;
pub mod places;
pub mod routes;
pub mod settings;
pub mod submissions;
