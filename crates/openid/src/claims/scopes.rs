//! The known scopes of OpenID Connect, and sets of them.

use anyhow::{Context, Result};
use signpost_store::column::ColumnType;
use signpost_store::{ColumnKind, Value};

/// A known scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OpenidScope {
    /// `openid`, required for every OpenID Connect request.
    Openid,
    /// `profile`, the names and groups of the user.
    Profile,
    /// `email`, the e-mail address of the user.
    Email,
    /// `offline_access`, a refresh token. It is valid without a browser session of the user.
    OfflineAccess,
}

/// The error description for scopes that are separated by commas.
pub const COMMA_SEPARATED_SCOPES: &str =
    "scope has commas between its values; send them with spaces, such as 'openid profile'";

/// Returns true if a text has commas between scopes, including a known scope (RFC 6749, 3.3: scopes are delimited by
/// spaces).
#[must_use]
pub fn has_commas(text: &str) -> bool {
    let with_commas = text.split(' ').filter(|word| word.contains(','));
    with_commas.flat_map(|word| word.split(',')).any(|word| OpenidScope::parse(word).is_some())
}

/// A set of scopes, in the order of [`OpenidScope::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenidScopes(u8);

impl OpenidScope {
    /// All scopes, in the order of discovery.
    pub const ALL: [Self; 4] = [Self::Openid, Self::Profile, Self::Email, Self::OfflineAccess];

    /// Returns the word in requests, replies and the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Openid => "openid",
            Self::Profile => "profile",
            Self::Email => "email",
            Self::OfflineAccess => "offline_access",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == word)
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl OpenidScopes {
    /// Parses the scopes of a request. Unknown scopes are ignored (`OpenID` Connect Core, 3.1.2.1).
    #[must_use]
    pub fn parse(text: &str) -> Self {
        text.split(' ').filter_map(OpenidScope::parse).collect()
    }

    /// Returns true if the set has a scope.
    #[must_use]
    pub fn contains(self, scope: OpenidScope) -> bool {
        self.0 & scope.bit() != 0
    }

    /// Returns true if the set has all scopes of another set.
    #[must_use]
    pub fn contain_all(self, others: Self) -> bool {
        others.0 & !self.0 == 0
    }

    /// Returns the union of two sets.
    #[must_use]
    pub fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Iterates over the scopes.
    pub fn iter(self) -> impl Iterator<Item = OpenidScope> {
        OpenidScope::ALL.into_iter().filter(move |scope| self.contains(*scope))
    }

    /// Returns the words separated by spaces, as in requests, replies and the database.
    #[must_use]
    pub fn to_words(self) -> String {
        self.iter().map(OpenidScope::as_str).collect::<Vec<_>>().join(" ")
    }

    fn from_stored(text: &str) -> Result<Self> {
        let scopes = Self::parse(text);
        (scopes.to_words() == text).then_some(scopes).context("are no scopes")
    }
}

impl FromIterator<OpenidScope> for OpenidScopes {
    fn from_iter<I: IntoIterator<Item = OpenidScope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |all, scope| all | scope.bit()))
    }
}

impl From<OpenidScopes> for Value {
    fn from(scopes: OpenidScopes) -> Self {
        Self::Text(scopes.to_words())
    }
}

impl ColumnType for OpenidScopes {
    const KIND: ColumnKind = ColumnKind::Text;

    fn from_value(value: Value) -> Result<Self> {
        Self::from_stored(&String::from_value(value)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_scopes_are_ignored() {
        for (asked, given) in [
            ("openid", "openid"),
            ("email openid", "openid email"),
            ("openid profile email address phone", "openid profile email"),
            ("openid offline_access openid", "openid offline_access"),
            ("OPENID Profile", ""),
            ("", ""),
            ("  openid  ", "openid"),
            ("openid\temail", ""),
        ] {
            assert_eq!(OpenidScopes::parse(asked).to_words(), given, "{asked}");
        }
    }

    #[test]
    fn scopes_are_compared_as_sets() {
        let [few, many] = ["openid email", "openid profile email"].map(OpenidScopes::parse);
        assert!(many.contain_all(few) && !few.contain_all(many) && few.contain_all(few));
        assert_eq!(few.with(OpenidScopes::parse("profile")), many);
        assert!(few.contains(OpenidScope::Email) && !few.contains(OpenidScope::Profile));
    }

    #[test]
    fn stored_scopes_round_trip() {
        assert_eq!(OpenidScopes::from_stored("openid email").unwrap(), OpenidScopes::parse("email openid"));
        for text in ["email openid", "openid x", " openid"] {
            assert!(OpenidScopes::from_stored(text).is_err(), "{text}");
        }
    }
}
