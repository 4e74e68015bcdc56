//! Domains of all accounts as an operator looks over them, a page at a time. The server's own domain is not among them.

use anyhow::Result;
use jiff::Timestamp;
use signpost_platform::accounts::{Environment, SERVER_ACCOUNT};
use signpost_store::{Store, params, sql};

use super::Domain;
use super::sql::{SELECT, read_domain};
use crate::ids::DomainId;

const PAGE: &str =
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

const UNVERIFIED: &str = sql!(
    SELECT,
    " WHERE verified_at IS NULL AND environment = 'live' AND account <> '",
    SERVER_ACCOUNT,
    "' AND created_at > $1 ORDER BY id DESC LIMIT $2"
);

const LIVE: &str =
    sql!(SELECT, " WHERE environment = 'live' AND account <> '", SERVER_ACCOUNT, "' ORDER BY id DESC LIMIT $1");

/// Domains of one kind, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DomainCount {
    /// In which environment.
    pub environment: Environment,
    /// Whether their users are here.
    pub is_hosted: bool,
    /// Whether they are verified.
    pub is_verified: bool,
    /// How many.
    pub count: usize,
}

/// How many domains there are of each kind, counted no further than `most`.
///
/// # Errors
/// As [`Store::read`].
pub async fn count_kinds(store: &Store, most: u32) -> Result<Vec<DomainCount>> {
    let mut counts = Vec::new();
    for row in store.read(COUNT_KINDS, params![most]).await? {
        counts.push(DomainCount {
            environment: if row.text(0)? == "live" { Environment::Live } else { Environment::Sandbox },
            is_hosted: row.text(1)? == "hosted",
            is_verified: row.text(2)? == "verified",
            count: usize::try_from(row.int(3)?)?,
        });
    }
    Ok(counts)
}

/// The newest live domains, of all accounts.
///
/// # Errors
/// As [`Store::read`].
pub async fn list_live(store: &Store, most: u32) -> Result<Vec<Domain>> {
    store.read(LIVE, params![most]).await?.into_iter().map(read_domain).collect()
}

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
