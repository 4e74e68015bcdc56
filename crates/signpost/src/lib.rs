//! Signpost: finds Bitcoin ATMs for AI assistants, and logs people in with a wallet and a QR code.
//!
//! In reading order: [`server`] starts the program and has its route table; [`login`] and [`atm`] are the two services,
//! which do not know each other; [`platform`] is what both stand on, [`signpost_store`] the database; [`cli`] is the command line.

pub mod cli;
pub mod config;
pub mod conformance;
pub mod server;
