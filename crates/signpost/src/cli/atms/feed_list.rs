//! `signpost atms feeds list`

use std::collections::HashMap;

use anyhow::Result;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;
use signpost_atm::catalogue::{self, SourceCount};
use signpost_atm::feeds::{self, Feed};
use signpost_platform::clock::Clock;
use signpost_store::Store;

use crate::cli::{Session, table};

/// A feed with the numbers of its ATMs.
#[derive(Debug, Serialize)]
struct ListedFeed {
    #[serde(flatten)]
    feed: Feed,
    /// The number of ATMs in the catalogue.
    machines: i64,
    /// The number of ATMs that were removed.
    gone: i64,
}

pub(super) async fn list_feeds(session: &Session, store: &Store) -> Result<()> {
    let feeds = feeds::sql::list(store).await?;
    let counts = catalogue::sql::count_by_source(store).await?;
    let counts: HashMap<&str, &SourceCount> = counts.iter().map(|count| (count.source.as_str(), count)).collect();
    let mut listed = Vec::new();
    for feed in feeds {
        let (machines, gone) = counts.get(feed.name.as_str()).map_or((0, 0), |count| (count.machines, count.gone));
        listed.push(ListedFeed { feed, machines, gone });
    }
    let now = Clock::System.now();
    session.print(&json!({ "feeds": listed }), || {
        let headings = ["NAME", "EVERY", "LAST FETCH", "NEXT FETCH", "ATMS", "FORMAT", "LAST ERROR", "URL"];
        table(headings, listed.iter().map(|listed| row(listed, now)))
    })
}

fn row(listed: &ListedFeed, now: Timestamp) -> [String; 8] {
    let ListedFeed { feed, machines, .. } = listed;
    let every = feed.every.map_or_else(|| "on request".to_owned(), |every| format!("{} h", every.as_secs() / 3600));
    [
        feed.name.clone(),
        every,
        feed.fetched_at.map_or_else(|| "never".to_owned(), seconds),
        next_fetch(feed, now),
        machines.to_string(),
        feed.format.name().to_owned(),
        last_error(feed),
        shorten(&feed.url),
    ]
}

/// Returns the start of a long text. With `--json`, it is complete.
fn shorten(text: &str) -> String {
    const MAX_CHARS: usize = 80;
    if text.chars().count() <= MAX_CHARS {
        return text.to_owned();
    }
    format!("{}…", text.chars().take(MAX_CHARS - 1).collect::<String>())
}

/// Returns the time of the next fetch by a running server.
fn next_fetch(feed: &Feed, now: Timestamp) -> String {
    if feed.every.is_none() {
        return "on request".to_owned();
    }
    if feed.may_be_fetched(now) { "now".to_owned() } else { seconds(feed.next_at) }
}

fn last_error(feed: &Feed) -> String {
    match &feed.last_error {
        Some(error) if feed.failures > 1 => format!("{} failures: {error}", feed.failures),
        Some(error) => error.clone(),
        None => String::new(),
    }
}

fn seconds(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use signpost_locator::import::FormatChoice;

    use super::*;

    #[test]
    fn long_urls_are_shortened() {
        assert_eq!(shorten("https://feed.test/"), "https://feed.test/");
        assert_eq!(shorten(&"é".repeat(200)).chars().count(), 80);
    }

    #[test]
    fn row_shows_schedule_and_state() {
        let now: Timestamp = "2026-11-27T12:00:00Z".parse().unwrap();
        let day = Some(Duration::from_hours(24));
        let feed = |every| {
            Feed::new("map".to_owned(), "https://feed.test/".to_owned(), FormatChoice::Auto, String::new(), every)
        };
        let fetched = Feed {
            fetched_at: Some("2026-11-27T06:00:00.123Z".parse().unwrap()),
            next_at: "2026-11-28T06:00:00.123Z".parse().unwrap(),
            ..feed(day)
        };
        let failed = Feed {
            failures: 3,
            last_error: Some("it responded with 503".to_owned()),
            next_at: "2026-11-27T12:20:00Z".parse().unwrap(),
            ..feed(day)
        };
        for (feed, expected) in [
            (feed(None), ["on request", "never", "on request", "7", ""]),
            (feed(day), ["24 h", "never", "now", "7", ""]),
            (fetched, ["24 h", "2026-11-27T06:00:00Z", "2026-11-28T06:00:00Z", "7", ""]),
            (failed, ["24 h", "never", "2026-11-27T12:20:00Z", "7", "3 failures: it responded with 503"]),
        ] {
            let [_, every, last, next, machines, _, error, _] = row(&ListedFeed { feed, machines: 7, gone: 0 }, now);
            assert_eq!([every, last, next, machines, error].each_ref().map(String::as_str), expected);
        }
    }
}
