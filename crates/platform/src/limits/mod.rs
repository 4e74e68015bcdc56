//! Rate limits with exact sliding windows: in any span as long as the window, at most `count` requests are accepted.
//! Rejected requests do not count. A request may reserve the next free turn instead of being rejected.

mod caller_slots;
mod client_ip;
mod forwarding;
mod in_progress;
mod local;
mod shared;
mod stored;
mod turn;

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer};

use crate::redis::{Redis, RedisError};
use crate::setting::{self, parsed};
use turn::{Demand, MAX_WAIT_MILLIS};

pub use caller_slots::{CallerSlots, Slot};
pub use client_ip::{Caller, ForwardedHeader, Proxies, customer_network, find_caller};
pub use forwarding::{FORWARDING_REQUEST, FORWARDING_RESPONSE, ForwardingResult, PROBE_ADDRESS, check_forwarding};
pub use in_progress::{
    InProgress, MAX_IN_PROGRESS, MAX_KEYED_IN_PROGRESS, RequestPermit, is_in_progress_limit_exceeded,
    release_request_slot,
};
pub use local::LocalWindows;

/// Time until the next attempt after Redis did not reply in time.
const SLOW_WAIT: Duration = Duration::from_secs(1);

/// A rate: `count` requests in any `window`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Maximum number of requests.
    pub count: u32,
    /// Length of the window.
    pub window: Duration,
}

/// The limits of both specification documents (§8 of each), by the names of their settings. `None` disables a limit.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the names are those of config.default.toml, which describes them")]
pub struct Rates {
    #[serde(rename = "rate_limit_mcp", deserialize_with = "rate")]
    pub mcp: Option<Rate>,
    #[serde(rename = "rate_limit_mcp_wait", deserialize_with = "setting::duration::<_, 0, MAX_WAIT_MILLIS>")]
    pub mcp_wait: Duration,
    #[serde(rename = "rate_limit_sse", deserialize_with = "rate")]
    pub sse: Option<Rate>,
    #[serde(rename = "rate_limit_create_session", deserialize_with = "rate")]
    pub create_session: Option<Rate>,
    #[serde(rename = "rate_limit_get_session", deserialize_with = "rate")]
    pub get_session: Option<Rate>,
    #[serde(rename = "rate_limit_map", deserialize_with = "rate")]
    pub map: Option<Rate>,
    #[serde(rename = "rate_limit_verify", deserialize_with = "rate")]
    pub verify: Option<Rate>,
    #[serde(rename = "rate_limit_domains", deserialize_with = "rate")]
    pub domains: Option<Rate>,
    #[serde(rename = "rate_limit_answer", deserialize_with = "rate")]
    pub answer: Option<Rate>,
    #[serde(rename = "rate_limit_submissions", deserialize_with = "rate")]
    pub submissions: Option<Rate>,
    #[serde(rename = "rate_limit_reports", deserialize_with = "rate")]
    pub reports: Option<Rate>,
    #[serde(rename = "rate_limit_token", deserialize_with = "rate")]
    pub token: Option<Rate>,
}

/// A limit that requests count against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of config.default.toml, which describes them")]
pub enum Limit {
    Mcp,
    Sse,
    CreateSession,
    GetSession,
    Verify,
    Domains,
    Answer,
    Submissions,
    Reports,
    Token,
    /// Discovery documents and published keys of issuers.
    Documents,
    /// Data of the interactive map.
    Map,
    /// Logins that are started for callers without a login, by all addresses together.
    StartedLogins,
    /// KiB that are stored for callers without a login.
    StoredKib,
}

/// A limit that a request exceeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exceeded {
    /// The name of the limit.
    pub name: &'static str,
    /// The allowed rate.
    pub rate: Rate,
    /// The time until the next request will be accepted.
    pub wait: Duration,
}

/// The rate limiter: the rates, and windows in this process and, if servers share them, in Redis.
#[derive(Debug)]
pub struct Limits {
    rates: Rates,
    windows: LocalWindows,
    shared: Option<Redis>,
}

impl Limits {
    /// Creates a limiter without any counts. It shares its windows through Redis, if given.
    #[must_use]
    pub fn new(rates: Rates, shared: Option<Redis>) -> Self {
        Self { rates, windows: LocalWindows::default(), shared }
    }

    /// Counts a request of `caller` at a time of [`crate::clock::Clock::elapsed`].
    ///
    /// # Errors
    /// Returns [`Exceeded`] if the window is full; the request is not counted then.
    pub async fn check(&self, limit: Limit, caller: &Caller, now: Duration) -> Result<(), Exceeded> {
        let Some(rate) = self.rates.rate_of(limit) else { return Ok(()) };
        self.count(limit, caller, (rate, 1), now).await
    }

    /// Counts a request of `caller` at the next free turn, if that is within the maximum wait of the limit. Returns the
    /// time until the turn, from the moment of the return; zero if the request may proceed at once. Turns are in the
    /// order of the calls. An unused turn stays counted, because turns that follow it have been promised to others.
    ///
    /// # Errors
    /// Returns [`Exceeded`] if the turn is too far away; the request is not counted then.
    pub async fn reserve(&self, limit: Limit, caller: &Caller, now: Duration) -> Result<Duration, Exceeded> {
        let Some(rate) = self.rates.rate_of(limit) else { return Ok(Duration::ZERO) };
        self.count_demand(limit, caller, Demand::new(rate, 1, self.rates.max_wait_of(limit)), now).await
    }

    /// Returns the rate of a limit; `None` if it is off.
    #[must_use]
    pub fn rate_of(&self, limit: Limit) -> Option<Rate> {
        self.rates.rate_of(limit)
    }

