//! Signpost: finds Bitcoin ATMs for AI assistants, and logs people in with a wallet and a QR code.
//!
//! In reading order: [`serve`] starts the program; [`http`] is the route table; [`sessions`], [`domains`], [`keys`],
//! [`verify`], [`hosted`] and [`outbox`] are authentication; [`mcp`], [`tools`], [`atms`], [`places`] and [`geocoder`]
//! are the locator; [`store`] is the database, [`audit`] its memory of who did what; [`cli`] is the command line.

pub mod account;
pub mod app;
pub mod atms;
pub mod audit;
mod background;
mod changes;
pub mod cli;
pub mod clock;
pub mod config;
pub mod conformance;
pub mod connections;
pub mod domains;
pub mod error;
pub mod geocoder;
pub mod hosted;
pub mod http;
pub mod id;
pub mod kept;
pub mod keys;
pub mod limits;
pub mod mcp;
pub mod metrics;
pub mod outbound;
pub mod outbox;
pub mod places;
pub mod processor;
mod public_address;
pub mod redis;
pub mod retention;
pub mod seal;
pub mod serve;
pub mod sessions;
pub mod store;
pub mod telemetry;
pub mod tools;
mod verify;
