//! The command `signpost domains remove`: removes a domain with its users.

use anyhow::{Result, anyhow};
use clap::Args;
use serde_json::json;
use signpost_login::domains::Domain;
use signpost_login::flows::removal::delete_domain;
use signpost_login::{sessions, users};
use signpost_platform::accounts::audit::Actor;
use signpost_platform::clock::Clock;

use super::DomainSelector;
use crate::cli::Session;
use crate::cli::backend::{Backend, ConfirmFlag};

#[derive(Debug, Args)]
pub(in crate::cli) struct RemoveDomain {
    #[command(flatten)]
    selector: DomainSelector,
    #[command(flatten)]
    confirm: ConfirmFlag,
}

impl RemoveDomain {
    pub(super) async fn run(self, session: &Session, backend: &Backend) -> Result<()> {
        let domain = self.selector.find_registered(backend).await?;
        let Domain { id, name, account, .. } = &domain;
        let now = Clock::System.now();
        // The API does not return these counts.
        let counts = match backend {
            Backend::Database(store) => {
                Some((users::sql::count(store, id).await?, sessions::sql::count_pending(store, id, now).await?))
            }
            Backend::Api(_) => None,
        };
        let (users, pending) = match counts {
            Some((users, pending)) => (format!(" ({users})"), format!(" ({pending})")),
            None => (String::new(), String::new()),
        };
        let lost = format!(
            "with {name} ({}, account {}) go its users{users} and their keys, its pending sessions{pending} and its \
             signing secret",
            account.environment, account.name
        );
        backend.confirm_removal(&self.confirm, name.as_str(), &lost, &format!("Remove {name}?"))?;
        match backend {
            Backend::Database(store) => {
                let deleted = delete_domain(store, account, id, &Actor::Operator, now).await;
                deleted.map_err(|error| error.on_conflict(anyhow!("{id} was removed just now")))?;
            }
            Backend::Api(api) => api.delete_domain(id).await?,
        }
        let mut document = json!({ "removed": id, "domain": name });
        if let Some((users, pending)) = counts {
            document["users"] = users.into();
            document["pending_sessions"] = pending.into();
        }
        session.print(&document, || {
            format!(
                "removed {name} ({id}) with its users{users} and pending sessions{pending}; queued events are still sent"
            )
        })
    }
}
