//! Stores the public address of this deployment in the database, because commands that print a link
//! run without the server's settings.

use anyhow::Result;
use signpost_platform::accounts::Environment;
use signpost_store::{Statement, Store, params};

use crate::config::{Config, Service};

const FIND: &str = "SELECT public_address FROM deployment WHERE public_address IS NOT NULL";

const SET: &str = "UPDATE deployment SET public_address = $1 WHERE public_address IS NULL OR public_address <> $1";

/// Returns the public address of the last server on this database.
///
/// # Errors
/// Returns the errors of [`Store::read`].
pub(crate) async fn find(store: &Store) -> Result<Option<String>> {
    let Some(row) = store.read_one(FIND, params![]).await? else { return Ok(None) };
    Ok(Some(row.text(0)?.to_owned()))
}

/// Returns the address of an environment's API, or only its path if no server has run.
///
/// # Errors
/// Returns the errors of [`Store::read`].
pub(crate) async fn find_api_address(store: &Store, environment: Environment) -> Result<String> {
    Ok(find(store).await?.unwrap_or_default() + environment.path())
}

/// Records the public address, and logs a warning if it changed.
///
/// # Errors
/// Returns the errors of [`Store::write`].
pub(crate) async fn record(store: &Store, now: &str) -> Result<()> {
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
    store.write([Statement::new(SET, params![now])]).await?;
    Ok(())
}

/// Logs settings that are unsafe or cannot work.
pub(crate) fn log_unsafe_settings(config: &Config) {
    if config.services.contains(&Service::Auth) && config.login.seal_key.is_none() {
        const PLAIN: &str = "webhook secrets are stored unencrypted: set SIGNPOST_SEAL_KEY, for example to the output \
                             of 'openssl rand -hex 32'";
        // Only servers with a public URL log a warning, because they store the secrets of other
        // parties.
        if config.public_url.is_some() {
            tracing::warn!("{PLAIN}");
        } else {
            tracing::info!("{PLAIN}");
        }
    }
    if config.has_no_address() {
        let listen = config.listen;
        tracing::warn!(
            "links and login codes point to http://{listen}, which nobody can reach: set the URL of this server with \
             --public-url"
        );
    }
    if config.is_unnamed_behind_proxies() {
        let listen = config.listen;
        tracing::warn!(
            "proxies are trusted, and there is no public URL: links and discovery documents name http://{listen}; set the \
             address of the proxy with --public-url"
        );
    }
    if config.is_public_unencrypted() {
        tracing::warn!(
            "the public URL is http: traffic can be read and altered in transit, live sessions of hosted domains are \
             refused, and live domains are no issuers of OpenID Connect; set an https URL with --public-url"
        );
    }
}
