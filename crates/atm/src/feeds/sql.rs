//! Feeds in the database.

use std::time::Duration;

use anyhow::{Context, Result};
use signpost_locator::import::FormatChoice;
use signpost_store::{Row, Store, must, params, step};

use super::feed::{Feed, Validators};

const FEEDS: &str = "
    SELECT name, url, format, attribution, every_ms, etag, last_modified, synced_to, fetched_at, failures, next_at,
           last_error
    FROM atm_feeds ORDER BY name";

const SAVE: &str = "
    INSERT INTO atm_feeds (name, url, format, attribution, every_ms, etag, last_modified, synced_to, fetched_at,
                           failures, next_at, last_error)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
    ON CONFLICT (name) DO UPDATE SET url = $2, format = $3, attribution = $4, every_ms = $5, etag = $6,
        last_modified = $7, synced_to = $8, fetched_at = $9, failures = $10, next_at = $11, last_error = $12";

const DROP: &str = "DELETE FROM atm_feeds WHERE name = $1";

/// Every feed, by name.
///
/// # Errors
/// As [`Store::read`].
pub async fn list(store: &Store) -> Result<Vec<Feed>> {
    let rows = store.read(FEEDS, params![]).await?;
    let named = |row| feed(row).with_context(|| format!("the feed {} cannot be read", row.text(0).unwrap_or_default()));
    rows.iter().map(named).collect()
}

/// Keeps a feed, a new one or a known one.
///
/// # Errors
/// As [`Store::write`].
pub async fn save(store: &Store, feed: &Feed) -> Result<()> {
    let every = feed.every.map(|every| i64::try_from(every.as_millis())).transpose();
    let every = every.context("the interval of the feed is too long")?;
    let Validators { etag, last_modified } = feed.known.clone();
    let params = params![
        &feed.name,
        &feed.url,
        feed.format.name(),
        &feed.attribution,
        every,
        etag,
        last_modified,
        feed.synced_to,
        feed.fetched_at,
        i64::from(feed.failures),
        feed.next_at,
        feed.last_error.clone()
    ];
    store.write([step(SAVE, params)]).await?;
    Ok(())
}

/// Forgets a feed, one that cannot be read too; the machines that it brought stay. False where there is none.
///
/// # Errors
/// As [`Store::write`].
pub async fn delete(store: &Store, name: &str) -> Result<bool> {
    Ok(store.write([must(DROP, params![name])]).await?.is_committed())
}

fn feed(row: &Row) -> Result<Feed> {
    let every =
        row.opt_int(4)?.map(u64::try_from).transpose().context("atm_feeds.every_ms")?.map(Duration::from_millis);
    Ok(Feed {
        name: row.text(0)?.to_owned(),
        url: row.text(1)?.to_owned(),
        format: row.text(2)?.parse::<FormatChoice>().context("atm_feeds.format")?,
        attribution: row.text(3)?.to_owned(),
        every,
        known: Validators {
            etag: row.opt_text(5)?.map(str::to_owned),
            last_modified: row.opt_text(6)?.map(str::to_owned),
        },
        synced_to: row.opt_time(7)?,
        fetched_at: row.opt_time(8)?,
        failures: u32::try_from(row.int(9)?).context("atm_feeds.failures")?,
        next_at: row.time(10)?,
        last_error: row.opt_text(11)?.map(str::to_owned),
    })
}
