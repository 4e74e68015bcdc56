//! The settings of a client, and the rules that they obey.

use serde::{Deserialize, Serialize};

use super::{AllowList, ClientAuthMethod, RedirectUris};
use crate::jose::SigningAlgorithm;

/// Maximum length of a client's name, in characters.
const MAX_NAME_LEN: usize = 60;

/// The settings of a client, as its operator chooses them. [`ClientSettings::check`] succeeds for every stored client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct ClientSettings {
    pub name: Option<ClientName>,
    /// Whether the client is public. A public client is a program on users' devices, and cannot
    /// store a secret.
    pub is_public: bool,
    pub redirect_uris: RedirectUris,
    pub post_logout_uris: RedirectUris,
    pub algorithm: SigningAlgorithm,
    pub email: EmailClaim,
    pub requires_pkce: bool,
    /// Skips the consent page, if [`ClientSettings::skips_consent`].
    pub is_trusted: bool,
    /// The users who may log in. `None` admits all users at `authorize`, and none behind a proxy.
    pub allowed: Option<AllowList>,
    /// The authentication method at the token endpoint; `None` for either method, but not both in a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth_method: Option<ClientAuthMethod>,
}

/// The name of a client: a single line without invisible characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct ClientName(String);

/// The claims of the scope `email`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EmailClaim {
    /// `<user>@<domain>`, without `email_verified`.
    #[default]
    Synthetic,
    /// No claims.
    None,
    /// `<user>@<domain>`, with `email_verified` while the domain is verified.
    Verified,
}

/// A setting that contradicts others, and the rule that it breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {reason}")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct InvalidClient {
    pub field: &'static str,
    pub reason: &'static str,
}

impl ClientSettings {
    /// Returns the default settings of a confidential client.
    #[must_use]
    pub fn new(redirect_uris: RedirectUris) -> Self {
        Self {
            name: None,
            is_public: false,
            redirect_uris,
            post_logout_uris: RedirectUris::default(),
            algorithm: SigningAlgorithm::default(),
            email: EmailClaim::default(),
            requires_pkce: true,
            is_trusted: false,
            allowed: None,
            auth_method: None,
        }
    }

    /// Returns true if users are not asked for consent. A program on a user's device cannot prove its identity: another
    /// program on the device can send an equal request, and would receive the user's identity without a page (RFC 8252,
    /// 8.6). Such a client always requires consent; an https URL belongs only to its owner.
    #[must_use]
    pub fn skips_consent(&self) -> bool {
        let is_itself = !self.is_public || !self.redirect_uris.as_slice().iter().any(super::RedirectUri::is_on_device);
        self.is_trusted && is_itself
    }

    /// Checks that the settings do not contradict each other.
    ///
    /// # Errors
    /// Returns the first setting that contradicts others.
    pub fn check(&self) -> Result<(), InvalidClient> {
        if self.redirect_uris.as_slice().is_empty() {
            return invalid("redirect_uris", "must name at least one URI");
        }
        // Nothing else ties a code to a client that has no secret (RFC 9700, 2.1.1).
        if self.is_public && !self.requires_pkce {
            return invalid("pkce", "must be true: a public client has no secret, and PKCE is what protects its codes");
        }
        if self.is_public && self.auth_method.is_some() {
            return invalid("token_endpoint_auth_method", "must be absent: a public client has no secret");
        }
        if !self.is_public {
            for (field, uris) in [("redirect_uris", &self.redirect_uris), ("post_logout_uris", &self.post_logout_uris)]
            {
                if uris.as_slice().iter().any(super::RedirectUri::is_private_use) {
                    return invalid(field, "has a scheme of an application's own, which only a public client may have");
                }
            }
        }
        Ok(())
    }
}

fn invalid(field: &'static str, reason: &'static str) -> Result<(), InvalidClient> {
    Err(InvalidClient { field, reason })
}

impl ClientName {
    /// Parses a name, and removes invisible characters.
    ///
    /// # Errors
    /// Returns an error if no visible character is left, or the name is too long.
    pub fn parse(text: &str) -> Result<Self, String> {
        let name = signpost_text::clean_line(text).trim().to_owned();
        match name.chars().count() {
            1..=MAX_NAME_LEN => Ok(Self(name)),
            _ => Err(format!("must have 1 to {MAX_NAME_LEN} visible characters")),
        }
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ClientName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl EmailClaim {
    /// All values.
    pub const ALL: [Self; 3] = [Self::Synthetic, Self::None, Self::Verified];

    /// Returns the word in requests, replies and the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Synthetic => "synthetic",
            Self::None => "none",
            Self::Verified => "verified",
        }
    }

