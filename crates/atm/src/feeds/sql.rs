//! Feeds in the database.

use anyhow::{Context, Result};
use jiff::Timestamp;
use signpost_store::{Row, Statement, Store, Stored, WriteError, params, sql};

use super::feed::{Feed, Validators};
use crate::catalogue::Coverage;

const FEEDS: &str = sql!(Feed::SELECT, " ORDER BY name");

const FEED: &str = sql!(Feed::SELECT, " WHERE name = $1");

const SAVE: &str = sql!(
    Feed::INSERT,
    " ON CONFLICT (name) DO UPDATE SET url = $2, format = $3, attribution = $4, every_ms = $5, etag = $6,
        last_modified = $7, synced_to = $8, fetched_at = $9, failures = $10, next_at = $11, last_error = $12"
);

/// A feed that was removed or now has another URL is left as it is, and so is the success of another fetch since
/// `next_at` was read. A failure of another fetch is replaced.
const RECORD_SUCCESS: &str = "
    UPDATE atm_feeds SET fetched_at = $3, failures = 0, next_at = $4, last_error = NULL
    WHERE name = $1 AND url = $2 AND (next_at = $5 OR failures > 0)";

/// A feed that was removed or now has another URL is left as it is, and so is the outcome of another fetch since
/// `next_at` was read.
const RECORD_FAILURE: &str = "
    UPDATE atm_feeds SET failures = $3, next_at = $4, last_error = $5 WHERE name = $1 AND url = $2 AND next_at = $6";

const RECORD_WHOLE: &str = "
    UPDATE atm_feeds SET etag = $3, last_modified = $4, synced_to = $5 WHERE name = $1 AND url = $2";

/// Only if the changes are those since the last fetch: a source that was deleted or replaced since then needs a
/// complete fetch.
const RECORD_PART: &str = "
    UPDATE atm_feeds SET etag = $3, last_modified = $4, synced_to = $5 WHERE name = $1 AND url = $2 AND synced_to = $6";

const STATES: &str = "SELECT name, failures, fetched_at FROM atm_feeds ORDER BY failures DESC, name LIMIT $1";

const DROP: &str = "DELETE FROM atm_feeds WHERE name = $1";

/// Returns all feeds, by name.
///
/// # Errors
/// The errors of [`Store::read`].
pub async fn list(store: &Store) -> Result<Vec<Feed>> {
    store.read(FEEDS, params![]).await?.into_iter().map(read_feed).collect()
}

/// Returns the feed with this name.
///
/// # Errors
/// The errors of [`Store::read`], or if the row is not a valid feed.
pub async fn find(store: &Store, name: &str) -> Result<Option<Feed>> {
    store.read_one(FEED, params![name]).await?.map(read_feed).transpose()
}

/// The state of a feed, for monitoring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedState {
    /// The name of the feed.
    pub name: String,
    /// The number of failures since the last success.
    pub failures: i64,
    /// The time of the last success.
    pub fetched_at: Option<Timestamp>,
}

/// Returns the states of at most `max` feeds, the most failures first. Unlike [`list`], it reads no other column, so that
/// an invalid row hides no state.
///
/// # Errors
/// The errors of [`Store::read`].
pub async fn list_states(store: &Store, max: u32) -> Result<Vec<FeedState>> {
    let rows = store.read(STATES, params![max]).await?;
    let state =
        |row: Row| Ok(FeedState { name: row.text(0)?.to_owned(), failures: row.int(1)?, fetched_at: row.opt_time(2)? });
    rows.into_iter().map(state).collect()
}

fn read_feed(row: Row) -> Result<Feed> {
    let name = row.text(0).unwrap_or_default().to_owned();
    Feed::from_row(row).with_context(|| format!("the feed {name} cannot be read"))
}

/// Stores a new or changed feed.
///
/// # Errors
/// The errors of [`Store::write`].
pub async fn save(store: &Store, feed: &Feed) -> Result<()> {
    store.write([Statement::new(SAVE, feed.clone().params())]).await?;
    Ok(())
}

/// Stores the outcome of a fetch, as returned by [`Feed::after`], unless another fetch of the feed was recorded since
/// its row had `previous_next_at`.
///
/// # Errors
/// The errors of [`Store::write`].
pub(super) async fn record_fetch(store: &Store, feed: &Feed, previous_next_at: Timestamp) -> Result<()> {
    let Feed { name, url, fetched_at, failures, next_at, last_error, .. } = feed;
    let record = if *failures == 0 {
        Statement::new(RECORD_SUCCESS, params![name, url, *fetched_at, *next_at, previous_next_at])
    } else {
        Statement::new(RECORD_FAILURE, params![name, url, *failures, *next_at, last_error.as_deref(), previous_next_at])
    };
    store.write([record]).await?;
    Ok(())
}

/// Returns the statement that stores the validators and the time of a document, to be written together with its import.
pub(super) fn record_document(feed: &Feed, validators: &Validators, synced_to: Timestamp) -> Statement {
    let etag = validators.etag.as_deref();
    let last_modified = validators.last_modified.as_deref();
    match (feed.extent(), feed.synced_to) {
        (Coverage::Partial, Some(before)) => {
            Statement::expect_row(RECORD_PART, params![&feed.name, &feed.url, etag, last_modified, synced_to, before])
        }
        _ => Statement::new(RECORD_WHOLE, params![&feed.name, &feed.url, etag, last_modified, synced_to]),
    }
}

/// Deletes a feed, even if it cannot be read. Its ATMs stay.
///
/// # Errors
/// [`WriteError::Conflict`] if there is no such feed.
pub async fn delete(store: &Store, name: &str) -> Result<(), WriteError> {
    store.commit([Statement::expect_row(DROP, params![name])]).await
}
