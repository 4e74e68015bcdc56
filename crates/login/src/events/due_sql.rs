//! SQL statements that find due deliveries and lease them to a process.

/// The condition that no attempt at a delivery is running at the time `$now`. A lease that ends more than an hour later
/// is from a server with a wrong clock, because an attempt lasts less than a minute.
macro_rules! is_free {
    ($leased_until:literal, $now:literal) => {
        concat!(
            "(",
            $leased_until,
            " IS NULL OR ",
            $leased_until,
            " <= ",
            $now,
            " OR ",
            $leased_until,
            " > CAST(",
            $now,
            " AS BIGINT) + 3600000)"
        )
    };
}

pub(crate) use is_free;

/// Selects the existence of a ready event, and the first and the last end of the waits for further attempts. Uses the
/// indexes `deliveries_ready` and `deliveries_backoff` with ORDER BY and LIMIT, because a planner would read all rows
/// for a minimum. Public for the test that counts its steps.
pub const NEXT: &str = concat!(
    "SELECT (SELECT next_attempt_at FROM deliveries WHERE state = 'pending' AND in_backoff = 0 AND ",
    is_free!("leased_until", "$1"),
    " ORDER BY environment || ' ' || account LIMIT 1),
      (SELECT next_attempt_at FROM deliveries WHERE state = 'pending' AND in_backoff = 1
       ORDER BY next_attempt_at LIMIT 1),
      (SELECT next_attempt_at FROM deliveries WHERE state = 'pending' AND in_backoff = 1
       ORDER BY next_attempt_at DESC LIMIT 1)"
);

/// Marks events as ready if their wait for the next attempt has ended, or exceeds the retry
/// schedule.
macro_rules! ready {
    ($is_over:literal, $order:literal, $lock:literal) => {
        concat!(
            "UPDATE deliveries SET in_backoff = 0, next_attempt_at = CASE WHEN next_attempt_at > $1 THEN $1
                                                                          ELSE next_attempt_at END
             WHERE id IN (
                 SELECT id FROM deliveries WHERE state = 'pending' AND in_backoff = 1 AND next_attempt_at ",
            $is_over,
            " ORDER BY next_attempt_at",
            $order,
            " LIMIT $2 ",
            $lock,
            ")
             RETURNING id"
        )
    };
}

pub(super) const READY: &str = ready!("<= $1", "", "");
pub(super) const READY_SHARED: &str = ready!("<= $1", "", "FOR UPDATE SKIP LOCKED");
pub(super) const READY_TOO_FAR: &str = ready!("> $3", " DESC", "");
pub(super) const READY_TOO_FAR_SHARED: &str = ready!("> $3", " DESC", "FOR UPDATE SKIP LOCKED");

/// Selects due deliveries to endpoints with a free slot, oldest first, and for owners with too many endpoints the last
/// examined endpoint. It only reads, so that writes do not wait for it.
///
/// The recursions follow the index `deliveries_ready` from owner to owner, and for each owner from endpoint to
/// endpoint. They skip endpoints without a ready event, and owners without a free slot, and the cost does not depend on
/// the length of an endpoint's queue. For each endpoint the oldest events are examined. They include leased events,
/// which were the oldest before, so that a slow endpoint uses only its own slots. A disabled endpoint has a single slot
/// per hour. The databases differ in reading a list and in limiting the rows of each endpoint.
///
/// The time of the next attempt defines only the order: an event that does not wait for a further attempt is due,
/// independent of the clock of the server that queued it.
macro_rules! due {
    ($list:literal, $first_of_each:literal) => {
        concat!(
            "WITH RECURSIVE known (owner, word, reached) AS (
                 SELECT k.value ->> 0, k.value ->> 1, k.value ->> 2 FROM ",
            $list,
            " AS k
             ), owners (owner) AS (
                 SELECT (SELECT q.environment || ' ' || q.account FROM deliveries AS q
                         WHERE q.state = 'pending' AND q.in_backoff = 0
                         ORDER BY q.environment || ' ' || q.account LIMIT 1)
                 UNION ALL
                 SELECT (SELECT q.environment || ' ' || q.account FROM deliveries AS q
                         WHERE q.state = 'pending' AND q.in_backoff = 0
                           AND q.environment || ' ' || q.account > o.owner
                         ORDER BY q.environment || ' ' || q.account LIMIT 1)
                 FROM owners AS o WHERE o.owner IS NOT NULL
             ), looked_at (owner, endpoint, number) AS (
                 SELECT o.owner,
                        (SELECT q.endpoint FROM deliveries AS q
                         WHERE q.state = 'pending' AND q.in_backoff = 0 AND q.environment || ' ' || q.account = o.owner
                           AND q.endpoint > COALESCE(k.reached, '') ORDER BY q.endpoint LIMIT 1), 1
                 FROM owners AS o LEFT JOIN known AS k ON k.owner = o.owner
                 WHERE o.owner IS NOT NULL AND COALESCE(k.word, '') <> 'full'
                 UNION ALL
                 SELECT l.owner,
                        (SELECT q.endpoint FROM deliveries AS q
                         WHERE q.state = 'pending' AND q.in_backoff = 0 AND q.environment || ' ' || q.account = l.owner
                           AND q.endpoint > l.endpoint ORDER BY q.endpoint LIMIT 1), l.number + 1
                 FROM looked_at AS l WHERE l.endpoint IS NOT NULL AND l.number < $4
             ), due AS (
                 SELECT l.owner, d.id, d.next_attempt_at, d.leased_until,
                        ROW_NUMBER() OVER (PARTITION BY l.owner, l.endpoint
                                           ORDER BY CASE WHEN ",
            is_free!("d.leased_until", "$1"),
            " THEN 1 ELSE 0 END, d.next_attempt_at, d.id) AS place,
                        CASE WHEN e.disabled_at IS NULL THEN $2 ELSE 1 END AS places
                 FROM looked_at AS l
                 LEFT JOIN endpoints AS e ON e.environment || ' ' || e.account = l.owner AND e.endpoint = l.endpoint
                                         AND e.disabled_at IS NOT NULL ",
            $first_of_each,
            " WHERE l.endpoint IS NOT NULL
                AND (e.disabled_at IS NULL OR e.next_probe_at <= $1
                     OR e.next_probe_at > CAST($1 AS BIGINT) + 7200000)
             ), oldest AS (
                 SELECT owner, id, next_attempt_at,
                        ROW_NUMBER() OVER (PARTITION BY owner ORDER BY next_attempt_at, id) AS place
                 FROM due WHERE place <= places AND ",
            is_free!("leased_until", "$1"),
            "
             )
             SELECT owner, id, NULL AS endpoint, next_attempt_at FROM oldest WHERE place <= $3
             UNION ALL
             SELECT owner, NULL, endpoint, 0 FROM looked_at WHERE number = $4 AND endpoint IS NOT NULL
             ORDER BY 4, 2"
        )
    };
}

/// Selects due events. Public for the test that counts its steps.
pub const DUE: &str = due!(
    "json_each($5)",
    "JOIN deliveries AS d ON d.id IN (
         SELECT q.id FROM deliveries AS q
         WHERE q.state = 'pending' AND q.in_backoff = 0 AND q.environment || ' ' || q.account = l.owner
           AND q.endpoint = l.endpoint
         ORDER BY q.next_attempt_at, q.id LIMIT 2 * $2)"
);

