//! Measures the maximum throughput of PostgreSQL for a single client with the tables, indexes and
//! triggers of the program. It uses no HTTP, arrays of rows and two connections, and sends the next
//! statement while another is in flight.

use std::time::Instant;

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};
use signpost_login::ids::{EventId, SessionId};
use tokio_postgres::{Client, NoTls};

use crate::{ROUND, ROUNDS, per_second};

/// Number of rows per statement.
const ROWS: u32 = 256;

const INSERT: &str = "
    INSERT INTO sessions (id, account, environment, domain_id, challenge, webhook_url, created_at, expires_at,
                          client_secret, flow)
    SELECT new.id, 'bench', 'sandbox', domains.id, new.challenge, domains.webhook_url, $3::BIGINT, $3 + 300000, new.challenge,
           'cross_device'
    FROM unnest($1::TEXT[], $2::TEXT[]) AS new (id, challenge), (SELECT * FROM domains ORDER BY id LIMIT 1) AS domains";

const QUEUE: &str = "
    INSERT INTO deliveries (id, account, environment, domain_id, url, endpoint, body, state, attempts, created_at,
                            next_attempt_at)
    SELECT new.id, 'bench', 'sandbox', 'dom_bench', 'http://127.0.0.1/hook', 'http://127.0.0.1', repeat('x', 350), 'pending',
           0, $2::BIGINT, $2
    FROM unnest($1::TEXT[]) AS new (id)";

const CLAIM: &str = "
    UPDATE deliveries SET leased_until = $2::BIGINT, attempts = attempts + 1 WHERE id = ANY ($1::TEXT[]) AND leased_until IS NULL
    RETURNING id, domain_id, environment, url, body, attempts, account";

const END: &str = "
    UPDATE deliveries SET state = 'delivered', ended_at = $2::BIGINT, last_status = 204, leased_until = NULL
    WHERE id = ANY ($1::TEXT[]) AND leased_until = $2";

/// Measures the number of sessions created per second.
///
/// # Errors
/// Returns an error if the database rejects a statement.
pub async fn creations(url: &str, now: Timestamp) -> Result<f64> {
    let (one, other, begun) = (connect(url).await?, connect(url).await?, Instant::now());
    let mut counts = Vec::new();
    for _ in 0..ROUNDS {
        let now = now + SignedDuration::try_from(begun.elapsed())?;
        // Two statements per connection, so that the next statement is in flight while another is
        // executed.
        let turns = tokio::try_join!(create(&one, now), create(&one, now), create(&other, now), create(&other, now))?;
        counts.push(turns.0 + turns.1 + turns.2 + turns.3);
    }
    Ok(per_second(counts))
}

async fn create(client: &Client, now: Timestamp) -> Result<u32> {
    let insert = client.prepare(INSERT).await?;
    let (begun, mut created) = (Instant::now(), 0);
    while begun.elapsed() < ROUND {
        let now = now + SignedDuration::try_from(begun.elapsed())?;
        let ids: Vec<String> =
            (0..ROWS).map(|_| SessionId::new(now, signpost_store::random()).as_str().to_owned()).collect();
        let challenges: Vec<String> = ids.iter().map(|id| format!("svc:login:localhost:1700000000:{id}")).collect();
        client.execute(&insert, &[&ids, &challenges, &now.as_millisecond()]).await?;
        created += ROWS;
    }
    Ok(created)
}

/// Measures the number of events claimed and completed per second, with this many pending events.
/// Nothing is sent, and events are not scheduled fairly between accounts.
///
/// # Errors
/// Returns an error if the database rejects a statement.
pub async fn deliveries(url: &str, events: usize, now: Timestamp) -> Result<f64> {
    let (one, other) = (connect(url).await?, connect(url).await?);
    let ids: Vec<String> =
        (0..events).map(|_| EventId::new(now, signpost_store::random()).as_str().to_owned()).collect();
    // Due in an hour, so that no delivery worker claims the events.
    let later = now.as_millisecond() + 3_600_000;
    one.execute(QUEUE, &[&ids, &later]).await?;
    let half: Vec<&[String]> = ids.chunks(events.div_ceil(2)).collect();
    let begun = Instant::now();
    tokio::try_join!(deliver(&one, half[0], later), deliver(&other, half[1], later))?;
    #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
    Ok(events as f64 / begun.elapsed().as_secs_f64())
}

async fn deliver(client: &Client, ids: &[String], lease: i64) -> Result<()> {
    let (claim, end) = (client.prepare(CLAIM).await?, client.prepare(END).await?);
    let mut ending = None;
    for ids in ids.chunks(ROWS as usize) {
        let take = async { Ok(client.query(&claim, &[&ids, &lease]).await?) };
        // The last batch is completed while the next batch is claimed.
        tokio::try_join!(take, finish(client, &end, ending))?;
        ending = Some((ids, lease));
    }
    finish(client, &end, ending).await
}

async fn finish(client: &Client, end: &tokio_postgres::Statement, ids: Option<(&[String], i64)>) -> Result<()> {
    if let Some((ids, lease)) = ids {
        client.execute(end, &[&ids, &lease]).await?;
    }
    Ok(())
}

async fn connect(url: &str) -> Result<Client> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(async { drop(connection.await) });
    Ok(client)
}
