//! The command `signpost clients rotate`: replaces the secret of a client.

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use jiff::Timestamp;
use serde_json::json;
use signpost_login::domains::Domain;
use signpost_openid::clients::{Client, OAuthSecret, PREVIOUS_SECRET_LIFETIME, sql};
use signpost_platform::accounts::audit::Actor;
use signpost_platform::clock::Clock;
use signpost_store::{Store, random};

use super::ClientSelector;
use super::find::{FoundClient, find_issuer};
use crate::cli::Session;
use crate::cli::api::ClientOfApi;
use crate::cli::backend::Backend;

#[derive(Debug, Args)]
pub(in crate::cli) struct RotateClient {
    #[command(flatten)]
    selector: ClientSelector,
    /// Revoke the previous secret immediately
    #[arg(long)]
    now: bool,
}

/// A new secret.
struct RotatedSecret {
    secret: String,
    issuer: String,
    /// The end of the time in which the previous secret is accepted.
    previous_until: Option<Timestamp>,
}

impl RotateClient {
    pub(super) async fn run(self, session: &Session, backend: &Backend) -> Result<()> {
        let FoundClient { client, domain, .. } = self.selector.find(backend).await?;
        if client.settings.is_public {
            bail!("{} is a public client, which has no secret", client.id);
        }
        let rotated = match backend {
            Backend::Database(store) => self.rotate_stored(store, &client, &domain).await?,
            Backend::Api(api) => {
                let ClientOfApi { client, issuer, secret } =
                    api.rotate_client_secret(&domain.id, &client.id, self.now).await?;
                let secret = secret.context("the reply of the service has no secret")?;
                RotatedSecret { secret, issuer, previous_until: client.previous_until }
            }
        };
        let RotatedSecret { secret, issuer, previous_until } = rotated;
        let mut document = json!({ "client_id": client.id, "client_secret": secret, "issuer": issuer });
        let mut previous = "not accepted any more".to_owned();
        if let Some(until) = previous_until {
            document["previous_secret_until"] = json!(until);
            previous = format!("accepted until {until}");
        }
        let note = format!(
            "Configure {} with this secret, which is not shown again. The previous one is {previous}.",
            client.display_name()
        );
        session.print_secret(&document, &secret, &note)
    }

    /// Replaces the secret in the database.
    async fn rotate_stored(&self, store: &Store, client: &Client, domain: &Domain) -> Result<RotatedSecret> {
        let issuer = find_issuer(store, domain).await?;
        let secret = OAuthSecret::from_bytes(&random());
        let now = Clock::System.now();
        let overlap = (!self.now).then_some(PREVIOUS_SECRET_LIFETIME);
        let rotated = sql::rotate_secret(store, &domain.account, client, &secret, overlap, &Actor::Operator, now).await;
        rotated.map_err(|error| error.on_conflict(anyhow!("{} was deleted just now", client.id)))?;
        let previous_until = overlap.map(|overlap| now + overlap);
        Ok(RotatedSecret { secret: secret.reveal().to_owned(), issuer, previous_until })
    }
}
