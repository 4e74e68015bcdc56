//! What operator and integrator say of a user: a name, and groups.

use std::fmt;

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Most characters of a name, and of a group's.
const MAX_NAME_LEN: usize = 60;
/// Most groups of a user.
const MAX_GROUPS: usize = 50;

/// A user's name: one line without what cannot be seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct UserName(String);

/// A credential's name, under the same rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct CredentialName(String);

/// The groups of a user, none twice. A comma is in none of their names: where they are told in one line, it divides them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct UserGroups(Vec<String>);

/// What a change of a user sets; what is `None` stays, and `Some(None)` takes away.
#[derive(Debug, Default)]
#[expect(missing_docs, reason = "the names say it")]
pub struct UserPatch {
    pub name: Option<Option<UserName>>,
    pub groups: Option<Option<UserGroups>>,
}

impl UserName {
    /// The name in a request, without what a reader cannot see.
    ///
    /// # Errors
    /// What it must be instead.
    pub fn parse(text: &str) -> Result<Self, String> {
        clean(text).map(Self).ok_or_else(|| format!("must have 1 to {MAX_NAME_LEN} visible characters, or be null"))
    }

    /// Its text.
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
    /// The name in a request, without what a reader cannot see.
    ///
    /// # Errors
    /// What it must be instead.
    pub fn parse(text: &str) -> Result<Self, String> {
        clean(text).map(Self).ok_or_else(|| format!("must have 1 to {MAX_NAME_LEN} visible characters"))
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl UserGroups {
    /// Their names.
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

impl TryFrom<Vec<String>> for UserGroups {
    type Error = String;

    /// The groups in a request, in its order.
    fn try_from(words: Vec<String>) -> Result<Self, String> {
        let mut groups = Vec::new();
        for word in words {
            let group = clean(&word).filter(|group| !group.contains(','));
            let group =
                group.ok_or_else(|| format!("must hold names of 1 to {MAX_NAME_LEN} characters without commas"))?;
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

impl UserPatch {
    /// What was set, for the audit log, which keeps it longer than the user may be there: the groups, and that there was a
    /// name.
    pub(super) fn to_details(&self) -> Map<String, Value> {
        let set = [
            ("name", self.name.as_ref().map(|name| json!(if name.is_some() { "set" } else { "removed" }))),
            ("groups", self.groups.as_ref().map(|groups| json!(groups))),
        ];
        set.into_iter().filter_map(|(field, value)| Some((field.to_owned(), value?))).collect()
    }
}

/// A text of one line, where something of it is left to see and it is not too long.
fn clean(text: &str) -> Option<String> {
    let text = signpost_text::line(text).trim().to_owned();
    (1..=MAX_NAME_LEN).contains(&text.chars().count()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(words: &[&str]) -> Result<UserGroups, String> {
        UserGroups::try_from(words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_name_is_one_line_that_can_be_seen() {
        assert_eq!(UserName::parse(" Ann\u{202e}\nLee ").unwrap().as_str(), "Ann Lee");
        for text in ["", "\u{200b}", &"é".repeat(61)] {
            assert!(UserName::parse(text).is_err(), "{text:?}");
        }
        assert!(UserName::from_stored("Ann").is_ok() && UserName::from_stored(" Ann").is_err());
    }

    #[test]
    fn groups_are_named_once_each_and_none_has_a_comma() {
        assert_eq!(groups(&["admins", " shop staff "]).unwrap().0, ["admins", "shop staff"]);
        for words in [&[][..], &[""], &["a,b"], &["a", "a"], &["a", "a "], &["x"; 2]] {
            assert!(groups(words).is_err(), "{words:?}");
        }
        let many: Vec<_> = (0..51).map(|number| number.to_string()).collect();
        assert!(UserGroups::try_from(many[..50].to_vec()).is_ok() && UserGroups::try_from(many).is_err());
        assert!(serde_json::from_str::<UserGroups>(r#"["a","a"]"#).is_err());
    }
}
