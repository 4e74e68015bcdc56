//! Encrypts the signing keys that are stored in plain text, or with a previous encryption key.

use anyhow::{Context, Result};
use jiff::Timestamp;
use signpost_login::domains::encryption_key::commit_secrets;
use signpost_login::domains::seal::Seal;
use signpost_store::Store;

use super::creation::reseal_key;
use super::key_ring::decrypt_key;
use super::sql;

/// Checks at the start of the server, before the first login, that all signing keys can be decrypted.
///
/// # Errors
/// Returns an error if a key cannot be decrypted, with the number of such keys, or the database
/// cannot be read.
pub async fn check(store: &Store, seal: &Seal) -> Result<()> {
    let keys = sql::list_all(store).await?;
    let mut errors =
        keys.iter().filter(|key| !key.private_key.is_erased()).filter_map(|key| decrypt_key(key, seal).err());
    let Some(first) = errors.next() else { return Ok(()) };
    let unreadable = 1 + errors.count();
    Err(first).with_context(|| format!("cannot decrypt {unreadable} of {} keys that sign ID tokens", keys.len()))
}

/// Encrypts all keys that are not encrypted with the current encryption key. Returns their number.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn seal_all(store: &Store, seal: &Seal, now: Timestamp) -> Result<usize> {
    let mut statements = Vec::new();
    for key in sql::list_all(store).await? {
        if let Some(resealed) = reseal_key(&key, seal)? {
            statements.push(sql::reseal(&key, resealed));
        }
    }
    let sealed = statements.len();
    if sealed > 0 {
        statements.push(sql::resealed_audit_statement(sealed, now));
        commit_secrets(store, seal, statements).await?;
    }
    Ok(sealed)
}
