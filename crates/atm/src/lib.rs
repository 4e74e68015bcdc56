//! The ATM locator service: the ATM catalogue, its data sources, the web pages, and the tools of the Model Context
//! Protocol.

pub mod advisories;
pub mod atm_number;
pub mod catalogue;
pub mod feeds;
pub mod jobs;
mod live_file;
pub mod locator;
pub mod map;
pub mod mcp;
pub mod page_cache;
pub mod pages;
pub mod places;
pub mod processor;
mod report_api;
mod reporting;
pub mod reports;
pub mod routes;
pub mod service;
pub mod settings;
pub mod submission_slots;
pub mod submissions;
mod view;
pub mod visitors;

pub use service::{AtmParts, AtmService};
pub use settings::AtmSettings;
