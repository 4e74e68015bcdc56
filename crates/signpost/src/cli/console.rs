//! The command `signpost console`: manages the operators of the console.

use anyhow::{Context, Error, Result, anyhow};
use clap::Subcommand;
use serde_json::json;
use signpost_login::domains::{self, system_domain};
use signpost_login::ids::UserId;
use signpost_login::users;
use signpost_platform::accounts::audit::Actor;
use signpost_platform::clock::Clock;
use signpost_store::Store;

use crate::cli::{Session, table};
use crate::console::operators::{self, MAX_OPERATORS, Operator};
use crate::deployment::public_address;

#[derive(Debug, Subcommand)]
pub(super) enum ConsoleCommand {
    /// Print a link that makes its first visitor an operator
    ///
    /// The link works once, in the first browser that opens it, and expires after 30 minutes. The
    /// visitor logs in with a wallet or a passkey, which belongs to the operator from then on.
    /// Standard output contains only the link. With --json: `{link, expires_at}`.
    Link,
    /// List the operators
    ///
    /// With --json: `{operators: [{user_id, added_at, added_by}]}`.
    Operators,
    /// Remove an operator; their next request is rejected
    Remove {
        /// User ID, as shown by 'console operators'
        id: String,
    },
}

impl ConsoleCommand {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        let store = session.store()?;
        match self {
            Self::Link => link(session, &store).await,
            Self::Operators => list(session, &store).await,
            Self::Remove { id } => remove(session, &store, &id).await,
        }
    }
}

async fn link(session: &Session, store: &Store) -> Result<()> {
    let address = public_address::find(store).await?;
    let address = address.context("no server has run on this database yet; start one with 'signpost serve'")?;
    let now = Clock::System.now();
    let token = operators::make_link(store, &Actor::Operator, now).await?.with_context(|| {
        format!("the console has {MAX_OPERATORS} operators, which is the most; 'signpost console remove ID' makes room")
    })?;
    let link = operators::setup_link(&address, &token);
    let expires_at = now + operators::LINK_LIFETIME;
    let document = json!({ "link": link, "expires_at": expires_at });
    session.print_secret(&document, &link, &format!("Open it in a browser. It works once, until {expires_at}."))
}

async fn list(session: &Session, store: &Store) -> Result<()> {
    let operators = operators::list(store).await?;
    let mut rows = Vec::new();
    for operator in &operators {
        let Operator { user_id, added_at, added_by } = operator;
        rows.push([user_id.to_string(), find_username(store, user_id).await?, added_at.to_string(), added_by.clone()]);
    }
    session.print(&json!({ "operators": operators }), || table(["ID", "NAME", "SINCE", "ADDED BY"], rows))
}

/// Returns the user's name, or an empty text if the user was deleted.
async fn find_username(store: &Store, user: &UserId) -> Result<String> {
    let address = public_address::find(store).await?.unwrap_or_default();
    let public_url = address.parse().ok();
    let name = system_domain::name(public_url.as_ref());
    let Some(domain) = domains::sql::find_by_name(store, &system_domain::account(), &name).await? else {
        return Ok(String::new());
    };
    let found = users::sql::find(store, &domain.id, user).await?;
    Ok(found.map(|(user, _)| user.username().to_owned()).unwrap_or_default())
}

async fn remove(session: &Session, store: &Store, id: &str) -> Result<()> {
    let user = UserId::parse(id).ok_or_else(|| unknown_operator(id))?;
    let removed = operators::remove(store, &user, &Actor::Operator, Clock::System.now()).await;
    removed.map_err(|error| error.on_conflict(unknown_operator(id)))?;
    session.print(&json!({ "removed": id }), || format!("{id} is no operator any more"))
}

fn unknown_operator(id: &str) -> Error {
    anyhow!("no operator has the ID {id}; 'signpost console operators' shows all")
}
