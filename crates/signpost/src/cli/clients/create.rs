//! The command `signpost clients create`: registers an OpenID Connect client.

use anyhow::{Result, bail};
use clap::Args;
use data_encoding::BASE64URL;
use serde_json::json;
use signpost_login::domains::{Domain, HandlerKind, Registration};
use signpost_openid::clients::sql::{self, CreateClientError};
use signpost_openid::clients::{
    AllowList, Client, ClientAuthMethod, ClientEntropy, ClientName, ClientSettings, EmailClaim, RedirectUri,
    RedirectUris, RegisteredClient,
};
use signpost_openid::jose::SigningAlgorithm;
use signpost_platform::accounts::Environment;
use signpost_platform::accounts::audit::Actor;
use signpost_platform::clock::Clock;
use signpost_store::{Store, random};

use super::applications::{Application, ApplicationPlace, ClientValues};
use super::find::find_issuer;
use crate::cli::api::ClientOfApi;
use crate::cli::backend::Backend;
use crate::cli::users::DomainFlag;
use crate::cli::{Session, Usage, confirm};

/// Warning for a trusted client that still requires consent.
const CONSENT_WARNING: &str = "People are asked for consent all the same: another program on their device could say that it is \
                           this one. Redirect URIs with https alone end that.";

/// Names of [`ClientAuthMethod`].
pub(super) const AUTH_METHODS: [&str; 3] = ["client_secret_basic", "client_secret_post", "any"];

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(in crate::cli) struct CreateClient {
    #[command(flatten)]
    domain_flag: DomainFlag,
    /// Redirect URIs of the client: https; http on loopback; with --public also a scheme such as
    /// com.example.app
    #[arg(long = "redirect-uri", value_name = "URI", required = true, num_args = 1..)]
    redirect_uris: Vec<String>,
    /// Post-logout redirect URIs
    #[arg(long = "post-logout-uri", value_name = "URI", num_args = 1..)]
    post_logout_uris: Vec<String>,
    /// Display name, up to 60 characters [default: the host of the redirect URI]
    #[arg(long)]
    name: Option<String>,
    /// Public client, without a secret: a native application, or a page without a server
    #[arg(long, conflicts_with = "no_pkce")]
    public: bool,
    /// Algorithm that signs ID tokens: RS256 or ES256
    #[arg(long, value_name = "ALG", default_value = "RS256", value_parser = ["RS256", "ES256"])]
    alg: String,
    /// Email claim: synthetic (USER@DOMAIN), none, or verified (synthetic, requires a verified
    /// domain)
    #[arg(long, default_value = "synthetic", value_parser = ["synthetic", "none", "verified"])]
    email: String,
    /// Accept authorization requests without PKCE
    #[arg(long)]
    no_pkce: bool,
    /// Trusted client: users are not asked for consent
    #[arg(long)]
    trusted: bool,
    /// Users who may log in: usr_…, a public key, group:NAME, or '*' for all [default: all with
    /// OpenID Connect, none with forward authentication]
    #[arg(long, value_name = "WHO", num_args = 1..)]
    allow: Vec<String>,
    /// Print the configuration of this application
    #[arg(long = "for", value_name = "APPLICATION", value_enum, conflicts_with = "public")]
    application: Option<Application>,
    /// Client authentication method; any also accepts the secret in both header and form of a
    /// request [default: header or form]
    #[arg(long, value_name = "METHOD", value_parser = AUTH_METHODS, conflicts_with = "public")]
    auth_method: Option<String>,
    /// Do not ask for confirmation to admit all users of a domain with open registration
    #[arg(long)]
    yes: bool,
}

/// A new client with its secret and its issuer.
struct CreatedClient {
    client: Client,
    /// `None` for a public client.
    secret: Option<String>,
    issuer: String,
    /// A note about who may log in.
    warning: Option<String>,
}

impl CreateClient {
    /// Returns true if the standard output of the command is a configuration.
    pub(super) fn prints_only_data(&self) -> bool {
        self.application.is_some()
    }

