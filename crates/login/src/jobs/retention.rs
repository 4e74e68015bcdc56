//! The job that deletes rows after their retention period, so that no table grows without bound.

use std::time::Duration;

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};
use signpost_platform::accounts::audit::AuditId;
use signpost_platform::interval::run_every;
use signpost_store::{Statement, Store, Value, WriteOutcome, params, sql};

use crate::browser_sessions::{MAX_AGE, MAX_WAIT, USER_AGENT_RETENTION};
use crate::events::due_sql::is_free;
use crate::ids::{BrowserSessionId, SessionId};
use crate::service::LoginService;
use crate::sessions::{REFRESH_WINDOW, REPLAY_WINDOW, RETENTION};
use crate::users::identifier_sql::hash_issued_usernames;

/// Retention of sessions of the login host itself that led to no login. It is short, because
/// callers open them without an API key or a login.
const LOGIN_HOST_SESSION_RETENTION: SignedDuration = SignedDuration::from_hours(1);
/// Maximum retention of a session of the login host that led to no login, if a browser refreshes it
/// continually.
const MAX_LOGIN_HOST_SESSION_RETENTION: SignedDuration = SignedDuration::from_hours(24);
/// Retention of delivered events.
const DELIVERED_RETENTION: SignedDuration = SignedDuration::from_hours(7 * 24);
/// Retention of undelivered events. It is long, because integrators may be on holiday when their
/// endpoint fails.
const FAILED_RETENTION: SignedDuration = SignedDuration::from_hours(30 * 24);
/// Retention of audit log entries: a year, and a month to review it.
const AUDIT_RETENTION: SignedDuration = SignedDuration::from_hours(400 * 24);
/// Interval between two sweeps.
const SWEEP_INTERVAL: Duration = Duration::from_hours(1);

/// Deletes expired sessions. They are found by ID, because IDs begin with the time. A thousand rows
/// per write, so that other writes can run in between.
const DELETE_SESSIONS: &str = "
    DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE id < $1 ORDER BY id LIMIT 1000) RETURNING id";

/// Deletes sessions of the login host that led to no login. The purpose in their page terms
/// identifies them. Sessions that can still be refreshed are deleted after a day, because a browser
/// could refresh them without end.
const DELETE_OWN_SESSIONS: &str = "
    DELETE FROM sessions WHERE id IN (
        SELECT id FROM sessions
        WHERE authenticated_at IS NULL AND page_terms LIKE '%\"purpose\":%' AND id < $1 AND (expires_at < $2 OR id < $3)
        ORDER BY id LIMIT 1000
    ) RETURNING id";

const DELETE_DELIVERIES: &str = "
    DELETE FROM deliveries WHERE id IN (
        SELECT id FROM deliveries WHERE ended_at < $1 AND state = $2 ORDER BY ended_at LIMIT 1000
    ) RETURNING id";

const DELETE_KEYS: &str = "
    DELETE FROM idempotency_keys WHERE (account, environment, key) IN (
        SELECT account, environment, key FROM idempotency_keys WHERE created_at < $1 ORDER BY created_at LIMIT 1000
    ) RETURNING key";

/// Ends deliveries to an endpoint that stays disabled.
const FAIL_ABANDONED: &str = sql!(
    "UPDATE deliveries SET state = 'failed', ended_at = $1, last_error = 'the endpoint stayed disabled for 30 days'
     WHERE state || '' = 'pending' AND created_at < $2 AND ",
    is_free!("leased_until", "$1")
);

const DELETE_ENDPOINTS: &str = "DELETE FROM endpoints WHERE next_probe_at < $1 RETURNING endpoint";

/// Deletes expired audit log entries. They are found by ID, because IDs begin with the time.
const DELETE_AUDIT: &str = "
    DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE id < $1 ORDER BY id LIMIT 1000) RETURNING id";

/// Deletes browser sessions that no site completed, and browser sessions beyond their maximum
/// lifetime.
const DELETE_BROWSER_SESSIONS: &str = "
    DELETE FROM browser_sessions WHERE id IN (
        SELECT id FROM browser_sessions WHERE id < $1 AND (user_id IS NULL OR id < $2) ORDER BY id LIMIT 1000
    ) RETURNING id";

