//! The command `signpost clients delete`: deletes a client with its tokens.

use anyhow::{Result, anyhow};
use clap::Args;
use serde_json::json;
use signpost_openid::clients::sql;
use signpost_platform::accounts::audit::Actor;
use signpost_platform::clock::Clock;

use super::ClientSelector;
use super::find::FoundClient;
use crate::cli::Session;
use crate::cli::backend::{Backend, ConfirmFlag};

#[derive(Debug, Args)]
pub(in crate::cli) struct DeleteClient {
    #[command(flatten)]
    selector: ClientSelector,
    #[command(flatten)]
    confirm: ConfirmFlag,
}

impl DeleteClient {
    pub(super) async fn run(self, session: &Session, backend: &Backend) -> Result<()> {
        let FoundClient { client, domain, .. } = self.selector.find(backend).await?;
        let id = &client.id;
        let name = client.display_name();
        let lost = format!(
            "with {name} ({id}) at {} ({}) its secret and its tokens are deleted; logins to it will fail",
            domain.name, domain.account.environment
        );
        backend.confirm_removal(&self.confirm, domain.name.as_str(), &lost, &format!("Delete {name}?"))?;
        match backend {
            Backend::Database(store) => {
                let now = Clock::System.now();
                let deleted = sql::delete(store, &domain.account, &domain.id, id, &Actor::Operator, now).await;
                deleted.map_err(|error| error.on_conflict(anyhow!("{id} was deleted just now")))?;
            }
            Backend::Api(api) => api.delete_client(&domain.id, id).await?,
        }
        session.print(&json!({ "deleted": id, "name": name }), || format!("deleted {name} ({id})"))
    }
}
