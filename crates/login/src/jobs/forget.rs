//! What is over is forgotten in time, so that no table grows for ever.

use std::time::Duration;

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};
use signpost_platform::accounts::audit::AuditId;
use signpost_platform::interval::every;
use signpost_store::{Store, Value, WriteOutcome, params, sql, step};

use crate::browser_sessions::{MAX_AGE, MAX_WAIT};
use crate::events::due_sql::is_free;
use crate::ids::{BrowserSessionId, SessionId};
use crate::service::LoginService;
use crate::sessions::{REFRESH_WINDOW, REPLAY_WINDOW, RETENTION};

/// How long a session is stored that the login host opened for itself, if nobody logs in by it. Anybody can have it open
/// one, without a key and without a login.
const OWN_RETENTION: SignedDuration = SignedDuration::from_hours(1);
/// How long at most, if a browser refreshes it all the time.
const MAX_OWN_RETENTION: SignedDuration = SignedDuration::from_hours(24);
/// How long an event is kept that arrived.
const DELIVERED_RETENTION: SignedDuration = SignedDuration::from_hours(7 * 24);
/// How long one is kept that did not: its integrator may be on holiday.
const FAILED_RETENTION: SignedDuration = SignedDuration::from_hours(30 * 24);
/// How long an entry of the audit log is kept: a year, and a month to look back at it.
const AUDIT_RETENTION: SignedDuration = SignedDuration::from_hours(400 * 24);
/// How often a running server looks.
const SWEEP_INTERVAL: Duration = Duration::from_hours(1);

/// Ids begin with the time. A thousand at a time, so that others can write in between.
const FORGET_SESSIONS: &str = "
    DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE id < $1 ORDER BY id LIMIT 1000) RETURNING id";

/// Sessions that the login host opened and by which nobody logged in: the terms of a page of a site name no purpose. Those
/// that can still be refreshed stay for a day at most, for a browser can refresh them again and again.
const FORGET_OWN_SESSIONS: &str = "
    DELETE FROM sessions WHERE id IN (
        SELECT id FROM sessions
        WHERE authenticated_at IS NULL AND page_terms LIKE '%\"purpose\":%' AND id < $1 AND (expires_at < $2 OR id < $3)
        ORDER BY id LIMIT 1000
    ) RETURNING id";

const FORGET_DELIVERIES: &str = "
    DELETE FROM deliveries WHERE id IN (
        SELECT id FROM deliveries WHERE ended_at < $1 AND state = $2 ORDER BY ended_at LIMIT 1000
    ) RETURNING id";

const FORGET_KEYS: &str = "
    DELETE FROM idempotency_keys WHERE (account, environment, key) IN (
        SELECT account, environment, key FROM idempotency_keys WHERE created_at < $1 ORDER BY created_at LIMIT 1000
    ) RETURNING key";

/// Those that wait for an endpoint that is disabled do not wait for ever.
const GIVE_UP: &str = sql!(
    "UPDATE deliveries SET state = 'failed', ended_at = $1, last_error = 'the endpoint stayed disabled for 30 days'
     WHERE state || '' = 'pending' AND created_at < $2 AND ",
    is_free!("leased_until", "$1")
);

const FORGET_ENDPOINTS: &str = "DELETE FROM endpoints WHERE next_probe_at < $1 RETURNING endpoint";

/// Ids begin with the time.
const FORGET_AUDIT: &str = "
    DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE id < $1 ORDER BY id LIMIT 1000) RETURNING id";

/// Those that no site completed, and those that are over however much they were used.
const FORGET_BROWSER_SESSIONS: &str = "
    DELETE FROM browser_sessions WHERE id IN (
        SELECT id FROM browser_sessions WHERE id < $1 AND (user_id IS NULL OR id < $2) ORDER BY id LIMIT 1000
    ) RETURNING id";

const FORGET_DOMAINS: &str = "DELETE FROM deleted_domains WHERE deleted_at < $1 RETURNING id";

/// Forgets what is over, now and every hour, until the server stops.
pub async fn run(service: LoginService) {
    let forget = || async {
        let forgotten = sweep(&service.store, service.clock.now()).await?;
        if forgotten > 0 {
            tracing::info!(forgotten, "deleted old sessions and events");
        }
        Ok(())
    };
    every(SWEEP_INTERVAL, &service.draining, "could not delete old sessions and events", forget).await;
}

/// Forgets what is over at the time `now`; returns how many rows that were.
///
/// # Errors
/// As [`Store::write`].
pub async fn sweep(store: &Store, now: Timestamp) -> Result<usize> {
    let oldest = SessionId::new(now - RETENTION, [0; 16]);
    let sessions = delete_in_batches(store, FORGET_SESSIONS, || params![&oldest]).await?;
    let [unused, refreshed] = [OWN_RETENTION, MAX_OWN_RETENTION].map(|age| SessionId::new(now - age, [0; 16]));
    let ended = now - REFRESH_WINDOW;
    let own = delete_in_batches(store, FORGET_OWN_SESSIONS, || params![&unused, ended, &refreshed]).await?;
    let delivered =
        delete_in_batches(store, FORGET_DELIVERIES, || params![now - DELIVERED_RETENTION, "delivered"]).await?;
    let failed = delete_in_batches(store, FORGET_DELIVERIES, || params![now - FAILED_RETENTION, "failed"]).await?;
    let keys = delete_in_batches(store, FORGET_KEYS, || params![now - REPLAY_WINDOW]).await?;
    // Their last events are gone by then.
    let domains =
        delete_in_batches(store, FORGET_DOMAINS, || params![now - FAILED_RETENTION - FAILED_RETENTION]).await?;
    store.write([step(GIVE_UP, params![now, now - FAILED_RETENTION])]).await?;
    let oldest = AuditId::new(now - AUDIT_RETENTION, [0; 16]);
    let entries = delete_in_batches(store, FORGET_AUDIT, || params![&oldest]).await?;
    let (unfinished, oldest) = (now - MAX_WAIT, now - MAX_AGE - MAX_WAIT);
    let [unfinished, oldest] = [unfinished, oldest].map(|time| BrowserSessionId::new(time, [0; 16]));
    let signed_in = delete_in_batches(store, FORGET_BROWSER_SESSIONS, || params![&unfinished, &oldest]).await?;
    // Nothing was sent there for a month: whether it still fails is not known any more.
    let endpoints = delete_in_batches(store, FORGET_ENDPOINTS, || params![now - FAILED_RETENTION]).await?;
    Ok(sessions + own + delivered + failed + keys + domains + entries + signed_in + endpoints)
}

async fn delete_in_batches(store: &Store, sql: &'static str, params: impl Fn() -> Vec<Value>) -> Result<usize> {
    let mut forgotten = 0;
    loop {
        let WriteOutcome::Committed(rows) = store.write([step(sql, params())]).await? else { return Ok(forgotten) };
        if rows.is_empty() {
            return Ok(forgotten);
        }
        forgotten += rows.len();
    }
}