    pub(super) async fn run(self, session: &Session, backend: &Backend) -> Result<()> {
        let place = self.place()?;
        let settings = self.settings(place.as_ref())?;
        let domain = self.domain_flag.find(backend).await?;
        check_domain(&domain, settings.email)?;
        let created = match backend {
            Backend::Database(store) => {
                let issuer = find_issuer(store, &domain).await?;
                let warning = confirm_open_access(self.yes, &domain, settings.allowed.as_ref())?;
                let registered = insert(store, &domain, settings).await?;
                let secret = registered.secret.map(|secret| secret.reveal().to_owned());
                CreatedClient { client: registered.client, secret, issuer, warning }
            }
            Backend::Api(api) => {
                let warning = confirm_open_access(self.yes, &domain, settings.allowed.as_ref())?;
                let ClientOfApi { client, issuer, secret } = api.create_client(&domain.id, &settings).await?;
                CreatedClient { client, secret, issuer, warning }
            }
        };
        let configuration = place.map(|(application, place)| configure(application, &place, &created));
        let warning = created.warning.clone();
        print(session, &domain, &created, configuration)?;
        if let Some(warning) = warning {
            session.print_note(&warning);
        }
        Ok(())
    }

    /// Returns the application of `--for`, and its place.
    fn place(&self) -> Result<Option<(Application, ApplicationPlace)>> {
        let Some(application) = self.application else { return Ok(None) };
        let [uri] = &*self.redirect_uris else {
            return Err(Usage("--redirect-uri: with --for, give its address once".to_owned()).into());
        };
        let uri = RedirectUri::parse(uri).map_err(|reason| invalid_setting("redirect_uris", &reason))?;
        Ok(Some((application, application.place(&uri))))
    }

    /// Returns the given settings, checked like `POST /domains/{id}/clients`.
    fn settings(&self, place: Option<&(Application, ApplicationPlace)>) -> Result<ClientSettings> {
        let mut redirect_uris = &self.redirect_uris;
        let mut post_logout_uris = self.post_logout_uris.clone();
        if let Some((application, place)) = place {
            redirect_uris = &place.redirect_uris;
            if post_logout_uris.is_empty() {
                post_logout_uris.extend(application.post_logout_uri(place));
            }
        }
        let redirect_uris = parse_uris("redirect_uris", redirect_uris)?;
        let name = self.name.as_deref().or(self.application.map(Application::label)).map(ClientName::parse).transpose();
        let settings = ClientSettings {
            name: name.map_err(|reason| invalid_setting("name", &reason))?,
            is_public: self.public,
            post_logout_uris: parse_uris("post_logout_uris", &post_logout_uris)?,
            algorithm: SigningAlgorithm::parse(&self.alg).unwrap_or_default(),
            email: EmailClaim::parse(&self.email).unwrap_or_default(),
            requires_pkce: !self.no_pkce && self.application != Some(Application::Gitea),
            is_trusted: self.trusted,
            allowed: parse_allow_list(&self.allow)?,
            auth_method: self.auth_method.as_deref().and_then(ClientAuthMethod::parse),
            ..ClientSettings::new(redirect_uris)
        };
        settings.check().map_err(|invalid| invalid_setting(invalid.field, invalid.reason))?;
        Ok(settings)
    }
}

/// Registers a client in the database.
async fn insert(store: &Store, domain: &Domain, settings: ClientSettings) -> Result<RegisteredClient> {
    let registered = Client::register(&domain.id, settings, Clock::System.now(), &ClientEntropy::draw());
    let registered = registered.map_err(|invalid| invalid_setting(invalid.field, invalid.reason))?;
    match sql::insert(store, domain, &registered.client, &Actor::Operator).await {
        Ok(()) => Ok(registered),
        Err(CreateClientError::NoHostedDomain) => bail!("{} was removed or changed just now", domain.name),
        Err(error) => Err(error.into()),
    }
}

