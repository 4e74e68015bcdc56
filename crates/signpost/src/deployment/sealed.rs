//! What is encrypted with the operator's key: the secrets of domains, and the keys that sign ID tokens.

use anyhow::Result;
use jiff::Timestamp;
use serde::Serialize;
use signpost_login::domains;
use signpost_login::domains::seal::Seal;
use signpost_openid::signing_keys;
use signpost_store::Store;

/// Of how many domains secrets were encrypted, and how many signing keys.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct NewlySealed {
    #[serde(rename = "sealed")]
    pub(crate) domains: usize,
    pub(crate) signing_keys: usize,
}

/// Says at the start what cannot be decrypted, and not when it is needed.
///
/// # Errors
/// Where something cannot, or as [`Store::read`].
pub(crate) async fn check(store: &Store, seal: &Seal) -> Result<()> {
    domains::reseal::check(store, seal).await?;
    signing_keys::reseal::check(store, seal).await
}

/// Encrypts all that is not encrypted with the operator's key.
///
/// # Errors
/// As [`Store::read`] and [`Store::write`].
pub(crate) async fn seal_all(store: &Store, seal: &Seal, now: Timestamp) -> Result<NewlySealed> {
    Ok(NewlySealed {
        domains: domains::reseal::seal_all(store, seal, now).await?,
        signing_keys: signing_keys::reseal::seal_all(store, seal, now).await?,
    })
}
