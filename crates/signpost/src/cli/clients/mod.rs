//! The command `signpost clients`: manages OpenID Connect clients.

mod applications;
mod create;
mod delete;
mod find;
mod rotate;
mod set;

use anyhow::Result;
use clap::{Args, Subcommand};
use serde_json::json;
use signpost_openid::api::clients::ClientView;
use signpost_platform::clock::Clock;

use self::find::FoundClient;
use crate::cli::backend::Backend;
use crate::cli::domain_filter::DomainFilter;
use crate::cli::{Session, labelled_lines, table};

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

impl Clients {
    /// Returns true if the standard output of the command is a secret or a configuration, for another program.
    pub(super) fn prints_only_data(&self) -> bool {
        match self {
            Self::Create(command) => command.prints_only_data(),
            Self::Rotate(_) => true,
            Self::List { .. } | Self::Show { .. } | Self::Set(_) | Self::Delete(_) => false,
        }
    }

    pub(super) async fn run(self, session: &Session) -> Result<()> {
        let backend = session.backend()?;
        match self {
            Self::Create(command) => command.run(session, &backend).await,
            Self::List { domain_flag, limit } => list(session, &backend, domain_flag, limit).await,
            Self::Show { selector } => show(session, selector.find(&backend).await?),
            Self::Set(command) => command.run(session, &backend).await,
            Self::Rotate(command) => command.run(session, &backend).await,
            Self::Delete(command) => command.run(session, &backend).await,
        }
    }
}

async fn list(session: &Session, backend: &Backend, domain_flag: OptionalDomainFlag, limit: u32) -> Result<()> {
    let OptionalDomainFlag { domain, domain_filter } = domain_flag;
    let found = find::list(backend, domain.as_deref(), &domain_filter, limit).await?;
    let now = Clock::System.now();
    let views: Vec<_> =
        found.iter().map(|found| ClientView::new(found.client.clone(), found.issuer.clone(), now)).collect();
    session.print(&json!({ "clients": views }), || {
        let rows = found.iter().map(|FoundClient { client, domain, .. }| {
            let environment = domain.account.environment.to_string();
            [client.id.to_string(), environment, domain.name.to_string(), client.display_name().to_owned()]
        });
        table(["ID", "ENVIRONMENT", "DOMAIN", "NAME"], rows)
    })
}

fn show(session: &Session, found: FoundClient) -> Result<()> {
    let FoundClient { client, domain, issuer } = found;
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
