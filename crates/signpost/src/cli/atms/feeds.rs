//! The commands `signpost atms feeds` and `signpost atms sync`: manage and fetch feeds of ATMs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::{Error, Result, anyhow, bail};
use clap::{Args, Subcommand};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use signpost_atm::catalogue::describe_import;
use signpost_atm::feeds::{
    self, Feed, FeedFetcher, FetchMemory, MAX_CONCURRENT_FETCHES, SyncOutcome, check_retry_delay,
};
use signpost_locator::gazetteer::Gazetteer;
use signpost_platform::clock::Clock;
use signpost_platform::outbound::{NameResolver, Outbound};
use signpost_store::Store;

use crate::cli::Session;
use crate::cli::atms::{feed_add, feed_list};

const NO_FEEDS: &str = "there are no feeds; add one with 'signpost atms feeds add btcmap', another preset ('signpost atms \
                        feeds presets'), or 'signpost atms feeds add NAME URL'";

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Feeds {
    /// List the presets: public sources with their URL, format, schedule, licence and attribution
    ///
    /// Contacts no server. With --json: `{presets: [{name, title, part, arguments, feed, url,
    /// format, every_seconds, min_every_seconds, licence, attribution, about}]}`.
    Presets,
    /// Add the feeds of a preset, or a feed with a URL
    ///
    /// A preset needs no URL: btcmap (worldwide), osm with --area, alltheplaces with --spider. Its
    /// feeds are named btcmap, osm-US, alltheplaces-coin_flip_us. The command is idempotent; --every
    /// changes the interval. A preset never replaces a feed that has another URL. With a URL, the
    /// feed replaces the feed with this name.
    ///
    /// Requests are conditional (If-None-Match, If-Modified-Since). Temporary redirects to public
    /// https addresses are followed. After a failure the next fetch waits 5 minutes, doubled with
    /// each further failure up to 24 hours, or for the time in Retry-After. Up to four feeds are
    /// fetched concurrently, of each server a single feed; the timeout of a request is
    /// `feed_timeout`, 60 seconds by default.
    ///
    /// With --json: `{feeds: [{name, url, format, attribution, every_seconds, …}]}` for a preset, the
    /// feed for a URL.
    Add(feed_add::AddFeed),
    /// List feeds: their schedule, the last and the next fetch, the number of ATMs, the last error
    ///
    /// A running server fetches feeds with an interval. With --json: `{feeds: [{name, url, format,
    /// attribution, every_seconds, synced_to, fetched_at, failures, next_at, last_error, machines,
    /// gone}]}`; `fetched_at` is the time of the last success.
    List,
    /// Remove a feed; its ATMs are not removed
    Remove {
        /// Feed name, as shown by 'atms feeds list'
        name: String,
    },
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Sync {
    /// Feeds to fetch [default: all]
    names: Vec<String>,
    /// Send unconditional requests, even right after a failure, and import even if more than 20 %
    /// of the ATMs would be removed
    #[arg(long)]
    force: bool,
}

impl Feeds {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        match self {
            // Works without a database.
            Self::Presets => feed_add::list_presets(session),
            Self::Add(add) => add.run(session, &session.store()?).await,
            Self::List => feed_list::list_feeds(session, &session.store()?).await,
            Self::Remove { name } => {
                feeds::sql::delete(&session.store()?, &name)
                    .await
                    .map_err(|error| error.on_conflict(unknown(&name)))?;
                session.print(&json!({ "name": name, "removed": true }), || {
                    format!("removed the feed {name}; its ATMs stay")
                })
            }
        }
    }
}

fn unknown(name: &str) -> Error {
    anyhow!("no feed is named {name}; 'signpost atms feeds list' shows all")
}

