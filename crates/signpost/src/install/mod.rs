//! Adds the locator to MCP clients: in their configuration files, with their own commands, or as a bundle.
//!
//! The changed texts are computed by pure functions; only [`Installer`] uses the disk and other programs.

mod bad_text;
pub mod bundle;
mod client;
mod config_file;
mod document;
mod entry;
mod folders;
mod installing;
mod json_text;
mod members;
mod own_command;
mod toml_text;

#[cfg(test)]
mod document_tests;

pub use client::McpClient;
pub use entry::{BadAddress, RemoteUnsupported, ServerEntry};
pub use folders::{ClientPlace, NoHome, OperatingSystem, UserFolders};
pub use installing::{ClientChange, EntryAction, Installer, Operation, PrintedEntry};
pub use members::ENTRY_NAME;