    /// Parses the word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|email| email.as_str() == text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(redirect_uri: &str) -> ClientSettings {
        ClientSettings::new(RedirectUris::parse([redirect_uri]).unwrap())
    }

    #[test]
    fn public_clients_need_pkce() {
        let (https, app) = (settings("https://app.example/cb"), settings("com.example.app:/cb"));
        assert_eq!(https.check(), Ok(()));
        assert_eq!(ClientSettings { requires_pkce: false, ..https.clone() }.check(), Ok(()));
        assert_eq!(ClientSettings { is_public: true, ..app.clone() }.check(), Ok(()));
        for (wrong, field) in [
            (app.clone(), "redirect_uris"),
            (ClientSettings { post_logout_uris: app.redirect_uris.clone(), ..https.clone() }, "post_logout_uris"),
            (ClientSettings { is_public: true, requires_pkce: false, ..https.clone() }, "pkce"),
            (ClientSettings { redirect_uris: RedirectUris::default(), ..https.clone() }, "redirect_uris"),
            (
                ClientSettings { is_public: true, auth_method: Some(ClientAuthMethod::Any), ..https.clone() },
                "token_endpoint_auth_method",
            ),
        ] {
            assert_eq!(wrong.check().unwrap_err().field, field);
        }
    }

    #[test]
    fn trusted_device_client_requires_consent() {
        for (uri, is_public, skips_consent) in [
            ("https://app.example/cb", false, true),
            ("https://app.example/cb", true, true),
            ("http://localhost:3000/cb", false, true),
            ("http://localhost:3000/cb", true, false),
            ("http://127.0.0.1/cb", true, false),
            ("com.example.app:/cb", true, false),
        ] {
            let settings = ClientSettings { is_public, is_trusted: true, ..settings(uri) };
            assert_eq!(settings.skips_consent(), skips_consent, "{uri} {is_public}");
            assert!(!ClientSettings { is_trusted: false, ..settings }.skips_consent());
        }
        let both = RedirectUris::parse(["https://app.example/cb", "com.example.app:/cb"]).unwrap();
        assert!(!ClientSettings { is_public: true, is_trusted: true, ..ClientSettings::new(both) }.skips_consent());
    }

    #[test]
    fn settings_round_trip_without_unknown_fields() {
        let settings = ClientSettings {
            name: Some(ClientName::parse("Ann's wiki").unwrap()),
            allowed: Some(AllowList::parse(["*"]).unwrap()),
            ..settings("https://app.example/cb")
        };
        let json = serde_json::to_value(&settings).unwrap();
        assert_eq!(json.get("auth_method"), None);
        let with_method = ClientSettings { auth_method: Some(ClientAuthMethod::Any), ..settings.clone() };
        let stored = serde_json::to_value(&with_method).unwrap();
        assert_eq!(serde_json::from_value::<ClientSettings>(stored).unwrap(), with_method);
        assert_eq!(serde_json::from_value::<ClientSettings>(json.clone()).unwrap(), settings);
        for (field, value) in
            [("other", 1.into()), ("name", "".into()), ("email", "Verified".into()), ("allowed", "*".into())]
        {
            let mut wrong = json.clone();
            wrong[field] = value;
            assert!(serde_json::from_value::<ClientSettings>(wrong).is_err(), "{field}");
        }
    }

    #[test]
    fn client_name_is_one_visible_line() {
        assert_eq!(ClientName::parse(" Ann's\nwiki\u{202e} ").unwrap().as_str(), "Ann's wiki");
        assert!(ClientName::parse(&"é".repeat(60)).is_ok());
        for text in ["", " ", "\u{200b}", &"é".repeat(61)] {
            assert!(ClientName::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn client_fields_round_trip() {
        for email in EmailClaim::ALL {
            assert_eq!(EmailClaim::parse(email.as_str()), Some(email));
            assert_eq!(serde_json::to_value(email).unwrap(), email.as_str());
        }
        assert_eq!(EmailClaim::parse("Synthetic"), None);
    }
}
