//! The address under which people reach this deployment. A server writes it into the database, because a command that
//! prints a link runs without the server's settings.

use anyhow::Result;
use signpost_platform::accounts::Environment;
use signpost_store::{Store, params, step};

use crate::config::{Config, Service};

const FIND: &str = "SELECT public_address FROM deployment WHERE public_address IS NOT NULL";

const SET: &str = "UPDATE deployment SET public_address = $1 WHERE public_address IS NULL OR public_address <> $1";

/// The public address of the server that ran on this database last, if one did.
///
/// # Errors
/// As [`Store::read`].
pub(crate) async fn find(store: &Store) -> Result<Option<String>> {
    let row = store.read_one(FIND, params![]).await?;
    row.map(|row| Ok(row.text(0)?.to_owned())).transpose()
}

/// Where an environment's API begins, as far as that is known.
///
/// # Errors
/// As [`Store::read`].
pub(crate) async fn find_api_address(store: &Store, environment: Environment) -> Result<String> {
    Ok(find(store).await?.unwrap_or_default() + environment.path())
}

/// Remembers the public address, and warns where it was another one.
///
/// # Errors
/// As [`Store::write`].
pub(crate) async fn remember(store: &Store, now: &str) -> Result<()> {
    let before = find(store).await?;
    if before.as_deref() == Some(now) {
        return Ok(());
    }
    if let Some(before) = before {
        tracing::warn!(
            before,
            now,
            "the public address changed: links and login codes issued under the old one still point there"
        );
    }
    store.write([step(SET, params![now])]).await?;
    Ok(())
}

/// Says what is unsafe about the settings, or cannot work, before somebody relies on them.
pub(crate) fn say_what_is_unsafe(config: &Config) {
    if config.services.contains(&Service::Auth) && config.login.seal_key.is_none() {
        const PLAIN: &str = "webhook secrets are stored unencrypted: set SIGNPOST_SEAL_KEY, for example to the output \
                             of 'openssl rand -hex 32'";
        // On the way to the first login it is no news; whoever has a public address has others' secrets.
        if config.public_url.is_some() {
            tracing::warn!("{PLAIN}");
        } else {
            tracing::info!("{PLAIN}");
        }
    }
    if config.is_nowhere() {
        let listen = config.listen;
        tracing::warn!(
            "links and login codes point to http://{listen}, which nobody can reach: set the URL of this server with \
             --public-url"
        );
    }
    if config.is_public_unencrypted() {
        tracing::warn!(
            "the public URL is http: traffic can be read and altered in transit, live sessions of hosted domains are \
             refused, and live domains are no issuers of OpenID Connect; set an https URL with --public-url"
        );
    }
}
