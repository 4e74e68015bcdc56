//! A source that is fetched: its requests and their schedule.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use jiff::{SignedDuration, Timestamp};
use reqwest::header::{ACCEPT, HeaderMap, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH};
use serde::Serialize;
use signpost_locator::import::{FormatChoice, Import};
use signpost_platform::outbound::EgressPolicy;
use signpost_store::{Parsed, columns, rows};
use url::Url;

use super::every::EveryMs;
use crate::catalogue::{Coverage, ImportCounts};

/// Placeholder in a URL for the time of the last fetch, for servers that can return only later changes.
pub const SINCE: &str = "{updated_since}";
/// Overlap of two requests for changes: clocks differ, and changes appear with a delay.
const OVERLAP: SignedDuration = SignedDuration::from_mins(10);
/// Delay after the first failure. Each further failure doubles it.
const FIRST_RETRY_DELAY: SignedDuration = SignedDuration::from_mins(5);
/// Maximum delay after a failure.
const MAX_RETRY_DELAY: SignedDuration = SignedDuration::from_hours(24);
/// Maximum difference between the clocks of two servers.
const CLOCK_TOLERANCE: SignedDuration = SignedDuration::from_hours(1);

rows! {
    /// A source that is fetched.
    #[derive(Clone, Debug, Serialize)]
    pub struct Feed in "atm_feeds" by [name] {
        /// The name of the source.
        pub name: String,
        /// The URL, with [`SINCE`] as a placeholder.
        pub url: String,
        /// The format of the document.
        #[serde(serialize_with = "format_name")]
        pub format: FormatChoice as Parsed<FormatChoice>,
        /// The attribution that the licence requires.
        pub attribution: String,
        /// Interval of automatic fetches; `None` if the feed is fetched only on request.
        #[serde(rename = "every_seconds", serialize_with = "seconds")]
        pub every: Option<Duration> as EveryMs,
        /// The validators of the last response.
        #[serde(skip)]
        pub known: Validators,
        /// The time up to which all changes were imported.
        pub synced_to: Option<Timestamp>,
        /// The time of the last fetch that succeeded.
        pub fetched_at: Option<Timestamp>,
        /// The number of failures since then.
        pub failures: u32,
        /// The earliest time of the next fetch.
        pub next_at: Timestamp,
        /// The error of the last fetch.
        pub last_error: Option<String>,
    }
}

columns! {
    /// The validators of a response, for the next conditional request (RFC 9110, section 13).
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[expect(missing_docs, reason = "the names are self-explanatory")]
    pub struct Validators {
        pub etag: Option<String>,
        pub last_modified: Option<String>,
    }
}

/// The outcome of a fetch.
#[derive(Debug)]
pub enum SyncOutcome {
    /// The document is unchanged.
    Unchanged,
    /// The document was imported.
    Imported {
        /// The number of ATMs that changed.
        changes: ImportCounts,
        /// The rows that were read.
        import: Box<Import>,
    },
    /// Another server fetched the feed, or the feed or its source was changed, since this fetch began. Nothing was
    /// imported or stored.
    Superseded,
}

/// A fetch that failed, and the `Retry-After` of the response.
#[derive(Debug, thiserror::Error)]
#[error("{reason:#}")]
pub struct FetchFailed {
    pub(super) reason: anyhow::Error,
    pub(super) wait: Option<Duration>,
}

/// Returns `true` if a request with these headers may be answered with 304 (RFC 9110, section 15.4.5).
pub(super) fn is_conditional(headers: &HeaderMap) -> bool {
    headers.contains_key(IF_NONE_MATCH) || headers.contains_key(IF_MODIFIED_SINCE)
}

/// Checks the URL of a feed.
///
/// # Errors
/// The rule that the URL breaks.
pub fn check_url(url: &str) -> Result<(), &'static str> {
    let parsed = Url::parse(&url.replace(SINCE, "2026-01-01T00:00:00Z")).map_err(|_| "must be an http or https URL")?;
    // Only the operator adds feeds, so private addresses are allowed.
    EgressPolicy::Everything.check(&parsed)
}

