//! Fetches a feed and imports what it holds.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use jiff::Timestamp;
use reqwest::Method;
use reqwest::header::{ETAG, LAST_MODIFIED, LOCATION};
use signpost_locator::gazetteer::Gazetteer;
use signpost_locator::import::{Bounds, FormatChoice, Options};
use signpost_platform::outbound::{Outbound, OutboundResponse, Reach, Request};
use signpost_store::Store;

use super::feed::{Feed, FetchFailed, Synced, Validators};
use super::sql;
use crate::catalogue::{Extent, Reading, Source, Terms, apply};
use crate::processor;

/// Most bytes of what a feed holds.
const MAX_FEED_BYTES: usize = 256 << 20;
/// What is read of it.
const BOUNDS: Bounds = Bounds { items: 1_000_000, item_bytes: 4 << 20 };
/// How long a fetch may take.
const FETCH_TIMEOUT: Duration = Duration::from_mins(5);

/// Fetches a feed and imports what it holds. What came of it is remembered, failures too.
///
/// # Errors
/// Where the fetch failed, what came is no such document, or as [`apply()`]; nothing of the catalogue was changed
/// then.
pub async fn sync(
    store: &Store,
    gazetteer: &Arc<Gazetteer>,
    outbound: &Outbound,
    feed: Feed,
    now: Timestamp,
    force: bool,
) -> Result<Synced> {
    let feed = feed.without_future(now);
    let outcome = fetch(store, gazetteer, outbound, &feed, now, force).await;
    sql::save(store, &feed.after(now, &outcome)).await?;
    Ok(outcome?.0)
}

async fn fetch(
    store: &Store,
    gazetteer: &Arc<Gazetteer>,
    outbound: &Outbound,
    feed: &Feed,
    now: Timestamp,
    force: bool,
) -> Result<(Synced, Validators), FetchFailed> {
    let url = feed.address()?;
    // One byte more than may be tells what is too large.
    let request = Request {
        method: Method::GET,
        url: &url,
        headers: feed.request_headers(),
        body: None,
        within: FETCH_TIMEOUT,
        keep: MAX_FEED_BYTES + 1,
    };
    let answer = outbound.send(Reach::Everything, request).await?;
    match answer.status {
        200 => {}
        304 => return Ok((Synced::Unchanged, feed.known.clone())),
        _ => {
            return Err(FetchFailed {
                wait: answer.retry_after.map(|after| after.wait(now)),
                reason: refusal(&answer),
            });
        }
    }
    let known = Validators { etag: text(&answer, &ETAG), last_modified: text(&answer, &LAST_MODIFIED) };
    let reading = read_content(answer, Arc::clone(gazetteer), feed.format, feed.extent(), now).await?;
    let source = Source { name: feed.name.clone(), attribution: feed.attribution.clone(), imported_at: now };
    let terms = Terms { extent: feed.extent(), force, dry_run: false, most: usize::MAX };
    let changes = apply(store, &source, &reading, terms).await?;
    Ok((Synced::TakenOver { changes, import: Box::new(reading.import) }, known))
}

async fn read_content(
    answer: OutboundResponse,
    gazetteer: Arc<Gazetteer>,
    format: FormatChoice,
    extent: Extent,
    now: Timestamp,
) -> Result<Reading> {
    anyhow::ensure!(answer.body.len() <= MAX_FEED_BYTES, "it is larger than {MAX_FEED_BYTES} bytes");
    let read = processor::run(move |stop| {
        let partial = extent == Extent::Part;
        let (bounds, stop) = (BOUNDS, stop.clone());
        let options = Options { format, partial, now: Some(now), bounds, stop, ..Options::default() };
        Reading::from_bytes(&answer.body, &options, &gazetteer)
    });
    read.await?.context("cannot read its content")
}

fn refusal(answer: &OutboundResponse) -> anyhow::Error {
    match (answer.status, text(answer, &LOCATION)) {
        (300..=399, Some(to)) => anyhow::anyhow!("it responded with {}: it moved to {to}", answer.status),
        (status, _) => anyhow::anyhow!("it responded with {status}"),
    }
}

/// A header field, where it is a text of a length that can be kept.
fn text(answer: &OutboundResponse, name: &reqwest::header::HeaderName) -> Option<String> {
    let text = answer.headers.get(name)?.to_str().ok()?;
    (text.len() <= 1024).then(|| text.to_owned())
}
