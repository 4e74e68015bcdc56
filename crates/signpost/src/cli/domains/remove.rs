//! The command `signpost domains remove`: removes a domain with its users.

use anyhow::{Result, anyhow};
use clap::Args;
use serde_json::json;
use signpost_login::domains::Domain;
use signpost_login::flows::removal::delete_domain;
use signpost_login::{sessions, users};
use signpost_platform::accounts::audit::Actor;
use signpost_platform::clock::Clock;
use signpost_store::Store;

use super::DomainSelector;
use crate::cli::{Session, confirm_removal};

#[derive(Debug, Args)]
pub(in crate::cli) struct RemoveDomain {
    #[command(flatten)]
    selector: DomainSelector,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
}

impl RemoveDomain {
    pub(super) async fn run(self, session: &Session, store: &Store) -> Result<()> {
        let domain = self.selector.find_registered(store).await?;
        let now = Clock::System.now();
        let Domain { id, name, .. } = &domain;
        let users = users::sql::count(store, id).await?;
        let pending = sessions::sql::count_pending(store, id, now).await?;
        let environment = domain.account.environment;
        let lost = format!(
            "with {name} ({environment}, account {}) go its users ({users}) and their keys, its pending sessions \
             ({pending}) and its signing secret",
            domain.account.name
        );
        confirm_removal(self.yes, &lost, &format!("Remove {name}?"))?;
        let deleted = delete_domain(store, &domain.account, id, &Actor::Operator, now).await;
        deleted.map_err(|error| error.on_conflict(anyhow!("{id} was removed just now")))?;
        let document = json!({ "removed": id, "domain": name, "users": users, "pending_sessions": pending });
        session.print(&document, || {
            format!(
                "removed {name} ({id}) with its users ({users}) and pending sessions ({pending}); queued events are still sent"
            )
        })
    }
}
