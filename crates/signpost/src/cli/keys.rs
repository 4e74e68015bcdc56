//! The command `signpost keys`: manages API keys.

use anyhow::{Context, Error, Result, anyhow};
use clap::{Subcommand, ValueEnum};
use jiff::SignedDuration;
use secrecy::ExposeSecret;
use serde_json::json;
use signpost_platform::accounts::audit::Actor;
use signpost_platform::accounts::keys::{self, NewKey, StoredKey};
use signpost_platform::accounts::{Account, Environment, KeyId, KeyScopes, SERVER_ACCOUNT, Scope};
use signpost_platform::clock::Clock;
use signpost_store::random;

use crate::cli::{Session, Usage, table};
use crate::deployment::public_address;

#[derive(Debug, Subcommand)]
pub(super) enum Keys {
    /// Create an API key; it is shown once
    ///
    /// Standard output contains only the key, so that `KEY=$(signpost keys create …)` works; hints
    /// are printed on standard error. A key with the scope atms can only submit the ATMs of an
    /// operator. A key with the scope manage can do all that the login API offers, and also set
    /// usernames and e-mail addresses and change external IDs of users, which applications trust.
    /// A key has only the scopes that it was created with.
    ///
    /// With --json: `{id, key, environment, name, account}`, and `scope` if it is not auth.
    Create {
        /// Environment
        #[arg(long, value_enum)]
        environment: EnvironmentArg,
        /// Name of the key, such as the site that uses it
        #[arg(long)]
        name: String,
        /// Account
        #[arg(long, default_value = "default")]
        account: String,
        /// Scopes, separated by commas: the login API (auth), with its powers over users (manage), or
        /// ATM submissions (atms)
        #[arg(long, value_enum, value_delimiter = ',', default_value = "auth")]
        scope: Vec<ScopeArg>,
    },
    /// List API keys, without their secrets
    ///
    /// The time of last use has a precision of a minute.
    List,
    /// Replace an API key; the old key remains valid for a grace period
    ///
    /// The new key has the account, environment, scope and name of the old key. With --json: the
    /// document of 'keys create', with `replaces` and `old_expires_at`.
    Rotate {
        /// Key ID, as shown by 'keys list'
        id: String,
        /// Hours until the old key expires, 0 to 8760
        #[arg(long, value_name = "HOURS", default_value_t = 24, value_parser = clap::value_parser!(u32).range(0..=8760))]
        grace: u32,
    },
    /// Revoke an API key; it stops working within 5 seconds
    Revoke {
        /// Key ID, as shown by 'keys list'
        id: String,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum EnvironmentArg {
    Live,
    Sandbox,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum ScopeArg {
    Auth,
    Atms,
    Manage,
}

impl Keys {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        match self {
            Self::Create { environment, name, account, scope } => {
                create(session, environment.into(), name, account, &scope).await
            }
            Self::Rotate { id, grace } => rotate(session, &id, grace).await,
            Self::List => list(session).await,
            Self::Revoke { id } => revoke(session, &id).await,
        }
    }
}

async fn create(
    session: &Session,
    environment: Environment,
    name: String,
    account: String,
    scopes: &[ScopeArg],
) -> Result<()> {
    let scopes: Vec<_> = scopes.iter().copied().map(Scope::from).collect();
    let scope = KeyScopes::from_list(&scopes).map_err(|reason| Usage(format!("--scope: {reason}")))?;
    let name = label("--name", &name)?;
    let account = Account { name: account_name(&account)?, environment };
    let key = NewKey::new(environment, random(), random()).with_scope(scope.clone());
    let store = session.store()?;
    keys::sql::insert(&store, &Actor::Operator, &account, &name, &key, Clock::System.now()).await?;
    let api = public_address::find_api_address(&store, environment).await?;
    let shown = key.key.expose_secret();
    let mut document = json!({
        "id": key.id, "key": shown, "environment": environment, "name": name, "account": account.name,
    });
    if scope != KeyScopes::default() {
        document["scope"] = json!(scope);
    }
    let next = match scope.api() {
        Scope::Auth | Scope::Manage => {
            let flag = if environment == Environment::Sandbox { " --sandbox" } else { "" };
            format!("register a domain with 'signpost domains add NAME{flag} --handler hosted' or POST {api}/domains")
        }
        Scope::Atms => format!("submit ATMs with POST {api}/atms/submissions"),
    };
    let note =
        format!("Save it now: it is not shown again. Send it as 'Authorization: Bearer …' to {api}.\nNext: {next}.");
    session.print_secret(&document, shown, &note)
}

async fn list(session: &Session) -> Result<()> {
    let keys = keys::sql::list(&session.store()?).await?;
    let now = Clock::System.now();
    session.print(&json!({ "keys": keys }), || {
        let rows = keys.iter().map(|key| {
            let state = match (key.revoked_at, key.expires_at) {
                (Some(_), _) => "revoked".to_owned(),
                (None, Some(at)) if at <= now => "expired".to_owned(),
                (None, Some(at)) => format!("active until {at}"),
                (None, None) => "active".to_owned(),
            };
            let environment = key.environment.to_string();
            let used = key.last_used_at.map_or_else(|| "never".to_owned(), |at| at.to_string());
            let scope = key.scope.to_string();
            [key.id.to_string(), environment, scope, key.account.clone(), key.name.clone(), used, state]
        });
        table(["ID", "ENVIRONMENT", "SCOPE", "ACCOUNT", "NAME", "LAST USED", "STATE"], rows)
    })
}

async fn rotate(session: &Session, id: &str, grace: u32) -> Result<()> {
    let store = session.store()?;
    let now = Clock::System.now();
    let old = keys::sql::list(&store).await?.into_iter().find(|key| key.id.as_str() == id);
    let old = old.with_context(|| format!("no key has the ID {id}; 'signpost keys list' shows all"))?;
    let new = NewKey::replacing(&old, random(), random());
    let until = now + SignedDuration::from_hours(grace.into());
    let rotated = keys::sql::rotate(&store, &Actor::Operator, &old, &new, until, now).await;
    rotated.map_err(|error| {
        error.on_conflict(anyhow!("{id} is expired or revoked; create a new key with 'signpost keys create'"))
    })?;
    let shown = new.key.expose_secret();
    let StoredKey { environment, name, account, .. } = &old;
    let document = json!({
        "id": new.id, "key": shown, "environment": environment, "name": name, "account": account,
        "replaces": old.id, "old_expires_at": until,
    });
    session.print_secret(&document, shown, &format!("Save it now: it is not shown again. {id} works until {until}."))
}

async fn revoke(session: &Session, id: &str) -> Result<()> {
    let key = KeyId::parse(id).ok_or_else(|| no_active_key(id))?;
    let revoked = keys::sql::revoke(&session.store()?, &Actor::Operator, &key, Clock::System.now()).await;
    revoked.map_err(|error| error.on_conflict(no_active_key(id)))?;
    session.print(&json!({ "id": id, "revoked": true }), || format!("revoked {id}; it stops working within 5 seconds"))
}

fn no_active_key(id: &str) -> Error {
    anyhow!("no active key has the ID {id}; 'signpost keys list' shows all")
}

/// Checks an account name. The system account is rejected.
pub(super) fn account_name(text: &str) -> Result<String> {
    let name = label("--account", text)?;
    if name == SERVER_ACCOUNT {
        return Err(
            Usage(format!("--account: '{SERVER_ACCOUNT}' is the server's own account; choose another name")).into()
        );
    }
    Ok(name)
}

/// Checks that a name fits into a table and a log line.
fn label(flag: &str, text: &str) -> Result<String> {
    let text = text.trim();
    let is_valid = (1..=64).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    if is_valid { Ok(text.to_owned()) } else { Err(Usage(format!("{flag} must have 1 to 64 characters")).into()) }
}

impl From<ScopeArg> for Scope {
    fn from(value: ScopeArg) -> Self {
        match value {
            ScopeArg::Auth => Self::Auth,
            ScopeArg::Atms => Self::Atms,
            ScopeArg::Manage => Self::Manage,
        }
    }
}

impl From<EnvironmentArg> for Environment {
    fn from(value: EnvironmentArg) -> Self {
        match value {
            EnvironmentArg::Live => Self::Live,
            EnvironmentArg::Sandbox => Self::Sandbox,
        }
    }
}