pub(super) const DUE_SHARED: &str = due!(
    "json_array_elements(CAST(CAST($5 AS TEXT) AS JSON))",
    "CROSS JOIN LATERAL (
         SELECT q.id, q.next_attempt_at, q.leased_until FROM deliveries AS q
         WHERE q.state = 'pending' AND q.in_backoff = 0 AND q.environment || ' ' || q.account = l.owner
           AND q.endpoint = l.endpoint
         ORDER BY q.next_attempt_at, q.id LIMIT 2 * $2) AS d"
);

/// Leases the chosen events. Their state is checked again while the rows are locked, because
/// another server may have leased and delivered them. `NOT IN` and `+ 0` prevent the planner from
/// reading all rows of the indexes of pending events.
macro_rules! claim {
    ($chosen:literal, $lock:literal) => {
        concat!(
            "UPDATE deliveries SET leased_until = $1, attempts = attempts + 1
             WHERE id IN (
                 SELECT id FROM deliveries
                 WHERE ",
            $chosen,
            " AND state NOT IN ('delivered', 'failed') AND in_backoff + 0 = 0 AND ",
            is_free!("leased_until", "$2"),
            " ",
            $lock,
            ")
             RETURNING id, domain_id, environment, url, body, attempts, account,
                       CASE WHEN EXISTS (SELECT 1 FROM endpoints AS f
                                         WHERE f.account = deliveries.account AND f.endpoint = deliveries.endpoint
                                           AND f.environment = deliveries.environment) THEN 1 ELSE 0 END,
                       past_attempts"
        )
    };
}

/// Leases chosen events. Public for the test that counts its steps.
pub const CLAIM: &str = claim!("id IN (SELECT c.value FROM json_each($3) AS c)", "");

/// Leases chosen events in PostgreSQL, without waiting for events that another server is leasing.
/// The IDs are an array, so that the planner uses the primary key: for a set of rows, a planner
/// without statistics would read all pending events.
pub(super) const CLAIM_SHARED: &str = claim!(
    "id = ANY (ARRAY(SELECT c.value FROM json_array_elements_text(CAST(CAST($3 AS TEXT) AS JSON)) AS c))",
    "FOR UPDATE SKIP LOCKED"
);
