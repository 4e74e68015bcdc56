//! The command `signpost clients rotate`: replaces the secret of a client.

use anyhow::{Result, anyhow, bail};
use clap::Args;
use serde_json::json;
use signpost_openid::clients::{OAuthSecret, PREVIOUS_SECRET_LIFETIME, sql};
use signpost_platform::accounts::audit::Actor;
use signpost_platform::clock::Clock;
use signpost_store::{Store, random};

use super::{ClientSelector, FoundClient, find_issuer};
use crate::cli::Session;

#[derive(Debug, Args)]
pub(in crate::cli) struct RotateClient {
    #[command(flatten)]
    selector: ClientSelector,
    /// Revoke the previous secret immediately
    #[arg(long)]
    now: bool,
}

impl RotateClient {
    pub(super) async fn run(self, session: &Session, store: &Store) -> Result<()> {
        let FoundClient { client, domain } = self.selector.find(store).await?;
        if client.settings.is_public {
            bail!("{} is a public client, which has no secret", client.id);
        }
        let issuer = find_issuer(store, &domain).await?;
        let secret = OAuthSecret::from_bytes(&random());
        let now = Clock::System.now();
        let overlap = (!self.now).then_some(PREVIOUS_SECRET_LIFETIME);
        let rotated =
            sql::rotate_secret(store, &domain.account, &client, &secret, overlap, &Actor::Operator, now).await;
        rotated.map_err(|error| error.on_conflict(anyhow!("{} was deleted just now", client.id)))?;
        let mut document = json!({ "client_id": client.id, "client_secret": secret.reveal(), "issuer": issuer });
        let mut previous = "not accepted any more".to_owned();
        if let Some(overlap) = overlap {
            let until = now + overlap;
            document["previous_secret_until"] = json!(until);
            previous = format!("accepted until {until}");
        }
        let note = format!(
            "Configure {} with this secret, which is not shown again. The previous one is {previous}.",
            client.display_name()
        );
        session.print_secret(&document, secret.reveal(), &note)
    }
}
