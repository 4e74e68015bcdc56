//! The commands `signpost atms feeds` and `signpost atms sync`: manage and fetch feeds of ATMs.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Error, Result, anyhow, bail};
use clap::{Args, Subcommand};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use signpost_atm::catalogue::describe_import;
use signpost_atm::feeds::{
    self, Feed, FeedFetcher, FetchMemory, MAX_CONCURRENT_FETCHES, SyncOutcome, check_retry_delay, check_url,
};
use signpost_locator::gazetteer::Gazetteer;
use signpost_locator::import::FormatChoice;
use signpost_platform::clock::Clock;
use signpost_platform::outbound::{NameResolver, Outbound};
use signpost_store::Store;

use crate::cli::atms::import::{formats, source_name};
use crate::cli::{Session, Usage, table};

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Feeds {
    /// Add a feed, or replace the one with this name
    ///
    /// Requests are conditional (If-None-Match, If-Modified-Since). After a failure the next fetch
    /// waits 5 minutes, doubled with each further failure up to 24 hours, or for the time in
    /// Retry-After. Up to four feeds are fetched concurrently; the timeout of a request is
    /// `feed_timeout`, 60 seconds by default.
    Add {
        /// Source name, shown in responses
        name: String,
        /// URL; `{updated_since}` in it becomes the time of the last fetch, less ten minutes, for servers that return
        /// only changes
        url: String,
        /// File format
        #[arg(long, value_parser = formats(), default_value = FormatChoice::Auto.name())]
        format: FormatChoice,
        /// Attribution that the licence requires in every response [default: the source name]
        #[arg(long, value_name = "TEXT")]
        attribution: Option<String>,
        /// Hours between fetches by a running server [default: only 'atms sync' fetches it]
        #[arg(long, value_name = "HOURS", value_parser = clap::value_parser!(u32).range(1..=8760))]
        every: Option<u32>,
    },
    /// List feeds and the result of their last fetch
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
    pub(super) async fn run(self, session: &Session, store: &Store) -> Result<()> {
        match self {
            Self::Add { name, url, format, attribution, every } => {
                let name = source_name(&name)?;
                check_url(&url).map_err(|reason| Usage(format!("the URL {reason}")))?;
                let attribution = attribution.unwrap_or_else(|| name.clone());
                let every = every.map(|hours| Duration::from_hours(hours.into()));
                let feed = Feed::new(name, url, format, attribution, every);
                feeds::sql::save(store, &feed).await?;
                session.print(&feed, || format!("added {0}\nNext: fetch it with 'signpost atms sync {0}'.", feed.name))
            }
            Self::List => list(session, store).await,
            Self::Remove { name } => {
                feeds::sql::delete(store, &name).await.map_err(|error| error.on_conflict(unknown(&name)))?;
                session.print(&json!({ "name": name, "removed": true }), || {
                    format!("removed the feed {name}; its ATMs stay")
                })
            }
        }
    }
}

async fn list(session: &Session, store: &Store) -> Result<()> {
    let feeds = feeds::sql::list(store).await?;
    session.print(&json!({ "feeds": feeds }), || {
        let rows = feeds.iter().map(|feed| {
            let fetched = feed.fetched_at.map_or_else(|| "never".to_owned(), |at| at.to_string());
            let error = feed.last_error.clone().unwrap_or_default();
            [feed.name.clone(), feed.format.name().to_owned(), fetched, error, feed.url.clone()]
        });
        table(["NAME", "FORMAT", "FETCHED", "LAST ERROR", "URL"], rows)
    })
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
        anyhow::ensure!(!feeds.is_empty(), "there are no feeds; add one with 'signpost atms feeds add NAME URL'");
        let fetcher = FeedFetcher {
            store: store.clone(),
            outbound: Outbound::new(&NameResolver::System),
            memory: FetchMemory::default(),
            clock: Clock::System,
            timeout: session.config.atm.feed_timeout,
            force: self.force,
        };
        let gazetteer = session.places()?.now();
        let pending = feeds.into_iter().map(|feed| fetch(&fetcher, &gazetteer, feed));
        let mut ended: Vec<_> = stream::iter(pending).buffer_unordered(MAX_CONCURRENT_FETCHES).collect().await;
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