/// Removes the `User-Agent` of old browser sessions. They are found by ID, because IDs begin with the time.
const REMOVE_USER_AGENTS: &str = "
    UPDATE browser_sessions SET user_agent = NULL WHERE id IN (
        SELECT id FROM browser_sessions WHERE id < $1 AND user_agent IS NOT NULL ORDER BY id LIMIT 1000
    ) RETURNING id";

const DELETE_DOMAINS: &str = "DELETE FROM deleted_domains WHERE deleted_at < $1 RETURNING id";

/// Deletes expired rows, now and every hour, until the server drains.
pub async fn run(service: LoginService) {
    run_every(SWEEP_INTERVAL, &service.draining, "could not delete old sessions and events", || async {
        let forgotten = sweep(&service.store, service.clock.now()).await?;
        if forgotten > 0 {
            tracing::info!(forgotten, "deleted old sessions and events");
        }
        Ok(())
    })
    .await;
}

/// Deletes the rows that are expired at the time `now`, and returns their number. Also hashes the usernames that an
/// earlier version stored as text.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn sweep(store: &Store, now: Timestamp) -> Result<usize> {
    hash_issued_usernames(store).await?;
    let oldest = SessionId::new(now - RETENTION, [0; 16]);
    let sessions = delete_in_batches(store, DELETE_SESSIONS, || params![&oldest]).await?;
    let [unused, refreshed] =
        [LOGIN_HOST_SESSION_RETENTION, MAX_LOGIN_HOST_SESSION_RETENTION].map(|age| SessionId::new(now - age, [0; 16]));
    let ended = now - REFRESH_WINDOW;
    let own = delete_in_batches(store, DELETE_OWN_SESSIONS, || params![&unused, ended, &refreshed]).await?;
    let delivered =
        delete_in_batches(store, DELETE_DELIVERIES, || params![now - DELIVERED_RETENTION, "delivered"]).await?;
    let failed = delete_in_batches(store, DELETE_DELIVERIES, || params![now - FAILED_RETENTION, "failed"]).await?;
    let keys = delete_in_batches(store, DELETE_KEYS, || params![now - REPLAY_WINDOW]).await?;
    // The last events of deleted domains have been deleted by this time.
    let domains =
        delete_in_batches(store, DELETE_DOMAINS, || params![now - FAILED_RETENTION - FAILED_RETENTION]).await?;
    store.write([Statement::new(FAIL_ABANDONED, params![now, now - FAILED_RETENTION])]).await?;
    let oldest = AuditId::new(now - AUDIT_RETENTION, [0; 16]);
    let entries = delete_in_batches(store, DELETE_AUDIT, || params![&oldest]).await?;
    let unfinished = BrowserSessionId::new(now - MAX_WAIT, [0; 16]);
    let oldest = BrowserSessionId::new(now - MAX_AGE - MAX_WAIT, [0; 16]);
    let signed_in = delete_in_batches(store, DELETE_BROWSER_SESSIONS, || params![&unfinished, &oldest]).await?;
    let described = BrowserSessionId::new(now - USER_AGENT_RETENTION, [0; 16]);
    delete_in_batches(store, REMOVE_USER_AGENTS, || params![&described]).await?;
    // No event was sent to these endpoints for a month, so their state is unknown.
    let endpoints = delete_in_batches(store, DELETE_ENDPOINTS, || params![now - FAILED_RETENTION]).await?;
    Ok(sessions + own + delivered + failed + keys + domains + entries + signed_in + endpoints)
}

async fn delete_in_batches(store: &Store, sql: &'static str, params: impl Fn() -> Vec<Value>) -> Result<usize> {
    let mut deleted = 0;
    loop {
        let WriteOutcome::Committed(rows) = store.write([Statement::new(sql, params())]).await? else {
            return Ok(deleted);
        };
        if rows.is_empty() {
            return Ok(deleted);
        }
        deleted += rows.len();
    }
}