impl Feed {
    /// Creates a feed that was never fetched.
    #[must_use]
    pub fn new(name: String, url: String, format: FormatChoice, attribution: String, every: Option<Duration>) -> Self {
        Self {
            name,
            url,
            format,
            attribution,
            every,
            known: Validators::default(),
            synced_to: None,
            fetched_at: None,
            failures: 0,
            next_at: Timestamp::UNIX_EPOCH,
            last_error: None,
        }
    }

    /// Returns `true` if the feed may be fetched: its time has come, or is further ahead than any fetch sets it, so
    /// that the clock was wrong then.
    #[must_use]
    pub fn may_be_fetched(&self, now: Timestamp) -> bool {
        let every = self.every.unwrap_or_default().try_into().unwrap_or(SignedDuration::MAX);
        let longest = every.max(MAX_RETRY_DELAY).checked_add(CLOCK_TOLERANCE).unwrap_or(SignedDuration::MAX);
        self.next_at <= now || now.checked_add(longest).is_ok_and(|latest| self.next_at > latest)
    }

    /// Clears the time of the last synchronization if it is still ahead: the clock was wrong then, and changes since
    /// may be missing. The feed is then fetched as a whole.
    #[must_use]
    pub(super) fn clear_future_sync(mut self, now: Timestamp) -> Self {
        self.synced_to = self.synced_to.filter(|at| now.checked_add(OVERLAP).is_ok_and(|latest| *at <= latest));
        self
    }

    /// Returns the feed without the state of earlier fetches. The next fetch is then complete and unconditional.
    #[must_use]
    pub(super) fn without_fetch_state(self) -> Self {
        Self { known: Validators::default(), synced_to: None, ..self }
    }

    /// Returns whether the next request is for the changes only or for the whole document.
    pub(super) fn extent(&self) -> Coverage {
        if self.url.contains(SINCE) && self.synced_to.is_some() { Coverage::Partial } else { Coverage::Full }
    }

    /// Returns the URL of the next request.
    pub(super) fn address(&self) -> Result<Url> {
        let since = self.synced_to.and_then(|at| at.checked_sub(OVERLAP).ok()).unwrap_or(Timestamp::UNIX_EPOCH);
        Url::parse(&self.url.replace(SINCE, &since.to_string())).context("its URL is not valid")
    }

    /// Returns the origin of the URL, such as `https://overpass-api.de`: public servers ask clients to send one request at
    /// a time. For an invalid URL, the URL itself.
    #[must_use]
    pub fn server(&self) -> String {
        let origin = self.address().ok().map(|url| url.origin().ascii_serialization());
        origin.unwrap_or_else(|| self.url.clone())
    }

    /// Returns the headers of the next request. Validators are left out if the URL asks only for changes: the changes
    /// since another time are another document.
    pub(super) fn request_headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("*/*"))]);
        if self.extent() == Coverage::Full {
            let known = [(IF_NONE_MATCH, &self.known.etag), (IF_MODIFIED_SINCE, &self.known.last_modified)];
            headers.extend(known.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?.parse().ok()?))));
        }
        headers
    }

    /// Returns `true` if a running server fetches the feed now.
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        self.every.is_some() && self.may_be_fetched(now)
    }

    /// Returns the feed with the outcome of a fetch that ended at `now`. Its validators and `synced_to` are unchanged:
    /// they are written together with the import.
    #[must_use]
    pub(super) fn after(mut self, now: Timestamp, outcome: &Result<SyncOutcome, FetchFailed>) -> Self {
        match outcome {
            Ok(_) => {
                let every = self.every.and_then(|every| SignedDuration::try_from(every).ok()).unwrap_or_default();
                self.next_at = now.checked_add(every).unwrap_or(Timestamp::MAX);
                self.failures = 0;
                self.last_error = None;
                self.fetched_at = Some(now);
            }
            Err(failed) => {
                self.failures += 1;
                let doubled =
                    FIRST_RETRY_DELAY.checked_mul(1 << (self.failures - 1).min(12)).unwrap_or(MAX_RETRY_DELAY);
                let asked = failed.wait.and_then(|wait| SignedDuration::try_from(wait).ok()).unwrap_or_default();
                let wait = doubled.max(asked).min(MAX_RETRY_DELAY);
                self.next_at = now.checked_add(wait).unwrap_or(Timestamp::MAX);
                self.last_error = Some(failed.to_string());
            }
        }
        self
    }
}

