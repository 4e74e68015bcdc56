//! Background jobs of a server: fetches feeds, reloads the catalogue, and deletes old reports.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use signpost_platform::interval::run_every;
use tokio::sync::Semaphore;
use tokio::task::{Id, JoinError, JoinHandle, JoinSet};
use tokio::time::interval;

use super::catalogue;
use super::feeds::{FeedFetcher, FetchMemory, MAX_CONCURRENT_FETCHES, SyncOutcome, sql};
use crate::reports;
use crate::service::AtmService;

/// Interval of the check for due feeds.
const FEED_INTERVAL: Duration = Duration::from_secs(10);

/// Interval of the deletion of client addresses and old reports.
const SWEEP_INTERVAL: Duration = Duration::from_mins(10);

/// Starts all jobs. They run until the server drains.
#[must_use]
pub fn spawn_all(atm: &AtmService) -> [JoinHandle<()>; 3] {
    [
        tokio::spawn(run_feeds(atm.clone())),
        tokio::spawn(watch_catalogue(atm.clone())),
        tokio::spawn(sweep_reports(atm.clone())),
    ]
}

async fn watch_catalogue(service: AtmService) {
    catalogue::watch(&service.store, &service.catalogue, &service.clock, &service.draining).await;
}

/// Deletes client addresses and old reports.
async fn sweep_reports(service: AtmService) {
    run_every(SWEEP_INTERVAL, &service.draining, "could not sweep the reports", || {
        reports::sql::sweep(&service.store, service.clock.now())
    })
    .await;
}

/// Fetches due feeds until the server stops. A fetch that is interrupted then is repeated by the next server; importing
/// a document twice changes nothing.
async fn run_feeds(service: AtmService) {
    let mut fetches = FeedFetches::new(service.clone());
    let rounds = async {
        let mut look = interval(FEED_INTERVAL);
        loop {
            tokio::select! {
                _ = look.tick() => if let Err(error) = fetches.start_due().await {
                    tracing::warn!(error = format!("{error:#}"), "could not fetch the feeds");
                },
                Some(ended) = fetches.tasks.join_next_with_id() => fetches.remove(ended),
            }
        }
    };
    service.draining.run_until_cancelled(rounds).await;
}

/// The waiting and running fetches, at most one for each server: public servers ask clients to send one request at a time.
/// A slow server occupies one permit, and delays feeds of other servers only if they wait for a fourth permit.
struct FeedFetches {
    service: AtmService,
    memory: FetchMemory,
    permits: Arc<Semaphore>,
    tasks: JoinSet<()>,
    /// The origins of the servers that the tasks fetch from.
    servers: HashMap<Id, String>,
}

impl FeedFetches {
    fn new(service: AtmService) -> Self {
        let permits = Arc::new(Semaphore::new(MAX_CONCURRENT_FETCHES));
        Self { service, memory: FetchMemory::default(), permits, tasks: JoinSet::new(), servers: HashMap::new() }
    }

    /// Starts a task for the first due feed of each server without a task, in order of their due times. The other feeds
    /// of the server follow at the next check after its end.
    async fn start_due(&mut self) -> Result<()> {
        let now = self.service.clock.now();
        let mut due = sql::list(&self.service.store).await?;
        due.retain(|feed| feed.is_due(now));
        due.sort_by_key(|feed| feed.next_at);
        for feed in due {
            let server = feed.server();
            if self.servers.values().any(|busy| *busy == server) {
                continue;
            }
            let permits = Arc::clone(&self.permits);
            let fetch = fetch_in_turn(self.service.clone(), self.memory.clone(), permits, feed.name);
            let task = self.tasks.spawn(fetch);
            self.servers.insert(task.id(), server);
        }
        Ok(())
    }

    fn remove(&mut self, ended: Result<(Id, ()), JoinError>) {
        let id = ended.map_or_else(|error| error.id(), |(id, ())| id);
        self.servers.remove(&id);
    }
}

/// Waits for a permit, then fetches the feed if it is still due.
async fn fetch_in_turn(service: AtmService, memory: FetchMemory, permits: Arc<Semaphore>, name: String) {
    let Ok(_permit) = permits.acquire().await else { return };
    match fetch_due(&service, memory, &name).await {
        // The import is logged already.
        Ok(None | Some(SyncOutcome::Imported { .. })) => {}
        Ok(Some(SyncOutcome::Unchanged)) => tracing::info!(feed = name, "feed unchanged"),
        Ok(Some(SyncOutcome::Superseded)) => tracing::info!(feed = name, "feed fetched by another server"),
        Err(error) => tracing::warn!(feed = name, error = format!("{error:#}"), "could not import the feed"),
    }
}

/// Fetches a feed; `None` if it was removed or fetched while this task waited.
async fn fetch_due(service: &AtmService, memory: FetchMemory, name: &str) -> Result<Option<SyncOutcome>> {
    let Some(feed) = sql::find(&service.store, name).await? else { return Ok(None) };
    if !feed.is_due(service.clock.now()) {
        return Ok(None);
    }
    let fetcher = FeedFetcher {
        store: service.store.clone(),
        outbound: service.outbound.clone(),
        memory,
        clock: service.clock.clone(),
        timeout: service.settings.feed_timeout,
        force: false,
    };
    fetcher.run(&service.catalogue.places.now(), feed).await.map(Some)
}
