//! Authentication methods of confidential clients at the token endpoint.

use serde::{Deserialize, Serialize};

/// The authentication method of a confidential client (RFC 7591, 2: `token_endpoint_auth_method`). Without a setting it
/// may use either method, but not both in a request (RFC 6749, 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClientAuthMethod {
    /// The secret must be in the header `Authorization`.
    #[serde(rename = "client_secret_basic")]
    Basic,
    /// The secret must be in the form.
    #[serde(rename = "client_secret_post")]
    Post,
    /// The secret may be in the header, the form or both, for programs that send it twice.
    #[serde(rename = "any")]
    Any,
}

/// The place of the client secret in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretLocation {
    /// The secret is in the header `Authorization`.
    Header,
    /// The secret is in the form.
    Form,
    /// The header and the form contain equal secrets.
    Both,
}

impl ClientAuthMethod {
    /// All authentication methods.
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

impl SecretLocation {
    /// Returns true if a client with this setting may send its secret in this place.
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
    fn auth_methods_round_trip() {
        for method in ClientAuthMethod::ALL {
            assert_eq!(ClientAuthMethod::parse(method.as_str()), Some(method));
            assert_eq!(serde_json::to_value(method).unwrap(), method.as_str());
        }
        assert_eq!(ClientAuthMethod::parse("none"), None);
    }

    #[test]
    fn only_any_accepts_the_secret_twice() {
        use SecretLocation::{Both, Form, Header};

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
