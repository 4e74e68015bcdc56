//! `signpost users`

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use serde_json::json;
use signpost_login::api::users::UserView;
use signpost_login::domains::{self, Domain};
use signpost_login::flows::account_sessions::{AccountErrand, open_by_hand};
use signpost_login::ids::{CredentialId, UserId};
use signpost_login::users::credential_sql::{NotAdded, add_credential, rename_credential};
use signpost_login::users::{
    Credential, CredentialKey, CredentialKind, CredentialName, HostedUser, MAX_CREDENTIALS, NewCredential, sql,
};
use signpost_platform::accounts::audit::Actor;
use signpost_platform::clock::Clock;
use signpost_store::{Store, random};

use crate::cli::domains::Which;
use crate::cli::{Session, Usage, table};
use crate::server::public_address;

/// How many users are read at once.
const PAGE_LEN: u32 = 500;

#[derive(Debug, Subcommand)]
pub(super) enum Users {
    /// List the users of a domain
    ///
    /// With --json: `{users}`, each as in `GET /domains/{id}/users`.
    List {
        #[command(flatten)]
        of: OfDomain,
        /// Maximum number of results
        #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        limit: u32,
    },
    /// Show a user with their credentials
    ///
    /// With --json the document of `GET /domains/{id}/users/{user}`.
    Show {
        #[command(flatten)]
        who: OneUser,
    },
    /// Manage the keys of a user: the way back in for who lost them all
    #[command(subcommand)]
    Credentials(Credentials),
}

#[derive(Debug, Subcommand)]
pub(super) enum Credentials {
    /// List the credentials of a user
    List {
        #[command(flatten)]
        who: OneUser,
    },
    /// Add a wallet's public key to a user
    ///
    /// Prints the ID of the credential. A passkey can be added by its owner alone: see 'users credentials link'.
    Add {
        #[command(flatten)]
        who: OneUser,
        /// The public key in hex
        key: String,
        /// Name of the credential
        #[arg(long)]
        name: Option<String>,
    },
    /// Rename a credential
    Rename {
        #[command(flatten)]
        who: OneUser,
        /// Credential ID, cred_…
        credential: String,
        /// New name, up to 60 characters
        name: String,
    },
    /// Remove a credential, for example of a lost wallet
    ///
    /// Whoever is signed in at the login host with it is signed out. The last credential of a user stays.
    Remove {
        #[command(flatten)]
        who: OneUser,
        /// Credential ID, cred_…
        credential: String,
    },
    /// Create a link that lets a user add a key without having one
    ///
    /// Make sure who asks for it: whoever opens the link first adds a key of their own to the account, and logs in with
    /// it from then on. It has to be opened within 15 minutes, and works in one browser. With --json: `{page_url,
    /// expires_at}`.
    Link {
        #[command(flatten)]
        who: OneUser,
    },
}

/// A domain that has users.
#[derive(Debug, Args)]
pub(super) struct OfDomain {
    /// Domain ID or name, as shown by 'domains list'
    #[arg(long, value_name = "DOMAIN")]
    domain: String,
    /// The sandbox domain, if the name is in both environments
    #[arg(long, conflicts_with = "live")]
    sandbox: bool,
    /// The live domain, if the name is in both environments
    #[arg(long)]
    live: bool,
    /// The domain of this account, if several have the name
    #[arg(long)]
    account: Option<String>,
}

/// A user of it.
#[derive(Debug, Args)]
pub(super) struct OneUser {
    /// User ID, usr_…, or one of the user's keys in hex
    user: String,
    #[command(flatten)]
    of: OfDomain,
}

/// A user who is there.
struct FoundUser {
    domain: Domain,
    user: HostedUser,
    credentials: Vec<Credential>,
}

impl Users {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        let store = session.store()?;
        match self {
            Self::List { of, limit } => list(session, &store, of, limit).await,
            Self::Show { who } => show(session, who.find(&store).await?),
            Self::Credentials(command) => command.run(session, &store).await,
        }
    }
}

impl Credentials {
    async fn run(self, session: &Session, store: &Store) -> Result<()> {
        match self {
            Self::List { who } => {
                let found = who.find(store).await?;
                let view = UserView::new(found.user, found.credentials.clone());
                session.print(&json!({ "credentials": json!(view)["credentials"] }), || list_keys(&found.credentials))
            }
            Self::Add { who, key, name } => add(session, store, who, &key, name).await,
            Self::Rename { who, credential, name } => {
                let name = parse_name(&name)?;
                let found = who.find(store).await?;
                let credential = found.credential(&credential)?;
                if !rename_credential(store, credential, &name, &Actor::Operator, Clock::System.now()).await? {
                    bail!("{} was removed just now", credential.id);
                }
                let told = json!({ "id": credential.id, "name": name });
                session.print(&told, || format!("{} is named {}", credential.id, name.as_str()))
            }
            Self::Remove { who, credential } => {
                let found = who.find(store).await?;
                let credential = found.credential(&credential)?;
                if !sql::delete_credential(store, credential, &Actor::Operator, Clock::System.now()).await? {
                    bail!(
                        "{} is the only credential of {}, who could not log in without it; add another one first",
                        credential.id,
                        found.user.id
                    );
                }
                session.print(&json!({ "removed": credential.id }), || format!("removed {}", credential.id))
            }
            Self::Link { who } => link(session, store, who.find(store).await?).await,
        }
    }
}

