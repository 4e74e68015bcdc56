//! Signpost: finds Bitcoin ATMs for AI assistants, and logs people in with a wallet and a QR code.
//!
//! In reading order: [`server`] starts the program and has its route table; `signpost-login` and `signpost-atm` are the
//! two services, which do not know each other; `signpost-platform` is what both stand on, `signpost-store` the database;
//! [`demo`] is a server with a shop that uses it; [`doctor`] says what is wrong with one; [`install`] puts the locator into
//! assistants; [`cli`] is the command line.

pub mod cli;
pub mod config;
pub mod conformance;
pub mod console;
pub mod demo;
pub mod deployment;
pub mod doctor;
pub mod install;
mod receiver;
pub mod server;
