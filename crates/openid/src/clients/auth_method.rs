//! How a confidential client authenticates at the token endpoint.

use serde::{Deserialize, Serialize};

/// How a confidential client authenticates (RFC 7591, 2: `token_endpoint_auth_method`). Without a setting it may use
/// either method, one per request (RFC 6749, 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClientAuthMethod {
    /// Its secret in the header `Authorization` alone.
    #[serde(rename = "client_secret_basic")]
    Basic,
    /// Its secret in the form alone.
    #[serde(rename = "client_secret_post")]
    Post,
    /// Its secret in either place, or the same one in both: for programs that send it twice.
    #[serde(rename = "any")]
    Any,
}

/// Where a request has the client secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretPlace {
    /// In the header `Authorization`.
    Header,
    /// In the form.
    Form,
    /// The same in both.
    Both,
}

impl ClientAuthMethod {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Basic, Self::Post, Self::Any];

    /// Returns the word in requests, replies, the database and on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
            Self::Any => "any",
        }
    }

    /// Parses the word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.as_str() == text)
    }
}

impl SecretPlace {
    /// Returns whether a client with this setting may have its secret here.
    #[must_use]
    pub fn is_allowed(self, method: Option<ClientAuthMethod>) -> bool {
        match method {
            None => self != Self::Both,
            Some(ClientAuthMethod::Basic) => self == Self::Header,
            Some(ClientAuthMethod::Post) => self == Self::Form,
            Some(ClientAuthMethod::Any) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back() {
        for method in ClientAuthMethod::ALL {
            assert_eq!(ClientAuthMethod::parse(method.as_str()), Some(method));
            assert_eq!(serde_json::to_value(method).unwrap(), method.as_str());
        }
        assert_eq!(ClientAuthMethod::parse("none"), None);
    }

    #[test]
    fn only_any_allows_a_secret_in_both_places() {
        use SecretPlace::{Both, Form, Header};

        for (method, allowed) in [
            (None, [true, true, false]),
            (Some(ClientAuthMethod::Basic), [true, false, false]),
            (Some(ClientAuthMethod::Post), [false, true, false]),
            (Some(ClientAuthMethod::Any), [true, true, true]),
        ] {
            assert_eq!([Header, Form, Both].map(|place| place.is_allowed(method)), allowed, "{method:?}");
        }
    }
}
