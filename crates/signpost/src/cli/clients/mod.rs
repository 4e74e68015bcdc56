//! The command `signpost clients`: manages OpenID Connect clients.

mod applications;
mod create;
mod delete;
mod rotate;
mod set;

use std::collections::HashMap;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use serde_json::json;
use signpost_login::domains::{self, Domain};
use signpost_openid::api::clients::ClientView;
use signpost_openid::clients::{Client, sql};
use signpost_openid::flows::issuer_at;
use signpost_openid::ids::ClientId;
use signpost_platform::clock::Clock;
use signpost_store::Store;

use crate::cli::domain_filter::DomainFilter;
use crate::cli::{Session, labelled_lines, table};
use crate::deployment::public_address;

/// Number of clients that are read at a time.
const PAGE_LEN: u32 = 500;

#[derive(Debug, Subcommand)]
pub(super) enum Clients {
    /// Create a client: an application for the users of a hosted domain
    ///
    /// Prints the ID, the secret and the issuer. The secret cannot be shown again. With --json:
    /// `{client_id, client_secret, issuer}`; a public client has no secret.
    ///
    /// With --for it prints the configuration of that application, ready to paste, and derives the
    /// redirect URIs from the address in --redirect-uri. With --json the configuration is the
    /// member `configuration`.
    Create(create::CreateClient),
    /// List the clients of a domain, or of all domains
    ///
    /// With --json: `{clients}`, with the documents of `GET /domains/{id}/clients`.
    List {
        #[command(flatten)]
        domain_flag: OptionalDomainFlag,
        /// Maximum number of results
        #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        limit: u32,
    },
    /// Show a client with its settings
    ///
    /// With --json: the document of `GET /domains/{id}/clients/{client}`.
    Show {
        #[command(flatten)]
        selector: ClientSelector,
    },
    /// Change the settings of a client; they apply to its next request
    ///
    /// Omitted settings do not change. The client type (public or confidential) cannot change. With
    /// --json: the document of `GET /domains/{id}/clients/{client}`.
    Set(set::SetClient),
    /// Replace the secret of a client
    ///
    /// Prints the new secret. The previous secret remains valid for 24 hours, so that logins do not
    /// fail while you reconfigure the client. With --json: `{client_id, client_secret, issuer,
    /// previous_secret_until}`.
    Rotate(rotate::RotateClient),
    /// Delete a client with all of its tokens
    ///
    /// Shows the consequences and asks for confirmation. With --json: `{deleted, name}`.
    Delete(delete::DeleteClient),
}

/// The flags that select a domain, or all domains.
#[derive(Debug, Args)]
pub(super) struct OptionalDomainFlag {
    /// Domain ID or name, as shown by 'domains list'
    #[arg(long, value_name = "DOMAIN")]
    domain: Option<String>,
    #[command(flatten)]
    domain_filter: DomainFilter,
}

/// The argument that selects a client.
#[derive(Debug, Args)]
pub(super) struct ClientSelector {
    /// Client ID, cli_…, as shown by 'clients list'
    client: String,
}

/// A client with its domain.
struct FoundClient {
    client: Client,
    domain: Domain,
}

impl Clients {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        let store = session.store()?;
        match self {
            Self::Create(command) => command.run(session, &store).await,
            Self::List { domain_flag, limit } => list(session, &store, domain_flag, limit).await,
            Self::Show { selector } => show(session, &store, selector.find(&store).await?).await,
            Self::Set(command) => command.run(session, &store).await,
            Self::Rotate(command) => command.run(session, &store).await,
            Self::Delete(command) => command.run(session, &store).await,
        }
    }
}

impl ClientSelector {
    async fn find(&self, store: &Store) -> Result<FoundClient> {
        let found = self.find_if_any(store).await?;
        found.with_context(|| format!("no client has the ID {}; 'signpost clients list' shows all", self.client))
    }

    async fn find_if_any(&self, store: &Store) -> Result<Option<FoundClient>> {
        let Some(id) = ClientId::parse(&self.client) else { return Ok(None) };
        let Some(client) = sql::find_in_any_domain(store, &id).await? else { return Ok(None) };
        let domain = domains::sql::find_in_any_account(store, &client.domain_id).await?;
        Ok(domain.map(|domain| FoundClient { client, domain }))
    }
}

