//! Usernames that the operator or the integrator sets, instead of the generated ones.

use anyhow::{Result, ensure};
use serde::Serialize;

/// Minimum length of a username in characters.
const MIN_LEN: usize = 2;
/// Maximum length of a username in characters.
const MAX_LEN: usize = 32;
/// Prefixes of the IDs that applications receive, which a username must not imitate.
const ID_PREFIXES: [&str; 3] = ["usr_", "cli_", "dyn_"];
/// The names that belong to accounts of operating systems, to roles of a domain or to pages of applications, one a line.
const RESERVED_NAMES: &str = include_str!("reserved_names.txt");

/// A username that was set, such as `ann`. Applications that identify users by name may treat it as the account of the
/// operating system with this name, or as a path, so its characters are restricted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ChosenUsername(String);

/// The treatment of reserved names, such as `root`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReservedNames {
    /// They are refused.
    Refused,
    /// They are allowed: the operator asked for it on the command line.
    Allowed,
}

impl ChosenUsername {
    /// Parses the username in a request.
    ///
    /// # Errors
    /// Returns the violated rule.
    pub fn parse(text: &str, reserved: ReservedNames) -> Result<Self, String> {
        if !has_valid_characters(text) {
            return Err(format!(
                "must have {MIN_LEN} to {MAX_LEN} characters: a to z and 0 to 9, with single '.', '_' or '-' between them"
            ));
        }
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err("must not consist of digits, because some systems read it as the number of a user".to_owned());
        }
        if ID_PREFIXES.iter().any(|prefix| text.starts_with(prefix)) {
            return Err(format!("must not begin with {}", ID_PREFIXES.join(", ")));
        }
        if reserved == ReservedNames::Refused && is_reserved(text) {
            return Err("is a reserved name; choose another one".to_owned());
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn from_stored(text: &str) -> Result<Self> {
        ensure!(has_valid_characters(text), "is no username");
        Ok(Self(text.to_owned()))
    }
}

fn has_valid_characters(text: &str) -> bool {
    let is_separator = |byte: &u8| matches!(byte, b'.' | b'_' | b'-');
    let bytes = text.as_bytes();
    let is_plain = bytes.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || is_separator(byte));
    let has_outer_separator = bytes.first().is_some_and(is_separator) || bytes.last().is_some_and(is_separator);
    let has_adjacent_separators = bytes.windows(2).any(|pair| pair.iter().all(is_separator));
    (MIN_LEN..=MAX_LEN).contains(&bytes.len()) && is_plain && !has_outer_separator && !has_adjacent_separators
}

fn is_reserved(text: &str) -> bool {
    RESERVED_NAMES.lines().any(|name| name == text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn parse(text: &str) -> Result<ChosenUsername, String> {
        ChosenUsername::parse(text, ReservedNames::Refused)
    }

    #[test]
    fn usernames_are_safe_in_other_systems() {
        for text in ["ann", "a1", "ann.lee", "ann_lee-2", "1a", "10.5", "amber-otter-4821", &"a".repeat(32)] {
            assert_eq!(parse(text).unwrap().as_str(), text);
        }
        for text in [
            "",
            "a",
            "Ann",
            "-rf",
            "..",
            "ann-",
            ".ann",
            "ann..lee",
            "ann._lee",
            "ann lee",
            "ann/lee",
            "ánn",
            "1000",
            "usr_x",
            "cli_1",
            "dyn_a",
            &"a".repeat(33),
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn reserved_name_requires_the_operator() {
        for text in ["root", "admin", "administrator", "system", "daemon", "nobody", "www-data", "postmaster"] {
            assert!(parse(text).unwrap_err().contains("reserved"), "{text}");
            assert!(ChosenUsername::parse(text, ReservedNames::Allowed).is_ok(), "{text}");
        }
        assert!(ChosenUsername::parse("-rf", ReservedNames::Allowed).is_err());
    }

    #[test]
    fn reserved_names_are_valid_and_unique() {
        let names: BTreeSet<_> = RESERVED_NAMES.lines().collect();
        assert_eq!(names.len(), RESERVED_NAMES.lines().count());
        for name in names {
            assert!(has_valid_characters(name), "{name}");
        }
    }
}
