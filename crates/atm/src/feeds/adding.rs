//! Adds the feeds of presets. A preset never replaces a feed with another URL.

use anyhow::Result;
use jiff::SignedDuration;
use signpost_store::{Statement, Store, Stored, WriteError, sql};

use super::feed::Feed;
use super::sql::find;

/// Creates the feed of a preset, or updates it. The condition is checked again here: another process may have stored a
/// feed with another URL since it was read.
const SAVE_PRESET: &str = sql!(
    Feed::INSERT,
    " ON CONFLICT (name) DO UPDATE SET format = $3, attribution = $4, every_ms = $5, next_at = $11
        WHERE atm_feeds.url = $2"
);

/// An error of [`add_preset_feeds`].
#[derive(Debug, thiserror::Error)]
pub enum AddPresetError {
    /// The stored feed has another URL.
    #[error(
        "the feed {0} has a URL of its own, which a preset never replaces: remove the feed with 'signpost atms feeds \
         remove {0}' and add the preset again (its ATMs stay), or leave the feed as it is; 'signpost atms feeds list' \
         shows its URL"
    )]
    OwnUrl(String),
    /// Another process changed a feed at the same time.
    #[error("the feeds were changed at the same time, and nothing was added: run the command again")]
    Conflict,
    /// The database is unavailable, or a stored feed cannot be read.
    #[error(transparent)]
    Internal(#[from] anyhow::Error),
}

/// Stores the feeds of a preset, all or none, and returns them. A feed that the preset added before continues from its
/// last fetch; its interval changes only if `sets_interval` is true.
///
/// # Errors
/// [`AddPresetError::OwnUrl`] if a feed with the name has another URL, or the errors of [`Store::commit`].
pub async fn add_preset_feeds(
    store: &Store,
    feeds: Vec<Feed>,
    sets_interval: bool,
) -> Result<Vec<Feed>, AddPresetError> {
    let mut stored = Vec::new();
    let mut statements = Vec::new();
    for feed in feeds {
        let merged = match find(store, &feed.name).await? {
            Some(existing) => update_from_preset(existing, &feed, sets_interval)?,
            None => feed.clone(),
        };
        // If the feed was removed since it was read, the new row has no state of earlier fetches.
        let row = Feed { every: merged.every, next_at: merged.next_at, ..feed };
        statements.push(Statement::expect_row(SAVE_PRESET, row.params()));
        stored.push(merged);
    }
    store.commit(statements).await.map_err(|error| match error {
        WriteError::Conflict => AddPresetError::Conflict,
        WriteError::Internal(error) => AddPresetError::Internal(error),
    })?;
    Ok(stored)
}

/// Returns an existing feed with the format, the attribution and, if requested, the interval of a preset.
fn update_from_preset(existing: Feed, preset: &Feed, sets_interval: bool) -> Result<Feed, AddPresetError> {
    if existing.url != preset.url {
        return Err(AddPresetError::OwnUrl(existing.name));
    }
    let mut updated = Feed { format: preset.format, attribution: preset.attribution.clone(), ..existing };
    if !sets_interval && updated.every.is_some() {
        return Ok(updated);
    }
    updated.every = preset.every;
    // After a failure the delay of the next attempt continues.
    if updated.failures == 0
        && let Some(fetched_at) = updated.fetched_at
        && let Some(every) = updated.every.and_then(|every| SignedDuration::try_from(every).ok())
        && let Ok(next_at) = fetched_at.checked_add(every)
    {
        updated.next_at = next_at;
    }
    Ok(updated)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jiff::Timestamp;
    use signpost_locator::import::FormatChoice;

    use super::*;

    fn at(hours: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_hours(hours)
    }

    fn feed(url: &str, every: Option<u64>) -> Feed {
        let every = every.map(Duration::from_hours);
        Feed::new("btcmap".to_owned(), url.to_owned(), FormatChoice::Auto, "© map".to_owned(), every)
    }

    #[test]
    fn preset_does_not_replace_another_url() {
        let own = feed("https://mirror.test/places", Some(6));
        let error = update_from_preset(own, &feed("https://feed.test/", Some(24)), true).unwrap_err().to_string();
        assert!(error.contains("btcmap has a URL of its own") && error.contains("feeds remove btcmap"), "{error}");
        assert!(!error.contains("mirror.test"), "a URL may have a key: {error}");
    }

    #[test]
    fn repeated_preset_continues_from_the_last_fetch() {
        let fetched = Feed {
            fetched_at: Some(at(100)),
            synced_to: Some(at(99)),
            next_at: at(124),
            attribution: "old".to_owned(),
            ..feed("https://feed.test/", Some(24))
        };
        for (hours, sets_interval, every, next) in [(24, false, 24, 124), (48, false, 24, 124), (6, true, 6, 106)] {
            let preset = feed("https://feed.test/", Some(hours));
            let updated = update_from_preset(fetched.clone(), &preset, sets_interval).unwrap();
            assert_eq!(updated.every, Some(Duration::from_hours(every)), "{hours}");
            assert_eq!((updated.next_at, updated.synced_to), (at(next), Some(at(99))), "{hours}");
            assert_eq!(updated.attribution, "© map");
        }
    }

    #[test]
    fn new_interval_does_not_shorten_the_delay_after_a_failure() {
        let failed =
            Feed { failures: 3, fetched_at: Some(at(1)), next_at: at(200), ..feed("https://feed.test/", Some(24)) };
        let updated = update_from_preset(failed, &feed("https://feed.test/", Some(6)), true).unwrap();
        assert_eq!((updated.every, updated.next_at), (Some(Duration::from_hours(6)), at(200)));
    }
}
