//! Asks a geocoder and remembers what it answered: not too often, and not again soon after a failure.

use std::collections::HashMap;
use std::fmt;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::Result;
use reqwest::Method;
use reqwest::header::{ACCEPT, HeaderMap, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use signpost_platform::limits::Rate;
use signpost_platform::outbound::{Outbound, Reach, Request};
use tokio::time::{Instant, timeout};
use url::Url;

use super::answers::{self, GeocodeResult};
use super::kind::GeocoderKind;

/// How many texts are remembered.
const MAX_REMEMBERED: usize = 10_000;
/// How long a text is remembered.
const REMEMBERED_DURATION: Duration = Duration::from_hours(24);
/// How long a geocoder that failed is left alone: nobody should wait for it again and again.
const FAILURE_PAUSE: Duration = Duration::from_secs(10);
/// How many bytes of a reply are read: ten times as many as six places take.
const MAX_REPLY_BYTES: usize = 256 << 10;

/// Which geocoder the operator named.
#[derive(Clone, Debug)]
pub struct GeocoderSettings {
    /// Which kind it is.
    pub kind: GeocoderKind,
    /// Where it is: what stands before `/search` or `/api`.
    pub url: Url,
    /// The key it wants, if any.
    pub key: Option<SecretString>,
    /// How long an answer may take, the wait for our turn included.
    pub within: Duration,
    /// How often it may be asked.
    pub rate: Option<Rate>,
}

/// Asks, and remembers the answers.
pub struct Geocoder {
    settings: GeocoderSettings,
    outbound: Outbound,
    remembered: Mutex<HashMap<String, Remembered>>,
    /// When the next question may be asked.
    turn: Mutex<Option<Instant>>,
    /// Until when it is left alone.
    alone: Mutex<Option<Instant>>,
}

/// What a text meant, if anything, and until when that counts.
#[derive(Clone)]
struct Remembered {
    found: Option<GeocodeResult>,
    until: Instant,
}

impl Geocoder {
    /// A geocoder that nobody has asked yet.
    #[must_use]
    pub fn new(settings: GeocoderSettings, outbound: Outbound) -> Self {
        Self { settings, outbound, remembered: Mutex::default(), turn: Mutex::default(), alone: Mutex::default() }
    }

    /// The geocoder's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.settings.kind.name()
    }

    /// What the licence of its data wants to be said.
    #[must_use]
    pub fn attribution(&self) -> &'static str {
        match self.settings.kind {
            GeocoderKind::Nominatim | GeocoderKind::Photon => {
                "GeocodedPlace search: © OpenStreetMap contributors, ODbL"
            }
            GeocoderKind::Pelias => "GeocodedPlace search: Pelias and its sources",
        }
    }

    /// What a text was found to mean, if it was asked about.
    #[must_use]
    pub fn cached_result(&self, text: &str) -> Option<GeocodeResult> {
        self.remembered(text)?.found
    }

    /// Finds out what a text means. Where the geocoder is down, slow or busy, nothing is found out, and the log says
    /// why.
    pub async fn ask(&self, text: &str) {
        let is_alone = || self.alone.lock().is_ok_and(|until| until.is_some_and(|until| Instant::now() < until));
        if self.remembered(text).is_some() || is_alone() {
            return;
        }
        let Some(wait) = self.take_turn() else {
            return tracing::warn!(geocoder = self.name(), "too many requests are waiting for the geocoder");
        };
        tokio::time::sleep(wait).await;
        let asked = timeout(self.settings.within.saturating_sub(wait), self.fetch(text)).await;
        let within = self.settings.within.as_secs_f32();
        match asked.unwrap_or_else(|_| Err(anyhow::anyhow!("no response within {within} s"))) {
            Ok(found) => self.remember(text, found),
            Err(error) => {
                tracing::warn!(geocoder = self.name(), error = format!("{error:#}"), "geocoder request failed");
                if let Ok(mut until) = self.alone.lock() {
                    *until = Some(Instant::now() + FAILURE_PAUSE);
                }
            }
        }
    }

    fn remembered(&self, text: &str) -> Option<Remembered> {
        let remembered = self.remembered.lock().ok()?;
        remembered.get(&key(text)).filter(|known| Instant::now() < known.until).cloned()
    }

    fn remember(&self, text: &str, found: Option<GeocodeResult>) {
        let Ok(mut remembered) = self.remembered.lock() else { return };
        let now = Instant::now();
        if remembered.len() >= MAX_REMEMBERED {
            remembered.retain(|_, known| now < known.until);
        }
        if remembered.len() >= MAX_REMEMBERED {
            remembered.clear();
        }
        remembered.insert(key(text), Remembered { found, until: now + REMEMBERED_DURATION });
    }

    async fn fetch(&self, text: &str) -> Result<Option<GeocodeResult>> {
        let url = self.question(text)?;
        let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]);
        let within = self.settings.within;
        let request = Request { method: Method::GET, url: &url, headers, body: None, within, keep: MAX_REPLY_BYTES };
        // The operator chose the address, so it may be a private one.
        let answer = self.outbound.send(Reach::Everything, request).await?;
        anyhow::ensure!(answer.status == 200, "it responded with {}", answer.status);
        answers::parse_reply(self.settings.kind, &answer.body)
    }

    /// How long until our turn; `None` where that is too long to wait for.
    fn take_turn(&self) -> Option<Duration> {
        let Some(rate) = self.settings.rate else { return Some(Duration::ZERO) };
        let mut turn = self.turn.lock().ok()?;
        let now = Instant::now();
        let mine = turn.map_or(now, |next| next.max(now));
        let wait = mine - now;
        (wait < self.settings.within).then(|| {
            *turn = Some(mine + rate.window / rate.count);
            wait
        })
    }

    fn question(&self, text: &str) -> Result<Url> {
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
