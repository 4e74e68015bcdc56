//! The command `signpost clients set`: changes the settings of a client.

use anyhow::{Result, bail};
use clap::Args;
use signpost_login::domains::Domain;
use signpost_openid::clients::sql::{self, ChangeClientError};
use signpost_openid::clients::{Client, ClientAuthMethod, ClientName, ClientPatch, EmailClaim, RedirectUris};
use signpost_openid::jose::SigningAlgorithm;
use signpost_platform::accounts::audit::Actor;
use signpost_platform::clock::Clock;
use signpost_store::Store;

use super::create::{AUTH_METHODS, check_domain, confirm_open_access, invalid_setting, parse_allow_list, parse_uris};
use super::find::FoundClient;
use super::{ClientSelector, show};
use crate::cli::backend::Backend;
use crate::cli::{Session, Usage};

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(in crate::cli) struct SetClient {
    #[command(flatten)]
    selector: ClientSelector,
    /// Display name, up to 60 characters
    #[arg(long, conflicts_with = "no_name")]
    name: Option<String>,
    /// Remove the name: the host of the redirect URI is displayed
    #[arg(long)]
    no_name: bool,
    /// Redirect URIs of the client; they replace the existing URIs
    #[arg(long = "redirect-uri", value_name = "URI", num_args = 1..)]
    redirect_uris: Vec<String>,
    /// Post-logout redirect URIs; they replace the existing URIs
    #[arg(long = "post-logout-uri", value_name = "URI", num_args = 1.., conflicts_with = "no_post_logout_uri")]
    post_logout_uris: Vec<String>,
    /// Remove all post-logout redirect URIs
    #[arg(long)]
    no_post_logout_uri: bool,
    /// Algorithm that signs ID tokens: RS256 or ES256
    #[arg(long, value_name = "ALG", value_parser = ["RS256", "ES256"])]
    alg: Option<String>,
    /// Email claim: synthetic (USER@DOMAIN), none, or verified (synthetic, requires a verified
    /// domain)
    #[arg(long, value_parser = ["synthetic", "none", "verified"])]
    email: Option<String>,
    /// Require PKCE in authorization requests
    #[arg(long, conflicts_with = "no_pkce")]
    pkce: bool,
    /// Accept authorization requests without PKCE
    #[arg(long)]
    no_pkce: bool,
    /// Trusted client: users are not asked for consent
    #[arg(long, conflicts_with = "no_trusted")]
    trusted: bool,
    /// Ask for consent
    #[arg(long)]
    no_trusted: bool,
    /// Users who may log in: usr_…, a public key, group:NAME, or '*' for all; they replace the
    /// existing list
    #[arg(long, value_name = "WHO", num_args = 1.., conflicts_with = "no_allow")]
    allow: Vec<String>,
    /// Remove the list: all users may log in with OpenID Connect, none with forward authentication
    #[arg(long)]
    no_allow: bool,
    /// Client authentication method; any also accepts the secret in both header and form of a
    /// request
    #[arg(long, value_name = "METHOD", value_parser = AUTH_METHODS, conflicts_with = "no_auth_method")]
    auth_method: Option<String>,
    /// Accept the secret in either the header or the form
    #[arg(long)]
    no_auth_method: bool,
    /// Do not ask for confirmation to admit all users of a domain with open registration
    #[arg(long)]
    yes: bool,
}

impl SetClient {
    pub(super) async fn run(self, session: &Session, backend: &Backend) -> Result<()> {
        let change = self.change()?;
        let found = self.selector.find(backend).await?;
        let FoundClient { client, domain, .. } = &found;
        let settings = change.apply(&client.settings);
        let settings = settings.map_err(|invalid| invalid_setting(invalid.field, invalid.reason))?;
        check_domain(domain, settings.email)?;
        let warning = match &change.allowed {
            Some(allowed) => confirm_open_access(self.yes, domain, allowed.as_ref())?,
            None => None,
        };
        match backend {
            Backend::Database(store) => patch_stored(store, client, domain, &change).await?,
            Backend::Api(api) => {
                api.patch_client(&domain.id, &client.id, &change).await?;
            }
        }
        show(session, self.selector.find(backend).await?)?;
        if let Some(warning) = warning {
            session.print_note(&warning);
        }
        Ok(())
    }

    /// Returns the given settings, checked like `PATCH /domains/{id}/clients/{client}`.
    fn change(&self) -> Result<ClientPatch> {
        let name = self.name.as_deref().map(ClientName::parse).transpose();
        let name = name.map_err(|reason| invalid_setting("name", &reason))?;
        let allowed = parse_allow_list(&self.allow)?;
        let auth_method = self.auth_method.as_deref().and_then(ClientAuthMethod::parse);
        let change = ClientPatch {
            name: name.map(Some).or(self.no_name.then_some(None)),
            redirect_uris: given_uris("redirect_uris", &self.redirect_uris, false)?,
            post_logout_uris: given_uris("post_logout_uris", &self.post_logout_uris, self.no_post_logout_uri)?,
            algorithm: self.alg.as_deref().and_then(SigningAlgorithm::parse),
            email: self.email.as_deref().and_then(EmailClaim::parse),
            requires_pkce: given_bool(self.pkce, self.no_pkce),
            is_trusted: given_bool(self.trusted, self.no_trusted),
            allowed: allowed.map(Some).or(self.no_allow.then_some(None)),
            auth_method: auth_method.map(Some).or(self.no_auth_method.then_some(None)),
        };
        if change.is_empty() {
            return Err(Usage("name at least one setting to change; 'clients set --help' lists them".to_owned()).into());
        }
        Ok(change)
    }
}

/// Changes a client in the database.
async fn patch_stored(store: &Store, client: &Client, domain: &Domain, change: &ClientPatch) -> Result<()> {
    let now = Clock::System.now();
    match sql::patch(store, &domain.account, &domain.id, &client.id, change, &Actor::Operator, now).await {
        Ok(()) => Ok(()),
        Err(ChangeClientError::NotFound) => bail!("{} was deleted just now", client.id),
        Err(ChangeClientError::Invalid(invalid)) => Err(invalid_setting(invalid.field, invalid.reason).into()),
        Err(ChangeClientError::Internal(error)) => Err(error),
    }
}

/// Returns the given URIs, no URIs if they are to be removed, and `None` if they do not change.
fn given_uris(field: &str, texts: &[String], is_removed: bool) -> Result<Option<RedirectUris>> {
    if texts.is_empty() && !is_removed {
        return Ok(None);
    }
    parse_uris(field, texts).map(Some)
}

/// Returns the value of a pair of flags such as `--pkce` and `--no-pkce`.
fn given_bool(yes: bool, no: bool) -> Option<bool> {
    (yes || no).then_some(yes)
}
