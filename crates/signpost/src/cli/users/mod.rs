//! The command `signpost users`: manages the users of hosted domains.

mod credentials;
mod remove;
mod set;
mod sign_ins;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use serde_json::json;
use signpost_login::api::users::UserView;
use signpost_login::domains::Domain;
use signpost_login::ids::{CredentialId, UserId};
use signpost_login::users::search_sql::find_page;
use signpost_login::users::{Credential, CredentialKey, HostedUser, UserFilter, sql};
use signpost_store::Store;

use self::credentials::credential_table;
use crate::cli::api::UserWithCredentials;
use crate::cli::backend::{Backend, or_unknown};
use crate::cli::domain_filter::DomainFilter;
use crate::cli::{Session, Usage, table};

/// Number of users that are read at a time.
const PAGE_LEN: u32 = 500;

#[derive(Debug, Subcommand)]
pub(super) enum Users {
    /// List the users of a domain
    ///
    /// Several filters are combined. With --json: `{users}`, with the documents of
    /// `GET /domains/{id}/users`.
    List {
        #[command(flatten)]
        domain_flag: DomainFlag,
        #[command(flatten)]
        filter: FilterFlags,
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
    /// Set the name, the groups and the identifiers of a user; omitted settings do not change
    ///
    /// Has the rules of `PATCH /domains/{id}/users/{user}`. Applications may find users by username or
    /// e-mail address: nobody verifies them, and a username is never given to another user. With
    /// --json: the document of that call.
    Set(set::SetUser),
    /// Remove a user with all credentials
    ///
    /// Shows the consequences and asks for confirmation. If the key registers again, it gets a new
    /// user with another petname. With --json: `{removed, petname, username, credentials}`.
    Remove(remove::RemoveUser),
    /// List or end the sign-ins of a user, in browsers and at applications
    ///
    /// Lists the 1,000 newest. --end and --all end sign-ins and the tokens of applications that depend on them. With
    /// --json: `{sign_ins}`, with the documents of `GET /domains/{id}/users/{user}/sign-ins`, or `{ended}`.
    SignIns(sign_ins::SignIns),
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

/// The flags that filter a list of users.
#[derive(Debug, Args)]
pub(super) struct FilterFlags {
    /// Only the user with this ID in the database of the site
    #[arg(long, value_name = "ID")]
    external_id: Option<String>,
    /// Only the user with this username
    #[arg(long, value_name = "NAME")]
    username: Option<String>,
    /// Only users whose ID is this text, or whose names, e-mail address or external ID contain it
    #[arg(long, value_name = "TEXT")]
    query: Option<String>,
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
        let backend = session.backend()?;
        match self {
            Self::List { domain_flag, filter, limit } => {
                list(session, &backend, domain_flag, &filter.parse()?, limit).await
            }
            Self::Show { selector } => show(session, selector.find(&backend).await?),
            Self::Set(command) => command.run(session, &backend).await,
            Self::Remove(command) => command.run(session, &backend).await,
            Self::SignIns(command) => command.run(session, &backend).await,
            Self::Credentials(command) => command.run(session, &backend).await,
        }
    }
}

impl DomainFlag {
    pub(super) async fn find(&self, backend: &Backend) -> Result<Domain> {
        backend.find_domain(&self.domain_filter, &self.domain).await
    }
}

impl FilterFlags {
    fn parse(&self) -> Result<UserFilter, Usage> {
        let Self { external_id, username, query } = self;
        let parsed = UserFilter::parse(external_id.as_deref(), username.as_deref(), query.as_deref());
        parsed.map_err(|(field, reason)| {
            let flag = if field == "q" { "query".to_owned() } else { field.replace('_', "-") };
            Usage(format!("--{flag}: {reason}"))
        })
    }
}

impl UserSelector {
    async fn find(self, backend: &Backend) -> Result<FoundUser> {
        let domain = self.domain_flag.find(backend).await?;
        let unknown = || format!("no user of {} has the ID or key {}", domain.name, self.user);
        let (user, credentials) = match backend {
            Backend::Database(store) => {
                let id = self.find_id(store, &domain).await?.with_context(unknown)?;
                sql::find(store, &domain.id, &id).await?.with_context(unknown)?
            }
            Backend::Api(api) => {
                let found = api.user(&domain, &self.user).await;
                found.map_err(|failure| or_unknown(failure, &unknown()))?
            }
        };
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
    async fn again(self, backend: &Backend) -> Result<Self> {
        let (user, credentials) = match backend {
            Backend::Database(store) => {
                let found = sql::find(store, &self.domain.id, &self.user.id).await?;
                found.with_context(|| format!("{} was removed just now", self.user.id))?
            }
            Backend::Api(api) => api.user(&self.domain, self.user.id.as_str()).await?,
        };
        Ok(Self { domain: self.domain, user, credentials })
    }

    fn credential(&self, id: &str) -> Result<&Credential> {
        let id = CredentialId::parse(id);
        let found = self.credentials.iter().find(|own| Some(&own.id) == id.as_ref());
        found.with_context(|| format!("{} has no such credential; 'users credentials list' shows all", self.user.id))
    }
}

async fn list(
    session: &Session,
    backend: &Backend,
    domain_flag: DomainFlag,
    filter: &UserFilter,
    limit: u32,
) -> Result<()> {
    let domain = domain_flag.find(backend).await?;
    let users = match backend {
        Backend::Database(store) => list_stored(store, &domain, filter, limit).await?,
        Backend::Api(api) => api.list_users(&domain, filter, limit).await?,
    };
    let views: Vec<_> = users.iter().cloned().map(|(user, own)| UserView::new(user, own)).collect();
    session.print(&json!({ "users": views }), || {
        let rows = users.iter().map(|(user, own)| {
            let last = user.last_login_at.map(|at| at.to_string()).unwrap_or_default();
            let external_id = user.external_id.as_ref().map(|id| id.as_str().to_owned()).unwrap_or_default();
            [user.id.to_string(), user.username().to_owned(), external_id, own.len().to_string(), last]
        });
        table(["ID", "USERNAME", "EXTERNAL ID", "KEYS", "LAST LOGIN"], rows)
    })
}

/// Returns the users of a domain in the database.
async fn list_stored(
    store: &Store,
    domain: &Domain,
    filter: &UserFilter,
    limit: u32,
) -> Result<Vec<UserWithCredentials>> {
    let mut users = Vec::new();
    let mut after = None;
    loop {
        let left = limit.saturating_sub(u32::try_from(users.len())?);
        if left == 0 {
            return Ok(users);
        }
        let page = find_page(store, &domain.id, filter, after.as_ref(), left.min(PAGE_LEN)).await?;
        users.extend(page.users);
        after = page.next;
        if after.is_none() {
            return Ok(users);
        }
    }
}

fn show(session: &Session, found: FoundUser) -> Result<()> {
    let FoundUser { domain, user, credentials } = found;
    let mut lines = vec![
        format!("id           {}", user.id),
        format!("domain       {} ({})", domain.name, domain.account.environment),
        format!("username     {}", user.username()),
        format!("petname      {}", user.petname.as_str()),
    ];
    lines.extend(user.external_id.as_ref().map(|id| format!("external ID  {}", id.as_str())));
    lines.extend(user.email.as_ref().map(|email| format!("e-mail       {}", email.as_str())));
    lines.extend(user.name.as_ref().map(|name| format!("name         {}", name.as_str())));
    lines.extend(user.groups.as_ref().map(|groups| format!("groups       {groups}")));
    lines.extend(user.metadata.as_ref().map(|metadata| format!("metadata     {}", json!(metadata))));
    lines.push(String::new());
    lines.push(credential_table(&credentials));
    session.print(&UserView::new(user, credentials), || lines.join("\n"))
}
