//! The command `signpost users`: manages the users of hosted domains.

mod credentials;
mod remove;
mod set;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use serde_json::json;
use signpost_login::api::users::UserView;
use signpost_login::domains::Domain;
use signpost_login::ids::{CredentialId, UserId};
use signpost_login::users::{Credential, CredentialKey, HostedUser, sql};
use signpost_store::Store;

use self::credentials::credential_table;
use crate::cli::domain_filter::{DomainFilter, find_domain};
use crate::cli::{Session, table};

/// Number of users that are read at a time.
const PAGE_LEN: u32 = 500;

#[derive(Debug, Subcommand)]
pub(super) enum Users {
    /// List the users of a domain
    ///
    /// With --json: `{users}`, with the documents of `GET /domains/{id}/users`.
    List {
        #[command(flatten)]
        domain_flag: DomainFlag,
        /// Maximum number of results
        #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        limit: u32,
    },
    /// Show a user with their credentials
    ///
    /// With --json: the document of `GET /domains/{id}/users/{user}`.
    Show {
        #[command(flatten)]
        selector: UserSelector,
    },
    /// Set the name and the groups of a user; omitted settings do not change
    ///
    /// Has the rules of `PATCH /domains/{id}/users/{user}`. With --json: the document of that call.
    Set(set::SetUser),
    /// Remove a user with all credentials
    ///
    /// Shows the consequences and asks for confirmation. If the key registers again, it gets a new
    /// user with another petname. With --json: `{removed, petname, credentials}`.
    Remove(remove::RemoveUser),
    /// Manage the credentials of a user, for example after the loss of all keys
    #[command(subcommand)]
    Credentials(credentials::Credentials),
}

/// The flags that select a domain.
#[derive(Debug, Args)]
pub(super) struct DomainFlag {
    /// Domain ID or name, as shown by 'domains list'
    #[arg(long, value_name = "DOMAIN")]
    domain: String,
    #[command(flatten)]
    domain_filter: DomainFilter,
}

/// The arguments that select a user of a domain.
#[derive(Debug, Args)]
pub(super) struct UserSelector {
    /// User ID (usr_…), or a public key of the user in hex
    user: String,
    #[command(flatten)]
    domain_flag: DomainFlag,
}

/// A user with domain and credentials.
struct FoundUser {
    domain: Domain,
    user: HostedUser,
    credentials: Vec<Credential>,
}

impl Users {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        let store = session.store()?;
        match self {
            Self::List { domain_flag, limit } => list(session, &store, domain_flag, limit).await,
            Self::Show { selector } => show(session, selector.find(&store).await?),
            Self::Set(command) => command.run(session, &store).await,
            Self::Remove(command) => command.run(session, &store).await,
            Self::Credentials(command) => command.run(session, &store).await,
        }
    }
}

impl DomainFlag {
    pub(super) async fn find(&self, store: &Store) -> Result<Domain> {
        find_domain(store, &self.domain_filter.find(store, &self.domain).await?).await
    }
}

impl UserSelector {
    async fn find(self, store: &Store) -> Result<FoundUser> {
        let domain = self.domain_flag.find(store).await?;
        let mut found = None;
        if let Some(id) = self.find_id(store, &domain).await? {
            found = sql::find(store, &domain.id, &id).await?;
        }
        let (user, credentials) =
            found.with_context(|| format!("no user of {} has the ID or key {}", domain.name, self.user))?;
        Ok(FoundUser { domain, user, credentials })
    }

    async fn find_id(&self, store: &Store, domain: &Domain) -> Result<Option<UserId>> {
        if let Some(id) = UserId::parse(&self.user) {
            return Ok(Some(id));
        }
        let Ok(key) = CredentialKey::parse(&self.user) else { return Ok(None) };
        Ok(sql::find_by_key(store, &domain.id, &key).await?.map(|found| found.user_id))
    }
}

impl FoundUser {
    /// Reads the user again, after a change.
    async fn again(self, store: &Store) -> Result<Self> {
        let found = sql::find(store, &self.domain.id, &self.user.id).await?;
        let (user, credentials) = found.with_context(|| format!("{} was removed just now", self.user.id))?;
        Ok(Self { domain: self.domain, user, credentials })
    }

    fn credential(&self, id: &str) -> Result<&Credential> {
        let id = CredentialId::parse(id);
        let found = self.credentials.iter().find(|own| Some(&own.id) == id.as_ref());
        found.with_context(|| format!("{} has no such credential; 'users credentials list' shows all", self.user.id))
    }
}

async fn list(session: &Session, store: &Store, domain_flag: DomainFlag, limit: u32) -> Result<()> {
    let domain = domain_flag.find(store).await?;
    let mut users: Vec<(HostedUser, Vec<Credential>)> = Vec::new();
    loop {
        let left = limit.saturating_sub(u32::try_from(users.len())?);
        if left == 0 {
            break;
        }
        let after = users.last().map(|(user, _)| user.id.clone());
        let page = sql::list(store, &domain.id, after.as_ref(), left.min(PAGE_LEN)).await?;
        if page.is_empty() {
            break;
        }
        users.extend(page);
    }
    let views: Vec<_> = users.iter().cloned().map(|(user, own)| UserView::new(user, own)).collect();
    session.print(&json!({ "users": views }), || {
        let rows = users.iter().map(|(user, own)| {
            let last = user.last_login_at.map(|at| at.to_string()).unwrap_or_default();
            [user.id.to_string(), user.petname.as_str().to_owned(), own.len().to_string(), last]
        });
        table(["ID", "PETNAME", "KEYS", "LAST LOGIN"], rows)
    })
}

fn show(session: &Session, found: FoundUser) -> Result<()> {
    let FoundUser { domain, user, credentials } = found;
    let mut lines = vec![
        format!("id       {}", user.id),
        format!("domain   {} ({})", domain.name, domain.account.environment),
        format!("petname  {}", user.petname.as_str()),
    ];
    lines.extend(user.name.as_ref().map(|name| format!("name     {}", name.as_str())));
    lines.extend(user.groups.as_ref().map(|groups| format!("groups   {groups}")));
    lines.push(String::new());
    lines.push(credential_table(&credentials));
    session.print(&UserView::new(user, credentials), || lines.join("\n"))
}
