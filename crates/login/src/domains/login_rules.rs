//! The login rules of a hosted domain: its login methods, its registration policy and its display
//! name.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use signpost_platform::accounts::Environment;

/// Maximum characters of a display name.
const MAX_DISPLAY_NAME_LEN: usize = 60;

/// A login method: a way to prove possession of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoginMethod {
    /// A wallet that scans the code or opens its link.
    #[default]
    Scan,
    /// The browser wallet.
    Browser,
    /// A Lightning wallet (LUD-04).
    Lightning,
    /// A passkey.
    Passkey,
}

/// The login methods of a domain: a list that is not empty and has no duplicates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct LoginMethods(Vec<LoginMethod>);

/// The error for words that are not the methods of a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidLoginMethods(&'static str);

/// The registration policy for new users of a domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Registration {
    /// Everyone may register an account.
    #[default]
    Open,
    /// Users may register only in sessions that the integrator opens with `mode: "register"`.
    Closed,
}

/// The display name of a site: a single line without invisible characters. Pages show it next to
/// the domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct DisplayName(String);

impl LoginMethod {
    /// All login methods.
    pub const ALL: [Self; 4] = [Self::Scan, Self::Browser, Self::Lightning, Self::Passkey];

    /// Returns the name in requests, replies, events and the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Scan => "scan",
            Self::Browser => "browser",
            Self::Lightning => "lightning",
            Self::Passkey => "passkey",
        }
    }

    /// Parses the name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.as_str() == text)
    }
}

impl LoginMethods {
    /// Parses the methods in a request, and preserves their order.
    ///
    /// # Errors
    /// Returns an error if the list is empty, or has an unknown or a repeated method.
    pub fn parse<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Self, InvalidLoginMethods> {
        let mut methods = Vec::new();
        for word in words {
            let method = LoginMethod::parse(word);
            let method = method.ok_or(InvalidLoginMethods("must hold 'scan', 'browser', 'lightning' or 'passkey'"))?;
            if methods.contains(&method) {
                return Err(InvalidLoginMethods("must name each method once"));
            }
            methods.push(method);
        }
        if methods.is_empty() { Err(InvalidLoginMethods("must name at least one method")) } else { Ok(Self(methods)) }
    }

    /// Creates the list of these methods without duplicates.
    #[must_use]
    pub fn new(first: LoginMethod, others: impl IntoIterator<Item = LoginMethod>) -> Self {
        let mut methods = vec![first];
        for method in others {
            if !methods.contains(&method) {
                methods.push(method);
            }
        }
        Self(methods)
    }

    /// Returns the default methods of a domain.
    #[must_use]
    pub fn default_for(environment: Environment) -> Self {
        Self(match environment {
            Environment::Live => vec![LoginMethod::Scan, LoginMethod::Passkey],
            Environment::Sandbox => LoginMethod::ALL.to_vec(),
        })
    }

    /// Returns true if the list contains a method.
    #[must_use]
    pub fn contains(&self, method: LoginMethod) -> bool {
        self.0.contains(&method)
    }
}

impl TryFrom<Vec<String>> for LoginMethods {
    type Error = InvalidLoginMethods;

    fn try_from(words: Vec<String>) -> Result<Self, InvalidLoginMethods> {
        Self::parse(words.iter().map(String::as_str))
    }
}

impl fmt::Display for LoginMethods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(|method| method.as_str()).collect::<Vec<_>>().join(","))
    }
}

impl FromStr for LoginMethods {
    type Err = InvalidLoginMethods;

    /// Parses the stored text.
    fn from_str(text: &str) -> Result<Self, InvalidLoginMethods> {
        Self::parse(text.split(','))
    }
}

impl Registration {
    /// Returns the name in requests and in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
        }
    }

    /// Parses the name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Open, Self::Closed].into_iter().find(|registration| registration.as_str() == text)
    }

    pub(super) fn from_stored(text: &str) -> Result<Self> {
        Self::parse(text).context("is neither open nor closed")
    }
}

impl DisplayName {
    /// Parses the name in a request, and removes invisible characters.
    ///
    /// # Errors
    /// Returns an error if no character is left, or there are too many.
    pub fn parse(text: &str) -> Result<Self, String> {
        let name = signpost_text::clean_line(text).trim().to_owned();
        match name.chars().count() {
            1..=MAX_DISPLAY_NAME_LEN => Ok(Self(name)),
            _ => Err(format!("must have 1 to {MAX_DISPLAY_NAME_LEN} visible characters, or be null")),
        }
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn from_stored(text: &str) -> Result<Self> {
        match Self::parse(text) {
            Ok(name) if name.0 == text => Ok(name),
            _ => bail!("is no display name"),
        }
    }
}

impl TryFrom<String> for DisplayName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_unique_and_not_empty() {
        let methods = LoginMethods::parse(["passkey", "scan"]).unwrap();
        assert_eq!(methods.to_string(), "passkey,scan");
        assert_eq!("passkey,scan".parse(), Ok(methods.clone()));
        assert!(methods.contains(LoginMethod::Scan) && !methods.contains(LoginMethod::Lightning));
        for words in [&[][..], &["scan", "scan"], &["Scan"], &[""], &["scan", "sms"]] {
            assert!(LoginMethods::parse(words.iter().copied()).is_err(), "{words:?}");
        }
        for text in ["", "scan,", "scan,scan", "scan, passkey"] {
            assert!(text.parse::<LoginMethods>().is_err(), "{text}");
        }
    }

    #[test]
    fn live_defaults_resist_relay() {
        assert_eq!(LoginMethods::default_for(Environment::Live).to_string(), "scan,passkey");
        assert_eq!(LoginMethods::default_for(Environment::Sandbox).to_string(), "scan,browser,lightning,passkey");
    }

    #[test]
    fn display_name_is_one_visible_line() {
        assert_eq!(DisplayName::parse(" Ann's\nshop\u{202e} ").unwrap().as_str(), "Ann's shop");
        assert!(DisplayName::parse(&"é".repeat(60)).is_ok());
        for text in ["", " ", "\u{200b}", &"é".repeat(61)] {
            assert!(DisplayName::parse(text).is_err(), "{text:?}");
        }
        assert!(DisplayName::from_stored("a\u{202e}b").is_err());
    }
}
