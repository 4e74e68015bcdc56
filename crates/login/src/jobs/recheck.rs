//! Looks for the proofs of domains again: who has lost a name shall not go on to speak for it.

use std::time::Duration;

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use signpost_platform::accounts::Account;
use signpost_platform::accounts::audit::{Action, Actor};
use signpost_platform::interval::every;
use signpost_store::{ReadColumns, Store, WriteError, columns, must, params, sql};

use crate::domains::audit::insert_domain_entry;
use crate::domains::{self, Domain};
use crate::ids::DomainId;
use crate::service::LoginService;
use crate::sessions::sql::cancel_sessions_of;

/// How long after one check a proof is looked for again.
const RECHECK_AFTER: SignedDuration = SignedDuration::from_hours(7 * 24);
/// How many checks in a row may be in vain; the last of them takes the proof away.
const MAX_MISSES: i64 = 3;
/// Difference between the clocks of two servers that changes nothing.
const CLOCK_TOLERANCE: SignedDuration = SignedDuration::from_hours(1);
/// How often a running server looks for what is due.
const LOOK_INTERVAL: Duration = Duration::from_mins(1);
/// How many domains are checked in one look, one after the other: each may take ten seconds.
const MAX_PER_LOOK: i64 = 20;

/// A check of more than an hour ahead was dated by a clock that was wrong, and is ignored.
const IS_DUE: &str = "verified_at IS NOT NULL AND (COALESCE(last_checked_at, verified_at) <= $1
                                                   OR COALESCE(last_checked_at, verified_at) > $2)";

const DUE: &str = sql!(
    "SELECT ",
    DueDomain::COLUMN_LIST,
    " FROM domains WHERE ",
    IS_DUE,
    " ORDER BY COALESCE(last_checked_at, verified_at) LIMIT $3"
);

columns! {
    /// A domain whose proof is to be looked for again.
    struct DueDomain {
        id: DomainId,
        account: Account,
    }
}

/// Each of these names what is due: of several servers that looked, the first is counted.
const FOUND: &str =
    sql!("UPDATE domains SET last_checked_at = $3, failing_since = NULL, misses = 0 WHERE id = $4 AND ", IS_DUE);

const MISSED: &str = sql!(
    "UPDATE domains SET last_checked_at = $3, failing_since = COALESCE(failing_since, $3), misses = misses + 1
     WHERE id = $4 AND misses + 1 < $5 AND ",
    IS_DUE
);

const LOST: &str = sql!(
    "UPDATE domains SET last_checked_at = $3, failing_since = COALESCE(failing_since, $3), misses = misses + 1,
                        verified_at = NULL
     WHERE id = $4 AND misses + 1 >= $5 AND ",
    IS_DUE
);

/// Checks what is due until the server stops.
pub async fn run(service: LoginService) {
    every(LOOK_INTERVAL, &service.draining, "could not recheck the domains", || async {
        sweep(&service).await.map(drop)
    })
    .await;
}

/// Checks what is due now; returns how many domains that were.
///
/// # Errors
/// As [`Store::read`] and [`Store::write`].
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
    let proved =
        service.prover.find_proof(name, &domain.verification_token, service.reach(domain.account.environment)).await;
    let now = service.clock.now();
    if proved.is_ok() {
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

/// The proved domains whose proof is to be looked for again.
async fn find_due(store: &Store, now: Timestamp) -> Result<Vec<DueDomain>> {
    let rows = store.read(DUE, params![now - RECHECK_AFTER, now + CLOCK_TOLERANCE, MAX_PER_LOOK]).await?;
    rows.into_iter().map(|row| DueDomain::from_part("domains", row)).collect()
}

async fn record_found(store: &Store, id: &DomainId, now: Timestamp) -> Result<()> {
    store.write([must(FOUND, params![now - RECHECK_AFTER, now + CLOCK_TOLERANCE, now, id])]).await?;
    Ok(())
}

async fn record_missed(store: &Store, id: &DomainId, now: Timestamp) -> Result<()> {
    let params = params![now - RECHECK_AFTER, now + CLOCK_TOLERANCE, now, id, MAX_MISSES];
    store.write([must(MISSED, params)]).await?;
    Ok(())
}

/// Marks the domain as not verified and cancels its pending sessions. A conflict if it may miss its proof more often.
async fn record_lost(store: &Store, id: &DomainId, now: Timestamp) -> Result<(), WriteError> {
    let entry = insert_domain_entry(&Actor::Server, Action::DomainUnverified, id, &json!({}), now);
    let params = params![now - RECHECK_AFTER, now + CLOCK_TOLERANCE, now, id, MAX_MISSES];
    let steps = [must(LOST, params), entry, cancel_sessions_of(id, now)];
    store.commit(steps).await
}
