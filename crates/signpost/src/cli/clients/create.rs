//! `signpost clients create`

use anyhow::{Result, bail};
use clap::Args;
use data_encoding::BASE64URL;
use serde_json::json;
use signpost_login::domains::{Domain, HandlerKind, Registration};
use signpost_openid::clients::sql::{self, CreateClientError};
use signpost_openid::clients::{
    AllowList, Client, ClientAuthMethod, ClientEntropy, ClientName, ClientSettings, EmailClaim, OAuthSecret,
    RedirectUri, RedirectUris, RegisteredClient,
};
use signpost_openid::jose::SigningAlgorithm;
use signpost_platform::accounts::Environment;
use signpost_platform::accounts::audit::Actor;
use signpost_platform::clock::Clock;
use signpost_store::{Store, random};

use super::applications::{Application, ApplicationPlace, ClientValues};
use super::find_issuer;
use crate::cli::users::OfDomain;
use crate::cli::{Session, Usage, is_agreed};

/// Why consent is asked of a client that is trusted.
const ASKS_ANYWAY: &str = "People are asked for consent all the same: another program on their device could say that it is \
                           this one. Redirect URIs with https alone end that.";

/// Words of [`ClientAuthMethod`].
pub(super) const AUTH_METHODS: [&str; 3] = ["client_secret_basic", "client_secret_post", "any"];

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(in crate::cli) struct CreateClient {
    #[command(flatten)]
    of: OfDomain,
    /// URIs that browsers go back to with a code: https; http on loopback; with --public also a scheme such as
    /// com.example.app
    #[arg(long = "redirect-uri", value_name = "URI", required = true, num_args = 1..)]
    redirect_uris: Vec<String>,
    /// URIs that browsers go to after a logout
    #[arg(long = "post-logout-uri", value_name = "URI", num_args = 1..)]
    post_logout_uris: Vec<String>,
    /// Name that people read, up to 60 characters [default: the host of the redirect URI]
    #[arg(long)]
    name: Option<String>,
    /// It can keep no secret, because it runs on people's devices, or is a page without a server
    #[arg(long, conflicts_with = "no_pkce")]
    public: bool,
    /// Algorithm that signs ID tokens: RS256 or ES256
    #[arg(long, value_name = "ALG", default_value = "RS256", value_parser = ["RS256", "ES256"])]
    alg: String,
    /// What the scope email gives: synthetic (USER@DOMAIN), none, or verified (the same, of a verified domain)
    #[arg(long, default_value = "synthetic", value_parser = ["synthetic", "none", "verified"])]
    email: String,
    /// Accept authorization requests without PKCE
    #[arg(long)]
    no_pkce: bool,
    /// It is an application of your own: ask nobody for consent
    #[arg(long)]
    trusted: bool,
    /// Who may log in: usr_…, a public key, group:NAME, or '*' for everybody [default: everybody, and nobody behind a
    /// proxy]
    #[arg(long, value_name = "WHO", num_args = 1..)]
    allow: Vec<String>,
    /// Print the configuration of this application
    #[arg(long = "for", value_name = "APPLICATION", value_enum, conflicts_with = "public")]
    application: Option<Application>,
    /// How it sends its secret; any also accepts the same secret in header and form [default: header or form, one per
    /// request]
    #[arg(long, value_name = "METHOD", value_parser = AUTH_METHODS, conflicts_with = "public")]
    auth_method: Option<String>,
    /// Let everybody in without asking, where anyone may register
    #[arg(long)]
    yes: bool,
}

impl CreateClient {
    pub(super) async fn run(self, session: &Session, store: &Store) -> Result<()> {
        let place = self.place()?;
        let settings = self.settings(place.as_ref())?;
        let domain = self.of.find(store).await?;
        check_domain(&domain, settings.email)?;
        let issuer = find_issuer(store, &domain).await?;
        let warning = agree_on_everyone(self.yes, &domain, settings.allowed.as_ref())?;
        let registered = Client::register(&domain.id, settings, Clock::System.now(), &ClientEntropy::draw());
        let registered = registered.map_err(|invalid| wrong(invalid.field, invalid.reason))?;
        match sql::insert(store, &domain, &registered.client, &Actor::Operator).await {
            Ok(()) => {}
            Err(CreateClientError::NoHostedDomain) => bail!("{} was removed or changed just now", domain.name),
            Err(error) => return Err(error.into()),
        }
        let configuration = self
            .application
            .zip(place.as_ref())
            .map(|(application, place)| configure(application, place, &registered, &issuer));
        print(session, &domain, &registered, &issuer, configuration)?;
        if let Some(words) = warning.filter(|_| !session.json) {
            eprintln!("\n{words}");
        }
        Ok(())
    }

    /// Where what `--for` names is.
    fn place(&self) -> Result<Option<ApplicationPlace>> {
        let Some(application) = self.application else { return Ok(None) };
        let [uri] = &*self.redirect_uris else {
            return Err(Usage("--redirect-uri: with --for, give its address once".to_owned()).into());
        };
        let uri = RedirectUri::parse(uri).map_err(|reason| wrong("redirect_uris", &reason))?;
        Ok(Some(application.place(&uri)))
    }

