//! Feeds in the database.

use anyhow::{Context, Result};
use signpost_store::{Row, Store, Stored, must, params, sql, step};

use super::feed::Feed;

const FEEDS: &str = sql!(Feed::SELECT, " ORDER BY name");

const SAVE: &str = sql!(
    Feed::INSERT,
    " ON CONFLICT (name) DO UPDATE SET url = $2, format = $3, attribution = $4, every_ms = $5, etag = $6,
        last_modified = $7, synced_to = $8, fetched_at = $9, failures = $10, next_at = $11, last_error = $12"
);

const DROP: &str = "DELETE FROM atm_feeds WHERE name = $1";

/// Every feed, by name.
///
/// # Errors
/// As [`Store::read`].
pub async fn list(store: &Store) -> Result<Vec<Feed>> {
    let rows = store.read(FEEDS, params![]).await?;
    let named = |row: Row| {
        let name = row.text(0).unwrap_or_default().to_owned();
        Feed::from_row(row).with_context(|| format!("the feed {name} cannot be read"))
    };
    rows.into_iter().map(named).collect()
}

/// Keeps a feed, a new one or a known one.
///
/// # Errors
/// As [`Store::write`].
pub async fn save(store: &Store, feed: &Feed) -> Result<()> {
    store.write([step(SAVE, feed.clone().params())]).await?;
    Ok(())
}

/// Forgets a feed, one that cannot be read too; the machines that it brought stay. False where there is none.
///
/// # Errors
/// As [`Store::write`].
pub async fn delete(store: &Store, name: &str) -> Result<bool> {
    Ok(store.write([must(DROP, params![name])]).await?.is_committed())
}