impl From<anyhow::Error> for FetchFailed {
    fn from(reason: anyhow::Error) -> Self {
        Self { reason, wait: None }
    }
}

/// Checks that the delay after a failure is over.
///
/// # Errors
/// If it is not.
pub fn check_retry_delay(feed: &Feed, now: Timestamp) -> Result<()> {
    if feed.failures > 0 && !feed.may_be_fetched(now) {
        let Feed { name, next_at, last_error, .. } = feed;
        let reason = last_error.as_deref().unwrap_or_default();
        bail!("{name} failed recently ({reason}) and is not fetched before {next_at}; override with --force");
    }
    Ok(())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn format_name<S: serde::Serializer>(format: &FormatChoice, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(format.name())
}

#[expect(clippy::ref_option, reason = "serde's signature")]
fn seconds<S: serde::Serializer>(every: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    every.map(|every| every.as_secs()).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hours: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_hours(hours)
    }

    fn feed(every: Option<u64>, next: i64) -> Feed {
        let every = every.map(Duration::from_hours);
        let url = format!("https://feed.test/?since={SINCE}");
        Feed { next_at: at(next), ..Feed::new("map".to_owned(), url, FormatChoice::Auto, String::new(), every) }
    }

    #[test]
    fn impossible_fetch_time_is_due() {
        for (every, next, expected) in [
            (Some(1), 1000, true),
            (Some(1), 1001, false),
            (Some(1), 1025, false),
            (Some(1), 1026, true),
            (None, 1026, true),
            (Some(48), 1049, false),
            (Some(48), 1050, true),
        ] {
            assert_eq!(feed(every, next).may_be_fetched(at(1000)), expected, "{every:?} {next}");
        }
        let failed = Feed { failures: 3, ..feed(Some(1), 9000) };
        assert!(check_retry_delay(&failed, at(1000)).is_ok() && check_retry_delay(&failed, at(8990)).is_err());
        let late = Feed { next_at: Timestamp::MAX, ..feed(Some(1), 0) };
        assert!(late.may_be_fetched(at(0)) && !feed(Some(u64::MAX / 3600), 5000).may_be_fetched(at(0)));
    }

    #[test]
    fn forced_fetch_is_complete_and_unconditional() {
        let known = Validators { etag: Some("\"a\"".to_owned()), last_modified: None };
        let feed = Feed { synced_to: Some(at(999)), known, ..feed(None, 0) };
        assert_eq!(feed.extent(), Coverage::Partial);
        let forced = feed.without_fetch_state();
        assert_eq!(forced.extent(), Coverage::Full);
        assert!(forced.address().unwrap().as_str().contains("1970-01-01"));
        assert!(!is_conditional(&forced.request_headers()));
    }

    #[test]
    fn changes_are_requested_since_a_past_time() {
        for (synced_to, expected) in [(999, Coverage::Partial), (1000, Coverage::Partial), (1003, Coverage::Full)] {
            let feed = Feed { synced_to: Some(at(synced_to)), ..feed(None, 0) }.clear_future_sync(at(1000));
            assert_eq!(feed.extent(), expected, "{synced_to}");
        }
    }
}
