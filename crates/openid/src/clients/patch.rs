//! The change of a client's settings.

use serde_json::{Map, Value, json};

use super::{AllowList, ClientAuthMethod, ClientName, ClientSettings, EmailClaim, InvalidClient, RedirectUris};
use crate::jose::SigningAlgorithm;

/// A change of a client: `None` leaves a setting unchanged, and `Some(None)` removes it. A client never changes between
/// public and confidential, because its existing codes and tokens depend on the type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct ClientPatch {
    pub name: Option<Option<ClientName>>,
    pub redirect_uris: Option<RedirectUris>,
    pub post_logout_uris: Option<RedirectUris>,
    pub algorithm: Option<SigningAlgorithm>,
    pub email: Option<EmailClaim>,
    pub requires_pkce: Option<bool>,
    pub is_trusted: Option<bool>,
    pub allowed: Option<Option<AllowList>>,
    pub auth_method: Option<Option<ClientAuthMethod>>,
}

impl ClientPatch {
    /// Returns true if the change sets nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the settings after the change.
    ///
    /// # Errors
    /// Returns an error if the resulting settings contradict each other.
    pub fn apply(&self, to: &ClientSettings) -> Result<ClientSettings, InvalidClient> {
        let Self {
            name, redirect_uris, post_logout_uris, algorithm, email, requires_pkce, is_trusted, allowed, ..
        } = self;
        let changed = ClientSettings {
            name: name.clone().unwrap_or_else(|| to.name.clone()),
            is_public: to.is_public,
            redirect_uris: redirect_uris.clone().unwrap_or_else(|| to.redirect_uris.clone()),
            post_logout_uris: post_logout_uris.clone().unwrap_or_else(|| to.post_logout_uris.clone()),
            algorithm: algorithm.unwrap_or(to.algorithm),
            email: email.unwrap_or(to.email),
            requires_pkce: requires_pkce.unwrap_or(to.requires_pkce),
            is_trusted: is_trusted.unwrap_or(to.is_trusted),
            allowed: allowed.clone().unwrap_or_else(|| to.allowed.clone()),
            auth_method: self.auth_method.unwrap_or(to.auth_method),
        };
        changed.check()?;
        Ok(changed)
    }

    /// Returns the changed settings by the names of the API, for the audit log and for requests.
    #[must_use]
    pub fn to_details(&self) -> Value {
        let Self {
            name, redirect_uris, post_logout_uris, algorithm, email, requires_pkce, is_trusted, allowed, ..
        } = self;
        let set = [
            ("name", name.as_ref().map(|name| json!(name))),
            ("redirect_uris", redirect_uris.as_ref().map(|uris| json!(uris))),
            ("post_logout_uris", post_logout_uris.as_ref().map(|uris| json!(uris))),
            ("alg", algorithm.map(|algorithm| json!(algorithm))),
            ("email", email.map(|email| json!(email))),
            ("pkce", requires_pkce.map(|requires| json!(requires))),
            ("trusted", is_trusted.map(|is_trusted| json!(is_trusted))),
            ("allow", allowed.as_ref().map(|allowed| json!(allowed))),
            ("token_endpoint_auth_method", self.auth_method.map(|method| json!(method))),
        ];
        set.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect::<Map<_, _>>().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patch_changes_only_named_fields() {
        let before = ClientSettings {
            name: Some(ClientName::parse("Wiki").unwrap()),
            allowed: Some(AllowList::parse(["*"]).unwrap()),
            ..ClientSettings::new(RedirectUris::parse(["https://app.example/cb"]).unwrap())
        };
        assert_eq!(ClientPatch::default().apply(&before), Ok(before.clone()));
        assert_eq!(ClientPatch::default().to_details(), json!({}));
        let patch =
            ClientPatch { name: Some(None), email: Some(EmailClaim::None), allowed: Some(None), ..Default::default() };
        let after = ClientSettings { name: None, email: EmailClaim::None, allowed: None, ..before.clone() };
        assert_eq!(patch.apply(&before), Ok(after));
        assert_eq!(patch.to_details(), json!({ "name": null, "email": "none", "allow": null }));
    }

    #[test]
    fn patch_obeys_the_registration_rules() {
        let before = ClientSettings::new(RedirectUris::parse(["https://app.example/cb"]).unwrap());
        let public = ClientSettings { is_public: true, ..before.clone() };
        let patch = ClientPatch { requires_pkce: Some(false), ..Default::default() };
        assert!(patch.apply(&before).is_ok());
        assert_eq!(patch.apply(&public).unwrap_err().field, "pkce");
        let patch = ClientPatch { redirect_uris: Some(RedirectUris::default()), ..Default::default() };
        assert_eq!(patch.apply(&before).unwrap_err().field, "redirect_uris");
    }
}
