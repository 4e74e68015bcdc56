//! The job that checks the ownership proofs of verified domains again, so that a domain does not
//! stay verified after its owner has lost it.

use std::time::Duration;

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use signpost_platform::accounts::Account;
use signpost_platform::accounts::audit::{Action, Actor};
use signpost_platform::interval::run_every;
use signpost_store::{ReadColumns, Statement, Store, WriteError, columns, params, sql};

use crate::domains::audit::insert_domain_entry;
use crate::domains::{self, Domain};
use crate::ids::DomainId;
use crate::service::LoginService;
use crate::sessions::sql::cancel_domain_sessions_statement;

/// Interval between two checks of a domain's proof.
const RECHECK_AFTER: SignedDuration = SignedDuration::from_hours(7 * 24);
/// Failed checks in a row after which a domain is no longer verified.
const MAX_MISSES: i64 = 3;
/// Maximum tolerated difference between the clocks of two servers.
const CLOCK_TOLERANCE: SignedDuration = SignedDuration::from_hours(1);
/// Interval between two searches for due checks.
const SWEEP_INTERVAL: Duration = Duration::from_mins(1);
/// Maximum domains per sweep. They are checked sequentially, and each check may last ten seconds.
const MAX_PER_SWEEP: i64 = 20;

/// Condition for a due check. A recorded check more than an hour in the future was dated by a wrong
/// clock, and is ignored.
const IS_DUE: &str = "verified_at IS NOT NULL AND (COALESCE(last_checked_at, verified_at) <= $1
                                                   OR COALESCE(last_checked_at, verified_at) > $2)";

const SELECT_DUE: &str = sql!(
    "SELECT ",
    DueDomain::COLUMN_LIST,
    " FROM domains WHERE ",
    IS_DUE,
    " ORDER BY COALESCE(last_checked_at, verified_at) LIMIT $3"
);

columns! {
    /// A domain whose proof must be checked now.
    struct DueDomain {
        id: DomainId,
        account: Account,
    }
}

/// Records a check that found the proof. Like the two updates below, it requires that the check is
/// due: if several servers check a domain, only the first result counts.
const RECORD_FOUND_PROOF: &str =
    sql!("UPDATE domains SET last_checked_at = $3, failing_since = NULL, misses = 0 WHERE id = $4 AND ", IS_DUE);

const RECORD_MISSING_PROOF: &str = sql!(
    "UPDATE domains SET last_checked_at = $3, failing_since = COALESCE(failing_since, $3), misses = misses + 1
     WHERE id = $4 AND misses + 1 < $5 AND ",
    IS_DUE
);

const REVOKE_VERIFICATION: &str = sql!(
    "UPDATE domains SET last_checked_at = $3, failing_since = COALESCE(failing_since, $3), misses = misses + 1,
                        verified_at = NULL
     WHERE id = $4 AND misses + 1 >= $5 AND ",
    IS_DUE
);

/// Performs due checks until the server drains.
pub async fn run(service: LoginService) {
    run_every(SWEEP_INTERVAL, &service.draining, "could not recheck the domains", || async {
        sweep(&service).await.map(drop)
    })
    .await;
}

/// Performs the checks that are due now, and returns the number of domains.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn sweep(service: &LoginService) -> Result<usize> {
    let due = find_due(&service.store, service.clock.now()).await?;
    for DueDomain { id, account } in &due {
        if let Some(domain) = domains::sql::find(&service.store, account, id).await? {
            check(service, &domain).await?;
        }
    }
    Ok(due.len())
}

async fn check(service: &LoginService, domain: &Domain) -> Result<()> {
    let Domain { id, name, .. } = domain;
    let egress = service.egress_policy(domain.account.environment);
    let proof = service.domain_verifier.find_proof(name, &domain.verification_token, egress).await;
    let now = service.clock.now();
    if proof.is_ok() {
        return record_found(&service.store, id, now).await;
    }
    let account = &domain.account.name;
    match record_lost(&service.store, id, now).await {
        Ok(()) => {
            tracing::warn!(domain = %name, account, "domain proof missing again: the domain is no longer verified");
        }
        Err(WriteError::Conflict) => {
            record_missed(&service.store, id, now).await?;
            tracing::warn!(domain = %name, account, "domain proof missing");
        }
        Err(WriteError::Internal(error)) => return Err(error),
    }
    Ok(())
}

/// Returns the verified domains with a due check.
async fn find_due(store: &Store, now: Timestamp) -> Result<Vec<DueDomain>> {
    let rows = store.read(SELECT_DUE, params![now - RECHECK_AFTER, now + CLOCK_TOLERANCE, MAX_PER_SWEEP]).await?;
    rows.into_iter().map(|row| DueDomain::from_part("domains", row)).collect()
}

async fn record_found(store: &Store, id: &DomainId, now: Timestamp) -> Result<()> {
    store
        .write([Statement::expect_row(
            RECORD_FOUND_PROOF,
            params![now - RECHECK_AFTER, now + CLOCK_TOLERANCE, now, id],
        )])
        .await?;
    Ok(())
}

async fn record_missed(store: &Store, id: &DomainId, now: Timestamp) -> Result<()> {
    let params = params![now - RECHECK_AFTER, now + CLOCK_TOLERANCE, now, id, MAX_MISSES];
    store.write([Statement::expect_row(RECORD_MISSING_PROOF, params)]).await?;
    Ok(())
}

/// Marks the domain as not verified and cancels its pending sessions. A conflict if fewer than the required checks have
/// failed in a row.
async fn record_lost(store: &Store, id: &DomainId, now: Timestamp) -> Result<(), WriteError> {
    let entry = insert_domain_entry(&Actor::Server, Action::DomainUnverified, id, &json!({}), now);
    let params = params![now - RECHECK_AFTER, now + CLOCK_TOLERANCE, now, id, MAX_MISSES];
    let statements =
        [Statement::expect_row(REVOKE_VERIFICATION, params), entry, cancel_domain_sessions_statement(id, now)];
    store.commit(statements).await
}
