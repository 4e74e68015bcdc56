//! Parses the body of API requests that register or change a client.

use serde::Deserialize;
use signpost_platform::web::Nullable;
use signpost_platform::web::problem::Problem;

use crate::clients::{AllowList, ClientAuthMethod, ClientName, ClientPatch, ClientSettings, EmailClaim, RedirectUris};
use crate::jose::SigningAlgorithm;

/// The settings of a client, with the member names of API requests.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClientBody {
    public: Option<bool>,
    name: Option<Nullable<ClientName>>,
    redirect_uris: Option<RedirectUris>,
    post_logout_uris: Option<RedirectUris>,
    alg: Option<SigningAlgorithm>,
    email: Option<EmailClaim>,
    pkce: Option<bool>,
    trusted: Option<bool>,
    allow: Option<Nullable<AllowList>>,
    token_endpoint_auth_method: Option<Nullable<String>>,
}

impl ClientBody {
    /// Returns the settings of a new client.
    ///
    /// # Errors
    /// Returns an error if `redirect_uris` is missing, the authentication method is unknown, or the
    /// settings contradict each other.
    pub(super) fn into_settings(mut self) -> Result<ClientSettings, Problem> {
        let is_public = self.public.take().unwrap_or_default();
        let Some(redirect_uris) = self.redirect_uris.clone() else {
            return Err(Problem::field("redirect_uris", "is required"));
        };
        let defaults = ClientSettings { is_public, ..ClientSettings::new(redirect_uris) };
        self.into_patch()?.apply(&defaults).map_err(|invalid| Problem::field(invalid.field, invalid.reason))
    }

    /// Returns the change of a client.
    ///
    /// # Errors
    /// Returns an error if `public` is given, which cannot change, or the authentication method is
    /// unknown.
    pub(super) fn into_patch(self) -> Result<ClientPatch, Problem> {
        if self.public.is_some() {
            return Err(Problem::field("public", "is not a known field of this request"));
        }
        let auth_method = match self.token_endpoint_auth_method {
            Some(Nullable(Some(word))) => Some(Some(parse_auth_method(&word)?)),
            Some(Nullable(None)) => Some(None),
            None => None,
        };
        Ok(ClientPatch {
            name: self.name.map(|Nullable(name)| name),
            redirect_uris: self.redirect_uris,
            post_logout_uris: self.post_logout_uris,
            algorithm: self.alg,
            email: self.email,
            requires_pkce: self.pkce,
            is_trusted: self.trusted,
            allowed: self.allow.map(|Nullable(list)| list),
            auth_method,
        })
    }
}

fn parse_auth_method(word: &str) -> Result<ClientAuthMethod, Problem> {
    ClientAuthMethod::parse(word).ok_or_else(|| {
        let allowed = "must be 'client_secret_basic', 'client_secret_post', 'any' or null";
        Problem::field("token_endpoint_auth_method", allowed)
    })
}
