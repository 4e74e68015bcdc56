//! An HTTP client of an external geocoder, with a cache, a rate limit, and a pause after failures.

use std::collections::HashMap;
use std::fmt;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::Result;
use reqwest::Method;
use reqwest::header::{ACCEPT, HeaderMap, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use signpost_platform::limits::Rate;
use signpost_platform::outbound::{EgressPolicy, Outbound, Request};
use tokio::time::{Instant, timeout};
use url::Url;

use super::answers::{self, GeocodeResult};
use super::kind::GeocoderKind;

/// Maximum number of cached results.
const MAX_CACHED: usize = 10_000;
/// Lifetime of a cached result.
const CACHE_TTL: Duration = Duration::from_hours(24);
/// Duration of the pause after a failure. It prevents every request from waiting for the timeout.
const FAILURE_PAUSE: Duration = Duration::from_secs(10);
/// Maximum size of a response, in bytes: ten times the size of a response with six places.
const MAX_REPLY_BYTES: usize = 256 << 10;

/// The configuration of an external geocoder.
#[derive(Clone, Debug)]
pub struct GeocoderSettings {
    /// The kind of the geocoder.
    pub kind: GeocoderKind,
    /// The base URL, without the path `/search` or `/api`.
    pub url: Url,
    /// The API key, if the geocoder requires one.
    pub key: Option<SecretString>,
    /// Timeout of a request, including the wait for the rate limit.
    pub timeout: Duration,
    /// The rate limit.
    pub rate: Option<Rate>,
}

/// A client of an external geocoder that caches results.
pub struct Geocoder {
    settings: GeocoderSettings,
    outbound: Outbound,
    cache: Mutex<HashMap<String, CachedGeocode>>,
    /// The time when the rate limit allows the next request.
    next_at: Mutex<Option<Instant>>,
    /// The time when the pause after a failure ends.
    paused_until: Mutex<Option<Instant>>,
}

/// A cached result for a text, with its expiry.
#[derive(Clone)]
struct CachedGeocode {
    found: Option<GeocodeResult>,
    until: Instant,
}

impl Geocoder {
    /// Creates a client with an empty cache.
    #[must_use]
    pub fn new(settings: GeocoderSettings, outbound: Outbound) -> Self {
        Self { settings, outbound, cache: Mutex::default(), next_at: Mutex::default(), paused_until: Mutex::default() }
    }

    /// Returns the name of the geocoder.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.settings.kind.name()
    }

    /// Returns the attribution that the licence of the data requires.
    #[must_use]
    pub fn attribution(&self) -> &'static str {
        match self.settings.kind {
            GeocoderKind::Nominatim | GeocoderKind::Photon => "Place search: © OpenStreetMap contributors, ODbL",
            GeocoderKind::Pelias => "Place search: Pelias and its sources",
        }
    }

    /// Returns the cached result for a text, if there is one.
    #[must_use]
    pub fn cached_result(&self, text: &str) -> Option<GeocodeResult> {
        self.find_cached(text)?.found
    }

    /// Requests and caches the result for a text, unless it is already cached. Failures, timeouts and an exceeded rate
    /// limit are only logged.
    pub async fn ask(&self, text: &str) {
        if self.find_cached(text).is_some() || self.is_paused() {
            return;
        }
        let Some(wait) = self.reserve_request() else {
            return tracing::warn!(geocoder = self.name(), "too many requests are waiting for the geocoder");
        };
        tokio::time::sleep(wait).await;
        let asked = timeout(self.settings.timeout.saturating_sub(wait), self.fetch(text)).await;
        let limit = self.settings.timeout.as_secs_f32();
        match asked.unwrap_or_else(|_| Err(anyhow::anyhow!("no response within {limit} s"))) {
            Ok(found) => self.store(text, found),
            Err(error) => {
                tracing::warn!(geocoder = self.name(), error = format!("{error:#}"), "geocoder request failed");
                if let Ok(mut until) = self.paused_until.lock() {
                    *until = Some(Instant::now() + FAILURE_PAUSE);
                }
            }
        }
    }

    fn is_paused(&self) -> bool {
        self.paused_until.lock().is_ok_and(|until| until.is_some_and(|until| Instant::now() < until))
    }

    fn find_cached(&self, text: &str) -> Option<CachedGeocode> {
        let cache = self.cache.lock().ok()?;
        cache.get(&key(text)).filter(|cached| Instant::now() < cached.until).cloned()
    }

    fn store(&self, text: &str, found: Option<GeocodeResult>) {
        let Ok(mut cache) = self.cache.lock() else { return };
        let now = Instant::now();
        if cache.len() >= MAX_CACHED {
            cache.retain(|_, cached| now < cached.until);
        }
        if cache.len() >= MAX_CACHED {
            cache.clear();
        }
        cache.insert(key(text), CachedGeocode { found, until: now + CACHE_TTL });
    }

    async fn fetch(&self, text: &str) -> Result<Option<GeocodeResult>> {
        let url = self.request_url(text)?;
        let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]);
        let timeout = self.settings.timeout;
        let request =
            Request { method: Method::GET, url: &url, headers, body: None, timeout, max_body: MAX_REPLY_BYTES };
        // The operator has configured the address, so private addresses are allowed.
        let answer = self.outbound.send(EgressPolicy::Everything, request).await?;
        anyhow::ensure!(answer.status == 200, "it responded with {}", answer.status);
        answers::parse_reply(self.settings.kind, &answer.body)
    }

    /// Reserves the next request within the rate limit, and returns the delay until it may be sent. Returns `None` if
    /// the delay exceeds the timeout.
    fn reserve_request(&self) -> Option<Duration> {
        let Some(rate) = self.settings.rate else { return Some(Duration::ZERO) };
        let mut next_at = self.next_at.lock().ok()?;
        let now = Instant::now();
        let start = next_at.map_or(now, |next| next.max(now));
        let wait = start - now;
        if wait >= self.settings.timeout {
            return None;
        }
        *next_at = Some(start + rate.window / rate.count);
        Some(wait)
    }

    fn request_url(&self, text: &str) -> Result<Url> {
        let (path, name) = match self.settings.kind {
            GeocoderKind::Nominatim => ("search", "q"),
            GeocoderKind::Photon => ("api", "q"),
            GeocoderKind::Pelias => ("v1/search", "text"),
        };
        let base = self.settings.url.as_str().trim_end_matches('/');
        let mut url = Url::parse(&format!("{base}/{path}"))?;
        let mut query = url.query_pairs_mut();
        query.append_pair(name, text);
        match self.settings.kind {
            GeocoderKind::Nominatim => {
                query.extend_pairs([("format", "jsonv2"), ("addressdetails", "1"), ("limit", "6")])
            }
            GeocoderKind::Photon => query.extend_pairs([("limit", "6"), ("lang", "en")]),
            GeocoderKind::Pelias => query.extend_pairs([("size", "6"), ("lang", "en")]),
        };
        if let Some(key) = &self.settings.key {
            let name = if self.settings.kind == GeocoderKind::Pelias { "api_key" } else { "key" };
            query.append_pair(name, key.expose_secret());
        }
        drop(query);
        Ok(url)
    }
}

fn key(text: &str) -> String {
    text.trim().to_lowercase()
}

impl fmt::Debug for Geocoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Geocoder").field("settings", &self.settings).finish_non_exhaustive()
    }
}