/// Returns the issuer of a domain, at the address of the last server.
async fn find_issuer(store: &Store, domain: &Domain) -> Result<String> {
    let address = public_address::find(store).await?;
    let address = address.context(
        "no server has run on this database yet, so it has no address for an issuer; run 'signpost serve' first",
    )?;
    Ok(issuer_at(&address, domain))
}

async fn list(session: &Session, store: &Store, domain_flag: OptionalDomainFlag, limit: u32) -> Result<()> {
    let OptionalDomainFlag { domain, domain_filter } = domain_flag;
    let domain = match domain {
        Some(domain) => Some(domain_filter.find(store, &domain).await?),
        None => None,
    };
    let mut found: Vec<FoundClient> = Vec::new();
    let mut after: Option<ClientId> = None;
    loop {
        let left = limit.saturating_sub(u32::try_from(found.len())?);
        if left == 0 {
            break;
        }
        let page_len = left.min(PAGE_LEN);
        let page = match &domain {
            Some(domain) => sql::list(store, domain, after.as_ref(), page_len).await?,
            None => sql::list_all(store, after.as_ref(), page_len).await?,
        };
        let Some(last) = page.last() else { break };
        after = Some(last.id.clone());
        let mut page = with_domains(store, page).await?;
        page.retain(|found| domain_filter.select(found.domain.account.environment, &found.domain.account.name));
        found.extend(page);
    }
    let address = public_address::find(store).await?.unwrap_or_default();
    let now = Clock::System.now();
    let views: Vec<_> = found
        .iter()
        .map(|FoundClient { client, domain }| ClientView::new(client.clone(), issuer_at(&address, domain), now))
        .collect();
    session.print(&json!({ "clients": views }), || {
        let rows = found.iter().map(|FoundClient { client, domain }| {
            let environment = domain.account.environment.to_string();
            [client.id.to_string(), environment, domain.name.to_string(), client.display_name().to_owned()]
        });
        table(["ID", "ENVIRONMENT", "DOMAIN", "NAME"], rows)
    })
}

/// Reads the domains of the clients. Clients of a domain that was deleted since are omitted.
async fn with_domains(store: &Store, clients: Vec<Client>) -> Result<Vec<FoundClient>> {
    let mut known = HashMap::new();
    let mut found = Vec::with_capacity(clients.len());
    for client in clients {
        if !known.contains_key(client.domain_id.as_str()) {
            let domain = domains::sql::find_in_any_account(store, &client.domain_id).await?;
            known.insert(client.domain_id.to_string(), domain);
        }
        if let Some(Some(domain)) = known.get(client.domain_id.as_str()) {
            found.push(FoundClient { domain: domain.clone(), client });
        }
    }
    Ok(found)
}

async fn show(session: &Session, store: &Store, found: FoundClient) -> Result<()> {
    let address = public_address::find(store).await?.unwrap_or_default();
    let FoundClient { client, domain } = found;
    let issuer = issuer_at(&address, &domain);
    let settings = &client.settings;
    let consent = match (settings.skips_consent(), settings.is_trusted) {
        (true, _) => "never asked: trusted",
        (false, true) => "asked once, for another program on a device could say that it is this one",
        (false, false) => "asked once",
    };
    let mut lines = vec![
        ("id", client.id.to_string()),
        ("name", client.display_name().to_owned()),
        ("domain", format!("{} ({})", domain.name, domain.account.environment)),
        ("issuer", issuer.clone()),
        ("kind", if settings.is_public { "public" } else { "confidential" }.to_owned()),
    ];
    lines.extend(settings.redirect_uris.as_slice().iter().map(|uri| ("redirect", uri.to_string())));
    lines.extend(settings.post_logout_uris.as_slice().iter().map(|uri| ("logout", uri.to_string())));
    lines.push(("signed", settings.algorithm.as_str().to_owned()));
    lines.push(("email", settings.email.as_str().to_owned()));
    lines.push(("PKCE", if settings.requires_pkce { "required" } else { "optional" }.to_owned()));
    lines.extend(settings.auth_method.map(|method| ("secret", format!("sent by {}", method.as_str()))));
    lines.push(("consent", consent.to_owned()));
    let allowed = match settings.allowed.clone() {
        Some(list) => Vec::<String>::from(list).join(", "),
        None => "everybody; behind a proxy nobody".to_owned(),
    };
    lines.push(("allowed", allowed));
    let view = ClientView::new(client.clone(), issuer, Clock::System.now());
    session.print(&view, || labelled_lines(&lines))
}