impl Sync {
    /// Fetches the feeds, a few concurrently. A failed feed does not prevent the others.
    pub(super) async fn run(self, session: &Session, store: &Store) -> Result<()> {
        let mut feeds = feeds::sql::list(store).await?;
        if !self.names.is_empty() {
            let names: BTreeSet<_> = self.names.iter().collect();
            if let Some(name) = names.into_iter().find(|name| feeds.iter().all(|feed| feed.name != **name)) {
                return Err(unknown(name));
            }
            feeds.retain(|feed| self.names.contains(&feed.name));
        }
        anyhow::ensure!(!feeds.is_empty(), NO_FEEDS);
        let fetcher = FeedFetcher {
            store: store.clone(),
            outbound: Outbound::new(&NameResolver::System),
            memory: FetchMemory::default(),
            clock: Clock::System,
            timeout: session.config.atm.feed_timeout,
            force: self.force,
        };
        let gazetteer = session.places()?.now();
        let pending = group_by_server(feeds).into_iter().map(|feeds| fetch_in_turn(&fetcher, &gazetteer, feeds));
        let ended: Vec<Vec<_>> = stream::iter(pending).buffer_unordered(MAX_CONCURRENT_FETCHES).collect().await;
        let mut ended: Vec<_> = ended.into_iter().flatten().collect();
        ended.sort_by(|a, b| a.0.cmp(&b.0));
        let mut documents = Vec::new();
        let mut lines = Vec::new();
        let mut failed = Vec::new();
        for (name, synced) in ended {
            let (document, line) = describe(&name, synced.as_ref());
            documents.push(document);
            lines.push(line);
            failed.extend(synced.is_err().then_some(name));
        }
        session.print(&json!({ "feeds": documents }), || lines.join("\n"))?;
        if failed.is_empty() { Ok(()) } else { bail!("not imported: {}", failed.join(", ")) }
    }
}

/// Groups feeds by their server: public servers ask clients to send one request at a time.
fn group_by_server(feeds: Vec<Feed>) -> Vec<Vec<Feed>> {
    let mut groups = BTreeMap::<String, Vec<Feed>>::new();
    for feed in feeds {
        groups.entry(feed.server()).or_default().push(feed);
    }
    groups.into_values().collect()
}

/// Fetches the feeds of a server, one after another.
async fn fetch_in_turn(
    fetcher: &FeedFetcher,
    gazetteer: &Arc<Gazetteer>,
    feeds: Vec<Feed>,
) -> Vec<(String, Result<SyncOutcome>)> {
    let mut ended = Vec::new();
    for feed in feeds {
        ended.push(fetch(fetcher, gazetteer, feed).await);
    }
    ended
}

/// Fetches a feed unless it failed recently. Returns its name with the outcome.
async fn fetch(fetcher: &FeedFetcher, gazetteer: &Arc<Gazetteer>, feed: Feed) -> (String, Result<SyncOutcome>) {
    let name = feed.name.clone();
    if !fetcher.force
        && let Err(waits) = check_retry_delay(&feed, fetcher.clock.now())
    {
        return (name, Err(waits));
    }
    (name, fetcher.run(gazetteer, feed).await)
}

/// Describes the outcome of a fetch, as JSON and as a line of text.
fn describe(name: &str, synced: Result<&SyncOutcome, &anyhow::Error>) -> (Value, String) {
    match synced {
        Ok(SyncOutcome::Unchanged) => {
            (json!({ "source": name, "not_modified": true }), format!("{name}: nothing changed"))
        }
        Ok(SyncOutcome::Superseded) => (
            json!({ "source": name, "superseded": true }),
            format!("{name}: not imported, since another server fetched it or it was changed at the same time"),
        ),
        Ok(SyncOutcome::Imported { changes, import }) => {
            let line = format!(
                "{name}: {} added, {} changed, {} unchanged, {} removed; {} skipped, {} values not understood",
                changes.added,
                changes.changed,
                changes.unchanged,
                changes.removed,
                import.skipped.total,
                import.invalid_cells.total
            );
            (describe_import(name, *changes, import, false), line)
        }
        Err(error) => (json!({ "source": name, "error": format!("{error:#}") }), format!("{name}: {error:#}")),
    }
}

#[cfg(test)]
mod tests {
    use signpost_locator::import::FormatChoice;

    use super::*;

    #[test]
    fn feeds_of_one_server_are_fetched_in_turn() {
        let feed = |name: &str, url: &str| {
            Feed::new(name.to_owned(), url.to_owned(), FormatChoice::Auto, name.to_owned(), None)
        };
        let groups = group_by_server(vec![
            feed("a", "https://one.test/a?since={updated_since}"),
            feed("b", "https://two.test/"),
            feed("c", "https://One.test:443/c"),
            feed("d", "https://one.test:8443/"),
        ]);
        let names: Vec<Vec<&str>> =
            groups.iter().map(|feeds| feeds.iter().map(|feed| feed.name.as_str()).collect()).collect();
        assert_eq!(names, [vec!["a", "c"], vec!["d"], vec!["b"]]);
    }
}