    /// What was given, by the rules of `POST /domains/{id}/clients`.
    fn settings(&self, place: Option<&ApplicationPlace>) -> Result<ClientSettings> {
        let given = place.map_or(&self.redirect_uris, |place| &place.redirect_uris);
        let redirect_uris = parse_uris("redirect_uris", given)?;
        let derived = self.application.zip(place).and_then(|(application, place)| application.post_logout_uri(place));
        let post_logout_uris =
            if self.post_logout_uris.is_empty() { Vec::from_iter(derived) } else { self.post_logout_uris.clone() };
        let name = self.name.as_deref().or(self.application.map(Application::label)).map(ClientName::parse).transpose();
        let allowed = (!self.allow.is_empty()).then(|| AllowList::parse(self.allow.iter().map(String::as_str)));
        let settings = ClientSettings {
            name: name.map_err(|reason| wrong("name", &reason))?,
            is_public: self.public,
            post_logout_uris: parse_uris("post_logout_uris", &post_logout_uris)?,
            algorithm: SigningAlgorithm::parse(&self.alg).unwrap_or_default(),
            email: EmailClaim::parse(&self.email).unwrap_or_default(),
            requires_pkce: !self.no_pkce && self.application.is_none_or(Application::has_pkce),
            is_trusted: self.trusted,
            allowed: allowed.transpose().map_err(|reason| wrong("allow", &reason))?,
            auth_method: self.auth_method.as_deref().and_then(ClientAuthMethod::parse),
            ..ClientSettings::new(redirect_uris)
        };
        settings.check().map_err(|invalid| wrong(invalid.field, invalid.reason))?;
        Ok(settings)
    }
}

/// Where anyone may register and every user is let in, whoever says so by a star agrees to it, and whoever says nothing is
/// told.
pub(super) fn agree_on_everyone(yes: bool, domain: &Domain, allowed: Option<&AllowList>) -> Result<Option<String>> {
    if domain.registration == Registration::Closed {
        return Ok(None);
    }
    let name = &domain.name;
    let how = "limit it with --allow, or with 'signpost domains set' and --registration closed";
    match allowed {
        None => Ok(Some(format!("anyone may register at {name} and then log in to this client; {how}"))),
        Some(list) if list.admits_everyone() => {
            let told = format!("anyone may register at {name}, so --allow '*' lets everybody in; {how}");
            if is_agreed(yes, &told, "Let everybody in?")? { Ok(None) } else { bail!("nothing was done") }
        }
        Some(_) => Ok(None),
    }
}

pub(super) fn parse_uris(field: &str, texts: &[String]) -> Result<RedirectUris> {
    Ok(RedirectUris::parse(texts.iter().map(String::as_str)).map_err(|reason| wrong(field, &reason))?)
}

pub(super) fn check_domain(domain: &Domain, email: EmailClaim) -> Result<()> {
    let Domain { name, id, .. } = domain;
    if domain.handler == HandlerKind::Direct {
        bail!(
            "{name} is not hosted, so nobody logs in to it here; run 'signpost domains set {id} --handler hosted' first"
        );
    }
    if email == EmailClaim::Verified && domain.verified_at.is_none() {
        bail!("{name} is not verified, so addresses there are not either; run 'signpost domains verify {id}' first");
    }
    Ok(())
}

/// Says of a flag what it must be instead.
pub(super) fn wrong(field: &str, reason: &str) -> Usage {
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

fn configure(
    application: Application,
    place: &ApplicationPlace,
    registered: &RegisteredClient,
    issuer: &str,
) -> String {
    let drawn = BASE64URL.encode(&random::<32>());
    let client_id = registered.client.id.as_str();
    let client_secret = registered.secret.as_ref().map_or("", OAuthSecret::reveal);
    application.configure(place, ClientValues { issuer, client_id, client_secret, drawn: &drawn })
}

fn print(
    session: &Session,
    domain: &Domain,
    registered: &RegisteredClient,
    issuer: &str,
    configuration: Option<String>,
) -> Result<()> {
    let RegisteredClient { client, secret } = registered;
    let mut told = json!({ "client_id": client.id, "issuer": issuer });
    if let Some(secret) = secret {
        told["client_secret"] = secret.reveal().into();
    }
    if let Some(configuration) = &configuration {
        told["configuration"] = configuration.as_str().into();
    }
    session.print(&told, || {
        if let Some(configuration) = configuration {
            return configuration;
        }
        let mut lines = vec![format!("client_id      {}", client.id)];
        lines.extend(secret.as_ref().map(|secret| format!("client_secret  {}", secret.reveal())));
        lines.push(format!("issuer         {issuer}"));
        lines.join("\n")
    })?;
    if session.json {
        return Ok(());
    }
    if secret.is_some() {
        eprintln!("\nThe secret is not shown again; 'signpost clients rotate {}' makes another.", client.id);
    }
    if client.settings.is_trusted && !client.settings.asks_nobody() {
        eprintln!("\n{ASKS_ANYWAY}");
    }
    if domain.account.environment == Environment::Live && !issuer.starts_with("https:") {
        eprintln!("\nThe issuer is not https: run the server with an https --public-url before others use it.");
    }
    Ok(())
}
