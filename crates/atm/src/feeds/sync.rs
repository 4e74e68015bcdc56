//! Fetches feeds and imports their content.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use reqwest::Method;
use reqwest::header::{ETAG, HeaderMap, LAST_MODIFIED, LOCATION};
use signpost_locator::gazetteer::Gazetteer;
use signpost_locator::import::{Bounds, FormatChoice, Options};
use signpost_platform::clock::Clock;
use signpost_platform::outbound::{EgressPolicy, Outbound, OutboundResponse, Request};
use signpost_store::Store;
use url::Url;

use super::feed::{Feed, FetchFailed, SyncOutcome, Validators, is_conditional};
use super::memory::{Download, FetchMemory};
use super::redirect::{DownloadTarget, MAX_REDIRECTS};
use super::sql;
use crate::catalogue::{
    Coverage, FileContents, ImportRules, ImportSteps, RequiredStatementRefused, Source, apply_with,
};
use crate::processor;

/// Maximum size of the document of a feed, also decompressed, in bytes.
const MAX_FEED_BYTES: usize = 256 << 20;
/// Limits of the import of a document.
const BOUNDS: Bounds = Bounds { items: 1_000_000, item_bytes: 4 << 20, unpacked_bytes: MAX_FEED_BYTES };
/// RFC 9110, section 15.4.5: 304 is allowed only for a conditional request.
const UNASKED_NOT_MODIFIED: &str = "it responded with 304 (not modified) to a request without If-None-Match and \
                                    If-Modified-Since, so there is nothing to import; its server, or a cache in front of \
                                    it, must respond with 200 and the document";

/// Maximum feeds that are fetched at once. [`FetchMemory`] limits the size of their documents in memory.
pub const MAX_CONCURRENT_FETCHES: usize = 4;

/// A service that fetches feeds and imports their content.
#[derive(Clone, Debug)]
pub struct FeedFetcher {
    /// The database.
    pub store: Store,
    /// The client for other hosts.
    pub outbound: Outbound,
    /// The memory that it shares with the other fetches of the process.
    pub memory: FetchMemory,
    /// The time at which a fetch begins and ends.
    pub clock: Clock,
    /// Maximum duration of a request: name, connection, head and body together. A redirect is another request.
    pub timeout: Duration,
    /// Whether to fetch the feed as a whole, without validators, and to import it even if more than 20 % of the ATMs
    /// would be removed.
    pub force: bool,
}

impl FeedFetcher {
    /// Fetches a feed, imports its content, and stores the outcome. The next fetch is scheduled from the end of this
    /// fetch. If another server fetched the feed concurrently, the other outcome stays.
    ///
    /// # Errors
    /// If the fetch fails, if the content is not a document of the feed's format, or the errors of [`apply_with()`].
    /// The catalogue is unchanged then.
    pub async fn run(&self, gazetteer: &Arc<Gazetteer>, feed: Feed) -> Result<SyncOutcome> {
        let feed = if self.force { feed.without_fetch_state() } else { feed.clear_future_sync(self.clock.now()) };
        let outcome = self.fetch(gazetteer, &feed).await;
        if matches!(outcome, Ok(SyncOutcome::Superseded)) {
            return Ok(SyncOutcome::Superseded);
        }
        let previous_next_at = feed.next_at;
        sql::record_fetch(&self.store, &feed.after(self.clock.now(), &outcome), previous_next_at).await?;
        Ok(outcome?)
    }

    async fn fetch(&self, gazetteer: &Arc<Gazetteer>, feed: &Feed) -> Result<SyncOutcome, FetchFailed> {
        let started_at = self.clock.now();
        let headers = feed.request_headers();
        let is_conditional = is_conditional(&headers);
        let (url, Download { response: answer, permit: _permit }) = self.download(feed.address()?, &headers).await?;
        match answer.status {
            200 => {}
            304 if is_conditional => return Ok(SyncOutcome::Unchanged),
            304 => return Err(anyhow::anyhow!(UNASKED_NOT_MODIFIED).into()),
            _ => {
                let wait = answer.retry_after.map(|after| after.wait(self.clock.now()));
                return Err(FetchFailed { wait, reason: refusal(&answer, &url) });
            }
        }
        let known = Validators { etag: text(&answer, &ETAG), last_modified: text(&answer, &LAST_MODIFIED) };
        let _import_permit = self.memory.begin_import().await?;
        let contents = read_content(answer, Arc::clone(gazetteer), feed.format, feed.extent(), started_at).await?;
        if feed.extent() == Coverage::Full {
            contents.check_usable().map_err(anyhow::Error::from)?;
        }
        let source = Source { name: feed.name.clone(), attribution: feed.attribution.clone(), imported_at: started_at };
        let rules = ImportRules { extent: feed.extent(), force: self.force, dry_run: false, max_atms: usize::MAX };
        let import = apply_with(&self.store, &source, &contents, rules, |_| ImportSteps {
            feed: Some(sql::record_document(feed, &known, started_at)),
            others: Vec::new(),
        });
        match import.await {
            Ok(changes) => Ok(SyncOutcome::Imported { changes, import: Box::new(contents.import) }),
            Err(error) if error.is::<RequiredStatementRefused>() => Ok(SyncOutcome::Superseded),
            Err(error) => Err(error.into()),
        }
    }
}

