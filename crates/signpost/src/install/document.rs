//! Finds, sets and removes the entry of this server in the text of a configuration file. All other
//! bytes stay unchanged.

use serde_json::Value;

use super::edit_error::EditError;
use super::members::{ENTRY_NAME, Members};
use super::{json_text, toml_text};

/// The format of a configuration file, and the key of the servers in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileFormat {
    /// JSON, with comments allowed.
    Json {
        /// The key of the servers.
        container: &'static str,
        /// Whether trailing commas are allowed.
        trailing_commas: bool,
    },
    /// TOML, with one table per server.
    Toml {
        /// The table of the servers.
        container: &'static str,
    },
}

impl FileFormat {
    /// Returns the entry of this program.
    pub(super) fn find(self, text: &str) -> Result<Option<Value>, EditError> {
        let mut whole = self.read(text)?;
        Ok(whole.get_mut(self.container()).and_then(|servers| servers.get_mut(ENTRY_NAME)).map(Value::take))
    }

    /// Adds the entry, or changes its members that describe the server.
    pub(super) fn set(self, text: &str, members: &Members) -> Result<String, EditError> {
        let changed = match self {
            Self::Json { container, trailing_commas } => json_text::set(text, container, members, trailing_commas)?,
            Self::Toml { container } => toml_text::set(text, container, members)?,
        };
        self.check_rest(text, &changed)?;
        Ok(changed)
    }

    /// Removes the entry.
    pub(super) fn remove(self, text: &str) -> Result<String, EditError> {
        let changed = match self {
            Self::Json { container, trailing_commas } => json_text::remove(text, container, trailing_commas)?,
            Self::Toml { container } => toml_text::remove(text, container)?,
        };
        self.check_rest(text, &changed)?;
        Ok(changed)
    }

    fn container(self) -> &'static str {
        match self {
            Self::Json { container, .. } | Self::Toml { container } => container,
        }
    }

    fn read(self, text: &str) -> Result<Value, EditError> {
        match self {
            Self::Json { container, trailing_commas } => json_text::read(text, container, trailing_commas),
            Self::Toml { .. } => toml_text::read(text),
        }
    }

    /// Checks that everything except the entry is unchanged, so that an error of the text editors cannot damage other
    /// settings.
    fn check_rest(self, before: &str, after: &str) -> Result<(), EditError> {
        if self.read_rest(before)? == self.read_rest(after)? {
            return Ok(());
        }
        Err(EditError("it cannot be changed in one place alone: add the entry by hand, as --print shows it".to_owned()))
    }

    /// Parses the document without the entry.
    fn read_rest(self, text: &str) -> Result<Value, EditError> {
        let mut whole = self.read(text)?;
        if let Some(members) = whole.as_object_mut()
            && let Some(servers) = members.get_mut(self.container()).and_then(Value::as_object_mut)
        {
            servers.remove(ENTRY_NAME);
            if servers.is_empty() {
                members.remove(self.container());
            }
        }
        Ok(whole)
    }
}