impl OfDomain {
    async fn find(self, store: &Store) -> Result<Domain> {
        let Self { domain, sandbox, live, account } = self;
        let id = Which { domain, sandbox, live, account }.find(store).await?;
        let domain = domains::sql::find_in_any_account(store, &id).await?;
        domain.with_context(|| format!("no domain has the ID {id}; 'signpost domains list' shows all"))
    }
}

impl OneUser {
    async fn find(self, store: &Store) -> Result<FoundUser> {
        let domain = self.of.find(store).await?;
        let id = match (UserId::parse(&self.user), CredentialKey::parse(&self.user)) {
            (Some(id), _) => Some(id),
            (None, Ok(key)) => sql::find_by_key(store, &domain.id, &key).await?.map(|found| found.user_id),
            (None, Err(_)) => None,
        };
        let found = match &id {
            Some(id) => sql::find(store, &domain.id, id).await?,
            None => None,
        };
        let (user, credentials) =
            found.with_context(|| format!("no user of {} has the ID or key {}", domain.name, self.user))?;
        Ok(FoundUser { domain, user, credentials })
    }
}

impl FoundUser {
    fn credential(&self, id: &str) -> Result<&Credential> {
        let id = CredentialId::parse(id);
        let found = self.credentials.iter().find(|own| Some(&own.id) == id.as_ref());
        found.with_context(|| format!("{} has no such credential; 'users credentials list' shows all", self.user.id))
    }
}

async fn list(session: &Session, store: &Store, of: OfDomain, limit: u32) -> Result<()> {
    let domain = of.find(store).await?;
    let mut users: Vec<(HostedUser, Vec<Credential>)> = Vec::new();
    while let Some(left) = limit.checked_sub(u32::try_from(users.len())?).filter(|left| *left > 0) {
        let after = users.last().map(|(user, _)| user.id.clone());
        let page = sql::list(store, &domain.id, after.as_ref(), left.min(PAGE_LEN)).await?;
        if page.is_empty() {
            break;
        }
        users.extend(page);
    }
    let views: Vec<_> = users.iter().cloned().map(|(user, own)| UserView::new(user, own)).collect();
    session.print(&json!({ "users": views }), || {
        let row = |(user, own): &(HostedUser, Vec<Credential>)| {
            let last = user.last_login_at.map(|at| at.to_string()).unwrap_or_default();
            [user.id.to_string(), user.petname.as_str().to_owned(), own.len().to_string(), last]
        };
        table(["ID", "PETNAME", "KEYS", "LAST LOGIN"], &users.iter().map(row).collect::<Vec<_>>())
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
    lines.push(String::new());
    lines.push(list_keys(&credentials));
    session.print(&UserView::new(user, credentials), || lines.join("\n"))
}

fn list_keys(credentials: &[Credential]) -> String {
    let row = |own: &Credential| {
        let used = own.last_used_at.map(|at| at.to_string()).unwrap_or_default();
        [own.id.to_string(), own.kind.as_str().to_owned(), own.name.clone(), own.added_at.to_string(), used]
    };
    table(["ID", "KIND", "NAME", "ADDED", "LAST USED"], &credentials.iter().map(row).collect::<Vec<_>>())
}

async fn add(session: &Session, store: &Store, who: OneUser, key: &str, name: Option<String>) -> Result<()> {
    let name = name.map(|name| parse_name(&name)).transpose()?;
    let key = match CredentialKey::parse(key) {
        Ok(key @ CredentialKey::Wallet(_)) => key,
        Ok(CredentialKey::Passkey(_)) => {
            return Err(Usage(
                "KEY: a passkey is added by its owner; create a link with 'users credentials link'".to_owned(),
            )
            .into());
        }
        Err(error) => return Err(Usage(format!("KEY: {error}")).into()),
    };
    let (found, now) = (who.find(store).await?, Clock::System.now());
    let new = NewCredential { key, kind: CredentialKind::Wallet, passkey: None };
    let mut credential = new.into_credential(&found.domain.id, &found.user.id, now, random());
    if let Some(name) = name {
        name.as_str().clone_into(&mut credential.name);
    }
    let id = credential.id.clone();
    match add_credential(store, credential, &Actor::Operator, now).await? {
        Ok(()) => session.print(&json!({ "id": id }), || format!("added {id}")),
        Err(NotAdded::NoUser) => bail!("{} was deleted just now", found.user.id),
        Err(NotAdded::Exists) => bail!("somebody at {} has this key already", found.domain.name),
        Err(NotAdded::TooMany) => bail!("{} has {MAX_CREDENTIALS} credentials, which is the most", found.user.id),
    }
}

fn parse_name(text: &str) -> Result<CredentialName> {
    CredentialName::parse(text).map_err(|reason| Usage(format!("NAME: {reason}")).into())
}

/// The link is printed alone, so that a script can pass it on.
async fn link(session: &Session, store: &Store, found: FoundUser) -> Result<()> {
    let address = public_address::find(store).await?;
    let address = address.context("no server has run on this database yet, so it has no address for links")?;
    let FoundUser { domain, user, .. } = found;
    let link =
        open_by_hand(store, &domain, AccountErrand::AddKey(user.id.clone()), &address, Clock::System.now()).await?;
    let words = format!(
        "Whoever opens this link first adds a key to the account of {} ({}) at {}.\nIt has to be opened before {}.",
        user.petname.as_str(),
        user.id,
        domain.name,
        link.open_before
    );
    let told = json!({ "page_url": link.page_url, "expires_at": link.open_before });
    session.hand_over(&told, &link.page_url, &words)
}