impl FeedFetcher {
    /// Downloads a document, and follows temporary redirects. Returns the URL of the response.
    async fn download(&self, url: Url, headers: &HeaderMap) -> Result<(Url, Download)> {
        let mut target = DownloadTarget { url, egress: EgressPolicy::Everything };
        // One byte above the limit, to detect a larger document.
        let max_body = MAX_FEED_BYTES + 1;
        for _ in 0..=MAX_REDIRECTS {
            let (url, headers) = (&target.url, headers.clone());
            let request = Request { method: Method::GET, url, headers, body: None, timeout: self.timeout, max_body };
            let download = self.memory.download(&self.outbound, target.egress, request).await?;
            let location = text(&download.response, &LOCATION);
            match target.of_response(download.response.status, location.as_deref()) {
                Some(next) => target = next,
                None => return Ok((target.url, download)),
            }
        }
        bail!("it redirected more than {MAX_REDIRECTS} times")
    }
}

async fn read_content(
    answer: OutboundResponse,
    gazetteer: Arc<Gazetteer>,
    format: FormatChoice,
    extent: Coverage,
    now: Timestamp,
) -> Result<FileContents> {
    anyhow::ensure!(answer.body.len() <= MAX_FEED_BYTES, "it is larger than {MAX_FEED_BYTES} bytes");
    let read = processor::run(move |cancel| {
        let options = Options {
            format,
            partial: extent == Coverage::Partial,
            now: Some(now),
            bounds: BOUNDS,
            cancel: cancel.clone(),
            ..Options::default()
        };
        FileContents::from_bytes(&answer.body, &options, &gazetteer)
    });
    read.await?.context("cannot read its content")
}

fn refusal(answer: &OutboundResponse, url: &Url) -> anyhow::Error {
    let location = text(answer, &LOCATION).and_then(|location| url.join(&location).ok());
    match (answer.status, location.and_then(without_secrets)) {
        (status @ (302 | 303 | 307), Some(to)) => anyhow::anyhow!(
            "it responded with {status}: it moved to {to}, which is not followed, because only the origin of the feed and \
             https at public addresses are"
        ),
        (status @ 300..=399, Some(to)) => anyhow::anyhow!("it responded with {status}: it moved to {to}"),
        (status, _) => anyhow::anyhow!("it responded with {status}"),
    }
}

/// Returns the URL without user information, query and fragment, which may contain credentials: it is logged and
/// stored. `None` if it has no host, such as a `data:` URL, or more than 256 bytes are left.
fn without_secrets(mut url: Url) -> Option<String> {
    url.set_username("").ok()?;
    url.set_password(None).ok()?;
    url.set_query(None);
    url.set_fragment(None);
    Some(url.into()).filter(|url: &String| url.len() <= 256)
}

/// Returns a header field if it is a text that is short enough to be stored.
fn text(answer: &OutboundResponse, name: &reqwest::header::HeaderName) -> Option<String> {
    let text = answer.headers.get(name)?.to_str().ok()?;
    (text.len() <= 1024).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirect_url_is_shown_without_credentials() {
        let base = Url::parse("https://user:secret@feed.test/all?key=secret").unwrap();
        for (location, expected) in [
            ("https://a:b@files.test:8443/new?signature=secret#secret", Some("https://files.test:8443/new")),
            ("/new?key=secret", Some("https://feed.test/new")),
            ("/line\u{1b}[31m", Some("https://feed.test/line%1B[31m")),
            ("data:text/plain,secret", None),
            ("mailto:secret@feed.test", None),
            ("http://", None),
        ] {
            let named = base.join(location).ok().and_then(without_secrets);
            assert_eq!(named.as_deref(), expected, "{location}");
        }
        assert_eq!(without_secrets(base.join(&"x".repeat(300)).unwrap()), None);
    }
}
