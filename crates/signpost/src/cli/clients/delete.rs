//! The command `signpost clients delete`: deletes a client with its tokens.

use anyhow::{Result, anyhow};
use clap::Args;
use serde_json::json;
use signpost_openid::clients::sql;
use signpost_platform::accounts::audit::Actor;
use signpost_platform::clock::Clock;
use signpost_store::Store;

use super::{ClientSelector, FoundClient};
use crate::cli::{Session, confirm_removal};

#[derive(Debug, Args)]
pub(in crate::cli) struct DeleteClient {
    #[command(flatten)]
    selector: ClientSelector,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
}

impl DeleteClient {
    pub(super) async fn run(self, session: &Session, store: &Store) -> Result<()> {
        let FoundClient { client, domain } = self.selector.find(store).await?;
        let id = &client.id;
        let name = client.display_name();
        let now = Clock::System.now();
        let lost = format!(
            "with {name} ({id}) at {} ({}) its secret and its tokens are deleted; logins to it will fail",
            domain.name, domain.account.environment
        );
        confirm_removal(self.yes, &lost, &format!("Delete {name}?"))?;
        let deleted = sql::delete(store, &domain.account, &domain.id, id, &Actor::Operator, now).await;
        deleted.map_err(|error| error.on_conflict(anyhow!("{id} was deleted just now")))?;
        session.print(&json!({ "deleted": id, "name": name }), || format!("deleted {name} ({id})"))
    }
}
