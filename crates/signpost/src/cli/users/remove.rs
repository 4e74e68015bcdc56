//! The command `signpost users remove`: removes a user with all credentials.

use anyhow::{Result, anyhow};
use clap::Args;
use serde_json::json;
use signpost_login::flows::removal::remove_user;
use signpost_login::users::CredentialKey;
use signpost_platform::accounts::audit::Actor;
use signpost_platform::clock::Clock;
use signpost_store::Store;

use super::{FoundUser, UserSelector};
use crate::cli::{Session, confirm_removal};

#[derive(Debug, Args)]
pub(in crate::cli) struct RemoveUser {
    #[command(flatten)]
    selector: UserSelector,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
}

impl RemoveUser {
    pub(super) async fn run(self, session: &Session, store: &Store) -> Result<()> {
        let Self { selector, yes } = self;
        let key = CredentialKey::parse(&selector.user).ok();
        let FoundUser { domain, user, credentials } = selector.find(store).await?;
        let id = &user.id;
        let petname = user.petname.as_str();
        let count = credentials.len();
        let lost = format!(
            "{petname} ({id}) at {} ({}) loses the account there with all credentials ({count}); nobody gets the petname \
             again",
            domain.name, domain.account.environment
        );
        confirm_removal(yes, &lost, &format!("Remove {petname}?"))?;
        let now = Clock::System.now();
        let removed = remove_user(store, (&domain.id, id), key.as_ref(), &Actor::Operator, now).await;
        removed.map_err(|error| error.on_conflict(anyhow!("{id} was removed just now")))?;
        let document = json!({ "removed": id, "petname": petname, "credentials": count });
        session.print(&document, || format!("removed {petname} ({id}) with all credentials ({count})"))
    }
}