/// Checks a client that admits every user of a domain with open registration: `*` needs a confirmation, and without a
/// list there is a warning.
pub(super) fn confirm_open_access(yes: bool, domain: &Domain, allowed: Option<&AllowList>) -> Result<Option<String>> {
    if domain.registration == Registration::Closed {
        return Ok(None);
    }
    let name = &domain.name;
    let how = "limit it with --allow, or with 'signpost domains set' and --registration closed";
    match allowed {
        None => Ok(Some(format!("anyone may register at {name} and then log in to this client; {how}"))),
        Some(list) if list.admits_everyone() => {
            let consequences = format!("anyone may register at {name}, so --allow '*' lets everybody in; {how}");
            if confirm(yes, &consequences, "Let everybody in?")? { Ok(None) } else { bail!("nothing was done") }
        }
        Some(_) => Ok(None),
    }
}

pub(super) fn parse_uris(field: &str, texts: &[String]) -> Result<RedirectUris> {
    Ok(RedirectUris::parse(texts.iter().map(String::as_str)).map_err(|reason| invalid_setting(field, &reason))?)
}

/// Parses the values of `--allow`. `None` if there are none.
pub(super) fn parse_allow_list(texts: &[String]) -> Result<Option<AllowList>> {
    if texts.is_empty() {
        return Ok(None);
    }
    let list = AllowList::parse(texts.iter().map(String::as_str));
    Ok(Some(list.map_err(|reason| invalid_setting("allow", &reason))?))
}

pub(super) fn check_domain(domain: &Domain, email: EmailClaim) -> Result<()> {
    let Domain { name, id, .. } = domain;
    if domain.handler == HandlerKind::Direct {
        bail!(
            "{name} is not hosted, so users cannot log in to it; run 'signpost domains set {id} --handler hosted' first"
        );
    }
    if email == EmailClaim::Verified && domain.verified_at.is_none() {
        bail!("{name} is not verified, so addresses there are not either; run 'signpost domains verify {id}' first");
    }
    Ok(())
}

/// Returns the error for an invalid setting, with the flag that sets the field.
pub(super) fn invalid_setting(field: &str, reason: &str) -> Usage {
    let flag = match field {
        "redirect_uris" => "--redirect-uri",
        "post_logout_uris" => "--post-logout-uri",
        "name" => "--name",
        "allow" => "--allow",
        "token_endpoint_auth_method" => "--auth-method",
        _ => "--no-pkce",
    };
    Usage(format!("{flag}: {reason}"))
}

fn configure(application: Application, place: &ApplicationPlace, created: &CreatedClient) -> String {
    let random_secret = BASE64URL.encode(&random::<32>());
    let client_id = created.client.id.as_str();
    let client_secret = created.secret.as_deref().unwrap_or_default();
    let issuer = created.issuer.as_str();
    application.configure(place, ClientValues { issuer, client_id, client_secret, random_secret: &random_secret })
}

fn print(session: &Session, domain: &Domain, created: &CreatedClient, configuration: Option<String>) -> Result<()> {
    let CreatedClient { client, secret, issuer, .. } = created;
    let mut document = json!({ "client_id": client.id, "issuer": issuer });
    if let Some(secret) = secret {
        document["client_secret"] = secret.as_str().into();
    }
    if let Some(configuration) = &configuration {
        document["configuration"] = configuration.as_str().into();
    }
    session.print(&document, || {
        if let Some(configuration) = configuration {
            return configuration;
        }
        let mut lines = vec![format!("client_id      {}", client.id)];
        lines.extend(secret.as_ref().map(|secret| format!("client_secret  {secret}")));
        lines.push(format!("issuer         {issuer}"));
        lines.join("\n")
    })?;
    if secret.is_some() {
        let id = &client.id;
        session.print_note(&format!("The secret is not shown again; 'signpost clients rotate {id}' makes another."));
    }
    if client.settings.is_trusted && !client.settings.skips_consent() {
        session.print_note(CONSENT_WARNING);
    }
    if domain.account.environment == Environment::Live && !issuer.starts_with("https:") {
        session.print_note("The issuer is not https: run the server with an https --public-url before others use it.");
    }
    Ok(())
}
