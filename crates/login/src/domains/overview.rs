//! Domains of all accounts as an operator looks over them, a page at a time. The server's own domain is not among them.

use anyhow::Result;
use jiff::Timestamp;
use signpost_platform::accounts::SERVER_ACCOUNT;
use signpost_store::{Store, params, sql};

use super::Domain;
use super::sql::{SELECT, read_domain};
use crate::ids::DomainId;

const PAGE: &str =
    sql!(SELECT, " WHERE account <> '", SERVER_ACCOUNT, "' AND ($1 = '' OR id < $1) ORDER BY id DESC LIMIT $2");

const MISSING_PROOF: &str = sql!(SELECT, " WHERE failing_since IS NOT NULL ORDER BY failing_since, id LIMIT $1");

const UNVERIFIED: &str = sql!(
    SELECT,
    " WHERE verified_at IS NULL AND environment = 'live' AND account <> '",
    SERVER_ACCOUNT,
    "' AND created_at > $1 ORDER BY id DESC LIMIT $2"
);

/// The newest domains, of all accounts; those older than `before`.
///
/// # Errors
/// As [`Store::read`].
pub async fn list_page(store: &Store, before: Option<&DomainId>, most: u32) -> Result<Vec<Domain>> {
    let before = before.map_or("", DomainId::as_str);
    store.read(PAGE, params![before, most]).await?.into_iter().map(read_domain).collect()
}

/// Verified domains whose proof is missing, those first that miss it the longest.
///
/// # Errors
/// As [`Store::read`].
pub async fn list_missing_proof(store: &Store, most: u32) -> Result<Vec<Domain>> {
    store.read(MISSING_PROOF, params![most]).await?.into_iter().map(read_domain).collect()
}

/// Live domains that were registered since then and have no proof yet, the newest first.
///
/// # Errors
/// As [`Store::read`].
pub async fn list_unverified(store: &Store, since: Timestamp, most: u32) -> Result<Vec<Domain>> {
    store.read(UNVERIFIED, params![since, most]).await?.into_iter().map(read_domain).collect()
}
