//! Lists and counts the domains of all accounts, for operators. The results do not include the
//! system domain.

use anyhow::Result;
use signpost_platform::accounts::{Environment, SERVER_ACCOUNT};
use signpost_store::{Store, params, sql};

use super::Domain;
use super::sql::{SELECT, read_domain};
use crate::ids::DomainId;

const LIST_PAGE: &str =
    sql!(SELECT, " WHERE account <> '", SERVER_ACCOUNT, "' AND ($1 = '' OR id < $1) ORDER BY id DESC LIMIT $2");

const MISSING_PROOF: &str = sql!(SELECT, " WHERE failing_since IS NOT NULL ORDER BY failing_since, id LIMIT $1");

const COUNT_KINDS: &str = sql!(
    "SELECT environment, handler, proven, COUNT(*) FROM
       (SELECT environment, handler, CASE WHEN verified_at IS NULL THEN 'open' ELSE 'verified' END AS proven
        FROM domains WHERE account <> '",
    SERVER_ACCOUNT,
    "' LIMIT $1) AS counted
     GROUP BY environment, handler, proven"
);

const LIST_LIVE: &str =
    sql!(SELECT, " WHERE environment = 'live' AND account <> '", SERVER_ACCOUNT, "' ORDER BY id DESC LIMIT $1");

/// The number of domains with the same environment, handler and verification state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DomainCount {
    /// The environment of the domains.
    pub environment: Environment,
    /// Whether the domains have a hosted handler.
    pub is_hosted: bool,
    /// Whether the domains are verified.
    pub is_verified: bool,
    /// The number of domains.
    pub count: usize,
}

/// Returns the number of domains of each kind, among at most `max` domains.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn count_kinds(store: &Store, max: u32) -> Result<Vec<DomainCount>> {
    let mut counts = Vec::new();
    for row in store.read(COUNT_KINDS, params![max]).await? {
        counts.push(DomainCount {
            environment: if row.text(0)? == "live" { Environment::Live } else { Environment::Sandbox },
            is_hosted: row.text(1)? == "hosted",
            is_verified: row.text(2)? == "verified",
            count: usize::try_from(row.int(3)?)?,
        });
    }
    Ok(counts)
}

/// Returns the newest live domains of all accounts.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn list_live(store: &Store, max: u32) -> Result<Vec<Domain>> {
    store.read(LIST_LIVE, params![max]).await?.into_iter().map(read_domain).collect()
}

/// Returns the newest domains of all accounts that are older than `before`.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn list_page(store: &Store, before: Option<&DomainId>, max: u32) -> Result<Vec<Domain>> {
    let before = before.map_or("", DomainId::as_str);
    store.read(LIST_PAGE, params![before, max]).await?.into_iter().map(read_domain).collect()
}

/// Returns verified domains without a proof, in the order of its loss.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn list_missing_proof(store: &Store, max: u32) -> Result<Vec<Domain>> {
    store.read(MISSING_PROOF, params![max]).await?.into_iter().map(read_domain).collect()
}
