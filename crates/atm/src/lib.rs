//! The ATM locator's service: the catalogue, its sources, and the tools of the Model Context Protocol.

pub mod advisories;
pub mod catalogue;
pub mod feeds;
pub mod jobs;
pub mod locator;
pub mod mcp;
pub mod places;
pub mod processor;
pub mod reports;
pub mod routes;
pub mod service;
pub mod settings;
pub mod submissions;

pub use service::{AtmParts, AtmService};
pub use settings::AtmSettings;
