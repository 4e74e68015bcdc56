//! Filters of the list of users.

use super::{ChosenUsername, EmailAddress, ExternalId, HostedUser, ReservedNames, UserDisplayName};

/// Maximum length of a search text in characters.
const MAX_TEXT_LEN: usize = 100;

/// The filters of a list of users. A user matches all filters that are set.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct UserFilter {
    pub external_id: Option<ExternalId>,
    pub username: Option<ChosenUsername>,
    pub text: Option<SearchText>,
}

/// A text to search for in the names and identifiers of users.
#[derive(Clone, Debug)]
pub struct SearchText(String);

impl UserFilter {
    /// Parses the filters of a request.
    ///
    /// # Errors
    /// Returns the name of the invalid filter and the violated rule.
    pub fn parse(
        external_id: Option<&str>,
        username: Option<&str>,
        text: Option<&str>,
    ) -> Result<Self, (&'static str, String)> {
        let parse_username = |text| ChosenUsername::parse(text, ReservedNames::Allowed);
        Ok(Self {
            external_id: external_id.map(ExternalId::parse).transpose().map_err(|reason| ("external_id", reason))?,
            username: username.map(parse_username).transpose().map_err(|reason| ("username", reason))?,
            text: text.map(SearchText::parse).transpose().map_err(|reason| ("q", reason))?,
        })
    }

    /// Returns true if a user matches.
    #[must_use]
    pub fn matches(&self, user: &HostedUser) -> bool {
        let Self { external_id, username, text } = self;
        external_id.as_ref().is_none_or(|external_id| user.external_id.as_ref() == Some(external_id))
            && username.as_ref().is_none_or(|username| user.username() == username.as_str())
            && text.as_ref().is_none_or(|text| text.matches(user))
    }
}

impl SearchText {
    /// Parses the text in a request.
    ///
    /// # Errors
    /// Returns the violated rule.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let is_clean = signpost_text::clean_line(text) == text;
        if !is_clean || !(1..=MAX_TEXT_LEN).contains(&text.chars().count()) {
            return Err(format!("must have 1 to {MAX_TEXT_LEN} visible characters"));
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the patterns of the operator `LIKE` with `!` as the escape character: of the text itself, and of the text
    /// in lower case for values in lower case. Databases do not convert all letters alike.
    pub(super) fn patterns(&self) -> [String; 2] {
        let escape = |text: &str| {
            let escaped = text.replace('!', "!!").replace('%', "!%").replace('_', "!_");
            format!("%{escaped}%")
        };
        [escape(&self.0), escape(&self.0.to_lowercase())]
    }

    fn matches(&self, user: &HostedUser) -> bool {
        let lower = self.0.to_lowercase();
        let values = [
            Some(user.petname.as_str()),
            user.username.as_ref().map(ChosenUsername::as_str),
            user.name.as_ref().map(UserDisplayName::as_str),
            user.email.as_ref().map(EmailAddress::as_str),
            user.external_id.as_ref().map(ExternalId::as_str),
        ];
        let contains = |value: &str| value.contains(&self.0) || value.to_lowercase().contains(&lower);
        user.id.as_str() == self.0 || values.into_iter().flatten().any(contains)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_has_no_wildcards_of_the_text() {
        assert_eq!(SearchText::parse(" 50%_A! ").unwrap().patterns(), ["%50!%!_A!!%", "%50!%!_a!!%"]);
    }

    #[test]
    fn invalid_filters_are_named() {
        for (external_id, username, text, field) in [
            (Some(""), None, None, "external_id"),
            (None, Some("Ann"), None, "username"),
            (None, None, Some(" "), "q"),
            (None, None, Some("a\0b"), "q"),
        ] {
            let invalid = UserFilter::parse(external_id, username, text).map_err(|(field, _)| field);
            assert_eq!(invalid.err(), Some(field));
        }
        assert!(UserFilter::parse(Some("42"), Some("root"), Some("Ann")).is_ok());
    }
}
