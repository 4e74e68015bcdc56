//! Adds the locator to MCP clients: in their configuration files, with their own commands, or as a bundle.
//!
//! The changed texts are computed by pure functions; only [`Installer`] uses the disk and other programs.

pub mod bundle;
mod client;
mod client_command;
mod config_file;
mod document;
mod edit_error;
mod entry;
mod folders;
mod installing;
mod json_text;
mod members;
mod toml_text;

#[cfg(test)]
mod document_tests;

pub use client::McpClient;
pub use entry::{InvalidAddress, RemoteUnsupported, ServerEntry};
pub use folders::{ClientLocation, NoHome, OperatingSystem, UserFolders};
pub use installing::{ClientChange, EntryAction, Installer, Operation, PrintedEntry};
pub use members::ENTRY_NAME;

/// The flag of `signpost mcp` in all entries and bundles: the first start of a client succeeds before there is any data.
pub const FICTIONAL_WITHOUT_DATA: &str = "--fictional-without-data";
