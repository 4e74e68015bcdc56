//! Signpost: finds Bitcoin ATMs for AI assistants, and authenticates users with a wallet and a QR code.
//!
//! In reading order: [`server`] starts the program and has its route table; `signpost-login` and `signpost-atm` are the
//! two services, independent of each other; both are based on `signpost-platform`, and this on the database in
//! `signpost-store`; [`demo`] is a server with a shop that uses it; [`doctor`] diagnoses an installation; [`install`]
//! adds the locator to assistants; [`cli`] is the command line.

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