    /// Counts a request at another rate, unless the limit is off.
    ///
    /// # Errors
    /// Returns [`Exceeded`] if the window is full.
    pub async fn check_rate(&self, limit: Limit, caller: &Caller, rate: Rate, now: Duration) -> Result<(), Exceeded> {
        if self.rates.rate_of(limit).is_none() {
            return Ok(());
        }
        self.count(limit, caller, (rate, 1), now).await
    }

    /// Counts a request at a tenth of the limit's rate, at least one request per window.
    ///
    /// # Errors
    /// Returns [`Exceeded`] if the window is full.
    pub async fn check_tenth(&self, limit: Limit, caller: &Caller, now: Duration) -> Result<(), Exceeded> {
        let Some(rate) = self.rates.rate_of(limit) else { return Ok(()) };
        let rate = Rate { count: (rate.count / 10).max(1), ..rate };
        self.count(limit, caller, (rate, 1), now).await
    }

    /// Counts a request that does not wait.
    async fn count(
        &self,
        limit: Limit,
        caller: &Caller,
        (rate, cost): (Rate, u32),
        now: Duration,
    ) -> Result<(), Exceeded> {
        self.count_demand(limit, caller, Demand::new(rate, cost, Duration::ZERO), now).await.map(drop)
    }

    /// Counts a request here, and then in Redis, which decides while it is reachable. A request that exceeds the limit
    /// here is rejected without Redis. If Redis is slow, the request is rejected, because the count of the other
    /// servers is unknown. Returns the time until its turn.
    async fn count_demand(
        &self,
        limit: Limit,
        caller: &Caller,
        demand: Demand,
        now: Duration,
    ) -> Result<Duration, Exceeded> {
        let exceeded = |wait| Exceeded { name: limit.name(), rate: demand.rate, wait };
        let counted = self.windows.count(limit, caller, demand, now).map_err(exceeded)?;
        let Some(redis) = &self.shared else { return Ok(counted.wait()) };
        let decision = match shared::count(redis, (limit, caller), demand, counted.uncounted()).await {
            Ok(count) => counted.apply_reply(&count),
            Err(RedisError::Timeout) => counted.refuse(SLOW_WAIT),
            Err(RedisError::Unreachable) => counted.share(redis.servers()),
        };
        decision.map_err(exceeded)
    }
}

impl Rates {
    fn rate_of(&self, limit: Limit) -> Option<Rate> {
        match limit {
            Limit::Mcp => self.mcp,
            Limit::Sse => self.sse,
            // The limit of data that is stored for callers without a login follows from their rate of started logins.
            Limit::CreateSession | Limit::StartedLogins | Limit::StoredKib => self.create_session,
            // Programs that poll documents and pages must not use up each other's requests at an address: they have
            // equal rates and separate windows.
            Limit::GetSession | Limit::Documents => self.get_session,
            Limit::Map => self.map,
            Limit::Verify => self.verify,
            Limit::Domains => self.domains,
            Limit::Answer => self.answer,
            Limit::Submissions => self.submissions,
            Limit::Reports => self.reports,
            Limit::Token => self.token,
        }
    }

    /// Returns the maximum time until the turn of a request; zero for limits without a wait.
    fn max_wait_of(&self, limit: Limit) -> Duration {
        match limit {
            Limit::Mcp => self.mcp_wait,
            _ => Duration::ZERO,
        }
    }
}

impl Limit {
    /// Number of limits.
    const COUNT: usize = Self::StoredKib as usize + 1;

    fn name(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::Sse => "sse",
            Self::CreateSession => "create_session",
            Self::GetSession => "get_session",
            Self::Verify => "verify",
            Self::Domains => "domains",
            Self::Answer => "answer",
            Self::Submissions => "submissions",
            Self::Reports => "reports",
            Self::Token => "token",
            Self::Documents => "documents",
            Self::Map => "map",
            Self::StartedLogins => "begun_logins",
            Self::StoredKib => "stored_kib",
        }
    }
}

impl Exceeded {
    /// Returns the whole seconds until the next request will be accepted, at least 1.
    #[must_use]
    pub fn retry_after(&self) -> u64 {
        self.wait.as_millis().div_ceil(1000).try_into().unwrap_or(u64::MAX).max(1)
    }

    /// Returns the header fields of draft-ietf-httpapi-ratelimit-headers.
    #[must_use]
    pub fn rate_limit_headers(&self) -> [(&'static str, String); 2] {
        let Self { name, rate, .. } = self;
        let policy = format!("\"{name}\";q={};w={}", rate.count, rate.window.as_secs().max(1));
        let state = format!("\"{name}\";r=0;t={}", self.retry_after());
        [("ratelimit-policy", policy), ("ratelimit", state)]
    }
}

/// Deserializes a rate such as `100/m`; `None` for `off`.
///
/// # Errors
/// Returns an error if the text is neither a rate nor `off`.
pub fn rate<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Rate>, D::Error> {
    parsed(from, "a count (1 to 1000000) per s, m or h, such as 100/m, or off", |text| {
        if text == "off" { Some(None) } else { Rate::parse(text).map(Some) }
    })
}

impl Rate {
    fn parse(text: &str) -> Option<Self> {
        let (count, unit) = text.split_once('/')?;
        let count = count.trim().parse().ok().filter(|count| (1..=1_000_000).contains(count))?;
        let seconds = match unit.trim() {
            "s" => 1,
            "m" => 60,
            "h" => 3600,
            _ => return None,
        };
        Some(Self { count, window: Duration::from_secs(seconds) })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.window.as_secs() {
            1 => "s",
            60 => "m",
            _ => "h",
        };
        write!(f, "{}/{unit}", self.count)
    }
}
