//! Puts the locator into the programs that people talk to models in: their files, their own commands, a bundle.
//!
//! What is written is computed from texts and values; the disk and other programs are asked in [`Installer`] alone.

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
pub use entry::{BadAddress, NoRemote, ServerEntry};
pub use folders::{ClientPlace, NoHome, OperatingSystem, UserFolders};
pub use installing::{ClientChange, EntryAction, Installer, PrintedEntry, Wish};
pub use members::ENTRY_NAME;
