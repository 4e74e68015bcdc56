//! The command `signpost users remove`: removes a user with all credentials.

use anyhow::{Result, anyhow};
use clap::Args;
use serde_json::json;
use signpost_login::flows::removal::remove_user;
use signpost_login::users::CredentialKey;
use signpost_platform::accounts::audit::Actor;
use signpost_platform::clock::Clock;

use super::{FoundUser, UserSelector};
use crate::cli::Session;
use crate::cli::backend::{Backend, ConfirmFlag};

#[derive(Debug, Args)]
pub(in crate::cli) struct RemoveUser {
    #[command(flatten)]
    selector: UserSelector,
    #[command(flatten)]
    confirm: ConfirmFlag,
}

impl RemoveUser {
    pub(super) async fn run(self, session: &Session, backend: &Backend) -> Result<()> {
        let Self { selector, confirm } = self;
        let key = CredentialKey::parse(&selector.user).ok();
        let FoundUser { domain, user, credentials } = selector.find(backend).await?;
        let id = &user.id;
        let petname = user.petname.as_str();
        let username = user.username();
        let count = credentials.len();
        let lost = format!(
            "{username} ({id}) at {} ({}) loses the account there with all credentials ({count}); nobody gets the \
             username again",
            domain.name, domain.account.environment
        );
        backend.confirm_removal(&confirm, domain.name.as_str(), &lost, &format!("Remove {username}?"))?;
        match backend {
            Backend::Database(store) => {
                let now = Clock::System.now();
                let removed = remove_user(store, (&domain, id), key.as_ref(), &Actor::Operator, now).await;
                removed.map_err(|error| error.on_conflict(anyhow!("{id} was removed just now")))?;
            }
            Backend::Api(api) => api.delete_user(&domain, id).await?,
        }
        let document = json!({ "removed": id, "petname": petname, "username": username, "credentials": count });
        session.print(&document, || format!("removed {username} ({id}) with all credentials ({count})"))
    }
}
