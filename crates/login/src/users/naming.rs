//! Display names and groups of users, set by the operator or the integrator.

use std::fmt;

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

/// Maximum length in characters of the name of a user, a credential or a group.
const MAX_NAME_LEN: usize = 60;
/// Maximum groups of a user.
const MAX_GROUPS: usize = 50;

/// The display name of a user: a single line without invisible characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct UserDisplayName(String);

/// The name of a credential: a single line without invisible characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct CredentialName(String);

/// The groups of a user, without duplicates. The names contain no commas, because commas separate
/// the names in lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct UserGroups(Vec<String>);

impl UserDisplayName {
    /// Parses the name in a request, and removes invisible characters.
    ///
    /// # Errors
    /// Returns the violated rule, if the name is empty or too long.
    pub fn parse(text: &str) -> Result<Self, String> {
        clean(text).map(Self).ok_or_else(|| format!("must have 1 to {MAX_NAME_LEN} visible characters, or be null"))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn from_stored(text: &str) -> Result<Self> {
        ensure!(clean(text).as_deref() == Some(text), "is no name of a user");
        Ok(Self(text.to_owned()))
    }
}

impl CredentialName {
    /// Parses the name in a request, and removes invisible characters.
    ///
    /// # Errors
    /// Returns the violated rule, if the name is empty or too long.
    pub fn parse(text: &str) -> Result<Self, String> {
        clean(text).map(Self).ok_or_else(|| format!("must have 1 to {MAX_NAME_LEN} visible characters"))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl UserGroups {
    /// Returns the names of the groups.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Display for UserGroups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(", "))
    }
}

impl TryFrom<String> for UserDisplayName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl TryFrom<Vec<String>> for UserGroups {
    type Error = String;

    /// Parses the groups in a request, and preserves their order.
    fn try_from(words: Vec<String>) -> Result<Self, String> {
        let mut groups = Vec::new();
        for word in words {
            let Some(group) = clean(&word).filter(|group| !group.contains(',')) else {
                return Err(format!("must hold names of 1 to {MAX_NAME_LEN} characters without commas"));
            };
            if groups.contains(&group) {
                return Err("must name each group once".to_owned());
            }
            groups.push(group);
        }
        match groups.len() {
            1..=MAX_GROUPS => Ok(Self(groups)),
            _ => Err(format!("must name 1 to {MAX_GROUPS} groups, or be null")),
        }
    }
}

/// Returns the text as a line without invisible characters, unless it is empty or too long.
fn clean(text: &str) -> Option<String> {
    let text = signpost_text::clean_line(text).trim().to_owned();
    (1..=MAX_NAME_LEN).contains(&text.chars().count()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(words: &[&str]) -> Result<UserGroups, String> {
        UserGroups::try_from(words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn user_name_is_one_visible_line() {
        assert_eq!(UserDisplayName::parse(" Ann\u{202e}\nLee ").unwrap().as_str(), "Ann Lee");
        for text in ["", "\u{200b}", &"é".repeat(61)] {
            assert!(UserDisplayName::parse(text).is_err(), "{text:?}");
        }
        assert!(UserDisplayName::from_stored("Ann").is_ok() && UserDisplayName::from_stored(" Ann").is_err());
    }

    #[test]
    fn groups_are_unique_without_commas() {
        assert_eq!(groups(&["admins", " shop staff "]).unwrap().0, ["admins", "shop staff"]);
        for words in [&[][..], &[""], &["a,b"], &["a", "a"], &["a", "a "], &["x"; 2]] {
            assert!(groups(words).is_err(), "{words:?}");
        }
        let many: Vec<_> = (0..51).map(|number| number.to_string()).collect();
        assert!(UserGroups::try_from(many[..50].to_vec()).is_ok() && UserGroups::try_from(many).is_err());
        assert!(serde_json::from_str::<UserGroups>(r#"["a","a"]"#).is_err());
    }
}
