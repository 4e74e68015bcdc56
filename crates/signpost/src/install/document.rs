//! A client's file as text: find our entry in it, set it, remove it, and leave every other byte where it is.

use serde_json::Value;

use super::bad_text::BadText;
use super::members::{ENTRY_NAME, Members};
use super::{json_text, toml_text};

/// How a file is written, and under which key of it the servers stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileFormat {
    /// JSON with comments.
    Json {
        /// The key of all servers.
        container: &'static str,
        /// Whether a comma may stand behind the last member.
        trailing_commas: bool,
    },
    /// TOML.
    Toml {
        /// The table of all servers.
        container: &'static str,
    },
}

impl FileFormat {
    /// Our entry, if there is one.
    pub(super) fn find(self, text: &str) -> Result<Option<Value>, BadText> {
        let mut whole = self.read(text)?;
        Ok(whole.get_mut(self.container()).and_then(|servers| servers.get_mut(ENTRY_NAME)).map(Value::take))
    }

    /// The text with our entry: added where there is none, else changed in what it says of how the server is reached.
    pub(super) fn set(self, text: &str, members: &Members) -> Result<String, BadText> {
        let changed = match self {
            Self::Json { container, trailing_commas } => json_text::set(text, container, members, trailing_commas)?,
            Self::Toml { container } => toml_text::set(text, container, members)?,
        };
        self.compare(text, &changed)?;
        Ok(changed)
    }

    /// The text without our entry.
    pub(super) fn remove(self, text: &str) -> Result<String, BadText> {
        let changed = match self {
            Self::Json { container, trailing_commas } => json_text::remove(text, container, trailing_commas)?,
            Self::Toml { container } => toml_text::remove(text, container)?,
        };
        self.compare(text, &changed)?;
        Ok(changed)
    }

    fn container(self) -> &'static str {
        match self {
            Self::Json { container, .. } | Self::Toml { container } => container,
        }
    }

    fn read(self, text: &str) -> Result<Value, BadText> {
        match self {
            Self::Json { container, trailing_commas } => json_text::read(text, container, trailing_commas),
            Self::Toml { .. } => toml_text::read(text),
        }
    }

    /// What an editor of texts got wrong would be somebody's settings: a change that reaches further than our entry is
    /// none.
    fn compare(self, before: &str, after: &str) -> Result<(), BadText> {
        let rest = |text| -> Result<Value, BadText> {
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
        };
        if rest(before)? == rest(after)? {
            return Ok(());
        }
        Err(BadText("it cannot be changed in one place alone: add the entry by hand, as --print shows it".to_owned()))
    }
}
